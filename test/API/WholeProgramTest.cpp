// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A whole program of a user trains, and its loss falls.
#include <gtest/gtest.h>

bool runWholeProgram();

TEST(WholeProgramTest, LossFalls) {
  EXPECT_TRUE(runWholeProgram());
}
