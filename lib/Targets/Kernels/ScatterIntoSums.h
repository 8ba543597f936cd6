// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sums of a tensor and what is scattered into zeros.
#pragma once

#include "meshloom/Support/LLVM.h"

namespace meshloom {

/// Rewrites local sums and differences of a tensor and updates that are added
/// up in zeros as updates that are added to the tensor, in its memory where
/// nobody else needs it: x - c * scatter(0, u) -> scatter(x, -c * u). The
/// gradient of an embedding that an optimizer subtracts from it then takes work
/// for the rows that were looked up, and not for the whole table.
void scatterIntoSums(Block &block);

} // namespace meshloom
