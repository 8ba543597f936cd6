// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A laid out function becomes one device's, with explicit collectives.
#pragma once

#include "meshloom/Core/Contract.h"
#include "meshloom/Core/Explanation.h"
#include "meshloom/Dialect/DTensor/DTensor.h"
#include "meshloom/Dialect/SPMD/SPMD.h"
#include "meshloom/Options/MachineModelOption.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

#include <functional>

namespace meshloom {

#define GEN_PASS_DECL
#include "meshloom/SPMD/Passes.h.inc"

/// --spmd-explain-collectives that gives `report` the explanation of each
/// function instead of printing it.
std::unique_ptr<mlir::Pass>
createExplainCollectives(std::function<void(const Explanation &)> report);
/// Returns the limit of a contract that the collectives of one kind and axes
/// exceed, in words; empty where the contract allows them.
std::string breach(const Contract &contract, const Allowance &sent);
/// The findings of --spmd-check-contract about one function.
struct ContractFindings {
  Contract tightest; ///< what the function just keeps
  /// The reasons of the collectives that its own contract forbids; empty: the
  /// function keeps it.
  std::vector<std::string> causes;
};
/// --spmd-check-contract that writes its findings about the one function that
/// it runs on.
std::unique_ptr<mlir::Pass> createCheckContract(ContractFindings &findings);

#define GEN_PASS_REGISTRATION
#include "meshloom/SPMD/Passes.h.inc"

} // namespace meshloom
