// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Ops whose results are made of elements at indices that are computed, for
// targets whose kernels find each of them by itself
// (KernelPolicy::picksElements): gathers, slices and updates at run-time
// indices, windows, running reductions, sorts, scatters.
#pragma once

#include "meshloom/Support/LLVM.h"

namespace meshloom {

/// Marks the gathers of `block`, see isNumberGather, and makes gathers, math
/// and reductions of those other ops. Leaves ops to the library whose elements
/// may be on other devices, windows and scatters with a function of their own,
/// windows with base dilations, and scatters of parts of rows.
void pickElements(Block &block);

} // namespace meshloom
