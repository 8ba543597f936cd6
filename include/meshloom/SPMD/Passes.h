// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A laid out function becomes one device's, with explicit collectives.
#pragma once

#include "meshloom/Core/Contract.h"
#include "meshloom/Dialect/DTensor/DTensor.h"
#include "meshloom/Dialect/SPMD/SPMD.h"
#include "meshloom/Options/MachineModelOption.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace meshloom {

#define GEN_PASS_DECL
#include "meshloom/SPMD/Passes.h.inc"

/// --spmd-explain-collectives that prints to `os`.
std::unique_ptr<mlir::Pass> createExplainCollectives(raw_ostream &os);
/// --spmd-check-contract that also writes, for the one function that it runs
/// on, the contract that the function just keeps; not where it is null.
std::unique_ptr<mlir::Pass> createCheckContract(Contract *tightest);

#define GEN_PASS_REGISTRATION
#include "meshloom/SPMD/Passes.h.inc"

} // namespace meshloom
