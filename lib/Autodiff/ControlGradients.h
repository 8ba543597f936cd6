// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Gradients of loops and branches: what buildGradients does at an op that runs
// regions.
#pragma once

#include "meshloom/Autodiff/Autodiff.h"

namespace meshloom {

/// Reads variables in front of the loops and branches of `block` that read them
/// inside and assign none.
void readBeforeRegions(Block &block);

/// The gradients of `wanted` (operands of `control`, or values from outside
/// that its regions use), given those of its results, at `builder`; null where
/// there is none. A loop may be left without users, in front of one in its
/// place that keeps what its gradient needs.
Result<SmallVector<Value>> buildControlGradients(OpBuilder &builder,
                                                 Operation *control,
                                                 ArrayRef<Value> results,
                                                 ArrayRef<Value> wanted);

} // namespace meshloom
