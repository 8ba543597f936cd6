// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The loops of a library call under construction, and the call.
#pragma once

#include "meshloom/Dialect/SPMD/SPMD.h"

namespace meshloom {

struct CallLoops {
  SmallVector<int64_t> extents;
  SmallVector<bool> reductions, held;
  SmallVector<SmallVector<unsigned>> axes;
  SmallVector<SmallVector<int64_t>> ranges;

  unsigned add(int64_t extent, bool reduction, bool isHeld,
               ArrayRef<unsigned> over) {
    extents.push_back(extent);
    reductions.push_back(reduction);
    held.push_back(isHeld);
    axes.emplace_back(over);
    ranges.emplace_back();
    return extents.size() - 1;
  }
  /// A loop over a dim that every device has whole.
  unsigned addHeld(int64_t extent) {
    return add(extent, /*reduction=*/false, /*isHeld=*/true, {});
  }
};

/// The loops that the index of a dim is a sum of, and their factors.
using TermList = SmallVector<std::pair<unsigned, int64_t>>;

/// Creates a call in front of `op`. `accesses`: of the operands, then of the
/// results, by dim. `overwritable`: by result, the operand in whose memory it
/// may be, or -1.
spmd::LibraryCallOp createCall(Operation *op, TypeRange types,
                               ValueRange operands, const CallLoops &loops,
                               ArrayRef<SmallVector<TermList>> accesses,
                               const Mesh &mesh,
                               const dtensor::LibraryCall &description,
                               ArrayRef<int32_t> overwritable, int64_t flops);

} // namespace meshloom
