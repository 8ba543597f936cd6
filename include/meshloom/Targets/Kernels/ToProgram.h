// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From a function of kernels, library dots and collectives to Core's Program.
#pragma once

#include "meshloom/Core/Program.h"
#include "meshloom/Dialect/SPMD/SPMD.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace meshloom {

/// A program and the kernels, and loops that are compiled whole, whose code it
/// calls, each symbol once.
struct LoweredProgram {
  Program program;
  std::vector<std::pair<std::string, Operation *>> kernels;
  /// The program's buffers, by the function's values.
  DenseMap<Value, unsigned> buffers = DenseMap<Value, unsigned>();
};

/// `func` has gone through --spmd-form-kernels. Fails, with a diagnostic at the
/// op, where something in it is not a step: see ToProgram.cpp for what is.
/// Symbols of code follow from the text of kernels: without `hasCode`, for a
/// program that is only predicted, all are "planned", and no kernel is listed.
FailureOr<LoweredProgram> toProgram(mlir::func::FuncOp func,
                                    bool hasCode = true);

/// Returns a linear affine expression as Core has it.
DimAccess linearAccess(mlir::AffineExpr index);

} // namespace meshloom
