// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rows of updates, compiled for the CPU at hand: the loop over windows is in
// that code, as rows may be short.
#include "ScatterUpdates.h"

#include "Clones.h"
#include "RowLanes.h"

using namespace meshloom;
using namespace meshloom::library;

namespace {
/// Element e of row to + offsets[i] is combined with from[i * step + e], row
/// after row.
template <ReduceKind kind, typename T>
MESHLOOM_LANES_INLINE void combineRows(T *to, const T *from, int64_t step,
                                       WindowOffsets offsets, int64_t run) {
  withRun(run, [&](auto length) __attribute__((always_inline)) {
    forEachPresent(offsets, [&](size_t i) __attribute__((always_inline)) {
      combineRow<CombineLanes<kind>>(to + offsets[i], from + int64_t(i) * step,
                                     length);
    });
  });
}
} // namespace

// NOLINTBEGIN(bugprone-macro-parentheses): a type takes none.
#define MESHLOOM_ROWS(kind, T)                                                 \
  namespace {                                                                  \
  MESHLOOM_CLONES void rowsBy##kind(T *to, const T *from, int64_t step,        \
                                    WindowOffsets offsets, int64_t run) {      \
    combineRows<ReduceKind::kind>(to, from, step, offsets, run);               \
  }                                                                            \
  }                                                                            \
  template <>                                                                  \
  void library::combineRowsBy<ReduceKind::kind>(                               \
      T * to, const T *from, int64_t step, WindowOffsets offsets,              \
      int64_t run) {                                                           \
    rowsBy##kind(to, from, step, offsets, run);                                \
  }
MESHLOOM_FOR_ROWS(MESHLOOM_ROWS)
#undef MESHLOOM_ROWS
// NOLINTEND(bugprone-macro-parentheses)
