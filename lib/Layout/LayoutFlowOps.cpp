// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The ops that axes flow through, and the values they meet in: loops, branches
// and sharding groups are ops here too.
#include "LayoutFlow.h"

#include "meshloom/ControlFlow/ControlFlow.h"
#include "meshloom/ControlFlow/Determinism.h"

#include "llvm/ADT/MapVector.h"

#include <map>

namespace meshloom {

/// How the factors of `rule` are shared between its tensors.
static FlowKind classify(const ShardingRule &rule) {
  auto has = [](const ShardingRule::Tensor &tensor, unsigned factor) {
    return llvm::any_of(tensor, [&](const ShardingRule::Dim &dim) {
      return llvm::is_contained(dim, factor);
    });
  };
  bool identity = true, broadcast = false;
  for (unsigned factor = 0; factor < rule.factors.size(); ++factor) {
    FactorKind kind = rule.factors[factor].kind;
    if (kind == FactorKind::Whole || rule.factors[factor].size == 1)
      continue; // no axis flows through it
    if (kind == FactorKind::Reduced) {
      identity = false;
      continue;
    }
    bool inOperand = false;
    for (const ShardingRule::Tensor &operand : rule.operands) {
      bool here = has(operand, factor);
      inOperand |= here;
      identity &= here || operand.empty();
    }
    for (const ShardingRule::Tensor &result : rule.results)
      identity &= has(result, factor);
    broadcast |= !inOperand;
  }
  if (broadcast)
    return FlowKind::Broadcast;
  return identity ? FlowKind::Identity : FlowKind::Contraction;
}

unsigned LayoutFlow::number(Value value) {
  auto [entry, isNew] = index.try_emplace(value, states.size());
  if (isNew) {
    states.emplace_back();
    values.push_back(value);
    touching.emplace_back();
  }
  return entry->second;
}

const FlowRule *LayoutFlow::addRule(ShardingRule rule, FlowKind kind) {
  return &rules.emplace_back(FlowRule{std::move(rule), kind});
}

const FlowRule *LayoutFlow::ruleOf(Operation &op, bool wished) {
  unsigned kind = kinds.of(&op);
  if (kind < ruleOfKind.size())
    return ruleOfKind[kind];
  const FlowRule *rule = nullptr;
  if (auto sharded = dyn_cast<dtensor::ShardedOpInterface>(op)) {
    ShardingRule shardingRule =
        wished ? sharded.getShardingRule() : layoutRule(sharded);
    FlowKind flows = wished ? FlowKind::Identity : classify(shardingRule);
    rule = addRule(std::move(shardingRule), flows);
  }
  return ruleOfKind.emplace_back(rule);
}

void LayoutFlow::add(FlowOp flow) {
  for (unsigned value : llvm::concat<unsigned>(flow.operands, flow.results))
    touching[value].push_back(ops.size());
  ops.push_back(std::move(flow));
}

LogicalResult LayoutFlow::collectOps() {
  if (failed(expectOneBlock(function)))
    return failure();
  for (BlockArgument argument : function.getArguments()) {
    if (!isa<RankedTensorType>(argument.getType()))
      return function.emitError("argument ")
             << argumentName(function, argument.getArgNumber()) << " has type "
             << argument.getType()
             << (isa<dtensor::VariableType>(argument.getType())
                     ? "; lift variables with --dtensor-lift-variables first"
                     : "; expected a ranked tensor");
    number(argument);
  }
  if (failed(collectOps(function.getBody().front())))
    return failure();
  return addGroups();
}

/// A rule of `operands` tensors of this shape and one result, all alike.
static ShardingRule sameShapes(ArrayRef<int64_t> shape, size_t operands) {
  ShardingRule rule;
  ShardingRule::Tensor dims;
  for (int64_t extent : shape) {
    dims.push_back({unsigned(rule.factors.size())});
    rule.factors.emplace_back().size = extent;
  }
  rule.operands.assign(operands, dims);
  rule.results.push_back(dims);
  return rule;
}

/// Returns the layout that the user gave to a value, where it leaves nothing
/// open.
static std::optional<Layout> decidedLayout(Value value) {
  if (auto layout = annotatedLayout(value.getType()))
    return layout;
  auto constraint = value.getDefiningOp<dtensor::ConstraintOp>();
  auto wish = constraint ? dtensor::wishOf(constraint) : std::nullopt;
  if (!wish)
    return std::nullopt;
  if (!llvm::is_contained(wish->open, true))
    return wish->layout;
  return wish->group ? decidedLayout(constraint.getOperand()) : std::nullopt;
}

/// The values of one group are laid out alike.
LogicalResult LayoutFlow::addGroups() {
  // By any number, also those that a DenseMap keeps for itself.
  llvm::MapVector<int64_t, SmallVector<FlowOp *>, std::map<int64_t, unsigned>>
      groups;
  for (FlowOp &flow : ops)
    if (auto constraint = dyn_cast<dtensor::ConstraintOp>(flow.op))
      if (auto wish = dtensor::wishOf(constraint); wish && wish->group)
        groups[*wish->group].push_back(&flow);
  std::vector<FlowOp> links;
  for (auto &[group, members] : groups) {
    Operation *first = members.front()->op, *decides = nullptr;
    SmallVector<int64_t> shape =
        dtensor::globalShape(first->getResult(0).getType());
    auto disagree = [&](Operation *member, Operation *other) {
      auto error = member->emitError("value is in sharding group ")
                   << group << " with another one, but ";
      error.attachNote(other->getLoc()) << "the other one";
      return error;
    };
    FlowOp link{first, nullptr, {}, {}};
    std::optional<Layout> decided;
    for (FlowOp *member : members) {
      SmallVector<int64_t> memberShape =
          dtensor::globalShape(member->op->getResult(0).getType());
      if (memberShape != shape)
        return disagree(member->op, first)
               << "their shapes differ: " << member->op->getOperand(0).getType()
               << " and " << first->getOperand(0).getType();
      if (auto layout = decidedLayout(member->op->getOperand(0))) {
        if (decided && !(*layout == *decided))
          return disagree(member->op, decides)
                 << "their layouts differ: " << layout->spec_string() << " and "
                 << decided->spec_string()
                 << "; leave dims of one of them open, or take it out";
        decided = layout;
        decides = member->op;
      }
      if (member != members.front())
        link.operands.push_back(member->results.front());
    }
    link.results = members.front()->results;
    link.shared =
        addRule(sameShapes(shape, link.operands.size()), FlowKind::Identity);
    link.linksOnly = true;
    links.push_back(std::move(link));
  }
  for (FlowOp &link : links)
    add(std::move(link));
  return success();
}

LogicalResult LayoutFlow::collectOps(Block &block) {
  for (Operation &op : block) {
    if (isa<dtensor::YieldOp>(op))
      continue;
    if (isControl(&op)) {
      auto loop = dyn_cast<dtensor::WhileOp>(op);
      if (failed(loop ? collect(loop) : collect(cast<dtensor::CaseOp>(op))))
        return failure();
      continue;
    }
    FlowOp flow{&op, nullptr, {}, {}};
    std::optional<dtensor::Wish> wish;
    if (auto constraint = dyn_cast<dtensor::ConstraintOp>(op))
      wish = dtensor::wishOf(constraint);
    if (wish)
      flow.direction = wish->direction;
    if (wish ||
        !isa<dtensor::RelayoutOp, dtensor::ConstraintOp, mlir::func::ReturnOp>(
            op)) {
      flow.shared = ruleOf(op, wish.has_value());
      if (!flow.shared)
        return failWithoutRule(op);
    }
    for (Value operand : op.getOperands())
      flow.operands.push_back(number(operand));
    for (Value result : op.getResults())
      flow.results.push_back(number(result));
    add(std::move(flow));
  }
  return success();
}

/// The values of `operands` and the result have the same factors.
void LayoutFlow::addJoin(Operation *op, unsigned result, ValueRange operands) {
  FlowOp flow{op, nullptr, {}, {}, result};
  flow.shared =
      addRule(sameShapes(dtensor::globalShape(op->getResult(result).getType()),
                         operands.size()),
              FlowKind::Identity);
  for (Value operand : operands)
    flow.operands.push_back(number(operand));
  flow.results.push_back(number(op->getResult(result)));
  add(std::move(flow));
}

LogicalResult LayoutFlow::collect(dtensor::WhileOp loop) {
  for (unsigned i = 0; i < loop.getNumResults(); ++i) {
    Value parts[] = {loop.getResult(i), loop.getBodyArgument(i),
                     loop.getConditionArgument(i)};
    // A layout on one of them pins all.
    for (Value part : parts)
      if (dtensor::layoutAttrOf(part.getType()))
        parts[0].setType(part.getType());
    unsigned state = number(parts[0]);
    for (Value part : parts) {
      part.setType(parts[0].getType());
      index[part] = state;
    }
  }
  for (unsigned i = 0; i < loop.getNumResults(); ++i)
    addJoin(loop, i, {loop.getInits()[i], loop.getBodyYield().getOperand(i)});
  number(loop.getConditionYield().getOperand(0));
  if (failed(collectOps(loop.getCondition().front())))
    return failure();
  return collectOps(loop.getBody().front());
}

/// The joins come last: all branches are laid out by then.
LogicalResult LayoutFlow::collect(dtensor::CaseOp branch) {
  for (Region &region : branch.getBranches())
    if (failed(collectOps(region.front())))
      return failure();
  for (unsigned i = 0; i < branch.getNumResults(); ++i) {
    SmallVector<Value> yielded;
    for (unsigned b = 0; b < branch.getBranches().size(); ++b)
      yielded.push_back(branch.getYield(b).getOperand(i));
    addJoin(branch, i, yielded);
  }
  return success();
}

} // namespace meshloom
