// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Numbers of tuples: in order, equal for equal tuples alone.
#include "meshloom/Core/TupleNumbers.h"

#include <gtest/gtest.h>

using namespace meshloom;

namespace {

// The end of one tuple and the begin of the next make no other one.
TEST(TupleNumbersTest, EqualTuplesHaveOneNumber) {
  TupleNumbers numbers;
  const std::vector<std::vector<uintptr_t>> tuples{
      {}, {0}, {0, 0}, {1, 2}, {2, 1}, {1}, {2}, {1, 2, 3}};
  for (unsigned i = 0; i < tuples.size(); ++i)
    EXPECT_EQ(numbers(tuples[i]), i);
  for (unsigned i = 0; i < tuples.size(); ++i)
    EXPECT_EQ(numbers(tuples[i]), i);
  EXPECT_EQ(numbers.size(), tuples.size());
}

TEST(TupleNumbersTest, NumbersStayAsTheTableGrows) {
  TupleNumbers numbers;
  constexpr unsigned count = 2000;
  auto tuple = [](unsigned i) {
    return std::vector<uintptr_t>{i % 7, 64 * i, i / 3};
  };
  for (unsigned i = 0; i < count; ++i)
    ASSERT_EQ(numbers(tuple(i)), i);
  for (unsigned i = count; i-- > 0;)
    ASSERT_EQ(numbers(tuple(i)), i);
}

} // namespace
