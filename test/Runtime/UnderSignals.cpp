// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// All tests of this program run while a profiler's signals interrupt all
// threads: no call that a signal interrupts fails, and no handler finds a
// thread on a stack that is not the thread's.
#include "SignalStorm.h"

#include <gtest/gtest.h>

#include <optional>

namespace {

class UnderSignals : public testing::Environment {
public:
  void SetUp() override { storm.emplace(std::chrono::milliseconds(1)); }
  void TearDown() override {
    storm.reset();
    EXPECT_GT(SignalStorm::handled(), 0);
    EXPECT_EQ(SignalStorm::elsewhere(), 0);
  }

private:
  std::optional<SignalStorm> storm;
};

// GoogleTest owns it.
[[maybe_unused]] const testing::Environment *const environment =
    testing::AddGlobalTestEnvironment(new UnderSignals);

} // namespace
