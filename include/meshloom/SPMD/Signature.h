// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The facts that a partitioned function tells those who call it, whatever it is
// compiled for.
#pragma once

#include "meshloom/Core/Compiled.h"
#include "meshloom/Support/LLVM.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace meshloom {

/// Arguments, results, their layouts and names (`dtensor.name`), and which
/// result may take which argument's memory (`dtensor.alias`, where both are
/// laid out alike). Layouts are those that the user wrote (WrittenLayouts.h),
/// or on the first of the user's meshes that has axes for them. Fails, with a
/// diagnostic, on values that are not shards of tensors that runtimes know, on
/// several meshes, and on an alias of no result.
FailureOr<Signature> signatureOf(mlir::func::FuncOp function);

/// The collectives that send something, in the order of the program.
std::vector<CompiledCollective> collectivesOf(mlir::func::FuncOp function);

} // namespace meshloom
