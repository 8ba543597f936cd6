// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The collectives of a local program with what the passes noted on them, priced
// by a machine model.
#pragma once

#include "meshloom/Core/MachineModel.h"
#include "meshloom/Dialect/SPMD/SPMD.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <optional>
#include <string>
#include <vector>

namespace meshloom {

/// One value that a collective moves. Notes that are missing are empty.
struct MovedValue {
  CollectiveOp collective;
  std::string type;     ///< "tensor<8x4xf32>", the global one
  std::string location; ///< the user's line
  std::string consumer; ///< the name of the op that it is for
  std::string reason;   ///< from the user's annotation to the collective
  std::string rejected; ///< the plan that refinement did not take
  int64_t countedBytes, globalBytes;
};

/// One collective, which may move several values.
struct CollectiveUse {
  spmd::CollectiveOpInterface op;
  std::vector<MovedValue> values;
  int64_t sentBytes = 0; ///< by each device in one execution
  Cost cost = 0;         ///< of one execution
  /// The executions in one step; nothing where a loop decides it at run time.
  std::optional<int64_t> executions = 1;

  const CollectiveOp &first() const { return values.front().collective; }
  /// The names of the mesh axes that it runs over.
  std::vector<std::string> axisNames() const;
};

/// All collectives of `function` that send something, in program order.
std::vector<CollectiveUse> collectiveUses(mlir::func::FuncOp function,
                                          const MachineModel &machine);

/// The machine model that `function` was expanded for, which the attribute
/// dtensor.machine holds; without one the default model. Reports an attribute
/// that cannot be read.
FailureOr<MachineModel> machineOf(mlir::func::FuncOp function);

} // namespace meshloom
