// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One device's function becomes the steps of a Program.
#pragma once

#include "meshloom/Dialect/DTensor/DTensor.h"
#include "meshloom/Dialect/SPMD/SPMD.h"
#include "meshloom/Targets/Kernels/KernelPolicy.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace meshloom {

#define GEN_PASS_DECL
#include "meshloom/Targets/Kernels/Passes.h.inc"

/// With what a target wants of kernels.
std::unique_ptr<mlir::Pass> createFormKernels(const KernelPolicy &policy);

#define GEN_PASS_REGISTRATION
#include "meshloom/Targets/Kernels/Passes.h.inc"

} // namespace meshloom
