// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reads a function into the graph of the search over layouts. Blocks are read
// where they run, so that a value is known before it is used, but for what a
// loop's body yields: joins get their operands when the body has been read.
#include "FunctionGraph.h"

#include "LayoutFlow.h"
#include "meshloom/ControlFlow/ControlFlow.h"
#include "meshloom/ControlFlow/Determinism.h"
#include "meshloom/Dialect/DTensor/OpenSignature.h"

#include <algorithm>

namespace meshloom {

constexpr StringRef remedy = "run --dtensor-propagate-layouts first";

/// So many runs of something that runs `runs` times each time; a loop that may
/// not run at all counts once, and beyond a million it makes no difference.
static int64_t timesRuns(int64_t runs, int64_t times) {
  constexpr int64_t most = int64_t(1) << 26;
  return std::min(runs * std::clamp<int64_t>(times, 1, most), most);
}

/// Returns whether the layout of a result is the user's.
static bool isPinned(Operation *op, unsigned result) {
  auto pinned = op->getAttrOfType<mlir::DenseI64ArrayAttr>(pinnedAttr);
  return pinned && llvm::is_contained(pinned.asArrayRef(), int64_t(result));
}

const FunctionGraph::OfType *FunctionGraph::ofType(Type type) {
  auto [entry, isNew] = typeOf.try_emplace(type, nullptr);
  auto tensor = isNew ? dyn_cast<RankedTensorType>(type) : RankedTensorType();
  if (!tensor)
    return entry->second;
  if (std::optional<Layout> layout = annotatedLayout(tensor)) {
    types.push_back(std::make_shared<const LayoutGraph::Tensor>(
        Shape(tensor.getShape().begin(), tensor.getShape().end()),
        *dtensor::dtypeOf(tensor.getElementType()), std::move(*layout)));
    entry->second = &types.back();
  }
  return entry->second;
}

unsigned FunctionGraph::addValue(Value value, const OfType &tensor,
                                 int producer, const Scope &scope) {
  const auto number = unsigned(values.size());
  index.try_emplace(value, number);
  values.push_back(value);
  graph.values.push_back(
      {tensor, producer, /*argument=*/false, scope.runs, scope.block});
  return number;
}

unsigned FunctionGraph::argumentValue(unsigned argument) const {
  auto join = joinOfArgument.find(argument);
  return join == joinOfArgument.end() ? argument
                                      : graph.ops[join->second].results[0];
}

unsigned FunctionGraph::numberOf(Value value) const {
  // They are the first ones.
  if (auto argument = dyn_cast<BlockArgument>(value);
      argument && argument.getOwner() == entry)
    return argumentValue(argument.getArgNumber());
  return index.lookup(value);
}

void FunctionGraph::addOutput(Value value, const Layout &layout,
                              const Scope &scope, bool atEnd) {
  graph.outputs.push_back(
      {numberOf(value), layout, atEnd, scope.branch, scope.branchRuns});
}

LogicalResult FunctionGraph::addKind(Operation &op) {
  OfKind &kind = ofKind.emplace_back();
  if (isa<mlir::func::ReturnOp, dtensor::YieldOp>(op)) {
    kind.role = OfKind::End;
    return success();
  }
  for (Type type : op.getResultTypes()) {
    const OfType *found = ofType(type);
    if (!found)
      return op.emitOpError("has a result without a layout; ") << remedy;
    kind.results.push_back(*found);
  }
  kind.role = isa<dtensor::WhileOp>(op)  ? OfKind::Loop
              : isa<dtensor::CaseOp>(op) ? OfKind::Branches
              : isa<dtensor::RelayoutOp, dtensor::ConstraintOp>(op)
                  ? OfKind::Demand
                  : OfKind::Op;
  if (kind.role != OfKind::Op)
    return success();
  auto sharded = dyn_cast<dtensor::ShardedOpInterface>(op);
  if (!sharded || op.getNumResults() == 0)
    return failWithoutRule(op);
  ShardingRule rule = layoutRule(sharded);
  dtensor::OpCost cost = sharded.getCost(rule);
  kind.rule = std::make_shared<ShardingRule>(std::move(rule));
  kind.flopsPerPoint = cost.flopsPerPoint;
  kind.flat = IndexList(cost.flat);
  kind.free = sharded.isFreeToMake();
  kind.held = mlir::hasEffect<mlir::MemoryEffects::Write>(&op);
  return success();
}

/// A constraint, or a relayout of the user's.
void FunctionGraph::addDemand(Operation &op, const Scope &scope) {
  Value result = op.getResult(0);
  bool atEnd = llvm::all_of(result.getUsers(), [](Operation *user) {
    return isa<mlir::func::ReturnOp>(user);
  });
  addOutput(op.getOperand(0), *annotatedLayout(result.getType()), scope, atEnd);
  LayoutGraph::Output &output = graph.outputs.back();
  output.place = int(ops.size());
  output.result = int(addValue(result, -1, scope));
}

void FunctionGraph::addOp(Operation &op, unsigned kind, const Scope &scope) {
  const OfKind &opKind = ofKind[kind];
  LayoutGraph::Op &node = graph.ops.emplace_back();
  node.rule = opKind.rule;
  node.flopsPerPoint = opKind.flopsPerPoint;
  node.flat = opKind.flat;
  node.free = opKind.free;
  node.held = opKind.held;
  node.runs = scope.runs;
  node.branch = scope.branch;
  node.branchRuns = scope.branchRuns;
  node.block = scope.block;
  for (Value operand : op.getOperands())
    node.operands.push_back(numberOf(operand));
  for (unsigned i = 0; i < op.getNumResults(); ++i)
    node.results.push_back(
        addValue(op.getResult(i), opKind.results[i], int(ops.size()), scope));
  ops.push_back(&op);
  joins.push_back(-1);
}

unsigned FunctionGraph::addJoin(Operation *op, unsigned result, Type type,
                                size_t operands, size_t results,
                                const Scope &scope) {
  ShardingRule rule;
  ShardingRule::Tensor dims;
  for (int64_t extent : dtensor::globalShape(type)) {
    dims.push_back({unsigned(rule.factors.size())});
    Factor &factor = rule.factors.emplace_back();
    factor.name = "d" + std::to_string(dims.size() - 1);
    factor.size = extent;
  }
  rule.operands.assign(operands, dims);
  rule.results.assign(results, dims);
  LayoutGraph::Op node;
  node.rule = std::make_shared<ShardingRule>(std::move(rule));
  node.flopsPerPoint = 0;
  node.runs = scope.runs;
  node.branch = scope.branch;
  node.branchRuns = scope.branchRuns;
  node.block = scope.block;
  node.join = true;
  unsigned number = unsigned(ops.size());
  ops.push_back(op);
  joins.push_back(int(result));
  graph.ops.push_back(std::move(node));
  return number;
}

LogicalResult FunctionGraph::addLoop(dtensor::WhileOp loop,
                                     const Scope &scope) {
  int64_t trips = tripCount(loop).value_or(unknownTrips);
  Scope condition = scope, body = scope;
  condition.block = ++blocks;
  condition.runs = timesRuns(scope.runs, trips + 1);
  body.block = ++blocks;
  body.runs = timesRuns(scope.runs, trips);
  std::vector<int> joined;
  unsigned number = unsigned(graph.loops.size());
  graph.loops.push_back({0, 0});
  for (unsigned i = 0; i < loop.getNumResults(); ++i) {
    Value inside = loop.getBodyArgument(i), after = loop.getResult(i);
    Value init = loop.getInits()[i];
    for (Value value : {inside, after})
      if (!ofType(value.getType()))
        return loop.emitOpError("has carried value #")
               << i << " without a layout; " << remedy;
    if (isPinned(loop, i)) {
      joined.push_back(-1);
      addOutput(init, *annotatedLayout(after.getType()), scope);
      addValue(inside, -1, body);
      addValue(after, -1, scope);
    } else {
      unsigned op = addJoin(loop, i, 2, body);
      joined.push_back(int(op));
      joinUses[op].push_back(&loop->getOpOperand(i));
      unsigned in = addValue(inside, int(op), body),
               out = addValue(after, int(op), scope);
      graph.ops[op].operands = {numberOf(init)};
      graph.ops[op].results = {in, out};
      graph.ops[op].loop = int(number);
    }
    index[loop.getConditionArgument(i)] = numberOf(inside);
  }
  unsigned first = unsigned(ops.size());
  if (failed(addBlock(loop.getCondition().front(), condition)) ||
      failed(addBlock(loop.getBody().front(), body)))
    return failure();
  Value goOn = loop.getConditionYield().getOperand(0);
  addOutput(
      goOn,
      Layout::replicated(annotatedLayout(goOn.getType())->mesh(),
                         unsigned(dtensor::globalShape(goOn.getType()).size())),
      condition);
  for (unsigned i = 0; i < loop.getNumResults(); ++i) {
    OpOperand &next = loop.getBodyYield()->getOpOperand(i);
    if (joined[i] < 0) {
      addOutput(next.get(), *annotatedLayout(loop.getResult(i).getType()),
                body);
    } else {
      graph.ops[joined[i]].operands.push_back(numberOf(next.get()));
      joinUses[unsigned(joined[i])].push_back(&next);
    }
  }
  // A loop without an op in it ends where it begins.
  graph.loops[number] = {first, std::max(first, unsigned(ops.size())) -
                                    (ops.size() > first)};
  markSums(loop, scope.runs);
  return success();
}

/// Marks values that are only added to a carried value: they are reduced after
/// the loop, where that is all that is needed (HoistCollectives).
void FunctionGraph::markSums(dtensor::WhileOp loop, int64_t runs) {
  if (tripCount(loop).value_or(unknownTrips) < 2)
    return;
  for (unsigned i = 0; i < loop.getNumResults(); ++i) {
    BlockArgument carried = loop.getBodyArgument(i);
    Value next = loop.getBodyYield().getOperand(i);
    auto add = next.getDefiningOp<dtensor::AddOp>();
    if (!add || add->getBlock() != carried.getOwner() || !next.hasOneUse() ||
        !carried.hasOneUse() || !loop.getConditionArgument(i).use_empty())
      continue;
    unsigned side = add->getOperand(0) == carried;
    Value addend = add->getOperand(side);
    if (add->getOperand(1 - side) == carried && addend.hasOneUse() &&
        addend.getParentBlock() == carried.getOwner())
      graph.values[numberOf(addend)].sumRuns = runs;
  }
}

LogicalResult FunctionGraph::addBranches(dtensor::CaseOp branch,
                                         const Scope &scope) {
  addOutput(branch.getIndex(), *annotatedLayout(branch.getIndex().getType()),
            scope);
  const int64_t runs =
      std::max<int64_t>(scope.runs / int64_t(branch.getBranches().size()), 1);
  for (Region &region : branch.getBranches())
    if (failed(addBlock(region.front(), {++blocks, runs, ++branches, runs})))
      return failure();
  for (unsigned i = 0; i < branch.getNumResults(); ++i) {
    Value result = branch.getResult(i);
    if (!ofType(result.getType()))
      return branch.emitOpError("has a result without a layout; ") << remedy;
    // Yields are brought to the result's layout inside of the branches.
    Scope inside{scope.block, scope.runs, ++branches, runs};
    bool pinned = isPinned(branch, i);
    unsigned op =
        pinned ? 0 : addJoin(branch, i, branch.getBranches().size(), inside);
    for (unsigned b = 0; b < branch.getBranches().size(); ++b) {
      OpOperand &yielded = branch.getYield(b)->getOpOperand(i);
      if (pinned) {
        addOutput(yielded.get(), *annotatedLayout(result.getType()), inside);
      } else {
        graph.ops[op].operands.push_back(numberOf(yielded.get()));
        joinUses[op].push_back(&yielded);
      }
    }
    unsigned value = addValue(result, pinned ? -1 : int(op), scope);
    if (!pinned)
      graph.ops[op].results = {value};
  }
  return success();
}

LogicalResult FunctionGraph::addBlock(Block &block, const Scope &scope) {
  for (Operation &op : block) {
    const unsigned kind = kinds.of(&op);
    if (kind == ofKind.size() && failed(addKind(op)))
      return failure();
    switch (ofKind[kind].role) {
    case OfKind::Op:
      addOp(op, kind, scope);
      break;
    case OfKind::Demand:
      addDemand(op, scope);
      break;
    case OfKind::Loop:
      if (failed(addLoop(cast<dtensor::WhileOp>(op), scope)))
        return failure();
      break;
    case OfKind::Branches:
      if (failed(addBranches(cast<dtensor::CaseOp>(op), scope)))
        return failure();
      break;
    case OfKind::End:
      break;
    }
  }
  return success();
}

/// Returns the numbers that `attribute` of the function lists.
static ArrayRef<int64_t> listed(mlir::func::FuncOp function,
                                StringRef attribute) {
  auto list = function->getAttrOfType<mlir::DenseI64ArrayAttr>(attribute);
  return list ? list.asArrayRef() : ArrayRef<int64_t>();
}

void FunctionGraph::beginSteps(mlir::func::FuncOp function,
                               const Scope &scope) {
  for (BlockArgument argument : entry->getArguments()) {
    const unsigned number = argument.getArgNumber();
    auto alias =
        function.getArgAttrOfType<IntegerAttr>(number, dtensor::aliasAttr);
    // The caller's layout of the argument and the result stands.
    if (!alias || !graph.values[number].open)
      continue;
    const unsigned result = unsigned(alias.getInt());
    const unsigned op = addJoin(function, result, argument.getType(),
                                /*operands=*/2, /*results=*/2, scope);
    const OfType &tensor = *ofType(argument.getType());
    for (unsigned i = 0; i < 2; ++i) {
      graph.ops[op].results.push_back(unsigned(graph.values.size()));
      values.push_back(argument);
      graph.values.push_back(
          {tensor, int(op), /*argument=*/false, scope.runs, scope.block});
    }
    graph.ops[op].operands = {number};
    graph.ops[op].loop = 0;
    graph.values[number].argument = false; // its memory is the carried value's
    joinOfArgument[number] = op;
    joinOfResult[result] = op;
  }
}

LogicalResult FunctionGraph::build(mlir::func::FuncOp function, Steps steps) {
  Block &block = function.getBody().front();
  entry = &block;
  Scope scope{0, runsOnce, 0, runsOnce};
  const size_t most = block.getOperations().size();
  ops.reserve(most);
  joins.reserve(most);
  graph.ops.reserve(most);
  values.reserve(most + block.getNumArguments());
  graph.values.reserve(most + block.getNumArguments());
  index.reserve(unsigned(most));
  for (BlockArgument argument : block.getArguments()) {
    if (!ofType(argument.getType()))
      return function.emitError("argument #")
             << argument.getArgNumber() << " has no layout; " << remedy;
    const OfType &tensor = *ofType(argument.getType());
    values.push_back(argument);
    graph.values.push_back({tensor, -1, /*argument=*/true, scope.runs});
  }
  for (int64_t argument : listed(function, dtensor::openArgumentsAttr))
    graph.values[size_t(argument)].open = true;
  if (steps == Steps::Repeated)
    beginSteps(function, scope);
  const auto first = unsigned(ops.size());
  if (!joinOfArgument.empty())
    graph.loops.push_back({0, 0});
  if (failed(addBlock(block, scope)))
    return failure();
  if (!joinOfArgument.empty())
    graph.loops[0] = {first, std::max(first, unsigned(ops.size()) - 1)};
  llvm::SmallDenseSet<int64_t> open;
  for (int64_t result : listed(function, dtensor::openResultsAttr))
    open.insert(result);
  for (auto [number, result] :
       llvm::enumerate(block.getTerminator()->getOperands())) {
    if (auto join = joinOfResult.find(unsigned(number));
        join != joinOfResult.end()) {
      graph.ops[join->second].operands.push_back(numberOf(result));
      continue;
    }
    addOutput(result, *annotatedLayout(result.getType()), scope,
              /*atEnd=*/true);
    graph.outputs.back().open = open.contains(int64_t(number));
  }
  return success();
}

} // namespace meshloom
