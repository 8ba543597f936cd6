// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The values that a function returns in addition to those of its type.
#pragma once

#include "meshloom/Support/LLVM.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace meshloom {

/// For a pass that has replaced values which `function` may return: where the
/// function's type gives a result's layout, a constraint gives it to the value;
/// else the function's type takes the value's.
void matchReturnTypes(mlir::func::FuncOp function);

} // namespace meshloom
