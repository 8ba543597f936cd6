// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The collectives of a local program with what the passes noted on them, priced
// by a machine model.
#pragma once

#include "meshloom/Core/Explanation.h"
#include "meshloom/Core/MachineModel.h"
#include "meshloom/Dialect/SPMD/SPMD.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace meshloom {

/// A collective and its op.
struct CollectiveUse : ExplainedCollective {
  spmd::CollectiveOpInterface op;
};

/// All collectives of `function` that send something, in program order.
std::vector<CollectiveUse> collectiveUses(mlir::func::FuncOp function,
                                          const MachineModel &machine);

/// The machine model that `function` was expanded for, which the attribute
/// dtensor.machine holds; without one the default model. Reports an attribute
/// that cannot be read.
FailureOr<MachineModel> machineOf(mlir::func::FuncOp function);

} // namespace meshloom
