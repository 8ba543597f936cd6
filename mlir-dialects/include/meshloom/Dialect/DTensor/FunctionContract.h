// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The contract of a function, which --spmd-check-contract compares with its
// local program.
#pragma once

#include "meshloom/Core/Contract.h"
#include "meshloom/Support/LLVM.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace meshloom::dtensor {

/// The attribute of a function that holds its contract, a list of dictionaries:
/// {collective = "all_reduce", axes = ["batch"], count = 1, bytes = 4263}.
inline constexpr llvm::StringLiteral contractAttr = "dtensor.contract";

/// Gives `function` the contract.
void setContract(mlir::func::FuncOp function, const Contract &contract);

/// The contract of `function`, normalized; nothing where it has none. Reports
/// an attribute that is not a contract.
FailureOr<std::optional<Contract>> contractOf(mlir::func::FuncOp function);

} // namespace meshloom::dtensor
