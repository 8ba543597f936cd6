// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Running reductions along lines, side by side so that none waits for the
// element before it in its own line. Sums of floats begin anew after some
// elements; the sums of what is before them are made in pairs.
#pragma once

#include "Elements.h"
#include "PairwiseSums.h"

#include <algorithm>

namespace meshloom::library {

/// to[i] = from[0] combined with ... combined with from[i], for `lines` lines
/// of `count` elements each.
template <ReduceKind kind, typename T>
void scan(const T *from, int64_t fromLine, int64_t fromStep, T *to,
          int64_t toLine, int64_t toStep, int64_t lines, int64_t count) {
  using Sum = SumOf<T>;
  constexpr int64_t BLOCK = 64;
  constexpr bool inPairs = kind == ReduceKind::Sum && isRounded<Sum>;
  Sum running[BLOCK], before[BLOCK];
  PairwiseSums<Sum> blocks;
  for (int64_t first = 0; first < lines; first += BLOCK) {
    const int64_t width = std::min(BLOCK, lines - first);
    const T *source = from + first * fromLine;
    T *target = to + first * toLine;
    for (int64_t l = 0; l < width; ++l) {
      running[l] = Numbers<T>::load(source[l * fromLine]);
      target[l * toLine] = Numbers<T>::store(running[l]);
    }
    blocks.start(width);
    std::fill_n(before, width, Sum());
    for (int64_t i = 1; i < count; ++i) {
      source += fromStep;
      target += toStep;
      if constexpr (inPairs)
        if (i % PairwiseSums<Sum>::BLOCK == 0) {
          blocks.push(running);
          std::fill_n(running, width, Sum());
          std::fill_n(before, width, Sum());
          blocks.addTo(before);
        }
      for (int64_t l = 0; l < width; ++l) {
        running[l] =
            combined<kind>(running[l], Numbers<T>::load(source[l * fromLine]));
        if constexpr (inPairs)
          target[l * toLine] = Numbers<T>::store(before[l] + running[l]);
        else
          target[l * toLine] = Numbers<T>::store(running[l]);
      }
    }
  }
}

} // namespace meshloom::library
