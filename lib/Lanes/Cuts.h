// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Cuts: which elements along the dims of a value are added up.
#pragma once

#include "meshloom/Lanes/LaneBuilder.h"

#include <optional>

namespace meshloom::lanes {

/// The elements that are added up of a dim of `size` elements: element
/// `(major * extent + i) * minor + rest` for all i, so that size / extent stay.
struct Cut {
  int64_t dim, minor, extent;
};
using Cuts = SmallVector<Cut, 4>;

/// Returns the cut of `dim`, or null.
const Cut *cutOf(const Cuts &cuts, int64_t dim);

/// Where the cuts of a reshape's result, of shape `to`, are in its operand;
/// none where they are no cuts there.
std::optional<Cuts> throughReshape(ArrayRef<int64_t> from, ArrayRef<int64_t> to,
                                   const Cuts &cuts);

} // namespace meshloom::lanes
