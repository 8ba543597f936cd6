// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reductions that have no states in memory, which take longer to read and write
// there than few terms take to combine: of dense runs of up to 3 elements, and
// of columns that 4 to 16 vector registers have the states of.
#pragma once

#include "Elements.h"
#include "LaneTranspose.h"
#include "PairwiseSums.h"

#include <bit>
#include <cstring>
#include <limits>
#include <utility>

namespace meshloom::library {

/// The longest runs whose terms are combined one by one.
inline constexpr int64_t SHORT_RUN = 3;

/// Returns the state of no terms.
template <ReduceKind kind, typename Sum> constexpr Sum identity() {
  using Limits = std::numeric_limits<Sum>;
  if constexpr (kind == ReduceKind::Sum)
    return 0;
  else if constexpr (kind == ReduceKind::Max)
    return Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
  else
    return Limits::has_infinity ? Limits::infinity() : Limits::max();
}

/// A vector register of elements.
template <typename T> inline constexpr int REGISTER_LANES = 64 / sizeof(T);
template <typename T> using Register = LaneVector<T, REGISTER_LANES<T>>;

/// Sets `to` to the lanes of `a` that are larger or smaller than those of `b`,
/// and to the others of `b`.
template <ReduceKind kind, typename T>
MESHLOOM_LANES_INLINE void selectLanes(Register<T> &to, const Register<T> &a,
                                       const Register<T> &b) {
  if constexpr (kind == ReduceKind::Max)
    to = a > b ? a : b;
  else
    to = a < b ? a : b;
}

/// Each lane of `state` is combined with the one of `term`.
template <ReduceKind kind, typename T>
MESHLOOM_LANES_INLINE void combineLanes(Register<T> &state,
                                        const Register<T> &term) {
  if constexpr (kind == ReduceKind::Max)
    state = ((term > state) | (term != term)) ? term : state;
  else if constexpr (kind == ReduceKind::Min)
    state = ((term < state) | (term != term)) ? term : state;
  else if constexpr (isRounded<T>)
    state += term;
  else {
    using Unsigned = LaneVector<Wrapping<T>, REGISTER_LANES<T>>;
    state = Register<T>(Unsigned(term) + Unsigned(state));
  }
}

/// Says whether the larger or smaller float is wanted: its instruction may lose
/// a nan, which combineLanes() then looks for.
template <ReduceKind kind, typename T>
inline constexpr bool losesNan = kind != ReduceKind::Sum && isRounded<T>;

/// The same of two terms, of which it is asked once whether one is nan.
template <ReduceKind kind, typename T>
MESHLOOM_LANES_INLINE void
combineLanes(Register<T> &state, const Register<T> &a, const Register<T> &b) {
  const auto hasNan = (a != a) | (b != b);
  Register<T> term;
  selectLanes<kind, T>(term, a, b);
  selectLanes<kind, T>(state, term, state);
  state = hasNan ? Register<T>{} + std::numeric_limits<T>::quiet_NaN() : state;
}

/// Reductions of columns whose states stay in registers. The last four vectors
/// end with the last column, and may have columns of those before them. (It has
/// no constructor: clang 19 does not emit those that only clones call.)
template <ReduceKind kind, typename T, int vectors> struct ColumnStates {
  static constexpr int lanes = REGISTER_LANES<T>;

  int64_t behind; ///< columns behind the vectors, at most 0

  /// to[i] becomes the reduction of from[row * step + i] for all rows.
  [[gnu::always_inline]] inline void reduce(T *to, const T *from, int64_t step,
                                            int64_t rows) {
    Vectors levels[LEVELS], running;
    uint64_t blocks = 0;
    for (; inPairs && rows > BLOCK; rows -= BLOCK, from += BLOCK * step) {
      combine(running, from, step, BLOCK);
      ++blocks;
      const int level = std::countr_zero(blocks);
      for (int lower = 0; lower < level; ++lower)
        add(running, levels[lower]);
      levels[level] = running;
    }
    combine(running, from, step, rows);
    for (int level = 0; blocks >> level; ++level)
      if (blocks >> level & 1)
        add(running, levels[level]);
    MESHLOOM_LANES_UNROLL
    for (int v = 0; v < vectors; ++v)
      std::memcpy(to + place(v), &running.of[v], sizeof(Vector));
  }

  /// The most rows that reduce() takes.
  static constexpr int64_t mostRows() { return BLOCK << (LEVELS - 1); }

private:
  static constexpr bool inPairs = kind == ReduceKind::Sum && isRounded<T>;
  static constexpr int64_t BLOCK = PairwiseSums<T>::BLOCK, LEVELS = 16;
  using Vector = Register<T>;
  struct Vectors {
    Vector of[vectors];
  };

  [[gnu::always_inline]] inline int64_t place(int v) const {
    return v * lanes + (v < vectors - 4 ? 0 : behind);
  }
  [[gnu::always_inline]] inline void combine(Vectors &running, const T *from,
                                             int64_t step, int64_t rows) const {
    MESHLOOM_LANES_UNROLL
    for (Vector &state : running.of)
      state = Vector{} + identity<kind, T>();
    int64_t row = 0;
    if constexpr (losesNan<kind, T>)
      for (; row + 1 < rows; row += 2, from += 2 * step)
        MESHLOOM_LANES_UNROLL
    for (int v = 0; v < vectors; ++v) {
      Vector first, second;
      std::memcpy(&first, from + place(v), sizeof first);
      std::memcpy(&second, from + step + place(v), sizeof second);
      combineLanes<kind, T>(running.of[v], first, second);
    }
    for (; row < rows; ++row, from += step)
      MESHLOOM_LANES_UNROLL
    for (int v = 0; v < vectors; ++v) {
      Vector term;
      std::memcpy(&term, from + place(v), sizeof term);
      combineLanes<kind, T>(running.of[v], term);
    }
  }
  [[gnu::always_inline]] static inline void add(Vectors &to,
                                                const Vectors &from) {
    MESHLOOM_LANES_UNROLL
    for (int v = 0; v < vectors; ++v)
      combineLanes<kind, T>(to.of[v], from.of[v]);
  }
};

/// The fewest and the most vectors of columns whose states stay in registers.
/// Two long rows at once, as combineLanes() has them, are read slowly.
inline constexpr int FEW_VECTORS = 4;
template <ReduceKind kind, typename T>
inline constexpr int MOST_VECTORS = losesNan<kind, T> ? 8 : 16;

/// to[i] becomes the reduction of from[row * step + i] for all rows.
template <ReduceKind kind, typename T, int vectors = FEW_VECTORS>
[[gnu::always_inline]] inline void
reduceColumns(T *to, const T *from, int64_t step, int64_t rows, int64_t width) {
  using States = ColumnStates<kind, T, vectors>;
  if constexpr (vectors < MOST_VECTORS<kind, T>)
    if (width > vectors * States::lanes)
      return reduceColumns<kind, T, vectors + 4>(to, from, step, rows, width);
  States{width - vectors * States::lanes}.reduce(to, from, step, rows);
}

/// Picks every `Length`th element, from number `Column` on, of as many vectors.
template <typename T, int Length, int Column, int From = 1, int... Lane>
MESHLOOM_LANES_INLINE void
pickColumn(Register<T> &to, const Register<T> *rows,
           std::integer_sequence<int, Lane...> lanes) {
  constexpr auto source = [](int lane) {
    constexpr int width = REGISTER_LANES<T>;
    const int place = lane * Length + Column;
    if (place / width == From)
      return width + place % width;
    return From == 1 && place < width ? place : lane;
  };
  to = __builtin_shufflevector(to, rows[From], source(Lane)...);
  if constexpr (From + 1 < Length)
    pickColumn<T, Length, Column, From + 1>(to, rows, lanes);
}

/// Turns vectors of rows, which lie side by side, into their columns.
template <typename T, int Length, int Column = 0>
MESHLOOM_LANES_INLINE void pickColumns(Register<T> *columns,
                                       const Register<T> *rows) {
  columns[Column] = rows[0];
  pickColumn<T, Length, Column>(
      columns[Column], rows,
      std::make_integer_sequence<int, REGISTER_LANES<T>>());
  if constexpr (Column + 1 < Length)
    pickColumns<T, Length, Column + 1>(columns, rows);
}

/// to[i] becomes the reduction of from[i * length], ... for all runs.
template <ReduceKind kind, typename T, int length = 2>
[[gnu::always_inline]] inline void
reduceShortRuns(T *__restrict to, const T *__restrict from, int64_t count,
                int64_t runs) {
  if constexpr (length < SHORT_RUN)
    if (count > length)
      return reduceShortRuns<kind, T, length + 1>(to, from, count, runs);
  int64_t i = 0;
  for (; i + REGISTER_LANES<T> <= runs; i += REGISTER_LANES<T>) {
    Register<T> rows[length], columns[length],
        state = Register<T>{} + identity<kind, T>();
    std::memcpy(rows, from + i * length, sizeof rows);
    pickColumns<T, length>(columns, rows);
    constexpr int first = losesNan<kind, T> ? 2 : 0;
    if constexpr (first > 0)
      combineLanes<kind, T>(state, columns[0], columns[1]);
    MESHLOOM_LANES_UNROLL
    for (int k = first; k < length; ++k)
      combineLanes<kind, T>(state, columns[k]);
    std::memcpy(to + i, &state, sizeof state);
  }
  MESHLOOM_LANES_SCALAR
  for (; i < runs; ++i) {
    T state = identity<kind, T>();
    for (int k = 0; k < length; ++k)
      state = combined<kind>(from[i * length + k], state);
    to[i] = state;
  }
}

} // namespace meshloom::library
