// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Scatters as sorts, gathers and math, for targets whose kernels find each
// element by itself (KernelPolicy::picksElements).
#pragma once

#include "meshloom/Dialect/DTensor/DTensor.h"

namespace meshloom {

/// Replaces a scatter of whole rows, which no axis cuts, along dims that index
/// vectors name wholly. Others are left to the library.
void pickScattered(dtensor::ScatterOp op);

} // namespace meshloom
