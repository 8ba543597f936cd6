// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// dtensor.map and the ops between its places. Few files know them, so their
// classes are not in DTensor.h.
#pragma once

#include "meshloom/Dialect/DTensor/DTensor.h"

#define GET_OP_CLASSES
#include "meshloom/Dialect/DTensor/DTensorMapOps.h.inc"

namespace meshloom::dtensor {

/// The innermost map around `op` that has `axis`, or null.
MapOp mapAround(Operation *op, StringRef axis);

} // namespace meshloom::dtensor
