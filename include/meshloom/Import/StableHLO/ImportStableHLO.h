// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From StableHLO with Shardy or GSPMD annotations, as JAX prints it, to the
// dtensor dialect.
#pragma once

#include "meshloom/Support/LLVM.h"

#include <memory>

namespace mlir {
class Pass;
} // namespace mlir

namespace meshloom {

/// Returns whether anything in `module` is for importStableHLO: an op of
/// stablehlo, chlo or sdy, a sharding, a call, or XLA's number of partitions.
bool holdsStableHLO(ModuleOp module);

/// Replaces the module's functions by dtensor ones of the same names; private
/// functions are inlined where they are called. Shardings become layouts of
/// arguments and constraints on values, over one mesh that all meshes of the
/// module are parts of. Fails, with a diagnostic at the source's location, on
/// everything that has no meaning here: dynamic shapes, unknown custom calls,
/// malformed or incompatible shardings. The module is then as it was.
LogicalResult importStableHLO(ModuleOp module);

/// Returns whether importStableHLO knows what calls of `target` mean. All other
/// calls need a function that is registered by register_custom_call.
bool importsCustomCall(StringRef target);

/// `--stablehlo-to-dtensor`: the above, on modules that hold such ops.
///
/// ```mlir
/// sdy.mesh @mesh = <["x"=8]>
/// func.func @main(%x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh,
/// [{"x"}, {}]>}) -> tensor<8x4xf32> {
///   %0 = stablehlo.tanh %x : tensor<8x4xf32>
///   return %0 : tensor<8x4xf32>
/// }
/// // becomes
/// #layout_x_u = #dtensor.layout<#dtensor.mesh<x = 8>, [x, *]>
/// func.func @main(%x: tensor<8x4xf32, #layout_x_u>) -> tensor<8x4xf32> {
///   %0 = dtensor.tanh %x : (tensor<8x4xf32, #layout_x_u>) -> tensor<8x4xf32>
///   return %0 : tensor<8x4xf32>
/// }
/// ```
std::unique_ptr<mlir::Pass> createStableHLOToDTensor();
void registerStableHLOToDTensor();

} // namespace meshloom
