// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sorts as gathers, math and reductions, for targets whose kernels find each
// element by itself (KernelPolicy::picksElements).
#pragma once

#include "ShapedBuilder.h"

namespace meshloom {

/// Builds ops that say where the elements at places `first` of a dim come
/// before those at `second`.
using Before = llvm::function_ref<Value(dtensor::ShapedBuilder &values,
                                        Value first, Value second)>;
/// The places of elements along `dim` in their order, equal ones as they were:
/// i64 numbers in the shape and layout of `type`. No axis cuts the dim.
Value orderBy(Operation *op, Type type, int64_t dim, Before before);

/// Replaces a sort along a dim that no axis cuts, and whose comparator is math.
void pickSorted(dtensor::SortOp op);
/// Replaces the search for the largest elements of a dim that no axis cuts.
void pickTop(dtensor::TopKOp op);

} // namespace meshloom
