// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One op of a map's region on values with lanes.
#pragma once

#include "meshloom/Lanes/LaneBuilder.h"

namespace meshloom::lanes {

/// The results of `op` on `operands`, which stand for its own. No loop, branch
/// or op between places. A failure is reported.
FailureOr<SmallVector<Value>> vectoriseOp(LaneBuilder &b, Operation *op,
                                          ArrayRef<Value> operands);

/// Returns whether equal operands give equal results until a variable is
/// assigned: no effects, and no value from outside in its regions.
bool dependsOnOperandsAlone(Operation *op);
/// Returns whether two such ops give the same of the same operands.
bool computesAlike(Operation *op, Operation *other);

} // namespace meshloom::lanes
