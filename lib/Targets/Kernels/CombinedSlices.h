// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reductions and windows by a function, as that function of slices.
#pragma once

#include "meshloom/Support/LLVM.h"

namespace meshloom {

/// Rewrites local reductions by an associative function, and small windows with
/// a function, as elementwise ops on slices of their operands. Kernels compute
/// these in vector registers, while the library calls the function once for
/// each element. In deterministic programs reductions keep their order. Leaves
/// an op to the library where axes cut a dim that it combines, or where it has
/// few elements. Adds the results of rounds to `inMemory`: one kernel of
/// several rounds would be large.
void combineSlices(Block &block, DenseSet<Value> &inMemory);

} // namespace meshloom
