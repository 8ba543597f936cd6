// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// LoopCalls: loops over little data become one call of one function.
#pragma once

#include "meshloom/Dialect/SPMD/SPMD.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace meshloom {

/// Moves constants that are not splats out of loops and branches, so that a
/// loop that becomes a call reads them as it reads other arrays.
void hoistConstants(mlir::func::FuncOp func);

/// Moves kernels and products that compute the same in every turn out of the
/// loop whose body is `block`. Inner loops first: what leaves one can leave the
/// loop around it.
void hoistInvariants(mlir::Block &block);

/// Returns whether a loop that is compiled whole can have such a product, for
/// which lib/Targets/CPU/LoopProducts.cpp has code.
bool isLoopProduct(dtensor::DotGeneralOp product);

/// Replaces the loops of `block` that are compiled whole by calls of the
/// library function `loop`. Kernels and library calls have been formed in them,
/// and loops inside them have become calls where they can.
void formLoopCalls(Block &block);

} // namespace meshloom
