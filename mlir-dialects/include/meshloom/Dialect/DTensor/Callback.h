// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// dtensor.callback: calls of host functions for what they do. Few files know
// the op, so its class is not in DTensor.h.
#pragma once

#include "meshloom/Dialect/DTensor/DTensor.h"

#define GET_OP_CLASSES
#include "meshloom/Dialect/DTensor/DTensorCallbackOps.h.inc"

namespace meshloom::dtensor {

/// Makes a call of `target` where `b` stands, after the last one before it in
/// the block. `results`: what the function gives; the op has one more, which is
/// there when the call is over. With `batch`, a tensor of i32,
/// there is a call for each of its elements, about what `inputs` and `results`
/// have at that index of their first dims.
CallbackOp createCallback(OpBuilder &b, Location loc, ArrayRef<Type> results,
                          ValueRange inputs, StringRef target, StringRef config,
                          RankedTensorType batch = {});

} // namespace meshloom::dtensor
