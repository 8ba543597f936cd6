// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The pass of Autodiff: --dtensor-gradient.
#pragma once

#include "meshloom/Dialect/DTensor/DTensor.h"

#include "mlir/Pass/Pass.h"

namespace meshloom {

#define GEN_PASS_DECL
#include "meshloom/Autodiff/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "meshloom/Autodiff/Passes.h.inc"

} // namespace meshloom
