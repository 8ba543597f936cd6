// HoistCollectives: what a loop need not send each time is sent once.
//
// Two rewrites, innermost loops first so that what leaves one loop can leave
// the next:
// - a collective whose operands do not change in the loop moves in front of it,
//   with the ops that make them;
// - an all_reduce by sum whose result is only added to a carried value is made
//   after the loop, of the sum: the carried value becomes partial inside.
// Each takes one collective out of a loop and makes none in it, so they end.

#include "Collectives.h"

#include "meshloom/Analysis/ControlFlow.h"
#include "meshloom/Transforms/Passes.h"

#include "llvm/ADT/SetVector.h"

namespace meshloom {
#define GEN_PASS_DEF_HOISTCOLLECTIVES
#include "meshloom/Transforms/Passes.h.inc"

namespace {

/// Adds to `chain` the ops of the block of `op` that it is computed from, and
/// itself, operands first; false where one of them depends on an argument of
/// the block or holds regions.
bool collectChain(Operation *op, llvm::SetVector<Operation *> &chain) {
  if (chain.contains(op))
    return true;
  if (!mlir::isPure(op) || isControl(op))
    return false;
  for (Value operand : op->getOperands()) {
    if (operand.getParentBlock() != op->getBlock())
      continue;
    Operation *producer = operand.getDefiningOp();
    if (!producer || !collectChain(producer, chain))
      return false;
  }
  chain.insert(op);
  return true;
}

/// One collective; whether there was one.
bool hoistInvariant(dtensor::WhileOp loop) {
  for (Region *region : {&loop.getCondition(), &loop.getBody()})
    for (Operation &op : region->front()) {
      auto collective = dyn_cast<spmd::CollectiveOpInterface>(op);
      if (!collective ||
          collective.getCollectiveKind() == CollectiveKind::Slice)
        continue;
      llvm::SetVector<Operation *> chain;
      if (!collectChain(&op, chain))
        continue;
      for (Operation *member : chain)
        member->moveBefore(loop);
      return true;
    }
  return false;
}

bool isZero(Value value) {
  Operation *op = value.getDefiningOp();
  while (isa_and_nonnull<dtensor::BroadcastInDimOp, spmd::SliceOp>(op))
    op = op->getOperand(0).getDefiningOp();
  auto constant = dyn_cast_or_null<dtensor::ConstantOp>(op);
  if (!constant)
    return false;
  auto dense = dyn_cast<DenseElementsAttr>(constant.getValue());
  if (!dense || !dense.isSplat())
    return false;
  if (isa<FloatType>(dense.getElementType()))
    return dense.getSplatValue<llvm::APFloat>().isZero();
  return isa<IntegerType>(dense.getElementType()) &&
         dense.getSplatValue<llvm::APInt>().isZero();
}

/// A tensor of zeros of a shard type; nothing for types that have none.
Value zeros(OpBuilder &builder, Location location, Type type) {
  Type element = dtensor::elementTypeOf(type);
  mlir::RankedTensorType global = dtensor::undecided(type);
  if (!isa<FloatType, IntegerType>(element))
    return {};
  return builder.create<dtensor::ConstantOp>(
      location, cast<RankedTensorType>(type),
      DenseElementsAttr::get(global, builder.getZeroAttr(element)));
}

/// Makes after `loop` the reduction that its carried value `i` needs, if all
/// that is done with both is to add one to the other.
bool reduceAfter(dtensor::WhileOp loop, unsigned i) {
  dtensor::YieldOp yield = loop.getBodyYield();
  BlockArgument carried = loop.getBodyArgument(i);
  Value next = yield.getOperand(i);
  auto add = next.getDefiningOp<dtensor::AddOp>();
  if (!add || !next.hasOneUse() || !carried.hasOneUse() ||
      !loop.getConditionArgument(i).use_empty())
    return false;
  unsigned side = add->getOperand(0) == carried;
  if (add->getOperand(1 - side) != carried)
    return false;
  Value reduced = add->getOperand(side);
  auto reduce = reduced.getDefiningOp<spmd::AllReduceOp>();
  if (!reduce || reduce->getBlock() != add->getBlock() ||
      reduce->getNumOperands() != 1 || !reduced.hasOneUse() ||
      reduce.getKind() != ReduceKind::Sum ||
      reduced.getType() != carried.getType() || tripCount(loop).value_or(2) < 2)
    return false;

  Value addend = reduce->getOperand(0);
  Type partial = addend.getType();
  OpBuilder builder(loop);
  Value start = zeros(builder, loop.getLoc(), partial);
  if (!start)
    return false;
  Value init = loop.getInits()[i];
  Value result = loop.getResult(i);
  loop->setOperand(i, start);
  add->setOperand(side, addend);
  for (Value part :
       {result, Value(carried), Value(loop.getConditionArgument(i)), next})
    part.setType(partial);
  builder.setInsertionPointAfter(loop);
  CollectiveOp what = spmd::collectiveOf(reduce, 0);
  SmallVector<NamedAttribute> notes = notesOf(reduce);
  for (NamedAttribute &note : notes)
    if (note.getName() == "reason")
      note.setValue(builder.getStringAttr(
          cast<StringAttr>(note.getValue()).getValue() +
          "; once, after the loop that sums it up"));
  Operation *made = createCollective(builder, reduce.getLoc(), what.kind,
                                     what.axes, result, what.to, notes);
  Value sum = made->getResult(0);
  if (!isZero(init))
    sum =
        builder.create<dtensor::AddOp>(add.getLoc(), init.getType(), init, sum);
  result.replaceAllUsesExcept(sum, made);
  reduce->erase();
  return true;
}

class HoistCollectivesPass
    : public impl::HoistCollectivesBase<HoistCollectivesPass> {
  void runOnOperation() override {
    SmallVector<dtensor::WhileOp> loops; // inner ones first
    getOperation().walk([&](dtensor::WhileOp loop) { loops.push_back(loop); });
    for (dtensor::WhileOp loop : loops) {
      while (hoistInvariant(loop))
        ;
      for (unsigned i = 0; i < loop.getNumResults(); ++i)
        reduceAfter(loop, i);
    }
  }
};
} // namespace
} // namespace meshloom
