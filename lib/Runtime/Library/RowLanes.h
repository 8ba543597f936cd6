// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A few neighbours of a row as one vector, and how two rows are combined by
// such pieces. Pieces are read before any of them is written, so the two rows
// need not be known to lie apart; and explicit vectors take the compiler a
// small part of the time that finding them in loops takes.
#pragma once

#include "Elements.h"
#include "IndexedWindows.h"
#include "LaneTranspose.h"
#include "SumOfUpdates.h"

#include <cstring>
#include <span>
#include <type_traits>
#include <utility>

namespace meshloom::library {

/// Reads the elements of a row as what they accumulate in. Vectors are not
/// returned: how that is done depends on the CPU that a function is for.
template <typename T, int N>
MESHLOOM_LANES_INLINE void loadLanes(LaneVector<SumOf<T>, N> &lanes,
                                     const T *from) {
  if constexpr (std::is_same_v<T, BF16Element>) {
    LaneVector<uint16_t, N> bits;
    std::memcpy(&bits, from, sizeof(bits));
    const auto wide = __builtin_convertvector(bits, LaneVector<uint32_t, N>)
                      << 16;
    std::memcpy(&lanes, &wide, sizeof(lanes));
  } else if constexpr (std::is_same_v<T, F16Element>) {
    LaneVector<_Float16, N> halves;
    std::memcpy(&halves, from, sizeof(halves));
    lanes = __builtin_convertvector(halves, LaneVector<float, N>);
  } else {
    std::memcpy(&lanes, from, sizeof(lanes));
  }
}

/// Writes them, rounded to nearest even.
template <typename T, int N>
MESHLOOM_LANES_INLINE void storeLanes(T *to,
                                      const LaneVector<SumOf<T>, N> &lanes) {
  if constexpr (std::is_same_v<T, BF16Element>) {
    LaneVector<uint32_t, N> bits;
    std::memcpy(&bits, &lanes, sizeof(bits));
    const LaneVector<uint32_t, N> rounded =
        (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
    const LaneVector<uint32_t, N> nan = bits >> 16 | 0x40;
    const LaneVector<uint32_t, N> narrow = lanes == lanes ? rounded : nan;
    const auto halves =
        __builtin_convertvector(narrow, LaneVector<uint16_t, N>);
    std::memcpy(to, &halves, sizeof(halves));
  } else if constexpr (std::is_same_v<T, F16Element>) {
    const auto halves = __builtin_convertvector(lanes, LaneVector<_Float16, N>);
    std::memcpy(to, &halves, sizeof(halves));
  } else {
    std::memcpy(to, &lanes, sizeof(lanes));
  }
}

/// Combines vectors lane by lane, as combined() does numbers.
template <ReduceKind kind, typename Vector>
MESHLOOM_LANES_INLINE void combineVectors(Vector &a, const Vector &b) {
  if constexpr (kind == ReduceKind::Sum)
    a += b;
  else if constexpr (kind == ReduceKind::Prod)
    a *= b;
  else if constexpr (kind == ReduceKind::Max)
    a = ((a > b) | (a != a)) ? a : b;
  else if constexpr (kind == ReduceKind::Min)
    a = ((a < b) | (a != a)) ? a : b;
  else if constexpr (kind == ReduceKind::And)
    a &= b;
  else
    a |= b;
}

/// Takes the larger or the smaller of narrow floats, a nan where either is one,
/// as they lie in memory: their magnitudes have the order of integers.
template <ReduceKind kind, typename T, int N>
MESHLOOM_LANES_INLINE void selectNarrow(T *to, const T *from) {
  using Bits = LaneVector<int16_t, N>;
  constexpr int16_t infinity = std::is_same_v<T, F16Element> ? 0x7c00 : 0x7f80;
  Bits a, b;
  std::memcpy(&a, to, sizeof(a));
  std::memcpy(&b, from, sizeof(b));
  const Bits sizeA = a & 0x7fff, sizeB = b & 0x7fff;
  const Bits signA = a >> 15, signB = b >> 15; // 0 or -1
  const Bits orderA = (sizeA ^ signA) - signA, orderB = (sizeB ^ signB) - signB;
  const Bits isBefore =
      kind == ReduceKind::Max ? orderA > orderB : orderA < orderB;
  a = ((isBefore & (sizeB <= infinity)) | (sizeA > infinity)) ? a : b;
  std::memcpy(to, &a, sizeof(a));
}

/// Combines elements of a row with those of another one. No complex numbers.
template <ReduceKind kind> struct CombineLanes {
  static constexpr int LONGEST = 16;

  template <int N, typename T>
  MESHLOOM_LANES_INLINE static void apply(T *to, const T *from) {
    if constexpr (!std::is_same_v<T, SumOf<T>> && kind != ReduceKind::Sum) {
      static_assert(kind == ReduceKind::Max || kind == ReduceKind::Min);
      selectNarrow<kind, T, N>(to, from);
    } else {
      LaneVector<SumOf<T>, N> a, b;
      loadLanes<T, N>(a, to);
      loadLanes<T, N>(b, from);
      combineVectors<kind>(a, b);
      storeLanes<T, N>(to, a);
    }
  }
};

/// Takes every second lane, from lane `First` on.
template <int First, typename T, int N, int... Lane>
MESHLOOM_LANES_INLINE void
everySecondLane(LaneVector<T, N> &to, const LaneVector<T, 2 * N> &from,
                std::integer_sequence<int, Lane...>) {
  to = __builtin_shufflevector(from, from, (2 * Lane + First)...);
}

/// Adds elements of a row to sums.
struct AddLanes {
  static constexpr int LONGEST = 8;

  template <int N, typename T>
  MESHLOOM_LANES_INLINE static void apply(SumOfUpdates<T> *to, const T *from) {
    LaneVector<SumOf<T>, N> terms;
    loadLanes<T, N>(terms, from);
    if constexpr (std::is_same_v<T, double>) {
      addCorrected<N>(to, terms, std::make_integer_sequence<int, 2 * N>());
    } else {
      static_assert(sizeof(SumOfUpdates<T>) == sizeof(double));
      LaneVector<double, N> sums;
      std::memcpy(&sums, to, sizeof(sums));
      sums += __builtin_convertvector(terms, LaneVector<double, N>);
      std::memcpy(to, &sums, sizeof(sums));
    }
  }

private:
  /// Sums and their errors lie in turns. See CorrectedSum.
  template <int N, int... Pair>
  MESHLOOM_LANES_INLINE static void
  addCorrected(SumOfUpdates<double> *to, const LaneVector<double, N> &terms,
               std::integer_sequence<int, Pair...>) {
    LaneVector<double, 2 * N> pairs;
    static_assert(sizeof(SumOfUpdates<double>) == 2 * sizeof(double));
    std::memcpy(&pairs, to, sizeof(pairs));
    constexpr auto lanes = std::make_integer_sequence<int, N>();
    LaneVector<double, N> sums, errors;
    everySecondLane<0, double, N>(sums, pairs, lanes);
    everySecondLane<1, double, N>(errors, pairs, lanes);
    const LaneVector<double, N> next = sums + terms;
    const LaneVector<double, N> rounded = next - sums;
    errors += (sums - (next - rounded)) + (terms - rounded);
    pairs = __builtin_shufflevector(next, errors, (Pair / 2 + Pair % 2 * N)...);
    std::memcpy(to, &pairs, sizeof(pairs));
  }
};

/// Calls body(i, n) for pieces of n elements that begin at i and make up
/// begin <= i < end; n is a constant, a power of two up to `longest`. Where the
/// end is a constant, too, the loops are written out.
template <int longest, typename End, typename Body>
MESHLOOM_LANES_INLINE void forPieces(int64_t begin, End end, const Body &body) {
  constexpr std::integral_constant<int, longest> piece;
  for (; begin + piece <= end; begin += piece)
    body(begin, piece);
  if constexpr (longest > 1)
    forPieces<longest / 2>(begin, end, body);
}

/// Combines the elements of a row with those of another one by `By`, which is
/// CombineLanes or AddLanes.
template <typename By, typename To, typename From, typename Run>
MESHLOOM_LANES_INLINE void combineRow(To *to, const From *from, Run run) {
  forPieces<By::LONGEST>(
      0, run, [&](int64_t begin, auto count) __attribute__((always_inline)) {
        By::template apply<count()>(to + begin, from + begin);
      });
}

/// Calls body(run). Runs of less than `end`, of 16 and of 32 are constants, so
/// that no loops go over them.
template <int64_t end = 9, typename Body>
MESHLOOM_LANES_INLINE void withRun(int64_t run, const Body &body) {
  if constexpr (end > 1) {
    if (run == end - 1)
      body(std::integral_constant<int64_t, end - 1>());
    else
      withRun<end - 1>(run, body);
  } else if (run == 16) {
    body(std::integral_constant<int64_t, 16>());
  } else if (run == 32) {
    body(std::integral_constant<int64_t, 32>());
  } else {
    body(run);
  }
}

/// Element e of row to + offsets[i] is combined with from[i * step + e] by
/// `By`, row after row, for e < run.
template <typename By, typename To, typename From, typename Offset>
MESHLOOM_LANES_INLINE void combineRows(To *to, const From *from, int64_t step,
                                       std::span<const Offset> offsets,
                                       int64_t run) {
  withRun(run, [&](auto length) __attribute__((always_inline)) {
    forEachPresent(offsets, [&](size_t i) __attribute__((always_inline)) {
      combineRow<By>(to + offsets[i], from + int64_t(i) * step, length);
    });
  });
}

} // namespace meshloom::library
