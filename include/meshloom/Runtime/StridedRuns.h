// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Boxes of two strided arrays, run by run.
#pragma once

#include "meshloom/Core/DType.h"

#include <span>

namespace meshloom {

/// Calls `body(source, target, count)` for the longest runs of elements that
/// lie one behind another in two arrays, and that together are a box; `source`
/// and `target` are the elements that a run begins at. `extents`: of the box;
/// `from` and `to`: the strides of its dims in the arrays.
template <typename Body>
void forEachRun(std::span<const int64_t> extents, std::span<const int64_t> from,
                std::span<const int64_t> to, const Body &body) {
  int64_t run = 1;
  size_t outer = extents.size();
  for (int64_t extent : extents)
    if (extent <= 0)
      return;
  while (outer > 0 && (extents[outer - 1] == 1 ||
                       (from[outer - 1] == run && to[outer - 1] == run)))
    run *= extents[--outer];
  Shape index(outer, 0);
  int64_t source = 0, target = 0;
  while (true) {
    body(source, target, run);
    size_t d = outer;
    while (d-- > 0) {
      source += from[d];
      target += to[d];
      if (++index[d] < extents[d])
        break;
      source -= extents[d] * from[d];
      target -= extents[d] * to[d];
      index[d] = 0;
    }
    if (d == size_t(-1))
      return;
  }
}

} // namespace meshloom
