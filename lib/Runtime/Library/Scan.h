// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Running reductions along lines, side by side so that none waits for the
// element before it in its own line; a long line is cut into blocks, which lie
// side by side as well. Sums of floats begin anew after some elements; the sums
// of what is before them are made in pairs.
#pragma once

#include "Elements.h"
#include "PairwiseSums.h"

#include "meshloom/Runtime/Library/Team.h"

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

/// A line, of which blocks are reduced several at a time, side by side.
template <ReduceKind kind, typename T> class LineScan {
  using Sum = SumOf<T>;
  static constexpr bool inPairs = kind == ReduceKind::Sum && isRounded<Sum>;

public:
  LineScan(const T *from, int64_t fromStep, T *to, int64_t toStep)
      : from(from), fromStep(fromStep), to(to), toStep(toStep) {}

  /// Reduces `count` elements. Workers of a team first find the total of each
  /// part of the line, and then know what is in front of theirs.
  void run(int64_t count) const {
    Team &team = Team::current();
    int64_t part = PART;
    while (part * PARTS_OF_WORKER * team.workers() < count)
      part *= 2;
    const int64_t parts = (count + part - 1) / part;
    if (team.workers() == 1 || parts == 1) {
      Front front;
      return reduce<true>(front, 0, count);
    }
    std::vector<Front> fronts(static_cast<size_t>(parts));
    // Workers count in fronts of their own, not in lines of memory that they
    // would take from each other.
    team.forEach(parts - 1, [&](int64_t p) {
      Front front;
      reduce<false>(front, p * part, (p + 1) * part);
      fronts[size_t(p + 1)] = front;
    });
    for (size_t p = 1; p < fronts.size(); ++p)
      fronts[p] = joined(fronts[p - 1], fronts[p]);
    team.forEach(parts, [&](int64_t p) {
      Front front = fronts[size_t(p)];
      reduce<true>(front, p * part, std::min((p + 1) * part, count));
    });
  }

private:
  static constexpr int64_t BLOCK = PairwiseSums<Sum>::BLOCK, SIDE = 8;
  /// A part has PART elements or a multiple by a power of two, such that sums
  /// of its blocks are a sum of the whole line's pairs.
  static constexpr int64_t PART = 128 * BLOCK, PARTS_OF_WORKER = 4;

  /// The elements in front of a part of the line.
  struct Front {
    Sum before{};
    PairwiseSums<Sum> blocks;
    bool isEmpty = true;
    Front() { blocks.start(1); }
    void sumBlocks() {
      before = Sum();
      blocks.addTo(&before);
    }
  };

  static Front joined(const Front &first, const Front &second) {
    Front both = first.isEmpty ? second : first;
    if constexpr (inPairs) {
      if (!first.isEmpty)
        both.blocks.append(second.blocks);
      both.sumBlocks();
    } else if (!first.isEmpty) {
      both.before = combined<kind>(first.before, second.before);
    }
    return both;
  }

  Sum load(int64_t i) const { return Numbers<T>::load(from[i * fromStep]); }

  /// Reduces the elements [begin, end) behind `front`, which then has them,
  /// too.
  template <bool stores>
  void reduce(Front &front, int64_t begin, int64_t end) const {
    Sum local[SIDE][BLOCK];
    for (int64_t first = begin; first < end; first += SIDE * BLOCK) {
      const int64_t length = std::min(SIDE * BLOCK, end - first);
      if (length == SIDE * BLOCK) {
        Sum running[SIDE];
        for (int64_t b = 0; b < SIDE; ++b)
          running[b] = local[b][0] = load(first + b * BLOCK);
        for (int64_t i = 1; i < BLOCK; ++i)
          for (int64_t b = 0; b < SIDE; ++b)
            running[b] = local[b][i] =
                combined<kind>(running[b], load(first + b * BLOCK + i));
      } else {
        for (int64_t i = 0; i < length; ++i) {
          Sum *block = local[i / BLOCK];
          const int64_t place = i % BLOCK;
          block[place] =
              place == 0 ? load(first + i)
                         : combined<kind>(block[place - 1], load(first + i));
        }
      }
      for (int64_t b = 0; b * BLOCK < length; ++b)
        endBlock<stores>(front, local[b], first + b * BLOCK,
                         std::min(BLOCK, length - b * BLOCK));
    }
  }

  /// Puts what is in front of a block to its running values.
  template <bool stores>
  void endBlock(Front &front, Sum *block, int64_t begin, int64_t size) const {
    Sum total = block[size - 1];
    if constexpr (stores) {
      if (!front.isEmpty)
        for (int64_t i = 0; i < size; ++i)
          block[i] = combined<kind>(front.before, block[i]);
      T *target = to + begin * toStep;
      for (int64_t i = 0; i < size; ++i)
        target[i * toStep] = Numbers<T>::store(block[i]);
    }
    if constexpr (inPairs) {
      front.blocks.push(&total);
      if constexpr (stores)
        front.sumBlocks();
    } else {
      front.before =
          front.isEmpty ? total : combined<kind>(front.before, total);
    }
    front.isEmpty = false;
  }

  const T *const from;
  const int64_t fromStep;
  T *const to;
  const int64_t toStep;
};

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
        LineScan<kind, T>(from + l * fromLine, fromStep, to + l * toLine,
                          toStep)
            .run(count);
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
