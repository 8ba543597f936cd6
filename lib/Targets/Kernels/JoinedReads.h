// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Concatenates whose readers look up where each element comes from.
#pragma once

#include "meshloom/Targets/Kernels/KernelPolicy.h"

namespace meshloom {

/// Rewrites local concatenates that only elementwise ops read, along a dim that
/// is not the innermost one, as selects between paddings: their kernels then
/// read the parts, and the joined tensor is never stored. Others are written
/// part by part (docs/Rationale.md has the measurements).
void readJoinedInPlace(Block &block, const KernelPolicy &policy);

} // namespace meshloom
