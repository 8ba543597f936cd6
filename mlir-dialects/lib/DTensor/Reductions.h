// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The common part of reduce and generic_reduce: several inputs of one shape
// lose the same dims.
#pragma once

#include "RuleBuilder.h"

namespace meshloom::dtensor {

/// `count` operands with these dims, and as many results without `dimensions`.
void addReduced(RuleBuilder &rule, unsigned count,
                const ShardingRule::Tensor &operand,
                ArrayRef<int64_t> dimensions);

/// C1: as many results as inputs, at least one; C2: the dims are distinct.
LogicalResult verifyReduced(Operation *op, mlir::ValueRange inputs,
                            unsigned results, ArrayRef<int64_t> dimensions);

} // namespace meshloom::dtensor
