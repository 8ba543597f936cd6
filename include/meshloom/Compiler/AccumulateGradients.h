// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Gradient accumulation: a step that runs its batch in several microbatches.
#pragma once

#include "meshloom/Core/Result.h"
#include "meshloom/Support/LLVM.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <string>

namespace meshloom {

/// On a function: the number of microbatches that its batch is to run in.
inline constexpr llvm::StringLiteral accumulateGradientsAttr =
    "dtensor.accumulate_gradients";

/// Rewrites a function of one block so that it runs its batch in `count`
/// microbatches: a loop computes the parts of the program that depend on the
/// batch for one microbatch after the other and adds up their sums, such as
/// gradients and the loss. The rest runs once. For example
///
///     gradient = transpose(x) @ error(x, w);  w - gradient
///
/// becomes
///
///     for i in range(count): sum += transpose(x[i]) @ error(x[i], w)
///     w - sum
///
/// where x[i] are the rows i, i + count, i + 2 count, ..., so that a device
/// that has rows of x has a part of each microbatch. The batch are the
/// arguments that the step does not update and whose leading dims have one
/// size. Layouts that values inside are given hold for those of a microbatch.
/// Fails with a diagnostic where the program needs the whole batch at once, and
/// where `count` does not divide it.
LogicalResult accumulateGradients(mlir::func::FuncOp function, int64_t count);

/// Asks the compiler for accumulation in the function that
/// CompileOptions::function `name` means. Fails where there is none.
Status askToAccumulate(mlir::ModuleOp module, const std::string &name,
                       int64_t count);

/// Does the same without diagnostics. Returns whether it can be done, and
/// leaves the function as it is where not.
bool tryToAccumulateGradients(mlir::func::FuncOp function, int64_t count);

} // namespace meshloom
