// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Explains why each collective of a local program is there.
#pragma once

#include "meshloom/Core/Explanation.h"
#include "meshloom/Core/MachineModel.h"

namespace mlir::func {
class FuncOp;
} // namespace mlir::func

namespace meshloom {

/// Explains `function`, which comes from --dtensor-partition (any local
/// function will do, but says less). `machine` should be the one that it was
/// made for.
Explanation explain(mlir::func::FuncOp function, const MachineModel &machine);

} // namespace meshloom
