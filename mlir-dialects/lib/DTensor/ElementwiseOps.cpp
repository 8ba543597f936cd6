// Rules and verifiers of the elementwise ops that the .td file does not settle.

#include "meshloom/Dialect/DTensor/DTensor.h"

namespace meshloom::dtensor {

LogicalResult CompareOp::verify() {
  if (elementTypeOf(getLhs().getType()) != elementTypeOf(getRhs().getType()))
    return violates(*this, 2)
           << "compares " << elementTypeOf(getLhs().getType()) << " with "
           << elementTypeOf(getRhs().getType());
  return success();
}

//===----------------------------------------------------------------------===//
// Ops whose operands may be scalars
//===----------------------------------------------------------------------===//

static bool isScalar(Value value) {
  return globalShape(value.getType()).empty();
}

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
  auto from = dyn_cast<FloatType>(elementTypeOf(getOperand().getType()));
  auto to = dyn_cast<FloatType>(getType().getElementType());
  bool exact = from && to && from.getWidth() <= to.getWidth();
  return ruleFromText(*this, "... -> ...",
                      exact ? PartialFlow::LinearJoint : PartialFlow::None);
}

} // namespace meshloom::dtensor
