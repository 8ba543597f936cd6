// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rows of updates, compiled for the CPU at hand: the loop over windows is in
// that code, as rows may be short.
#include "ScatterUpdates.h"

#include "Clones.h"

using namespace meshloom;
using namespace meshloom::library;

// NOLINTBEGIN(bugprone-macro-parentheses): a type takes none.
#define MESHLOOM_ROWS(kind, T)                                                 \
  namespace {                                                                  \
  MESHLOOM_CLONES void rowsBy##kind(T *to, const T *from, int64_t step,        \
                                    WindowOffsets offsets, int64_t run) {      \
    library::combineRows<CombineLanes<ReduceKind::kind>>(to, from, step,       \
                                                         offsets, run);        \
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
