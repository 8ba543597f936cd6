// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Negative indices of gathers and scatters, which count from the end.
#pragma once

#include "meshloom/Support/LLVM.h"

#include "mlir/IR/Block.h"

namespace meshloom {

/// Lets the library's gathers and scatters of `block` add the extent to
/// negative indices (option `wrapped_extents`, one number for each entry of an
/// index vector), where a kernel did nothing else. Scatters read the entries of
/// index vectors where they lie, if kernels joined them only for the scatter.
void wrapIndicesInCalls(Block &block);

} // namespace meshloom
