// The dtensor ops that gradient rules are made of.
#include "meshloom/Autodiff/GradientBuilder.h"

#include <algorithm>

#include "meshloom/Autodiff/DifferentiableOpInterface.cpp.inc"

namespace meshloom {

RankedTensorType GradientBuilder::bare(RankedTensorType type) {
  return RankedTensorType::get(type.getShape(), type.getElementType());
}

RankedTensorType GradientBuilder::typeOf(Value value) {
  if (auto variable = dyn_cast<dtensor::VariableType>(value.getType()))
    return bare(variable.getTensorType());
  return bare(cast<RankedTensorType>(value.getType()));
}

Value GradientBuilder::constant(Value like, double number) {
  RankedTensorType type = typeOf(like);
  Attribute element = builder.getFloatAttr(type.getElementType(), number);
  return builder.create<dtensor::ConstantOp>(
      location, type, DenseElementsAttr::get(type, element));
}

Value GradientBuilder::zeros(RankedTensorType type) {
  return builder.create<dtensor::ConstantOp>(
      location, bare(type),
      DenseElementsAttr::get(bare(type),
                             builder.getZeroAttr(type.getElementType())));
}

Value GradientBuilder::compare(dtensor::ComparisonDirection direction, Value x,
                               Value y) {
  return builder.create<dtensor::CompareOp>(location, direction, x, y);
}

Value GradientBuilder::select(Value predicate, Value onTrue, Value onFalse) {
  return builder.create<dtensor::SelectOp>(location, typeOf(onTrue), predicate,
                                           onTrue, onFalse);
}

Value GradientBuilder::convert(Value value, Type elementType) {
  RankedTensorType type = typeOf(value);
  if (type.getElementType() == elementType)
    return value;
  return builder.create<dtensor::ConvertOp>(
      location, RankedTensorType::get(type.getShape(), elementType), value);
}

Value GradientBuilder::reduce(Value value, ArrayRef<int64_t> dims,
                              ReduceKind kind) {
  RankedTensorType type = typeOf(value);
  SmallVector<int64_t> shape, sorted(dims);
  llvm::sort(sorted);
  for (auto [d, extent] : llvm::enumerate(type.getShape()))
    if (!llvm::is_contained(dims, int64_t(d)))
      shape.push_back(extent);
  Type result = RankedTensorType::get(shape, type.getElementType());
  return builder
      .create<dtensor::ReduceOp>(location, TypeRange{result}, ValueRange{value},
                                 sorted, kind)
      .getResult(0);
}

Value GradientBuilder::sum(Value value, ArrayRef<int64_t> dims) {
  return dims.empty() ? value : reduce(value, dims, ReduceKind::Sum);
}

Value GradientBuilder::broadcast(Value value, RankedTensorType type,
                                 ArrayRef<int64_t> dims) {
  auto result =
      RankedTensorType::get(type.getShape(), typeOf(value).getElementType());
  return builder.create<dtensor::BroadcastInDimOp>(location, result, value,
                                                   dims);
}

Value GradientBuilder::repeat(Value value, Value like, ArrayRef<int64_t> dims) {
  SmallVector<int64_t> kept;
  for (int64_t d = 0; d < typeOf(like).getRank(); ++d)
    if (!llvm::is_contained(dims, d))
      kept.push_back(d);
  return broadcast(value, typeOf(like), kept);
}

Value GradientBuilder::reshape(Value value, ArrayRef<int64_t> shape) {
  RankedTensorType type = typeOf(value);
  if (type.getShape() == shape)
    return value;
  return builder.create<dtensor::ReshapeOp>(
      location, RankedTensorType::get(shape, type.getElementType()), value);
}

Value GradientBuilder::transpose(Value value, ArrayRef<int64_t> permutation) {
  if (llvm::equal(permutation, llvm::seq<int64_t>(0, permutation.size())))
    return value;
  RankedTensorType type = typeOf(value);
  SmallVector<int64_t> shape;
  for (int64_t d : permutation)
    shape.push_back(type.getDimSize(d));
  return builder.create<dtensor::TransposeOp>(
      location, RankedTensorType::get(shape, type.getElementType()), value,
      permutation);
}

Value GradientBuilder::slice(Value value, ArrayRef<int64_t> starts,
                             ArrayRef<int64_t> limits) {
  RankedTensorType type = typeOf(value);
  SmallVector<int64_t> shape, strides(starts.size(), 1);
  for (auto [start, limit] : llvm::zip_equal(starts, limits))
    shape.push_back(limit - start);
  if (type.getShape() == ArrayRef(shape))
    return value;
  return builder.create<dtensor::SliceOp>(
      location, RankedTensorType::get(shape, type.getElementType()), value,
      starts, limits, strides);
}

Value GradientBuilder::concatenate(ValueRange parts, int64_t dim) {
  if (parts.size() == 1)
    return parts.front();
  RankedTensorType type = typeOf(parts.front());
  SmallVector<int64_t> shape(type.getShape());
  shape[dim] = 0;
  for (Value part : parts)
    shape[dim] += typeOf(part).getDimSize(dim);
  return builder.create<dtensor::ConcatenateOp>(
      location, RankedTensorType::get(shape, type.getElementType()), parts,
      dim);
}

Value GradientBuilder::pad(Value value, int64_t dim, int64_t before,
                           int64_t after) {
  RankedTensorType type = typeOf(value);
  auto zerosOf = [&](int64_t extent) {
    SmallVector<int64_t> shape(type.getShape());
    shape[dim] = extent;
    return zeros(RankedTensorType::get(shape, type.getElementType()));
  };
  SmallVector<Value> parts;
  if (before > 0)
    parts.push_back(zerosOf(before));
  parts.push_back(value);
  if (after > 0)
    parts.push_back(zerosOf(after));
  return concatenate(parts, dim);
}

} // namespace meshloom
