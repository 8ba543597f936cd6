// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loops and branches of values with lanes, see ControlFlow.h.
#include "meshloom/Lanes/ControlFlow.h"

using namespace meshloom;
using namespace meshloom::lanes;

/// Returns whether any of what the lanes of a scalar i1 hold is true.
static Value anyLane(LaneBuilder &b, Value pred) {
  Lanes lanes(b.lanesOf(pred));
  if (lanes.empty())
    return pred;
  return b.reduce(
      ReduceKind::Or, b.expose(pred, lanes),
      llvm::to_vector(llvm::seq<int64_t>(0, int64_t(lanes.size()))));
}

namespace {
/// One attempt at a loop whose carried values have the lanes `carried`. Each
/// attempt may find that they need more; lanes only grow, so it ends.
class WhileBuilder {
public:
  WhileBuilder(LaneBuilder &b, ArrayRef<Value> inits, const LoopParts &parts)
      : b(b), inits(inits), parts(parts) {}

  MaybeValues run() {
    for (Value init : inits)
      carried.emplace_back(b.lanesOf(init));
    while (true) {
      OpBuilder::InsertionGuard guard(b);
      SmallVector<Value> laned;
      for (auto [init, lanes] : llvm::zip_equal(inits, carried))
        laned.push_back(b.withLanes(init, lanes));
      auto loop = b.create<dtensor::WhileOp>(b.getLoc(), laned);
      auto grown = fill(loop);
      if (failed(grown))
        return failure();
      if (!*grown) {
        for (auto [result, lanes] : llvm::zip_equal(loop.getResults(), carried))
          b.note(result, lanes);
        return SmallVector<Value>(loop.getResults());
      }
      parts.retract(loop);
    }
  }

private:
  SmallVector<Value> arguments(Region &region) {
    SmallVector<Value> result;
    for (auto [argument, lanes] :
         llvm::zip_equal(region.getArguments(), carried))
      result.push_back(b.note(argument, lanes));
    return result;
  }

  /// Builds both regions; true where a carried value turned out to need more
  /// lanes than it has.
  FailureOr<bool> fill(dtensor::WhileOp loop) {
    Location loc = b.getLoc();
    b.setInsertionPointToStart(&loop.getCondition().front());
    MaybeValues preds = parts.condition(arguments(loop.getCondition()));
    if (failed(preds))
      return failure();
    bool diverges = !llvm::all_equal(*preds);
    Value any;
    for (Value pred : *preds) {
      diverges |= !b.lanesOf(pred).empty();
      if (pred == preds->front() && any)
        continue;
      Value here = anyLane(b, pred);
      any = any ? b.apply<dtensor::OrOp>({any, here}) : here;
    }
    b.create<dtensor::YieldOp>(loc, ValueRange(any));

    b.setInsertionPointToStart(&loop.getBody().front());
    SmallVector<Value> before = arguments(loop.getBody());
    MaybeValues next = parts.body(before, diverges);
    if (failed(next))
      return failure();
    SmallVector<Value> running;
    if (diverges) {
      // Places that are done keep what they have.
      MaybeValues mine = parts.condition(before);
      if (failed(mine))
        return failure();
      running = *mine;
      for (auto [value, old, governor] :
           llvm::zip_equal(*next, before, parts.governors))
        if (governor != LoopParts::always)
          value = b.select(running[governor], value, old);
    }
    bool grown = false;
    for (auto [value, lanes] : llvm::zip_equal(*next, carried)) {
      Lanes needed = unionOf(lanes, b.lanesOf(value));
      grown |= needed != lanes;
      lanes = needed;
      value = b.withLanes(value, lanes);
    }
    b.create<dtensor::YieldOp>(loc, *next);
    b.setLoc(loc);
    for (Value mine : running) {
      llvm::DenseSet<Value> seen;
      if (b.getMesh() && !grown && !b.lanesOf(mine).empty() &&
          isComputableEverywhere(mine, loop, seen))
        keepEverywhere(mine);
    }
    return grown;
  }

