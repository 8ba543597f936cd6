// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sums of many terms in library functions: terms are added one by one only
// within blocks, the sums of blocks in pairs, those of pairs in pairs, and so
// on. A binary counter: where bit l of the number of blocks is set, the sum of
// 2^l of them waits on level l for its other half. The sum of n terms is then
// off by at most about (block + log2(n / block)) rounding errors of the sum of
// their sizes, instead of n.
#pragma once

#include <algorithm>
#include <bit>
#include <complex>
#include <cstdint>
#include <type_traits>
#include <vector>

namespace meshloom::library {

/// Whether the order in which numbers are added changes their sum.
template <typename T>
inline constexpr bool isRounded = std::is_floating_point_v<T>;
template <typename R> inline constexpr bool isRounded<std::complex<R>> = true;

/// The sums of `width` elements side by side.
template <typename T> class PairwiseSums {
public:
  /// Rows of sums that make a block.
  static constexpr int64_t BLOCK = 64;

  /// No blocks; memory of before is kept.
  void start(int64_t elements) {
    width = elements;
    blocks = rows = 0;
  }
  bool empty() const { return blocks == 0; }

  /// One more row was added to the running sums: after a block of them, takes
  /// the sums and leaves zeros.
  void added(T *running) {
    if (++rows < BLOCK)
      return;
    push(running);
    std::fill_n(running, width, T());
  }

  /// Takes the sums of a block, which are overwritten.
  void push(T *block) {
    rows = 0;
    pushAt(0, block);
  }

  /// Takes the blocks of `later`, which are behind those of this. They are 2^l,
  /// and those of this a multiple of as many: the sums are the same as if
  /// blocks had been pushed one by one.
  void append(const PairwiseSums &later) {
    const int level = std::countr_zero(later.blocks);
    std::vector<T> sums(later.sumsOf(level), later.sumsOf(level) + width);
    pushAt(level, sums.data());
  }

  /// Adds the sums of all blocks, small ones first.
  void addTo(T *sums) const {
    for (int level = 0; blocks >> level; ++level)
      if (blocks >> level & 1)
        add(sums, sumsOf(level));
  }

private:
  /// Takes the sums of 2^`first` blocks.
  void pushAt(int first, T *sums) {
    blocks += uint64_t(1) << first;
    const int level = std::countr_zero(blocks);
    for (int lower = first; lower < level; ++lower)
      add(sums, sumsOf(lower));
    if (levels.size() < size_t((level + 1) * width))
      levels.resize(size_t((level + 1) * width));
    std::copy_n(sums, width, sumsOf(level));
  }

  T *sumsOf(int level) { return levels.data() + level * width; }
  const T *sumsOf(int level) const { return levels.data() + level * width; }
  void add(T *to, const T *from) const {
    for (int64_t i = 0; i < width; ++i)
      to[i] += from[i];
  }

  int64_t width = 0, rows = 0;
  uint64_t blocks = 0;
  std::vector<T> levels;
};

} // namespace meshloom::library
