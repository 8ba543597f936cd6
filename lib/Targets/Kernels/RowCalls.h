// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels over the same rows become one call.
#pragma once

#include "meshloom/Dialect/SPMD/SPMD.h"

namespace meshloom {

/// Joins kernels of `block` that go over the same rows, one after the other, as
/// those of a softmax or of a norm do, to calls of `rows`.
void formRowCalls(Block &block);

} // namespace meshloom
