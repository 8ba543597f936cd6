// What the decompositions of different families share.
#pragma once

#include "Importer.h"

namespace meshloom::importer {

/// Integers ordered as IEEE 754's total order of the floats `value`: -nan,
/// -inf,
/// ..., -0, 0, ..., inf, nan.
Value totalOrderKey(LaneBuilder &b, Value value);

/// Applies a region on scalars to all elements of tensors of local `shape`.
Imported importElementwiseRegion(Importer &importer, Region &region,
                                 ArrayRef<Value> arguments,
                                 ArrayRef<int64_t> shape);

} // namespace meshloom::importer
