// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which kernels a library of products can compute as epilogues.
#pragma once

#include "meshloom/Core/DeviceCode.h"
#include "meshloom/Support/LLVM.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace meshloom {

/// Finds the kernels of a function that are epilogues.
///
/// The values of a kernel decide, and not how it is written: its body, which
/// must be an analytic function, is evaluated at some points and compared with
/// each form. The gradient of gelu may read what gelu's kernel has computed on
/// its way, whatever that is.
std::vector<ProductEpilogue> findEpilogues(mlir::func::FuncOp function);

} // namespace meshloom