  /// Returns whether `value`, a number of each device, is made of nothing but
  /// constants, the devices' positions and what all devices have: so each can
  /// tell that of all others.
  bool isComputableEverywhere(Value value, dtensor::WhileOp loop,
                              llvm::DenseSet<Value> &seen) {
    auto type = cast<RankedTensorType>(value.getType());
    if (type.getRank() == 0 || !seen.insert(value).second)
      return true;
    if (type.getNumElements() > b.getMesh().getMesh().size())
      return false;
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      unsigned i = argument.getArgNumber();
      return argument.getOwner() == &loop.getBody().front() &&
             isComputableEverywhere(loop->getOperand(i), loop, seen) &&
             isComputableEverywhere(
                 loop.getBody().front().getTerminator()->getOperand(i), loop,
                 seen);
    }
    Operation *op = value.getDefiningOp();
    return op->getNumRegions() == 0 &&
           llvm::all_of(op->getOperands(), [&](Value operand) {
             return isComputableEverywhere(operand, loop, seen);
           });
  }

  /// Every device keeps `value` for all devices: then none has to ask whether
  /// others are still running.
  void keepEverywhere(Value value) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointAfterValue(value);
    Layout whole = Layout::replicated(b.getMesh().getMesh(),
                                      unsigned(b.lanesOf(value).size()));
    auto constraint = b.create<dtensor::ConstraintOp>(
        b.getLoc(), value, dtensor::LayoutAttr::get(b.getContext(), whole));
    b.note(constraint, SmallVector<unsigned>(b.lanesOf(value)));
    value.replaceAllUsesExcept(constraint, constraint);
  }

  LaneBuilder &b;
  ArrayRef<Value> inits;
  const LoopParts &parts;
  SmallVector<Lanes> carried;
};
} // namespace

MaybeValues lanes::buildWhile(LaneBuilder &b, ArrayRef<Value> inits,
                              const LoopParts &parts) {
  return WhileBuilder(b, inits, parts).run();
}

MaybeValues
lanes::buildCase(LaneBuilder &b, Value index, ArrayRef<RankedTensorType> types,
                 unsigned branches,
                 llvm::function_ref<MaybeValues(unsigned, bool)> branch) {
  Location loc = b.getLoc();
  if (!b.lanesOf(index).empty()) {
    // Places take different branches: all are computed, and picked from.
    SmallVector<Value> picked;
    for (unsigned i = branches; i-- > 0;) {
      MaybeValues results = branch(i, /*diverges=*/branches > 1);
      if (failed(results))
        return failure();
      if (i + 1 == branches) { // the last one is for all other indices
        picked = *results;
        continue;
      }
      Value isThis = b.compare(dtensor::ComparisonDirection::EQ, index,
                               b.like(index, double(i)));
      for (auto [value, other] : llvm::zip_equal(picked, *results))
        value = b.select(isThis, other, value);
    }
    return picked;
  }

  OpBuilder::InsertionGuard guard(b);
  SmallVector<Type> unlaned(types.begin(), types.end());
  auto caseOp = b.create<dtensor::CaseOp>(loc, unlaned, index, branches);
  SmallVector<SmallVector<Value>> values;
  SmallVector<Lanes> lanes(types.size());
  for (unsigned i = 0; i < branches; ++i) {
    b.setInsertionPointToStart(&caseOp.getBranches()[i].front());
    MaybeValues results = branch(i, /*diverges=*/false);
    if (failed(results))
      return failure();
    for (auto [value, its] : llvm::zip_equal(*results, lanes))
      its = unionOf(its, b.lanesOf(value));
    values.push_back(std::move(*results));
  }
  for (auto [i, results] : llvm::enumerate(values)) {
    b.setInsertionPointToEnd(&caseOp.getBranches()[i].front());
    for (auto [value, its] : llvm::zip_equal(results, lanes))
      value = b.withLanes(value, its);
    b.create<dtensor::YieldOp>(loc, results);
  }
  for (auto [result, type, its] :
       llvm::zip_equal(caseOp.getResults(), types, lanes)) {
    result.setType(b.laned(type, its));
    b.note(result, its);
  }
  return SmallVector<Value>(caseOp.getResults());
}
