// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From a partitioned program (dtensor ops on shards and spmd collectives) to
// one device's StableHLO, as XLA runs it on any backend.
#pragma once

#include "meshloom/Support/LLVM.h"

#include "mlir/IR/OperationSupport.h"

#include <memory>

namespace mlir {
class Pass;
} // namespace mlir

namespace meshloom {

/// Replaces the partitioned functions of `module` by ones on plain tensors: a
/// device's shards, padded to the largest. Collectives name devices by their
/// row-major number in the mesh. Arguments and results say what they are parts
/// of: `meshloom.shape` is the global shape, `meshloom.boxes[device][dim]` is
/// the `[begin, end)` that a device has. Fails, with a diagnostic, on ops that
/// StableHLO has no word for, and on arguments and results that are partial.
LogicalResult exportStableHLO(ModuleOp module);

/// Returns whether ops of that name, on types that StableHLO has, are exported.
bool isExported(mlir::RegisteredOperationName name);
/// Why an op of the dtensor dialect has no counterpart. Empty: it has one, or
/// needs none.
llvm::StringRef whyNotExported(mlir::OperationName name);

/// `--spmd-to-stablehlo`: the above, after `--dtensor-partition`.
///
/// ```mlir
/// func.func @main(%x: tensor<2x4xf32, #spmd.shard<[16, 4], #rows>>)
///     -> tensor<16x4xf32, #spmd.shard<[16, 4], #whole>> {
///   %0 = spmd.all_gather over [x] %x : ...
///   return %0 : ...
/// }
/// // becomes
/// func.func @main(%x: tensor<2x4xf32> {meshloom.shape = [16, 4], ...})
///     -> (tensor<16x4xf32> {...}) {
///   %0 = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64,
///       replica_groups = dense<[[0, 1, 2, 3, 4, 5, 6, 7]]> : tensor<1x8xi64>,
///       ...}> : (tensor<2x4xf32>) -> tensor<16x4xf32>
///   return %0 : tensor<16x4xf32>
/// }
/// ```
std::unique_ptr<mlir::Pass> createSPMDToStableHLO();
void registerSPMDToStableHLO();

} // namespace meshloom
