// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Arguments and results of functions whose layouts are left to the compiler.
// Discardable attributes:
//
// module attributes {dtensor.open_signature} {
//   func.func @main(%x: tensor<8xf32>, %y: tensor<8xf32, #x>) -> tensor<8xf32>
//       attributes {dtensor.open_arguments = array<i64: 0>,
//                   dtensor.open_results = array<i64: 0>}
#pragma once

#include "meshloom/Dialect/DTensor/DTensor.h"

namespace meshloom::dtensor {

/// On a module: a caller of its functions takes arguments and results without a
/// layout however the compiler lays them out, as callers of jax.jit do. The
/// importer leaves it. Without it they have the layouts that propagation gives.
inline constexpr llvm::StringLiteral openSignatureAttr =
    "dtensor.open_signature";

/// On a function in such a module, from propagation to refinement: the
/// arguments and results that nobody laid out.
inline constexpr llvm::StringLiteral openArgumentsAttr =
    "dtensor.open_arguments";
inline constexpr llvm::StringLiteral openResultsAttr = "dtensor.open_results";

/// On a module: its callers, as those of jax.jit, can only take shards of one
/// size. See the pass `dtensor-divide-signature`.
inline constexpr llvm::StringLiteral evenSignatureAttr =
    "dtensor.even_signature";

} // namespace meshloom::dtensor
