// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Variables become arguments and results; loops and branches get simpler.
#pragma once

#include "meshloom/Dialect/DTensor/DTensor.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace meshloom {

#define GEN_PASS_DECL
#include "meshloom/ControlFlow/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "meshloom/ControlFlow/Passes.h.inc"

} // namespace meshloom
