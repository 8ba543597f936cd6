// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Running reductions along lines, side by side so that none waits for the
// element before it in its own line; a long line is cut into blocks, which lie
// side by side as well. Sums of floats begin anew after some elements; the sums
// of what is before them are made in pairs.
#pragma once

#include "Elements.h"
#include "PairwiseSums.h"

#include <algorithm>
#include <cstdlib>

namespace meshloom::library {

/// Says whether blocks of a line may be reduced before what is in front of
/// them: where nothing is rounded, and in sums, which are made of blocks.
/// Products of floats could overflow in a block alone.
template <ReduceKind kind, typename Sum>
inline constexpr bool scansInBlocks =
    kind == ReduceKind::Sum || !isRounded<Sum> ||
    (kind != ReduceKind::Prod && std::is_floating_point_v<Sum>);

/// A line of `count` elements, several blocks of it side by side.
template <ReduceKind kind, typename T>
void scanInBlocks(const T *from, int64_t fromStep, T *to, int64_t toStep,
                  int64_t count) {
  using Sum = SumOf<T>;
  constexpr int64_t BLOCK = PairwiseSums<Sum>::BLOCK, SIDE = 8;
  constexpr bool inPairs = kind == ReduceKind::Sum && isRounded<Sum>;
  Sum local[SIDE][BLOCK], before{};
  PairwiseSums<Sum> blocks;
  blocks.start(1);
  for (int64_t first = 0; first < count; first += SIDE * BLOCK) {
    auto load = [&](int64_t i) {
      return Numbers<T>::load(from[(first + i) * fromStep]);
    };
    const int64_t length = std::min(SIDE * BLOCK, count - first);
    if (length == SIDE * BLOCK) {
      Sum running[SIDE];
      for (int64_t b = 0; b < SIDE; ++b)
        running[b] = local[b][0] = load(b * BLOCK);
      for (int64_t i = 1; i < BLOCK; ++i)
        for (int64_t b = 0; b < SIDE; ++b)
          running[b] = local[b][i] =
              combined<kind>(running[b], load(b * BLOCK + i));
    } else {
      for (int64_t i = 0; i < length; ++i) {
        Sum *block = local[i / BLOCK];
        const int64_t place = i % BLOCK;
        block[place] =
            place == 0 ? load(i) : combined<kind>(block[place - 1], load(i));
      }
    }
    for (int64_t begin = 0; begin < length; begin += BLOCK) {
      const int64_t size = std::min(BLOCK, length - begin);
      Sum *block = local[begin / BLOCK];
      Sum total = block[size - 1];
      if (first + begin > 0)
        for (int64_t i = 0; i < size; ++i)
          block[i] = combined<kind>(before, block[i]);
      T *target = to + (first + begin) * toStep;
      for (int64_t i = 0; i < size; ++i)
        target[i * toStep] = Numbers<T>::store(block[i]);
      if constexpr (inPairs) {
        blocks.push(&total);
        before = Sum();
        blocks.addTo(&before);
      } else {
        before = block[size - 1];
      }
    }
  }
}

/// to[i] = from[0] combined with ... combined with from[i], for `lines` lines
/// of `count` elements each.
template <ReduceKind kind, typename T>
void scan(const T *from, int64_t fromLine, int64_t fromStep, T *to,
          int64_t toLine, int64_t toStep, int64_t lines, int64_t count) {
  using Sum = SumOf<T>;
  constexpr int64_t BLOCK = 64;
  constexpr bool inPairs = kind == ReduceKind::Sum && isRounded<Sum>;
  if constexpr (scansInBlocks<kind, Sum>)
    if (lines == 1 ||
        (count >= 8 * BLOCK && std::abs(fromStep) == 1 && toStep == fromStep)) {
      for (int64_t l = 0; l < lines; ++l)
        scanInBlocks<kind>(from + l * fromLine, fromStep, to + l * toLine,
                           toStep, count);
      return;
    }
  if (lines == 1 && count > 0) {
    Sum product = Numbers<T>::load(from[0]);
    to[0] = Numbers<T>::store(product);
    for (int64_t i = 1; i < count; ++i) {
      product = combined<kind>(product, Numbers<T>::load(from[i * fromStep]));
      to[i * toStep] = Numbers<T>::store(product);
    }
    return;
  }
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
