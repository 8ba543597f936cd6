// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// States: what the layouts of one op's values have in common, in whatever way
// the op has values: operands and results, or what its regions carry.
#pragma once

#include "meshloom/Dialect/DTensor/DTensor.h"

namespace meshloom::dtensor {

/// Fails, as constraint S1 or S2 of `op`, unless all `types` or none are
/// shards, and shards are of one mesh.
LogicalResult verifyStates(Operation *op, ArrayRef<Type> types);

} // namespace meshloom::dtensor
