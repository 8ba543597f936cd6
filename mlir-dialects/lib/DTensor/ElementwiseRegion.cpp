// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Regions of scalars, applied to tensors.
#include "meshloom/Dialect/DTensor/ElementwiseRegion.h"

#include "ScalarRegion.h"

#include "mlir/IR/IRMapping.h"

namespace meshloom::dtensor {

/// Returns whether the op changes nothing of a scalar.
static bool isIdentityOfScalars(Operation *op) {
  return isa<ReshapeOp, BroadcastInDimOp, TransposeOp, ReverseOp, SliceOp>(op);
}

/// Scalars in, one scalar out, and an op of its name that does the same to
/// each element of tensors.
static bool computesElements(Operation *op) {
  if (op->getNumResults() != 1 || op->getNumRegions() != 0 ||
      !isScalar(op->getResult(0)) || !llvm::all_of(op->getOperands(), isScalar))
    return false;
  if (auto constant = dyn_cast<ConstantOp>(op))
    return isa<DenseElementsAttr>(constant.getValue());
  return isIdentityOfScalars(op) || isa<ElementwiseOpInterface>(op);
}

bool isElementwise(Region &region) {
  return region.hasOneBlock() &&
         llvm::all_of(region.front().without_terminator(),
                      [](Operation &op) { return computesElements(&op); }) &&
         llvm::all_of(region.front().getTerminator()->getOperands(), isScalar);
}

FailureOr<SmallVector<Value>> applyElementwise(OpBuilder &builder,
                                               Location location,
                                               Region &region,
                                               ValueRange operands) {
  Block &block = region.front();
  assert(block.getNumArguments() == operands.size() && !operands.empty());
  SmallVector<int64_t> shape = globalShape(operands[0].getType());
  auto typeOfElements = [&](Value scalar) {
    return RankedTensorType::get(shape, elementTypeOf(scalar.getType()));
  };
  mlir::IRMapping mapping;
  mapping.map(block.getArguments(), operands);
  auto get = [&](Value value) {
    if (Value mapped = mapping.lookupOrNull(value))
      return mapped;
    Value repeated = builder.create<BroadcastInDimOp>(location, value, shape,
                                                      ArrayRef<int64_t>{});
    mapping.map(value, repeated);
    return repeated;
  };
  for (Operation &op : block.without_terminator()) {
    if (!computesElements(&op)) {
      op.emitOpError("cannot be applied to each element of a tensor");
      return failure();
    }
    Value result = op.getResult(0);
    if (isIdentityOfScalars(&op)) {
      mapping.map(result, get(op.getOperand(0)));
      continue;
    }
    RankedTensorType type = typeOfElements(result);
    if (auto constant = dyn_cast<ConstantOp>(op)) {
      auto value = cast<DenseElementsAttr>(constant.getValue());
      mapping.map(result, builder.create<ConstantOp>(location,
                                                     value.resizeSplat(type)));
      continue;
    }
    OperationState state(location, op.getName());
    for (Value operand : op.getOperands())
      state.addOperands(get(operand));
    state.addTypes(type);
    state.addAttributes(op.getAttrs());
    mapping.map(result, builder.create(state)->getResult(0));
  }
  SmallVector<Value> results;
  for (Value value : block.getTerminator()->getOperands())
    results.push_back(get(value));
  return results;
}

} // namespace meshloom::dtensor
