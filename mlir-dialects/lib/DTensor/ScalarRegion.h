// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ScalarRegion: the functions of scalars that sort, scatter, reductions and
// windows hold as regions. Their arguments and values are rank-0 tensors
// without encoding, whatever the layouts of the op around them.
#pragma once

#include "meshloom/Dialect/DTensor/DTensor.h"

namespace meshloom::dtensor {

/// Returns whether it is a tensor of no dims.
inline bool isScalar(Value value) {
  return isa<RankedTensorType>(value.getType()) &&
         globalShape(value.getType()).empty();
}

/// Fails, as constraint C<number> of `op`, unless `region` is one block that
/// takes and yields scalars of the given element types.
LogicalResult verifyScalarRegion(Operation *op, unsigned number, Region &region,
                                 ArrayRef<Type> arguments,
                                 ArrayRef<Type> yielded);

/// Element types of values, in order.
SmallVector<Type> elementTypesOf(ValueRange values);

/// Returns whether `dims` are dims of a tensor of rank `rank`, each at most
/// once.
bool areDistinct(ArrayRef<int64_t> dims, size_t rank);

/// How many elements of `value` have the same index in all dims but these.
int64_t productOf(Value value, ArrayRef<int64_t> dims);

/// `shape` without the dims in `dims`.
SmallVector<int64_t> dropDims(ArrayRef<int64_t> shape, ArrayRef<int64_t> dims);

} // namespace meshloom::dtensor
