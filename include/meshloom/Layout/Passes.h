// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every value gets a layout, and operands one that their op can use.
#pragma once

#include "meshloom/Dialect/DTensor/DTensor.h"
#include "meshloom/Options/MachineModelOption.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace meshloom {

#define GEN_PASS_DECL
#include "meshloom/Layout/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "meshloom/Layout/Passes.h.inc"

/// The time in picoseconds that --dtensor-refine-layouts predicts for a step of
/// the function, as an i64 attribute.
inline constexpr llvm::StringLiteral predictedTimeAttr =
    "dtensor.predicted_time";

/// Attaches DistributableOpInterface to the ops of the dtensor dialect.
void registerDistribution(mlir::DialectRegistry &registry);

} // namespace meshloom
