// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
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
  if (auto complex = dyn_cast<mlir::ComplexType>(type.getElementType())) {
    auto part = [&](double x) {
      return builder.getFloatAttr(complex.getElementType(), x).getValue();
    };
    std::complex<llvm::APFloat> element(part(number), part(0));
    return builder.create<dtensor::ConstantOp>(
        location, type, DenseElementsAttr::get(type, ArrayRef(element)));
  }
  Attribute element = builder.getFloatAttr(type.getElementType(), number);
  return builder.create<dtensor::ConstantOp>(
      location, type, DenseElementsAttr::get(type, element));
}

Value GradientBuilder::zeros(RankedTensorType type) {
  if (isa<mlir::ComplexType>(type.getElementType())) {
    auto part = cast<FloatType>(dtensor::partTypeOf(type));
    Value zero = zeros(RankedTensorType::get(type.getShape(), part));
    return make<dtensor::ComplexOp>(zero, zero);
  }
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
  return builder.create<dtensor::SelectOp>(location, predicate, onTrue,
                                           onFalse);
}

Value GradientBuilder::convert(Value value, Type elementType) {
  if (typeOf(value).getElementType() == elementType)
    return value;
  return builder.create<dtensor::ConvertOp>(location, value, elementType);
}

Value GradientBuilder::conjugate(Value value) {
  if (!value || !isa<mlir::ComplexType>(typeOf(value).getElementType()))
    return value;
  Value imaginary = make<dtensor::ImagOp>(value);
  return make<dtensor::ComplexOp>(make<dtensor::RealOp>(value),
                                  negate(imaginary));
}

void OpGradient::conjugateResults() {
  for (Value &gradient : results)
    gradient = conjugate(gradient);
}

void OpGradient::conjugateOperands() {
  for (Value &gradient : operands)
    gradient = conjugate(gradient);
}

Value GradientBuilder::reduce(Value value, ArrayRef<int64_t> dims,
                              ReduceKind kind) {
  return builder.create<dtensor::ReduceOp>(location, kind, value, dims)
      .getResult(0);
}

Value GradientBuilder::sum(Value value, ArrayRef<int64_t> dims) {
  return dims.empty() ? value : reduce(value, dims, ReduceKind::Sum);
}

Value GradientBuilder::broadcast(Value value, ArrayRef<int64_t> shape,
                                 ArrayRef<int64_t> dims) {
  return builder.create<dtensor::BroadcastInDimOp>(location, value, shape,
                                                   dims);
}

Value GradientBuilder::repeat(Value value, Value like, ArrayRef<int64_t> dims) {
  SmallVector<int64_t> kept;
  for (int64_t d = 0; d < typeOf(like).getRank(); ++d)
    if (!llvm::is_contained(dims, d))
      kept.push_back(d);
  return broadcast(value, typeOf(like).getShape(), kept);
}

Value GradientBuilder::reshape(Value value, ArrayRef<int64_t> shape) {
  if (typeOf(value).getShape() == shape)
    return value;
  return builder.create<dtensor::ReshapeOp>(location, value, shape);
}

Value GradientBuilder::transpose(Value value, ArrayRef<int64_t> permutation) {
  if (llvm::equal(permutation, llvm::seq<int64_t>(0, permutation.size())))
    return value;
  return builder.create<dtensor::TransposeOp>(location, value, permutation);
}

Value GradientBuilder::slice(Value value, ArrayRef<int64_t> starts,
                             ArrayRef<int64_t> limits) {
  if (typeOf(value).getShape() == limits &&
      llvm::all_of(starts, [](int64_t start) { return start == 0; }))
    return value;
  SmallVector<int64_t> strides(starts.size(), 1);
  return builder.create<dtensor::SliceOp>(location, value, starts, limits,
                                          strides);
}

Value GradientBuilder::concatenate(ValueRange parts, int64_t dim) {
  if (parts.size() == 1)
    return parts.front();
  return builder.create<dtensor::ConcatenateOp>(location, parts, dim);
}

Value GradientBuilder::pad(Value value, ArrayRef<int64_t> low,
                           ArrayRef<int64_t> high, ArrayRef<int64_t> interior) {
  Type element = typeOf(value).getElementType();
  return builder.create<dtensor::PadOp>(
      location, value, zeros(RankedTensorType::get({}, element)), low, high,
      interior);
}

} // namespace meshloom
