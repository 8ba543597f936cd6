// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which kernels a library of products can compute as epilogues.
#pragma once

#include "meshloom/Core/DeviceCode.h"
#include "meshloom/Support/LLVM.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace meshloom {

/// Finds the kernels of a function that are epilogues.
///
/// Their values decide, not how they are written: bodies, which must be
/// analytic functions, are evaluated at some points and compared with each
/// form. The gradient of gelu may read what gelu's kernel has computed on its
/// way, whatever that is.
std::vector<ProductEpilogue> findEpilogues(mlir::func::FuncOp function);

} // namespace meshloom
