// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// LibraryCalls: the ops that no fused kernel does become spmd.library_call.
#pragma once

#include "meshloom/Dialect/SPMD/SPMD.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace meshloom {

/// Replaces all library ops on shards in the blocks that `func` runs.
LogicalResult formLibraryCalls(mlir::func::FuncOp func);

} // namespace meshloom
