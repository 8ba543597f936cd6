// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Verifiers of elementwise ops, constants and iota. Ops of one type are
// verified by their definition (StableHLOElementwiseOps.td).

#include "Constraints.h"

#include "mlir/Dialect/Quant/QuantTypes.h"

using namespace meshloom;
using mlir::quant::QuantizedType;
using namespace meshloom::stablehlo;

//===----------------------------------------------------------------------===//
// Results of other element types
//===----------------------------------------------------------------------===//

/// The element type of a complex number's parts; another type itself.
static Type componentOf(Type type) {
  Type element = elementOf(type);
  auto complex = dyn_cast<mlir::ComplexType>(element);
  return complex ? complex.getElementType() : element;
}

/// The result has the operand's shape, and its parts' element type.
template <typename OpTy> static LogicalResult verifyPart(OpTy op) {
  Constraints c(op);
  return success(c.sameShape("C1", {op.getOperand().getType(), op.getType()}) &&
                 c.sameBaseline("C2", {componentOf(op.getOperand().getType()),
                                       elementOf(op.getType())}));
}

LogicalResult AbsOp::verify() {
  return verifyPart(*this);
}
LogicalResult ImagOp::verify() {
  return verifyPart(*this);
}
LogicalResult RealOp::verify() {
  return verifyPart(*this);
}

/// The result has the operand's shape.
template <typename OpTy> static LogicalResult verifyShape(OpTy op) {
  return success(Constraints(op).sameShape(
      "C1", {op.getOperand().getType(), op.getType()}));
}

LogicalResult ConvertOp::verify() {
  return verifyShape(*this);
}
LogicalResult IsFiniteOp::verify() {
  return verifyShape(*this);
}

/// The floats that a quantized type expresses; another type itself.
static Type expressedBy(Type type) {
  Type element = elementOf(type);
  auto quantized = dyn_cast<QuantizedType>(element);
  return quantized ? quantized.getExpressedType() : element;
}

/// `quantized` and `floats` are of one shape and of one expressed type.
template <typename OpTy>
static LogicalResult verifyQuantization(OpTy op, Type quantized) {
  Constraints c(op);
  return success(c.sameShape("C1", {op.getOperand().getType(), op.getType()}) &&
                 c.require(isa<QuantizedType>(elementOf(quantized)), "I1",
                           "expected a quantized type") &&
                 c.sameElement("C2", {expressedBy(op.getOperand().getType()),
                                      expressedBy(op.getType())}));
}
LogicalResult UniformDequantizeOp::verify() {
  return success(succeeded(verifyQuantization(*this, getOperand().getType())) &&
                 Constraints(*this).require(
                     floatBitsOf(elementOf(getType())) > 0, "C2",
                     "the result has the type that the operand expresses"));
}
LogicalResult UniformQuantizeOp::verify() {
  return verifyQuantization(*this, getType());
}

LogicalResult ComplexOp::verify() {
  Constraints c(*this);
  Type part = getLhs().getType();
  return success(
      c.sameTypes("C1", {part, getRhs().getType()}) &&
      c.sameShape("C2", {part, getType()}) &&
      c.require(isa<mlir::ComplexType>(elementOf(getType())), "C3",
                "the result must be of complex numbers") &&
      c.sameElement("C3", {elementOf(part), componentOf(getType())}));
}

//===----------------------------------------------------------------------===//
// Several operands
//===----------------------------------------------------------------------===//

LogicalResult CompareOp::verify() {
  Constraints c(*this);
  SmallVector<Type> types{getLhs().getType(), getRhs().getType()};
  if (!c.sameBaseline("C1", types))
    return failure();
  types.push_back(getType());
  if (!c.sameShape("C2", types))
    return failure();
  ComparisonType compareType =
      getCompareType().value_or(ComparisonType::NOTYPE);
  if (compareType == ComparisonType::NOTYPE)
    return success();
  Type element = elementOf(types[0]);
  auto fits = [&] {
    if (auto number = dyn_cast<IntegerType>(element))
      return compareType == (number.isUnsigned() || number.getWidth() == 1
                                 ? ComparisonType::UNSIGNED
                                 : ComparisonType::SIGNED);
    if (isa<mlir::ComplexType>(element))
      return compareType == ComparisonType::FLOAT;
    return floatBitsOf(element) == 0 || compareType == ComparisonType::FLOAT ||
           compareType == ComparisonType::TOTALORDER;
  };
  if (fits())
    return success();
  return c.violates("C3") << "values of type " << element
                          << " do not compare as "
                          << stringifyComparisonType(compareType);
}

