// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Advice for a program that breaks its contract.
#pragma once

#include "meshloom/Compiler/Partition.h"
#include "meshloom/SPMD/Passes.h"

#include <string>

namespace meshloom {

/// Returns a sentence that names the one annotation of `function` whose change
/// keeps the contract at the lowest predicted time, or says that there is none.
/// Each change of an annotation (Annotations.h) is tried by partitioning a copy
/// of the function; annotations that `findings` blames come first, and a fixed
/// number of copies is tried. `function` is the only one in its module; its
/// meshes and variables are replaced.
std::string contractAdvice(mlir::func::FuncOp function,
                           const PartitionOptions &partition,
                           const ContractFindings &findings);

} // namespace meshloom
