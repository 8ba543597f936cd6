// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Concatenates whose readers look up where each element comes from, and rolled
// tensors whose parts are copied.
#pragma once

#include "meshloom/Targets/Kernels/KernelPolicy.h"

namespace meshloom {

/// Rewrites local concatenates that only elementwise ops read, along a dim that
/// is not the innermost one, as selects between paddings: their kernels then
/// read the parts, and the joined tensor is never stored. Others are written
/// part by part (docs/Rationale.md has the measurements).
void readJoinedInPlace(Block &block, const KernelPolicy &policy);

/// Rewrites local selects between two shifts of one tensor (jnp.roll) that no
/// elementwise op reads or computes as concatenates of two slices: each is
/// copied, where a select would look for every element's place.
void writeRollsByParts(Block &block);

} // namespace meshloom
