// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rules and verifiers of the elementwise ops that the .td file does not settle.

#include "ScalarRegion.h"

namespace meshloom::dtensor {

/// C2 of abs, real and imag.
static LogicalResult verifyPart(Operation *op) {
  Type from = op->getOperand(0).getType();
  Type has = elementTypeOf(op->getResult(0).getType());
  if (partTypeOf(from) == has)
    return success();
  return violates(op, 2) << "of " << elementTypeOf(from) << " gives "
                         << partTypeOf(from) << ", not " << has;
}

LogicalResult AbsOp::verify() {
  return verifyPart(*this);
}
LogicalResult RealOp::verify() {
  return verifyPart(*this);
}
LogicalResult ImagOp::verify() {
  return verifyPart(*this);
}

LogicalResult ComplexOp::verify() {
  Type part = partTypeOf(getType());
  for (Value operand : getOperands())
    if (elementTypeOf(operand.getType()) != part)
      return violates(*this, 2)
             << "makes " << getType().getElementType() << " of parts of type "
             << elementTypeOf(operand.getType());
  return success();
}

LogicalResult ReducePrecisionOp::verify() {
  if (int64_t(getExponentBits()) < 1 || int64_t(getMantissaBits()) < 0)
    return violates(*this, 3)
           << "rounds to " << int64_t(getExponentBits()) << " exponent and "
           << int64_t(getMantissaBits()) << " mantissa bits";
  return success();
}

LogicalResult CompareOp::verify() {
  if (elementTypeOf(getLhs().getType()) != elementTypeOf(getRhs().getType()))
    return violates(*this, 2)
           << "compares " << elementTypeOf(getLhs().getType()) << " with "
           << elementTypeOf(getRhs().getType());
  bool equality = getDirection() == ComparisonDirection::EQ ||
                  getDirection() == ComparisonDirection::NE;
  if (!equality && isa<mlir::ComplexType>(elementTypeOf(getLhs().getType())))
    return violates(*this, 3)
           << "complex numbers have no order: only EQ and NE compare them";
  return success();
}

ShardingRule DivideOp::getShardingRule() {
  bool linear =
      isa<FloatType, mlir::ComplexType>(getResult().getType().getElementType());
  return ruleFromText(*this, "..., ... -> ...",
                      linear ? PartialFlow::LinearEach : PartialFlow::None,
                      {0});
}

//===----------------------------------------------------------------------===//
// Ops whose operands may be scalars
//===----------------------------------------------------------------------===//

ShardingRule SelectOp::getShardingRule() {
  return ruleFromText(*this,
                      isScalar(getPred()) ? "[], ..., ... -> ..."
                                          : "..., ..., ... -> ...",
                      PartialFlow::Movement, {1, 2});
}

LogicalResult SelectOp::verify() {
  auto shape = globalShape(getType());
  for (Value value : {getOnTrue(), getOnFalse()}) {
    if (globalShape(value.getType()) != shape)
      return violates(*this, 1)
             << "on_true, on_false and the result differ in global shape";
    if (elementTypeOf(value.getType()) != getType().getElementType())
      return violates(*this, 2)
             << "on_true, on_false and the result differ in element type";
  }
  if (!isScalar(getPred()) && globalShape(getPred().getType()) != shape)
    return violates(*this, 3)
           << "pred is neither a scalar nor of the result's global shape";
  return success();
}

ShardingRule ClampOp::getShardingRule() {
  auto limit = [](Value value) { return isScalar(value) ? "[]" : "..."; };
  return ruleFromText(
      *this,
      (Twine(limit(getMin())) + ", ..., " + limit(getMax()) + " -> ...").str());
}

LogicalResult ClampOp::verify() {
  auto shape = globalShape(getType());
  if (globalShape(getOperand().getType()) != shape)
    return violates(*this, 1)
           << "the operand and the result differ in global shape";
  if (failed(verifySameElements(*this)))
    return failure();
  for (Value limit : {getMin(), getMax()})
    if (!isScalar(limit) && globalShape(limit.getType()) != shape)
      return violates(*this, 3)
             << "min or max is neither a scalar nor of the operand's global "
                "shape";
  return success();
}

//===----------------------------------------------------------------------===//
// ConvertOp
//===----------------------------------------------------------------------===//

ShardingRule ConvertOp::getShardingRule() {
  // A complex number's real part is linear in it, and so is a float as one.
  Type operand = getOperand().getType();
  auto from = dyn_cast<FloatType>(partTypeOf(operand));
  auto to = dyn_cast<FloatType>(partTypeOf(getType()));
  bool exact = from && to && from.getWidth() <= to.getWidth() &&
               (from.getWidth() < to.getWidth() || from == to);
  return ruleFromText(*this, "... -> ...",
                      exact ? PartialFlow::LinearJoint : PartialFlow::None);
}

} // namespace meshloom::dtensor
