// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// When data is sent is a decision of this compiler. So an op that async_start
// begins is done there, and a future is the value that the op gives.
#include "Prepare.h"

#include "meshloom/Dialect/StableHLO/StableHLO.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace meshloom;
using namespace meshloom::importer;
using mlir::func::FuncOp;

bool importer::isFuture(Type type) {
  return isa<stablehlo::FutureType>(type);
}

/// Returns the type of the value that `type` is a future of, or else `type`.
static Type awaited(Type type) {
  auto future = dyn_cast<stablehlo::FutureType>(type);
  return future ? future.getResult() : type;
}

/// Returns the value that the region of `op` returns, or null.
static Value resultOf(stablehlo::AsyncStartOp op) {
  Block &body = op.getBody().front();
  auto end = body.empty() ? stablehlo::ReturnOp()
                          : dyn_cast<stablehlo::ReturnOp>(body.back());
  return end && end->getNumOperands() == 1 ? end->getOperand(0) : Value();
}

static LogicalResult check(stablehlo::AsyncStartOp op) {
  if (TypeRange(op.getBody().getArgumentTypes()) != op->getOperandTypes())
    return op.emitOpError(
        "has a region whose arguments do not have the types of "
        "its operands");
  Value result = resultOf(op);
  if (!result || result.getType() != op.getFuture().getType().getResult())
    return op.emitOpError("has a region that does not return one value of the "
                          "type of its future");
  return success();
}

static LogicalResult check(stablehlo::AsyncDoneOp op) {
  if (op.getFuture().getType().getResult() == op.getResult().getType())
    return success();
  return op.emitOpError("has a result that is not of the type of its future");
}

static void await(stablehlo::AsyncStartOp op) {
  Block &body = op.getBody().front();
  op->getResult(0).replaceAllUsesWith(resultOf(op));
  for (auto [argument, input] :
       llvm::zip_equal(body.getArguments(), op.getInputs()))
    argument.replaceAllUsesWith(input);
  body.getTerminator()->erase();
  op->getBlock()->getOperations().splice(op->getIterator(),
                                         body.getOperations());
  op->erase();
}

LogicalResult importer::awaitFutures(ModuleOp module) {
  SmallVector<stablehlo::AsyncStartOp> starts;
  SmallVector<stablehlo::AsyncDoneOp> dones;
  auto checked = module.walk([&](Operation *op) {
    LogicalResult result = success();
    if (auto start = dyn_cast<stablehlo::AsyncStartOp>(op)) {
      starts.push_back(start);
      result = check(start);
    } else if (auto done = dyn_cast<stablehlo::AsyncDoneOp>(op)) {
      dones.push_back(done);
      result = check(done);
    }
    return mlir::WalkResult(result);
  });
  if (checked.wasInterrupted())
    return failure();
  module.walk([&](Operation *op) {
    // Callers write a layout for a future that its value does not have.
    if (isa<stablehlo::CustomCallOp>(op) &&
        llvm::any_of(op->getOperandTypes(), isFuture))
      for (StringRef name : {"operand_layouts", "result_layouts"})
        op->removeAttr(name);
  });
  module.walk([&](Operation *op) {
    for (mlir::OpResult result : op->getResults())
      result.setType(awaited(result.getType()));
    for (Region &region : op->getRegions())
      for (BlockArgument argument : region.getArguments())
        argument.setType(awaited(argument.getType()));
    if (auto func = dyn_cast<FuncOp>(op))
      func.setFunctionType(mlir::FunctionType::get(
          func.getContext(),
          llvm::map_to_vector(func.getArgumentTypes(), awaited),
          llvm::map_to_vector(func.getResultTypes(), awaited)));
  });
  for (stablehlo::AsyncDoneOp done : dones) {
    done->getResult(0).replaceAllUsesWith(done->getOperand(0));
    done->erase();
  }
  for (stablehlo::AsyncStartOp start : starts)
    await(start);
  return success();
}
