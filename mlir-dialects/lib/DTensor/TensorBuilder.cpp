// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// TensorBuilder: types of results, and attributes.
#include "meshloom/Dialect/DTensor/TensorBuilder.h"

#include <complex>

namespace meshloom::dtensor {

SmallVector<int64_t> remainingDims(int64_t rank, ArrayRef<int64_t> dims) {
  SmallVector<int64_t> result;
  for (int64_t dim = 0; dim < rank; ++dim)
    if (!llvm::is_contained(dims, dim))
      result.push_back(dim);
  return result;
}

RankedTensorType TensorBuilder::typeOf(Value value) const {
  return undecided(value.getType());
}

Value TensorBuilder::emit(mlir::OperationName op, ValueRange operands,
                          RankedTensorType type,
                          ArrayRef<NamedAttribute> attributes, unsigned) {
  mlir::OperationState state(here, op, operands, type, attributes);
  return create(state)->getResult(0);
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

Value TensorBuilder::constant(mlir::ElementsAttr value) {
  return emit(nameOf<ConstantOp>(), {}, cast<RankedTensorType>(value.getType()),
              named("value", value));
}

Value TensorBuilder::splat(RankedTensorType type, double value) {
  type = undecided(type);
  Type element = type.getElementType();
  auto real = [&](FloatType format) {
    llvm::APFloat number(value);
    bool loses;
    number.convert(format.getFloatSemantics(),
                   llvm::APFloat::rmNearestTiesToEven, &loses);
    return number;
  };
  if (auto format = dyn_cast<FloatType>(element))
    return constant(DenseElementsAttr::get(type, real(format)));
  if (auto complex = dyn_cast<mlir::ComplexType>(element)) {
    auto format = cast<FloatType>(complex.getElementType());
    llvm::APFloat zero = llvm::APFloat::getZero(format.getFloatSemantics());
    std::complex<llvm::APFloat> number(real(format), zero);
    return constant(DenseElementsAttr::get(type, ArrayRef(number)));
  }
  return splat(type, llvm::APInt(element.getIntOrFloatBitWidth(),
                                 uint64_t(int64_t(value)), /*isSigned=*/true));
}

Value TensorBuilder::splat(RankedTensorType type, const llvm::APInt &value) {
  return constant(DenseElementsAttr::get(undecided(type), value));
}

Value TensorBuilder::splat(RankedTensorType type, mlir::TypedAttr value) {
  return constant(DenseElementsAttr::get(undecided(type), Attribute(value)));
}

Value TensorBuilder::integers(ArrayRef<int64_t> shape, int64_t value,
                              Type element) {
  return splat(RankedTensorType::get(shape, element),
               getIntegerAttr(element, value));
}

Value TensorBuilder::iota(RankedTensorType type, int64_t dim) {
  return emit(nameOf<IotaOp>(), {}, type, number("iota_dimension", dim));
}

//===----------------------------------------------------------------------===//
// Elementwise ops
//===----------------------------------------------------------------------===//

Value TensorBuilder::compare(ComparisonDirection direction, Value lhs,
                             Value rhs) {
  return apply<CompareOp>({lhs, rhs}, typeOf(lhs).clone(getI1Type()),
                          named("direction", ComparisonDirectionAttr::get(
                                                 getContext(), direction)));
}

Value TensorBuilder::convert(Value value, Type elementType) {
  if (elementOf(value) == elementType)
    return value;
  return apply<ConvertOp>(value, typeOf(value).clone(elementType));
}

Value TensorBuilder::bitcast(Value value, Type elementType) {
  if (elementOf(value) == elementType)
    return value;
  return apply<BitcastConvertOp>(value, typeOf(value).clone(elementType));
}

Value TensorBuilder::select(Value predicate, Value onTrue, Value onFalse) {
  return emit(nameOf<SelectOp>(), {predicate, onTrue, onFalse}, typeOf(onTrue),
              {});
}

Value TensorBuilder::conjugate(Value value) {
  if (!value || !isa<mlir::ComplexType>(elementOf(value)))
    return value;
  Value imaginary = apply<ImagOp>(value);
  return apply<ComplexOp>(apply<RealOp>(value), negate(imaginary));
}

Value TensorBuilder::combine(ReduceKind kind, Value lhs, Value rhs) {
  switch (kind) {
  case ReduceKind::Sum:
    return add(lhs, rhs);
  case ReduceKind::Prod:
    return multiply(lhs, rhs);
  case ReduceKind::Min:
    return apply<MinimumOp>(lhs, rhs);
  case ReduceKind::Max:
    return apply<MaximumOp>(lhs, rhs);
  case ReduceKind::And:
    return apply<AndOp>(lhs, rhs);
  case ReduceKind::Or:
    return apply<OrOp>(lhs, rhs);
  }
  return {};
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

Value TensorBuilder::broadcast(Value value, ArrayRef<int64_t> shape,
                               ArrayRef<int64_t> dims) {
  return emit(nameOf<BroadcastInDimOp>(), value,
              RankedTensorType::get(shape, elementOf(value)),
              list("broadcast_dimensions", dims));
}

Value TensorBuilder::reshape(Value value, ArrayRef<int64_t> shape) {
  if (ArrayRef<int64_t>(shapeOf(value)) == shape)
    return value;
  return emit(nameOf<ReshapeOp>(), value,
              RankedTensorType::get(shape, elementOf(value)), {});
}

Value TensorBuilder::transpose(Value value, ArrayRef<int64_t> permutation) {
  SmallVector<int64_t> from = shapeOf(value), shape;
  if (permutation.size() == from.size() && llvm::is_sorted(permutation))
    return value;
  for (int64_t dim : permutation)
    shape.push_back(from[dim]);
  return emit(nameOf<TransposeOp>(), value,
              RankedTensorType::get(shape, elementOf(value)),
              list("permutation", permutation));
}

Value TensorBuilder::moveDim(Value value, int64_t from, int64_t to) {
  SmallVector<int64_t> order =
      llvm::to_vector(llvm::seq<int64_t>(0, rankOf(value)));
  order.erase(order.begin() + from);
  order.insert(order.begin() + to, from);
  return transpose(value, order);
}

Value TensorBuilder::mergeDims(Value value, int64_t dim, int64_t count) {
  SmallVector<int64_t> shape = shapeOf(value);
  for (int64_t i = 1; i < count; ++i)
    shape[dim] *= shape[dim + i];
  shape.erase(shape.begin() + dim + 1, shape.begin() + dim + count);
  return reshape(value, shape);
}

Value TensorBuilder::splitDim(Value value, int64_t dim,
                              ArrayRef<int64_t> sizes) {
  SmallVector<int64_t> shape = shapeOf(value);
  shape.erase(shape.begin() + dim);
  shape.insert(shape.begin() + dim, sizes.begin(), sizes.end());
  return reshape(value, shape);
}

Value TensorBuilder::slice(Value value, ArrayRef<int64_t> starts,
                           ArrayRef<int64_t> limits,
                           ArrayRef<int64_t> strides) {
  SmallVector<int64_t> ones(starts.size(), 1), shape;
  if (strides.empty())
    strides = ones;
  for (auto [from, to, step] : llvm::zip_equal(starts, limits, strides))
    shape.push_back(llvm::divideCeil(to - from, step));
  if (shapeOf(value) == shape && strides == ArrayRef(ones))
    return value;
  return emit(nameOf<SliceOp>(), value,
              RankedTensorType::get(shape, elementOf(value)),
              {list("start_indices", starts), list("limit_indices", limits),
               list("strides", strides)});
}

Value TensorBuilder::sliceDim(Value value, int64_t dim, int64_t from,
                              int64_t to, int64_t stride) {
  SmallVector<int64_t> limits = shapeOf(value), starts(limits.size(), 0),
                       strides(limits.size(), 1);
  starts[dim] = from;
  limits[dim] = to;
  strides[dim] = stride;
  return slice(value, starts, limits, strides);
}

Value TensorBuilder::concatenate(ValueRange values, int64_t dim) {
  if (values.size() == 1)
    return values.front();
  SmallVector<int64_t> shape = shapeOf(values[0]);
  shape[dim] = 0;
  for (Value value : values)
    shape[dim] += typeOf(value).getDimSize(unsigned(dim));
  return emit(nameOf<ConcatenateOp>(), values,
              RankedTensorType::get(shape, elementOf(values[0])),
              number("dimension", dim));
}

Value TensorBuilder::take(Value value, int64_t dim, ArrayRef<int64_t> indices) {
  SmallVector<int64_t> shape = shapeOf(value);
  shape[dim] = int64_t(indices.size());
  return emit(nameOf<TakeOp>(), value,
              RankedTensorType::get(shape, elementOf(value)),
              {number("dimension", dim), list("indices", indices)});
}

Value TensorBuilder::padWith(Value filler, Value value, ArrayRef<int64_t> low,
                             ArrayRef<int64_t> high,
                             ArrayRef<int64_t> interior) {
  SmallVector<int64_t> shape = shapeOf(value);
  for (auto [extent, before, after, between] :
       llvm::zip_equal(shape, low, high, interior))
    extent += before + after + std::max<int64_t>(extent - 1, 0) * between;
  return emit(nameOf<PadOp>(), {value, filler},
              RankedTensorType::get(shape, elementOf(value)),
              {list("edge_padding_low", low), list("edge_padding_high", high),
               list("interior_padding", interior)},
              /*scalars=*/1);
}

Value TensorBuilder::pad(Value value, ArrayRef<int64_t> low,
                         ArrayRef<int64_t> high, ArrayRef<int64_t> interior) {
  return padWith(zeros(RankedTensorType::get({}, elementOf(value))), value, low,
                 high, interior);
}

Value TensorBuilder::padDim(Value filler, Value value, int64_t dim, int64_t low,
                            int64_t high) {
  if (low == 0 && high == 0)
    return value;
  SmallVector<int64_t> lows(rankOf(value)), highs = lows, none = lows;
  lows[dim] = low;
  highs[dim] = high;
  return padWith(filler, value, lows, highs, none);
}

Value TensorBuilder::reduce(ReduceKind kind, Value value,
                            ArrayRef<int64_t> dims) {
  SmallVector<int64_t> from = shapeOf(value), shape;
  for (int64_t dim : remainingDims(int64_t(from.size()), dims))
    shape.push_back(from[dim]);
  if (elementOf(value).isInteger(1))
    kind = kind == ReduceKind::Sum || kind == ReduceKind::Max ? ReduceKind::Or
           : kind == ReduceKind::Prod || kind == ReduceKind::Min
               ? ReduceKind::And
               : kind;
  return emit(nameOf<ReduceOp>(), value,
              RankedTensorType::get(shape, elementOf(value)),
              {named("kind", ReduceKindAttr::get(getContext(), kind)),
               list("dimensions", dims)});
}

} // namespace meshloom::dtensor
