// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Offsets in one piece of memory for values that live one after the other.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace meshloom::plan {

/// First fit, 64-byte aligned. Arrays of whole pages get some bytes more, so
/// that not all begin alike: a kernel that walks through several arrays at once
/// would else load what the CPU takes for a value it has just stored.
class OffsetAllocator {
public:
  int64_t allocate(int64_t bytes);
  void release(int64_t offset, int64_t bytes);
  int64_t peak() const { return end; }
  /// Returns the bytes that an array of `bytes` takes, rounded up.
  static int64_t rounded(int64_t bytes);

private:
  std::vector<std::pair<int64_t, int64_t>> holes; ///< (offset, bytes), sorted
  int64_t end = 0;
};

/// From when to when `bytes` are needed, both included; `first` < 0: never.
struct Lifetime {
  int first = -1, last = -1;
  int64_t bytes = 0;
};

struct Offsets {
  std::vector<int64_t> offsets; ///< per lifetime
  int64_t peak = 0;             ///< bytes in all
  int64_t live = 0;             ///< the most that is needed at one time
};

/// In the order in which they begin, those that begin at the same time in the
/// order they are given; where that leaves gaps of over a fiftieth of what is
/// needed at one time, the largest first, if that takes less.
Offsets placeByLifetime(std::span<const Lifetime> lifetimes);

} // namespace meshloom::plan
