// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Advice for a program that breaks its contract.
#pragma once

#include "meshloom/Compiler/Partition.h"
#include "meshloom/SPMD/Passes.h"

#include <string>

namespace meshloom {

/// A sentence that names the one annotation of `function` whose change keeps
/// the contract at the lowest predicted time, or says that there is none. Each
/// argument and constraint with a layout is tried without it, whole on every
/// device, and cut along each one dim over each one axis, by partitioning a
/// copy of the function; annotations that `findings` blames come first, and a
/// fixed number of copies is tried. `function`, the only one in its module, is
/// left as it is.
std::string contractAdvice(mlir::func::FuncOp function,
                           const PartitionOptions &partition,
                           const ContractFindings &findings);

} // namespace meshloom
