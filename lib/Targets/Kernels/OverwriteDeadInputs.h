// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In-place kernels: outputs that take the memory of an input.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace meshloom {

/// Sets `in_place` of the kernels in `func` wherever an input of an output's
/// type, read where the output is written, is not needed afterwards.
void overwriteDeadInputs(mlir::func::FuncOp func);

} // namespace meshloom
