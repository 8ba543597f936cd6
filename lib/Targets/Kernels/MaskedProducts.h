// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products of whose results a mask hides a part.
#pragma once

#include "meshloom/Support/LLVM.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace meshloom {

/// Writes `spmd.read_where` at each product whose result is read by kernels
/// only, all of which select something else in its place wherever a linear
/// function of the indices is negative: a causal mask over scores of attention.
/// The attribute is the set of the indices at which the result is read:
///
///   %s = dtensor.dot_general ... {spmd.read_where =
///       affine_set<(d0, d1, d2, d3) : (d2 - d3 >= 0)>}
///
/// Backends need not compute the other elements, but must make them numbers
/// that some arithmetic on finite operands could give: a kernel reads all of
/// the result and then selects.
void findMaskedProducts(mlir::func::FuncOp func);

} // namespace meshloom
