// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rows of updates, compiled for the CPU at hand: the loop over windows is in
// that code, as rows may be short.
#include "ScatterUpdates.h"

#include "Clones.h"

using namespace meshloom;
using namespace meshloom::library;

MESHLOOM_CLONES void library::addRows(float *to, const float *from,
                                      int64_t step, WindowOffsets offsets,
                                      int64_t run) {
  combineRows<CombineBy<ReduceKind::Sum>>(to, from, step, offsets, run);
}
MESHLOOM_CLONES void library::addRows(double *to, const double *from,
                                      int64_t step, WindowOffsets offsets,
                                      int64_t run) {
  combineRows<CombineBy<ReduceKind::Sum>>(to, from, step, offsets, run);
}
MESHLOOM_CLONES void library::addRows(uint32_t *to, const uint32_t *from,
                                      int64_t step, WindowOffsets offsets,
                                      int64_t run) {
  combineRows<CombineBy<ReduceKind::Sum>>(to, from, step, offsets, run);
}
MESHLOOM_CLONES void library::addRows(BF16Element *to, const BF16Element *from,
                                      int64_t step, WindowOffsets offsets,
                                      int64_t run) {
  combineRows<CombineBy<ReduceKind::Sum>>(to, from, step, offsets, run);
}
MESHLOOM_CLONES void library::maxRows(float *to, const float *from,
                                      int64_t step, WindowOffsets offsets,
                                      int64_t run) {
  combineRows<CombineBy<ReduceKind::Max>>(to, from, step, offsets, run);
}
MESHLOOM_CLONES void library::minRows(float *to, const float *from,
                                      int64_t step, WindowOffsets offsets,
                                      int64_t run) {
  combineRows<CombineBy<ReduceKind::Min>>(to, from, step, offsets, run);
}
