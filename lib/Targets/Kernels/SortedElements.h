// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sorts as gathers, math and reductions, for targets whose kernels find each
// element by itself (KernelPolicy::picksElements).
#pragma once

#include "meshloom/Dialect/DTensor/DTensor.h"

namespace meshloom {

/// Replaces a sort along a dim that no axis cuts, and whose comparator is math.
void pickSorted(dtensor::SortOp op);
/// Replaces the search for the largest elements of a dim that no axis cuts.
void pickTop(dtensor::TopKOp op);

} // namespace meshloom
