// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Maps become ordinary ops.
#pragma once

#include "meshloom/Dialect/DTensor/DTensor.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace meshloom {

#define GEN_PASS_DECL
#include "meshloom/Lanes/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "meshloom/Lanes/Passes.h.inc"

} // namespace meshloom
