// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Copies and reductions of boxes, run by run.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace meshloom::plan {

/// Calls `body(source, target, count)` for the longest runs of elements of a
/// box that lie behind one another in two arrays; `source` and `target` are the
/// elements that a run begins at. `extents`, of at least one element: of the
/// box; `from` and `to`: the strides of its dims in the arrays.
template <typename Body>
void forEachRun(std::span<const int64_t> extents, const int64_t *from,
                const int64_t *to, const Body &body) {
  size_t outer = extents.size();
  int64_t run = 1;
  while (outer > 0 && (extents[outer - 1] == 1 ||
                       (from[outer - 1] == run && to[outer - 1] == run)))
    run *= extents[--outer];
  std::vector<int64_t> index(outer, 0);
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

} // namespace meshloom::plan
