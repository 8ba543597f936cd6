// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
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
  if (!isa<mlir::ComplexType>(elementTypeOf(getType())))
    return success();
  for (Partial pending : to.getPartial())
    if (pending.kind != ReduceKind::Sum &&
        !llvm::is_contained(from.getPartial(), pending))
      return violates(*this, 4)
             << "of complex numbers only sums can begin, not "
             << name(pending.kind);
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
