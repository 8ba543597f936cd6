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
};

/// `func` has gone through --spmd-form-kernels. Fails, with a diagnostic at the
/// op, where something in it is not a step: see ToProgram.cpp for what is.
FailureOr<LoweredProgram> toProgram(mlir::func::FuncOp func);

} // namespace meshloom
