// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The costs of programs whose layouts are still to be chosen, by the prediction
// that users see.
#pragma once

#include "meshloom/Compiler/Partition.h"
#include "meshloom/Layout/ArgumentSearch.h"
#include "meshloom/Targets/Target.h"

namespace meshloom {

/// The costs of a step on each device.
struct ProgramCosts {
  Cost time = 0;
  int64_t peak = 0; ///< bytes
};

/// Predicts the costs of the program that `module`, whose values all have
/// layouts, is compiled to. The module is used up.
FailureOr<ProgramCosts> predictCosts(OwningOpRef<ModuleOp> module,
                                     const Target &target,
                                     const PartitionOptions &partition);

/// Returns a search that chooses between its best plans by predicted costs. It
/// refers to both parameters.
ArgumentSearch predictingSearch(const Target &target,
                                const PartitionOptions &partition);

} // namespace meshloom
