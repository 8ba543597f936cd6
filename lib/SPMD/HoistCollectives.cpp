// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// HoistCollectives: what a loop need not send each time is sent once.
//
// Three rewrites, innermost loops first so that what leaves one loop can leave
// the next:
// - a collective whose operands do not change in the loop moves in front of it,
//   with the ops that make them;
// - an all_reduce by sum whose result is only added to a carried value is made
//   after the loop, of the sum: the carried value becomes partial inside;
// - devices do not ask others whether to go on where that makes no difference
//   to what they have (LoopConditions.h).
// Each takes one collective out of a loop and makes none in it, so they end.

#include "Collectives.h"
#include "LoopConditions.h"

#include "meshloom/ControlFlow/ControlFlow.h"
#include "meshloom/SPMD/Passes.h"

#include "llvm/ADT/SetVector.h"

namespace meshloom {
#define GEN_PASS_DEF_HOISTCOLLECTIVES
#include "meshloom/SPMD/Passes.h.inc"

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

/// The shard type of `type`'s value, partial over `pending` too.
Type partialType(Type type, ArrayRef<Partial> pending) {
  Layout layout = spmd::layoutOf(type);
  std::vector<Partial> partial(layout.partial().begin(),
                               layout.partial().end());
  partial.insert(partial.end(), pending.begin(), pending.end());
  return spmd::shardType(dtensor::globalShape(type),
                         dtensor::elementTypeOf(type),
                         dtensor::LayoutAttr::get(
                             type.getContext(), layout.with_partial(partial)));
}

/// An all_reduce, and the ops that its result goes through until it is added
/// to a carried value: each is the only user of what comes before it.
struct Addend {
  spmd::AllReduceOp reduce;
  SmallVector<OpOperand *> uses; ///< of the reduced value, then along the way
  SmallVector<Type> types;       ///< of what the ops between give, unreduced
};

/// Follows `use` back to an all_reduce by sum, through ops that are linear in
/// what they take from there: a transpose, a product with a scale.
std::optional<Addend> findAddend(OpOperand &use) {
  Addend found;
  for (OpOperand *current = &use;;) {
    found.uses.push_back(current);
    Value value = current->get();
    Operation *op = value.getDefiningOp();
    if (!op || op->getBlock() != use.getOwner()->getBlock() ||
        op->getNumResults() != 1 || !value.hasOneUse() ||
        !spmd::windowsOf(value.getType()).empty())
      return std::nullopt;
    if ((found.reduce = dyn_cast<spmd::AllReduceOp>(op)))
      break;
    auto sharded = dyn_cast<dtensor::ShardedOpInterface>(op);
    if (!sharded || found.uses.size() > 8)
      return std::nullopt;
    // The way that leads to a reduction; a product has at most one.
    OpOperand *next = nullptr;
    for (OpOperand &operand : op->getOpOperands())
      if (auto *producer = operand.get().getDefiningOp();
          producer && producer->getBlock() == op->getBlock() &&
          operand.get().hasOneUse() &&
          (!next || isa<spmd::AllReduceOp>(producer)))
        next = &operand;
    if (!next)
      return std::nullopt;
    current = next;
  }
  if (found.reduce->getNumOperands() != 1 ||
      found.reduce.getKind() != ReduceKind::Sum)
    return std::nullopt;
  std::reverse(found.uses.begin(), found.uses.end());

  CollectiveOp collectiveOp = spmd::collectiveOf(found.reduce, 0);
  SmallVector<Partial> pending;
  for (Partial partial : collectiveOp.from.partial())
    if (llvm::is_contained(collectiveOp.axes, partial.axis))
      pending.push_back(partial);
  // Each op on the way must be able to run on addends.
  for (OpOperand *onWay : ArrayRef(found.uses).drop_back()) {
    Operation *op = onWay->getOwner();
    ShardingRule rule = cast<dtensor::ShardedOpInterface>(op).getShardingRule();
    std::vector<Layout> operands;
    for (OpOperand &operand : op->getOpOperands()) {
      Type type = operand.get().getType();
      operands.push_back(spmd::layoutOf(
          &operand == onWay ? partialType(type, pending) : type));
    }
    Type type = partialType(op->getResult(0).getType(), pending);
    Layout result = spmd::layoutOf(type);
    OpSharding sharding = opSharding(rule, operands, {{result}});
    if (!(resultLayout(rule, 0, sharding, result.mesh()) == result))
      return std::nullopt;
    for (auto [i, operand] : llvm::enumerate(operands))
      if (!(operandLayout(rule, unsigned(i), sharding, result.mesh()) ==
            operand))
        return std::nullopt;
    found.types.push_back(type);
  }
  return found;
}

int64_t shardElements(Type type) {
  return cast<RankedTensorType>(type).getNumElements();
}

/// Makes after `loop` the reduction that its carried value `i` needs, if all
/// that is done with both is to add one to the other.
bool reduceAfter(dtensor::WhileOp loop, unsigned i) {
  dtensor::YieldOp yield = loop.getBodyYield();
  BlockArgument carried = loop.getBodyArgument(i);
  Value next = yield.getOperand(i);
  auto add = next.getDefiningOp<dtensor::AddOp>();
  int64_t trips = tripCount(loop).value_or(unknownTrips);
  if (!add || add->getBlock() != yield->getBlock() || !next.hasOneUse() ||
      !carried.hasOneUse() || !loop.getConditionArgument(i).use_empty() ||
      trips < 2)
    return false;
  unsigned side = add->getOperand(0) == carried;
  if (add->getOperand(1 - side) != carried)
    return false;
  auto addend = findAddend(add->getOpOperand(side));
  if (!addend)
    return false;
  spmd::AllReduceOp reduce = addend->reduce;
  Value source = reduce->getOperand(0);
  Type partial =
      addend->types.empty() ? source.getType() : addend->types.back();
  if (add->getOperand(side).getType() != carried.getType() ||
      shardElements(partial) > trips * shardElements(source.getType()))
    return false;
  OpBuilder builder(loop);
  Value start = zeros(builder, loop.getLoc(), partial);
  if (!start)
    return false;
  Layout reduced = spmd::layoutOf(carried.getType());
  Value init = loop.getInits()[i];
  Value result = loop.getResult(i);
  loop->setOperand(i, start);
  addend->uses.front()->set(source);
  for (auto [use, type] :
       llvm::zip(addend->uses, addend->types)) // but the last: the add's
    use->getOwner()->getResult(0).setType(type);
  for (Value part :
       {result, Value(carried), Value(loop.getConditionArgument(i)), next})
    part.setType(partial);
  builder.setInsertionPointAfter(loop);
  CollectiveOp collectiveOp = spmd::collectiveOf(reduce, 0);
  SmallVector<NamedAttribute> notes = notesOf(reduce);
  for (NamedAttribute &note : notes)
    if (note.getName() == "reason")
      note.setValue(
          builder.getStringAttr(cast<StringAttr>(note.getValue()).getValue() +
                                "; once, after the loop that sums it up"));
  Operation *reduction =
      createCollective(builder, reduce.getLoc(), collectiveOp.kind,
                       collectiveOp.axes, result, reduced, notes);
  Value sum = reduction->getResult(0);
  if (!isZero(init))
    sum =
        builder.create<dtensor::AddOp>(add.getLoc(), init.getType(), init, sum);
  result.replaceAllUsesExcept(sum, reduction);
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
      decideLocally(loop);
    }
  }
};
} // namespace
} // namespace meshloom
