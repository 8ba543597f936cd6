// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Values and results of functions, see ReturnTypes.h.
#include "meshloom/ControlFlow/ReturnTypes.h"

#include "meshloom/Dialect/DTensor/DTensor.h"

namespace meshloom {

void matchReturnTypes(mlir::func::FuncOp function) {
  Operation *terminator = function.getBody().front().getTerminator();
  SmallVector<Type> results(function.getResultTypes());
  OpBuilder builder(terminator);
  for (auto [operand, result] :
       llvm::zip(terminator->getOpOperands(), results)) {
    Value value = operand.get();
    if (value.getType() == result)
      continue;
    if (dtensor::layoutAttrOf(result))
      operand.set(
          builder.create<dtensor::ConstraintOp>(value.getLoc(), result, value));
    else
      result = value.getType();
  }
  function.setFunctionType(
      builder.getFunctionType(function.getArgumentTypes(), results));
}

} // namespace meshloom
