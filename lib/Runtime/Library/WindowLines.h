// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The inner loops of "reduce_window", for every type and kind, compiled for the
// CPU at hand. They combine rows of the operand, which are the elements that
// windows side by side have at the same place.
#pragma once

#include "Elements.h"

#include <span>

namespace meshloom::library {

/// A line of windows: row `p` of the results combines the rows of the operand
/// that begin at outer[o] + inner[i], for all o and for the i from begins[p] to
/// begins[p + 1].
struct WindowLine {
  std::span<const int64_t> outer;
  const int64_t *inner, *begins;
  int64_t places, step; ///< rows of results, and elements between them
  int64_t count;        ///< elements of a row
};

// NOLINTBEGIN(bugprone-macro-parentheses): a type takes none.
/// combineWindowRows combines the rows of a line of windows, each with `init`.
#define MESHLOOM_WINDOW_LINE(T, To)                                            \
  void combineWindowRows(ReduceKind kind, To *to, SumOf<T> init,               \
                         const T *from, const WindowLine &line);
/// combineWindowElements combines into[i] with from[i * step].
#define MESHLOOM_WINDOW_LOOPS(T)                                               \
  MESHLOOM_WINDOW_LINE(T, T)                                                   \
  void combineWindowElements(ReduceKind kind, SumOf<T> *into, const T *from,   \
                             int64_t step, int64_t count);
MESHLOOM_FOR_ELEMENTS(MESHLOOM_WINDOW_LOOPS)
MESHLOOM_WINDOW_LINE(BF16Element, float)
MESHLOOM_WINDOW_LINE(F16Element, float)
MESHLOOM_WINDOW_LINE(BoolElement, uint8_t)
#undef MESHLOOM_WINDOW_LINE
#undef MESHLOOM_WINDOW_LOOPS
// NOLINTEND(bugprone-macro-parentheses)

} // namespace meshloom::library