LogicalResult SelectOp::verify() {
  Constraints c(*this);
  return success(
      (rankOf(getPred()) == 0 ||
       c.sameShape("C1", {getPred().getType(), getOnTrue().getType()})) &&
      c.sameBaselineTypes(
          "C2", {getOnTrue().getType(), getOnFalse().getType(), getType()}));
}

LogicalResult ClampOp::verify() {
  Constraints c(*this);
  Type operand = getOperand().getType(), min = getMin().getType(),
       max = getMax().getType();
  return success((rankOf(getMin()) == 0 || c.sameShape("C1", {min, operand})) &&
                 (rankOf(getMax()) == 0 || c.sameShape("C2", {max, operand})) &&
                 c.sameBaseline("C3", {min, operand, max}) &&
                 c.sameBaselineTypes("C4", {operand, getType()}));
}

LogicalResult ReducePrecisionOp::verify() {
  Constraints c(*this);
  return success(
      c.sameBaselineTypes("C1", {getOperand().getType(), getType()}) &&
      c.atLeast("C2", "exponent_bits", int64_t(int32_t(getExponentBits())),
                1) &&
      c.atLeast("C3", "mantissa_bits", int64_t(int32_t(getMantissaBits())), 0));
}

/// The bits of an element, or nothing where types do not say.
static std::optional<int64_t> bitsOf(Type element) {
  if (auto complex = dyn_cast<mlir::ComplexType>(element))
    return 2 * int64_t(complex.getElementType().getIntOrFloatBitWidth());
  if (auto integer = dyn_cast<IntegerType>(element))
    return integer.getWidth();
  if (unsigned bits = floatBitsOf(element))
    return bits;
  if (auto quantized = dyn_cast<QuantizedType>(element))
    return quantized.getStorageTypeIntegralWidth();
  return std::nullopt;
}

LogicalResult BitcastConvertOp::verify() {
  Constraints c(*this);
  Type from = elementOf(getOperand().getType()), to = elementOf(getType());
  if (!c.require(isa<mlir::ComplexType>(from) == isa<mlir::ComplexType>(to),
                 "C2", "cannot convert between real and complex numbers"))
    return failure();
  auto fromBits = bitsOf(from), toBits = bitsOf(to);
  if (!fromBits || !toBits)
    return success();
  SmallVector<int64_t> small(shapeOf(getOperand())),
      large(shapeOf(getResult()));
  if (*fromBits > *toBits)
    std::swap(small, large);
  int64_t parts = std::max(*fromBits, *toBits) / std::min(*fromBits, *toBits);
  bool whole = std::max(*fromBits, *toBits) % std::min(*fromBits, *toBits) == 0;
  if (*fromBits != *toBits)
    large.push_back(parts);
  if (whole && agree(small, large))
    return success();
  return c.violates("C1") << getOperand().getType() << " and " << getType()
                          << " do not have the same bits: of the smaller "
                             "elements, the last dim holds those of one larger";
}

//===----------------------------------------------------------------------===//
// Without operands
//===----------------------------------------------------------------------===//

LogicalResult stablehlo::ConstantOp::verify() {
  // A quantized constant is written as integers, one of minifloats as bytes.
  Type value = elementOf(getValue().getType());
  Type element = elementOf(getType());
  auto quantized = dyn_cast<QuantizedType>(element);
  bool fits =
      value == element ||
      (quantized && value.isInteger(quantized.getStorageTypeIntegralWidth())) ||
      (isa<MinifloatType>(element) && value.isUnsignedInteger(8));
  return success(Constraints(*this).require(
      fits && getValue().getShapedType().getShape() == shapeOf(getResult()),
      "C1", "the value and the result differ in type"));
}

LogicalResult IotaOp::verify() {
  return success(Constraints(*this).inRange("C1", "iota_dimension",
                                            int64_t(getIotaDimension()), 0,
                                            rankOf(getResult())));
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

LogicalResult
ResultAccuracyAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                           FloatAttr atol, FloatAttr rtol, int64_t ulps,
                           ResultAccuracyMode mode) {
  double absolute = atol.getValueAsDouble(), relative = rtol.getValueAsDouble();
  if (!(absolute >= 0) || !(relative >= 0) || ulps < 0)
    return emitError() << "a result accuracy's tolerances must not be negative";
  if (mode != ResultAccuracyMode::TOLERANCE && (absolute || relative || ulps))
    return emitError() << "a result accuracy has tolerances in mode TOLERANCE "
                          "only, not in "
                       << stringifyResultAccuracyMode(mode);
  return success();
}
