// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Writes the loop over microbatches, whose work Microbatches.h finds.
#include "meshloom/Compiler/AccumulateGradients.h"

#include "Microbatches.h"
#include "meshloom/Compiler/Compiler.h"
#include "meshloom/ControlFlow/ControlFlow.h"
#include "meshloom/ControlFlow/ReturnTypes.h"
#include "meshloom/Dialect/DTensor/Notes.h"
#include "meshloom/Dialect/DTensor/TensorBuilder.h"

namespace meshloom {

using mlir::func::FuncOp;

namespace {

class Accumulation {
public:
  Accumulation(FuncOp function, Microbatches &microbatches)
      : function(function), microbatches(microbatches) {}

  /// Replaces the body of the function.
  void rewrite();

private:
  void findOpsBefore();
  Value microbatch(OpBuilder &builder, Value argument, Value iteration) const;
  void buildLoop(OpBuilder &builder);

  FuncOp function;
  Microbatches &microbatches;
  llvm::DenseSet<Operation *> before;
  mlir::IRMapping mapping; ///< from values of the copy
};

/// Finds the ops that do not depend on the batch and that the loop needs.
void Accumulation::findOpsBefore() {
  Block &body = microbatches.body();
  for (Operation &op : llvm::reverse(body.without_terminator())) {
    const bool isNeeded = before.contains(&op) || microbatches.isInLoop(&op);
    if (isNeeded)
      for (Value value : usedValues(&op))
        if (Operation *producer = value.getDefiningOp();
            producer && microbatches.phaseOf(value) == Phase::Once)
          before.insert(producer);
  }
}

/// Returns the rows i, i + count, ... of an argument.
Value Accumulation::microbatch(OpBuilder &builder, Value argument,
                               Value iteration) const {
  dtensor::TensorBuilder tensors(builder, argument.getLoc());
  const int64_t rows = microbatches.batch().rows / microbatches.count();
  const Value split =
      tensors.splitDim(argument, 0, {rows, microbatches.count()});
  SmallVector<Value> start(size_t(tensors.rankOf(split)),
                           tensors.integers({}, 0, builder.getI32Type()));
  start[1] = iteration;
  SmallVector<int64_t> sizes = tensors.shapeOf(split);
  sizes[1] = 1;
  const Value slice = tensors.create<dtensor::DynamicSliceOp>(
      argument.getLoc(), split, start, sizes);
  return tensors.mergeDims(slice, 0);
}

void Accumulation::buildLoop(OpBuilder &builder) {
  spmd::AllReduceOp first = microbatches.sums().front();
  const Location location = first.getLoc();
  dtensor::TensorBuilder tensors(builder, location);
  auto number = [&](OpBuilder &place, int64_t value) {
    return dtensor::TensorBuilder(place, location)
        .integers({}, value, builder.getI32Type());
  };
  SmallVector<Value> inits{number(tensors, 0)};
  for (spmd::AllReduceOp sum : microbatches.sums())
    inits.push_back(tensors.zeros(plainType(sum->getOperand(0).getType())));
  auto loop = tensors.create<dtensor::WhileOp>(location, inits);
  loop->setAttr(tripCountAttr, builder.getI64IntegerAttr(microbatches.count()));
  OpBuilder condition = OpBuilder::atBlockEnd(&loop.getCondition().front());
  const Value isBelow = dtensor::TensorBuilder(condition, location)
                            .compare(dtensor::ComparisonDirection::LT,
                                     loop.getConditionArgument(0),
                                     number(condition, microbatches.count()));
  condition.setInsertionPointToEnd(&loop.getCondition().front());
  condition.create<dtensor::YieldOp>(location, isBelow);

  OpBuilder body = OpBuilder::atBlockEnd(&loop.getBody().front());
  Block &source = microbatches.body();
  for (unsigned argument : microbatches.batch().arguments) {
    mapping.map(source.getArgument(argument),
                microbatch(body, function.getArgument(argument),
                           loop.getBodyArgument(0)));
    body.setInsertionPointToEnd(&loop.getBody().front());
  }
  for (Operation &op : source.without_terminator())
    if (microbatches.isInLoop(&op))
      cloneWithPlainTypes(body, &op, mapping);
  dtensor::TensorBuilder end(body, location);
  SmallVector<Value> yielded{end.add(loop.getBodyArgument(0), number(end, 1))};
  for (auto [i, sum] : llvm::enumerate(microbatches.sums()))
    yielded.push_back(end.add(loop.getBodyArgument(unsigned(i) + 1),
                              mapping.lookup(sum->getOperand(0))));
  end.create<dtensor::YieldOp>(location, yielded);
  for (auto [i, sum] : llvm::enumerate(microbatches.sums()))
    mapping.map(sum->getResult(0), loop.getResult(unsigned(i) + 1));
}

void Accumulation::rewrite() {
  findOpsBefore();
  Block &body = function.getBody().front();
  Block &source = microbatches.body();
  SmallVector<Operation *> replaced;
  for (Operation &op : body.without_terminator())
    replaced.push_back(&op);
  Operation *terminator = body.getTerminator();
  OpBuilder builder(terminator);
  for (auto [from, to] :
       llvm::zip_equal(source.getArguments(), body.getArguments()))
    mapping.map(from, to);
  for (Operation &op : source.without_terminator())
    if (before.contains(&op))
      cloneWithPlainTypes(builder, &op, mapping);
  buildLoop(builder);
  for (Operation &op : source.without_terminator())
    if (!before.contains(&op) && !isa<spmd::AllReduceOp>(op) &&
        !microbatches.isInLoop(&op))
      cloneWithPlainTypes(builder, &op, mapping);
  for (auto [use, value] : llvm::zip_equal(
           terminator->getOpOperands(), source.getTerminator()->getOperands()))
    use.set(mapping.lookup(value));
  for (Operation *op : llvm::reverse(replaced))
    op->erase();
  matchReturnTypes(function);
  function->setAttr(dtensor::memoryChoicesAttr,
                    builder.getStrArrayAttr(
                        {"accumulate gradients over " + microbatches.text()}));
}

} // namespace

Status askToAccumulate(ModuleOp module, const std::string &name,
                       int64_t count) {
  Result<FuncOp> function = functionToCompile(module, name);
  if (!function)
    return function.error();
  (*function)->setAttr(accumulateGradientsAttr,
                       Builder(module.getContext()).getI64IntegerAttr(count));
  return Success();
}

bool tryToAccumulateGradients(FuncOp function, int64_t count) {
  if (!function.getBody().hasOneBlock())
    return false;
  const auto found = tryToFindMicrobatches(function, count);
  if (found)
    Accumulation(function, *found).rewrite();
  return found != nullptr;
}

LogicalResult accumulateGradients(FuncOp function, int64_t count) {
  auto found = findMicrobatches(function, count);
  if (failed(found))
    return failure();
  Accumulation(function, **found).rewrite();
  return success();
}

} // namespace meshloom
