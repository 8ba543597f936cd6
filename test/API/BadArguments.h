// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tests of arguments that do not fit share these: numbers at the ends of their
// types, and the check that a call is refused.
#pragma once

#include "Testing.h"

#include <limits>

namespace meshloom {

constexpr int64_t most = std::numeric_limits<int64_t>::max();
constexpr int64_t least = std::numeric_limits<int64_t>::min();
constexpr int64_t big = int64_t(1) << 45; // 32 terabytes of bytes

/// `body` throws an Error that begins with a tag.
#define REFUSES(...)                                                           \
  EXPECT_THAT(::meshloom::errorOf([&] { (void)(__VA_ARGS__); }),               \
              ::testing::StartsWith("["))                                      \
      << #__VA_ARGS__

} // namespace meshloom
