// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SimplifyCollectives: local rewrites of chains of collectives, each of which
// leaves fewer collectives or fewer bytes, so they end.

#include "Collectives.h"

#include "meshloom/ControlFlow/ControlFlow.h"
#include "meshloom/SPMD/Passes.h"

namespace meshloom {
#define GEN_PASS_DEF_SIMPLIFYCOLLECTIVES
#include "meshloom/SPMD/Passes.h.inc"

namespace {
/// A collective of one value, as most are before they are combined.
struct Single {
  spmd::CollectiveOpInterface op;
  CollectiveOp collective;
  Value source() { return op->getOperand(0); }
  Value result() { return op->getResult(0); }
};

std::optional<Single> singleOf(Operation *op) {
  auto collective = dyn_cast_or_null<spmd::CollectiveOpInterface>(op);
  if (!collective || op->getNumOperands() != 1)
    return std::nullopt;
  return Single{collective, collective.getCollective(0)};
}
std::optional<Single> singleOf(Value value) {
  return singleOf(value.getDefiningOp());
}

/// Makes `value` through the collectives of `chain`, in place of `replaced`.
/// Nothing changes, and the answer is false, where one is not valid.
bool replaceBy(Operation *replaced, Value value, ArrayRef<CollectiveOp> chain,
               ArrayRef<NamedAttribute> notes) {
  for (const CollectiveOp &step : chain)
    if (!verify(step))
      return false;
  OpBuilder builder(replaced);
  for (const CollectiveOp &step : chain)
    value = createCollective(builder, replaced->getLoc(), step.kind, step.axes,
                             value, step.to, notes)
                ->getResult(0);
  replaced->getResult(0).replaceAllUsesWith(value);
  return true;
}

/// The value an earlier collective of the chain already had the type of.
bool foldCycle(Single &last) {
  Value value = last.source();
  while (true) {
    if (value.getType() == last.result().getType()) {
      last.op->getResult(0).replaceAllUsesWith(value);
      return true;
    }
    auto before = singleOf(value);
    if (!before)
      return false;
    value = before->source();
  }
}

/// An equal collective of the same value that comes first.
bool foldEqual(Single &second) {
  for (Operation *user : second.source().getUsers()) {
    auto first = singleOf(user);
    if (first && first->op != second.op &&
        first->op->getBlock() == second.op->getBlock() &&
        first->op->isBeforeInBlock(second.op) &&
        first->collective == second.collective &&
        first->result().getType() == second.result().getType()) {
      second.op->getResult(0).replaceAllUsesWith(first->result());
      return true;
    }
  }
  return false;
}

/// Two of one kind in a row -> one over the axes of both.
bool mergeChain(Single &second) {
  auto first = singleOf(second.source());
  if (!first || first->collective.kind != second.collective.kind ||
      first->op->getBlock() != second.op->getBlock() ||
      !first->result().hasOneUse() ||
      !spmd::windowsOf(second.result().getType()).empty())
    return false;
  CollectiveOp both{second.collective.kind, first->collective.axes,
                    first->collective.from, second.collective.to};
  both.axes.insert(both.axes.end(), second.collective.axes.begin(),
                   second.collective.axes.end());
  return replaceBy(second.op, first->source(), both, notesOf(first->op));
}

/// all_reduce whose uses all slice it -> reduce_scatter over the axes of the
/// slice, then all_reduce over the others.
bool scatterReduction(Single &slice) {
  if (slice.collective.kind != CollectiveKind::Slice ||
      !spmd::windowsOf(slice.result().getType()).empty())
    return false;
  auto reduce = singleOf(slice.source());
  if (!reduce || reduce->collective.kind != CollectiveKind::AllReduce)
    return false;
  for (Operation *user : reduce->result().getUsers()) {
    auto other = singleOf(user);
    // In a loop the reduction would be made each time.
    if (!other || !(other->collective == slice.collective) ||
        other->op->getBlock() != reduce->op->getBlock())
      return false;
  }
  std::vector<unsigned> remaining;
  for (unsigned axis : reduce->collective.axes)
    if (!llvm::is_contained(slice.collective.axes, axis))
      remaining.push_back(axis);
  if (remaining.size() + slice.collective.axes.size() !=
      reduce->collective.axes.size())
    return false; // the slice cuts over another axis
  std::vector<Partial> addends(slice.collective.to.partial().begin(),
                               slice.collective.to.partial().end());
  for (const Partial &partial : reduce->collective.from.partial())
    if (llvm::is_contained(remaining, partial.axis))
      addends.push_back(partial);
  Layout scattered = slice.collective.to.with_partial(addends);
  SmallVector<CollectiveOp> chain{{CollectiveKind::ReduceScatter,
                                   slice.collective.axes,
                                   reduce->collective.from, scattered}};
  if (!remaining.empty())
    chain.push_back(
        {CollectiveKind::AllReduce, remaining, scattered, slice.collective.to});
  return replaceBy(slice.op, reduce->source(), chain, notesOf(reduce->op));
}

/// An op that is linear in two values reduced alike and used only there (the
/// add of two sums, the maximum of two maxima) -> the reduction of what it
/// makes of the pending ones: one collective instead of two.
bool reduceOnce(Operation *op) {
  auto sharded = dyn_cast<dtensor::ShardedOpInterface>(op);
  if (!sharded || op->getNumOperands() != 2 || op->getNumResults() != 1)
    return false;
  auto lhs = singleOf(op->getOperand(0)), rhs = singleOf(op->getOperand(1));
  if (!lhs || !rhs || lhs->op == rhs->op ||
      !(lhs->collective == rhs->collective) ||
      op->getResult(0).getType() != lhs->result().getType() ||
      lhs->result().getType() != rhs->result().getType())
    return false;
  for (Single *side : {&*lhs, &*rhs})
    if (!side->op.getReduceKind() || side->op->getBlock() != op->getBlock() ||
        !side->result().hasOneUse())
      return false;
  ShardingRule rule = sharded.getShardingRule();
  if (rule.partialFlow != PartialFlow::LinearJoint || !rule.isCarrier(0) ||
      !rule.isCarrier(1) || rule.reduceKind != *lhs->op.getReduceKind())
    return false;
  SmallVector<NamedAttribute> notes = notesOf(lhs->op);
  op->setOperands({lhs->source(), rhs->source()});
  Value sum = op->getResult(0);
  sum.setType(lhs->source().getType());
  OpBuilder builder(op->getContext());
  builder.setInsertionPointAfter(op);
  Operation *reduced =
      createCollective(builder, lhs->op->getLoc(), lhs->collective.kind,
                       lhs->collective.axes, sum, lhs->collective.to, notes);
  sum.replaceAllUsesExcept(reduced->getResult(0), reduced);
  return true;
}

/// Returns whether the value, which only `user` needs, comes from an all_reduce
/// through ops whose results nobody else needs.
bool comesFromReduction(Value value, Operation *user) {
  constexpr int farthest = 8;
  SmallVector<std::pair<Value, int>> open{{value, 0}};
  while (!open.empty()) {
    auto [next, distance] = open.pop_back_val();
    Operation *producer = next.getDefiningOp();
    if (!producer || producer->getBlock() != user->getBlock() ||
        !next.hasOneUse() || distance == farthest)
      continue;
    if (auto single = singleOf(producer)) {
      if (single->collective.kind == CollectiveKind::AllReduce)
        return true;
    } else if (isa<dtensor::ShardedOpInterface>(producer) &&
               producer->getNumResults() == 1) {
      for (Value operand : producer->getOperands())
        open.push_back({operand, distance + 1});
    }
  }
  return false;
}

/// A move after a slice, where each device had all of its part before -> a
/// slice of what it had; not of a sum that is only there to be cut.
bool sliceOfEarlier(Single &last) {
  if (last.collective.kind == CollectiveKind::Slice ||
      !spmd::windowsOf(last.result().getType()).empty())
    return false;
  const Layout &to = last.collective.to;
  for (auto step = std::optional(last); step && !step->op.getReduceKind();) {
    const Value value = step->source();
    if (!spmd::windowsOf(value.getType()).empty() ||
        comesFromReduction(value, step->op))
      return false;
    CollectiveOp part{CollectiveKind::Slice, {}, step->collective.from, to};
    for (const std::vector<unsigned> &axes : to.dim_axes())
      for (unsigned axis : axes)
        if (!part.from.uses_axis(axis))
          part.axes.push_back(axis);
    if (replaceBy(last.op, value, part, notesOf(last.op)))
      return true;
    step = singleOf(value);
  }
  return false;
}

/// Slice of an op's result -> the op on slices, where its rule allows that and
/// nobody needs the whole: each device does its part of the op's work, in the
/// kernel that reads it. That is for ops that sum nothing up, and for those
/// behind an all_reduce, which can become a reduce_scatter.
bool sliceOperands(Single &slice) {
  if (slice.collective.kind != CollectiveKind::Slice ||
      !spmd::windowsOf(slice.result().getType()).empty())
    return false;
  Operation *op = slice.source().getDefiningOp();
  auto sharded = dyn_cast_or_null<dtensor::ShardedOpInterface>(op);
  if (!sharded || op->getNumResults() != 1 || op->getNumRegions() != 0 ||
      op->getBlock() != slice.op->getBlock() || !op->getResult(0).hasOneUse())
    return false;
  ShardingRule rule = sharded.getShardingRule();
  if (!rule.windows.empty())
    return false;
  bool isWorthwhile = llvm::none_of(rule.factors, [](const Factor &factor) {
    return factor.kind == FactorKind::Reduced;
  });
  SmallVector<Layout> operands;
  for (Value operand : op->getOperands()) {
    if (!spmd::windowsOf(operand.getType()).empty())
      return false;
    operands.push_back(spmd::layoutOf(operand.getType()));
    isWorthwhile |= comesFromReduction(operand, op);
  }
  if (!isWorthwhile)
    return false;
  const Layout &to = slice.collective.to;
  OpSharding sharding =
      opSharding(rule, {operands.data(), operands.size()}, {{to}});
  if (!(resultLayout(rule, 0, sharding, to.mesh()) == to))
    return false;
  // Each operand as it is, or sliced over some of the axes.
  SmallVector<std::optional<CollectiveOp>> slices;
  for (auto [i, have] : llvm::enumerate(operands)) {
    Layout need = operandLayout(rule, i, sharding, to.mesh());
    if (need == have) {
      slices.emplace_back();
      continue;
    }
    CollectiveOp part{CollectiveKind::Slice, {}, have, need};
    for (unsigned axis : slice.collective.axes)
      if (need.uses_axis(axis) && !have.uses_axis(axis))
        part.axes.push_back(axis);
    if (!verify(part))
      return false;
    slices.push_back(part);
  }
  OpBuilder builder(op);
  SmallVector<NamedAttribute> notes = notesOf(slice.op);
  for (auto [i, part] : llvm::enumerate(slices))
    if (part)
      op->setOperand(i, createCollective(builder, slice.op->getLoc(),
                                         part->kind, part->axes,
                                         op->getOperand(i), part->to, notes)
                            ->getResult(0));
  op->getResult(0).setType(slice.result().getType());
  slice.op->getResult(0).replaceAllUsesWith(op->getResult(0));
  return true;
}

class SimplifyCollectivesPass
    : public impl::SimplifyCollectivesBase<SimplifyCollectivesPass> {
  void runOnOperation() override {
    for (Block *block : runBlocks(getOperation()))
      while (simplify(*block))
        ;
  }

  /// One sweep; returns whether anything changed.
  static bool simplify(Block &block) {
    bool changed = false;
    for (Operation &op : llvm::make_early_inc_range(block)) {
      if (reduceOnce(&op)) {
        changed = true;
        continue;
      }
      auto single = singleOf(&op);
      if (!single || op.use_empty())
        continue;
      changed |= foldCycle(*single) || sliceOfEarlier(*single) ||
                 foldEqual(*single) || scatterReduction(*single) ||
                 mergeChain(*single) || sliceOperands(*single);
    }
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
      if (isa<spmd::CollectiveOpInterface>(op) && op.use_empty()) {
        op.erase();
        changed = true;
      }
    return changed;
  }
};
} // namespace
} // namespace meshloom
