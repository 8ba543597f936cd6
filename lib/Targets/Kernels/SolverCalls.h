// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Decompositions as a solver for a device computes them, for targets that have
// one (KernelPolicy::callsSolver).
#pragma once

#include "meshloom/Dialect/SPMD/SPMD.h"

namespace meshloom {

/// Replaces the decompositions of a block by calls of the functions solver_*,
/// and kernels around them.
void callSolver(Block &block);

} // namespace meshloom
