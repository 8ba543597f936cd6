// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Long reductions of few results become two kernels.
#pragma once

#include "meshloom/Dialect/SPMD/SPMD.h"
#include "meshloom/Targets/Kernels/KernelPolicy.h"

namespace meshloom {

/// Cuts the terms of reductions that have few results into parts: one kernel
/// reduces each part, and a second one what these give. The policy says where.
void splitReductions(Block &block, const KernelPolicy &policy);

} // namespace meshloom
