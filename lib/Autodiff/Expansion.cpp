// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Ops written out as other ops, differentiated in a block of their own in which
// the operands are arguments: there nothing connects one operand with another,
// so each gets its own part. The block's ops then move to where gradients are
// built.
#include "Expansion.h"

#include "meshloom/Autodiff/Autodiff.h"
#include "meshloom/Dialect/DTensor/ElementwiseRegion.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace meshloom {

static std::string reasonOf(const Error &error) {
  StringRef message = error.message();
  message.consume_front("[gradient] ");
  return "to differentiate its results, " + message.str();
}

void differentiateExpansion(OpGradient &g, Operation *op, Expand expand) {
  // A reader of regions wants the block to be in an op.
  OwningOpRef<ModuleOp> holder = ModuleOp::create(g.getLoc());
  Block &block = *holder->getBody();
  SmallVector<Value> wrt, seeds, outputs;
  SmallVector<unsigned> owners;
  for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
    block.addArgument(g.typeOf(operand), g.getLoc());
    if (g.wants(unsigned(i))) {
      owners.push_back(unsigned(i));
      wrt.push_back(block.getArgument(unsigned(i)));
    }
  }
  dtensor::TensorBuilder math(op->getContext(), g.getLoc());
  math.setInsertionPointToEnd(&block);
  SmallVector<Value> results =
      expand(math, block.getArguments().take_front(op->getNumOperands()));
  SmallVector<Value> actual(op->getOperands());
  for (auto [i, result] : llvm::enumerate(results))
    if (Value gradient = g.of(unsigned(i))) {
      outputs.push_back(result);
      seeds.push_back(block.addArgument(g.typeOf(gradient), g.getLoc()));
      actual.push_back(gradient);
    }
  auto found = buildGradients(math, outputs, seeds, wrt);
  if (!found)
    return g.refuse(reasonOf(found.error()));

  // A terminator holds what is given while the rest is cleared away.
  SmallVector<unsigned> owned;
  SmallVector<Value> gradients;
  for (auto [owner, gradient] : llvm::zip_equal(owners, *found))
    if (gradient) {
      owned.push_back(owner);
      gradients.push_back(gradient);
    }
  auto yield = math.create<dtensor::YieldOp>(g.getLoc(), gradients);
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (mlir::isOpTriviallyDead(&op))
      op.erase();
  for (auto [argument, value] : llvm::zip_equal(block.getArguments(), actual))
    argument.replaceAllUsesWith(value);
  for (auto [owner, gradient] : llvm::zip_equal(owned, yield->getOperands()))
    g.give(owner, gradient);
  yield->erase();
  g.getInsertionBlock()->getOperations().splice(g.getInsertionPoint(),
                                                block.getOperations());
}

void differentiateExpansion(OpGradient &g, Operation *op,
                            ArrayRef<Region *> regions, Expand expand) {
  for (Region *region : regions)
    if (!region->empty() && !dtensor::isElementwise(*region))
      return g.refuse("its region is not made of elementwise ops on scalars");
  differentiateExpansion(g, op, expand);
}

SmallVector<Value> applyRegion(dtensor::TensorBuilder &math, Region &region,
                               ValueRange operands) {
  auto results =
      dtensor::applyElementwise(math, math.getLoc(), region, operands);
  assert(succeeded(results) && "checked to be elementwise");
  return *results;
}

Value indexScalar(dtensor::TensorBuilder &math, int64_t number) {
  return math.integers({}, number, math.getI32Type());
}

SmallVector<Value>
repeatSteps(dtensor::TensorBuilder &math, int64_t count, int64_t writtenOut,
            SmallVector<Value> carried,
            llvm::function_ref<SmallVector<Value>(dtensor::TensorBuilder &,
                                                  Turn, ValueRange)>
                step) {
  if (count <= writtenOut) {
    for (int64_t i = 0; i < count; ++i)
      carried = step(math, {i, Value()}, carried);
    return carried;
  }
  SmallVector<Value> inits{indexScalar(math, 0)};
  llvm::append_range(inits, carried);
  auto loop = math.create<dtensor::WhileOp>(math.getLoc(), inits);
  dtensor::TensorBuilder inner(math.getContext(), math.getLoc());
  inner.setInsertionPointToEnd(&loop.getCondition().front());
  Value goOn =
      inner.compare(dtensor::ComparisonDirection::LT,
                    loop.getConditionArgument(0), indexScalar(inner, count));
  inner.create<dtensor::YieldOp>(math.getLoc(), goOn);
  Block &body = loop.getBody().front();
  inner.setInsertionPointToEnd(&body);
  Value turn = body.getArgument(0);
  SmallVector<Value> next{inner.add(turn, indexScalar(inner, 1))};
  llvm::append_range(next, step(inner, {0, turn},
                                ValueRange(body.getArguments().drop_front())));
  inner.create<dtensor::YieldOp>(math.getLoc(), next);
  return SmallVector<Value>(loop.getResults().drop_front());
}

Value rowOf(dtensor::TensorBuilder &math, Value value, Turn turn) {
  SmallVector<int64_t> shape(math.typeOf(value).getShape());
  SmallVector<int64_t> row(ArrayRef(shape).drop_front());
  if (!turn.value) {
    SmallVector<int64_t> start(shape.size());
    start[0] = turn.number;
    shape[0] = turn.number + 1;
    return math.reshape(math.slice(value, start, shape), row);
  }
  SmallVector<Value> start(shape.size(), indexScalar(math, 0));
  start[0] = turn.value;
  shape[0] = 1;
  return math.reshape(
      math.create<dtensor::DynamicSliceOp>(math.getLoc(), value, start, shape),
      row);
}

} // namespace meshloom
