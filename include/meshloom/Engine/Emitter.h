// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The builder that the bodies of API ops are written with.
#pragma once

#include "meshloom/Dialect/DTensor/TensorBuilder.h"

namespace meshloom::detail {

/// The builder that the bodies of API ops are written with.
class Emitter : public dtensor::TensorBuilder {
public:
  using TensorBuilder::number, TensorBuilder::TensorBuilder;

  /// `number` in any element type.
  Value number(Type elementType, double real, int64_t integer,
               ArrayRef<int64_t> shape = {});
  Value number(Type elementType, int64_t integer,
               ArrayRef<int64_t> shape = {}) {
    return number(elementType, double(integer), integer, shape);
  }
  /// `value` in any element type: of integers the nearest towards zero, which
  /// for an infinity is the least or largest there is.
  Value real(Type elementType, double value, ArrayRef<int64_t> shape = {});
  /// NumPy broadcasting: dims aligned at the end.
  Value broadcastTo(Value value, ArrayRef<int64_t> shape);
  /// Both in the shape that they broadcast to.
  std::pair<Value, Value> broadcastTogether(Value a, Value b);
  /// Marks the op that made `value` as one that no gradient flows through.
  Value stopped(Value value);
  /// The maximum along `dims`, for subtracting before exp: a constant to
  /// gradients, where it cancels.
  Value shiftFor(Value value, ArrayRef<int64_t> dims);
  /// indices [...] -> i1 [..., depth]: whether the last index is the one given.
  Value isHot(Value indices, ArrayRef<int64_t> shape);
  Value logicalNot(Value value) { return apply<dtensor::NotOp>(value); }
  Type elementType(Value value) { return typeOf(value).getElementType(); }
  ArrayRef<int64_t> shape(Value value) {
    return cast<RankedTensorType>(value.getType()).getShape();
  }
};

/// The largest number of an integer type; of i64 and ui64 that of i64.
int64_t largestInteger(DType type);

/// The largest finite number of a float type.
double largestFinite(DType type);

} // namespace meshloom::detail
