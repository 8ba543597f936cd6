// Verifiers of the ops on layouts and variables.

#include "meshloom/Dialect/DTensor/Wish.h"

namespace meshloom::dtensor {

LogicalResult RelayoutOp::verify() {
  LayoutAttr to = layoutAttrOf(getType());
  if (!to)
    return violates(*this, 3) << "the result has no layout";
  LayoutAttr from = layoutAttrOf(getOperand().getType());
  if (!from)
    return success();
  for (Partial pending : to.getPartial())
    if (!llvm::is_contained(from.getPartial(), pending))
      return violates(*this, 4)
             << "the result is partial over '"
             << to.getMeshAttr().getNames()[pending.axis].getValue() << "' ("
             << name(pending.kind) << "), which the operand is not";
  return success();
}

LogicalResult ConstraintOp::verify() {
  if (getOperation()->hasAttr(Wish::attrName) && !layoutAttrOf(getType()))
    return verifyWish(*this);
  if (!layoutAttrOf(getType()))
    return violates(*this, 3) << "the result has no layout";
  return success();
}

LogicalResult ReadVariableOp::verify() {
  RankedTensorType variable = getVariable().getType().getTensorType();
  if (getType() != variable && getType() != undecided(variable))
    return violates(*this, 1)
           << "reads a " << getType() << " from a variable of " << variable;
  return success();
}

LogicalResult AssignVariableOp::verify() {
  RankedTensorType variable = getVariable().getType().getTensorType();
  if (undecided(getValue().getType()) != undecided(variable))
    return violates(*this, 1) << "assigns a " << getValue().getType()
                              << " to a variable of " << variable;
  return success();
}

} // namespace meshloom::dtensor
