// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Builds ops on arrays of one shape and layout, and picks elements of others.
#pragma once

#include "meshloom/Dialect/SPMD/SPMD.h"

namespace meshloom::dtensor {

/// Makes values of one shape and layout.
class ShapedBuilder {
public:
  ShapedBuilder(Operation *op, ArrayRef<int64_t> shape, LayoutAttr layout)
      : b(op), loc(op->getLoc()), shape(shape), layout(layout) {}
  ShapedBuilder(Operation *op, Type like)
      : ShapedBuilder(op, globalShape(like), layoutAttrOf(like)) {}

  Type of(Type element) const {
    return spmd::shardType(shape, element, layout);
  }
  Value splat(Type element, int64_t number) {
    auto type = cast<RankedTensorType>(of(element));
    return b.create<ConstantOp>(
        loc, type,
        DenseElementsAttr::get(undecided(type),
                               b.getIntegerAttr(element, number)));
  }
  /// The same number everywhere, which may be complex.
  Value number(Type element, double value);
  Value broadcast(Value scalar) {
    return b.create<BroadcastInDimOp>(loc, of(elementTypeOf(scalar.getType())),
                                      scalar, ArrayRef<int64_t>());
  }
  Value index(int64_t dim) {
    return b.create<IotaOp>(loc, of(b.getI64Type()), dim);
  }
  /// place * factor
  Value times(Value place, int64_t factor) {
    return factor == 1 ? place
                       : b.create<MultiplyOp>(loc, place.getType(), place,
                                              splat(b.getI64Type(), factor));
  }
  /// place + number
  Value plus(Value place, int64_t number) {
    return number == 0 ? place
                       : b.create<AddOp>(loc, place.getType(), place,
                                         splat(b.getI64Type(), number));
  }
  Value both(Value a, Value other) {
    return a ? b.create<AndOp>(loc, a.getType(), a, other) : other;
  }
  /// Says where places are in [0, size).
  Value isInside(Value place, int64_t size) {
    return both(
        compare(ComparisonDirection::GE, place, splat(b.getI64Type(), 0)),
        compare(ComparisonDirection::LT, place, splat(b.getI64Type(), size)));
  }
  Value select(Value condition, Value a, Value other) {
    return b.create<SelectOp>(loc, a.getType(), condition, a, other);
  }
  Value compare(ComparisonDirection direction, Value a, Value other) {
    return b.create<CompareOp>(loc, of(b.getI1Type()), direction, a, other);
  }
  Value combine(ReduceKind kind, Value a, Value other);
  /// Index vectors along one more dim, the last one; of one entry: along none.
  Value vectors(ArrayRef<Value> entries);
  /// The elements of `table` at `places` along `dims`, and along its other dims
  /// at the result's own indices.
  Value pick(Value table, ArrayRef<int64_t> dims, ArrayRef<Value> places);

  OpBuilder b;
  const Location loc;
  const SmallVector<int64_t> shape;
  const LayoutAttr layout;
};

/// `layout` with `count` more dims behind, which no axis cuts.
LayoutAttr withDims(LayoutAttr layout, size_t count);

/// Returns whether ops of elements combine them: sums of bits are no additions.
bool isCombined(Type element, ReduceKind kind);

/// Returns whether every device has what `op` picks of `table` along `dims`,
/// and all values of `op` are there as they are.
bool isPickable(Value table, ArrayRef<int64_t> dims, Operation *op);

} // namespace meshloom::dtensor
