// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Values as what places have of them: their blocks along axes. How a map over
// the axes of a mesh is entered and left, and what its collectives give.
#pragma once

#include "meshloom/Dialect/DTensor/Wish.h"
#include "meshloom/Lanes/LaneBuilder.h"

namespace meshloom::lanes {

/// For each dim the axes that it is cut over, major to minor.
using AxesPerDim = ArrayRef<SmallVector<unsigned>>;

/// `value`, cut, as its block at each place: it gets lanes for those axes.
/// Their extents divide the dims.
Value toBlocks(LaneBuilder &b, Value value, AxesPerDim cut);
/// The inverse: the value of `shape` whose blocks are `value`. Where the blocks
/// along another one of `axes` differ, the first place's are taken.
Value fromBlocks(LaneBuilder &b, Value value, AxesPerDim cut,
                 ArrayRef<unsigned> axes, ArrayRef<int64_t> shape);

/// A wish about a value with lanes that says nothing about axes but theirs.
dtensor::Wish openWish(LaneBuilder &b, Value value);
/// Constrains the result of a map's collective over `axes` of a mesh to the
/// layout that the program has: its lanes on their axes, and the same along the
/// other ones. Propagation begins there, so no plan sends more than the
/// collectives that are written; refinement is free to send less.
Value asWritten(LaneBuilder &b, Value value, ArrayRef<unsigned> axes);

} // namespace meshloom::lanes
