// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ElementwiseBuilder: elementwise ops, and constants of every element type.
#include "meshloom/Math/ElementwiseBuilder.h"

namespace meshloom {

RankedTensorType ElementwiseBuilder::typeOf(Value value) const {
  auto type = cast<RankedTensorType>(value.getType());
  return RankedTensorType::get(type.getShape(), type.getElementType());
}

Value ElementwiseBuilder::emit(StringRef op, ValueRange operands,
                               RankedTensorType type,
                               ArrayRef<NamedAttribute> attributes) {
  mlir::OperationState state(here, op, operands, type, attributes);
  return create(state)->getResult(0);
}

Value ElementwiseBuilder::compare(dtensor::ComparisonDirection direction,
                                  Value lhs, Value rhs) {
  return apply<dtensor::CompareOp>(
      {lhs, rhs}, typeOf(lhs).clone(getI1Type()),
      named("direction",
            dtensor::ComparisonDirectionAttr::get(getContext(), direction)));
}

Value ElementwiseBuilder::convert(Value value, Type elementType) {
  if (elementOf(value) == elementType)
    return value;
  return apply<dtensor::ConvertOp>(value, typeOf(value).clone(elementType));
}

Value ElementwiseBuilder::bitcast(Value value, Type elementType) {
  if (elementOf(value) == elementType)
    return value;
  return apply<dtensor::BitcastConvertOp>(value,
                                          typeOf(value).clone(elementType));
}

Value ElementwiseBuilder::constant(mlir::ElementsAttr value) {
  auto type = cast<RankedTensorType>(value.getType());
  return apply<dtensor::ConstantOp>({}, type, named("value", value));
}

Value ElementwiseBuilder::splat(RankedTensorType type, double value) {
  type = RankedTensorType::get(type.getShape(), type.getElementType());
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

Value ElementwiseBuilder::splat(RankedTensorType type,
                                const llvm::APInt &value) {
  type = RankedTensorType::get(type.getShape(), type.getElementType());
  return constant(DenseElementsAttr::get(type, value));
}

} // namespace meshloom
