// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Relayouts that make a value partial, as reductions that are left pending.
#pragma once

#include "meshloom/Dialect/DTensor/DTensor.h"

namespace meshloom {

/// Replaces `op`, whose result begins a reduction, by ops with layouts and, if
/// need be, a relayout that begins none.
void beginReduction(dtensor::RelayoutOp op);

} // namespace meshloom
