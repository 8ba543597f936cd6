// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Square blocks of numbers in vector registers: rows become columns.
#pragma once

#include <utility>

namespace meshloom::library {

#define MESHLOOM_LANES_INLINE [[gnu::always_inline]] inline
// Values stay in registers where the loops over them are written out; what is
// left behind vectors is no loop to find vectors in.
#ifdef __clang__
#define MESHLOOM_LANES_UNROLL _Pragma("clang loop unroll(full)")
#define MESHLOOM_LANES_SCALAR                                                  \
  _Pragma("clang loop vectorize(disable) unroll(disable)")
#else
#define MESHLOOM_LANES_SCALAR
#define MESHLOOM_LANES_UNROLL _Pragma("GCC unroll 32")
#endif

/// A vector of `Lanes` numbers.
template <typename T, int Lanes>
using LaneVector = T __attribute__((vector_size(Lanes * sizeof(T))));

/// The first or second halves of two vectors, their lanes in turn. The same of
/// each `Part` lanes, where a part is less than the vector.
template <typename T, int Lanes, bool First, int Part = Lanes, int... Lane>
MESHLOOM_LANES_INLINE void
interleaveLanes(LaneVector<T, Lanes> &to, const LaneVector<T, Lanes> &a,
                const LaneVector<T, Lanes> &b,
                std::integer_sequence<int, Lane...>) {
  to = __builtin_shufflevector(a, b,
                               (Lane / Part * Part + Lane % Part / 2 +
                                (First ? 0 : Part / 2) +
                                (Lane % 2 == 0 ? 0 : Lanes))...);
}

/// Rows become columns, by as many steps as a lane's index has bits: `Part`
/// rows, each part of which is a square with those of the others.
template <typename T, int Lanes, int Part = Lanes, int Step = 1>
MESHLOOM_LANES_INLINE void transposeLanes(LaneVector<T, Lanes> *rows) {
  if constexpr (Step < Part) {
    constexpr auto lanes = std::make_integer_sequence<int, Lanes>();
    LaneVector<T, Lanes> next[Part];
    MESHLOOM_LANES_UNROLL
    for (int i = 0; i < Part / 2; ++i) {
      interleaveLanes<T, Lanes, true, Part>(next[2 * i], rows[i],
                                            rows[i + Part / 2], lanes);
      interleaveLanes<T, Lanes, false, Part>(next[2 * i + 1], rows[i],
                                             rows[i + Part / 2], lanes);
    }
    transposeLanes<T, Lanes, Part, Step * 2>(next);
    MESHLOOM_LANES_UNROLL
    for (int i = 0; i < Part; ++i)
      rows[i] = next[i];
  }
}

} // namespace meshloom::library
