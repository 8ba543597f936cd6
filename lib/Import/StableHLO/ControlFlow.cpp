// while, if and case. Which lanes a carried value has is a fixpoint; a
// condition that differs from device to device runs all devices until the last
// one is done.
#include "Importer.h"

using namespace meshloom;
using namespace meshloom::importer;

/// Whether any of what the lanes of a scalar i1 hold is true.
static Value anyLane(LaneBuilder &b, Value pred) {
  Lanes lanes(b.lanesOf(pred));
  if (lanes.empty())
    return pred;
  return b.reduce(
      ReduceKind::Or, b.expose(pred, lanes),
      llvm::to_vector(llvm::seq<int64_t>(0, int64_t(lanes.size()))));
}

/// Whether `region` or a function that it calls draws random numbers.
static bool drawsRandomly(ModuleOp module, Region &region,
                          llvm::DenseSet<Operation *> &seen) {
  auto found = region.walk([&](Operation *op) {
    if (isa<stablehlo::RngOp>(op))
      return mlir::WalkResult::interrupt();
    mlir::FlatSymbolRefAttr symbol;
    if (auto call = dyn_cast<mlir::func::CallOp>(op))
      symbol = call.getCalleeAttr();
    else if (auto call = dyn_cast<stablehlo::CompositeOp>(op))
      symbol = call.getDecompositionAttr();
    auto callee = symbol ? module.lookupSymbol<mlir::func::FuncOp>(symbol)
                         : mlir::func::FuncOp();
    if (callee && seen.insert(callee).second &&
        drawsRandomly(module, callee.getBody(), seen))
      return mlir::WalkResult::interrupt();
    return mlir::WalkResult::advance();
  });
  return found.wasInterrupted();
}

namespace {
/// One attempt at a loop whose carried values have the lanes `carried`. Each
/// attempt may find that they need more; lanes only grow, so it ends.
class WhileImport {
public:
  WhileImport(Importer &im, stablehlo::WhileOp op) : im(im), b(im.b), op(op) {}

  Imported run() {
    SmallVector<Value> inits = im.leaves(op.getOperand());
    llvm::DenseSet<Operation *> seen;
    counts = drawsRandomly(im.module, op.getCond(), seen) ||
             drawsRandomly(im.module, op.getBody(), seen);
    if (counts)
      inits.push_back(b.splat(
          RankedTensorType::get({}, b.getIntegerType(32, /*isSigned=*/false)),
          0.0));
    unsigned randomOps = im.randomOps;
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
        return SmallVector<Value>(counts ? loop.getResults().drop_back()
                                         : loop.getResults());
      }
      im.retract(loop);
      im.randomOps = randomOps;
    }
  }

private:
  /// Imports a region; the last one of `arguments` may be the count of turns.
  Imported importRegion(Region &region, ArrayRef<Value> arguments) {
    if (!counts)
      return im.importInline(region, arguments);
    im.turns.push_back(arguments.back());
    Imported results = im.importInline(region, arguments.drop_back());
    im.turns.pop_back();
    return results;
  }

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
    const unsigned randomOps = im.randomOps;
    auto condition = [&](Region &region) -> FailureOr<Value> {
      // Where it is made twice, it is the same one.
      im.randomOps = randomOps;
      Imported preds = importRegion(op.getCond(), arguments(region));
      if (failed(preds))
        return failure();
      if (preds->size() != 1 ||
          b.typeOf(preds->front()) != RankedTensorType::get({}, b.getI1Type()))
        return im.error("the condition of a while must give one tensor<i1>");
      return preds->front();
    };
    b.setInsertionPointToStart(&loop.getCondition().front());
    auto pred = condition(loop.getCondition());
    if (failed(pred))
      return failure();
    Lanes predLanes(b.lanesOf(*pred));
    b.create<dtensor::YieldOp>(loc, ValueRange(anyLane(b, *pred)));

    b.setInsertionPointToStart(&loop.getBody().front());
    SmallVector<Value> before = arguments(loop.getBody());
    Imported next = importRegion(op.getBody(), before);
    if (failed(next))
      return failure();
    size_t count = carried.size() - (counts ? 1 : 0);
    if (next->size() != count)
      return im.error("the body of a while gives ")
             << next->size() << " values for " << count << " carried ones";
    const unsigned randomOpsAfter = im.randomOps;
    Value running;
    if (!predLanes.empty()) {
      // Devices that are done keep what they have.
      auto mine = condition(loop.getBody());
      if (failed(mine))
        return failure();
      im.randomOps = randomOpsAfter;
      running = *mine;
      for (auto [value, old] : llvm::zip(*next, before))
        value = b.select(running, value, old);
    }
    if (counts)
      next->push_back(
          b.apply<dtensor::AddOp>({before.back(), b.like(before.back(), 1)}));
    bool grown = false;
    for (auto [value, lanes] : llvm::zip_equal(*next, carried)) {
      Lanes needed = unionOf(lanes, b.lanesOf(value));
      grown |= needed != lanes;
      lanes = needed;
      value = b.withLanes(value, lanes);
    }
    b.create<dtensor::YieldOp>(loc, *next);
    b.setLoc(loc);
    llvm::DenseSet<Value> seen;
    if (running && !grown && isKnownEverywhere(running, loop, seen))
      keepEverywhere(running);
    return grown;
  }

  /// Whether `value`, a number of each device, is made of nothing but
  /// constants, the devices' positions and what all devices have: so each can
  /// tell that of all others.
  bool isKnownEverywhere(Value value, dtensor::WhileOp loop,
                         llvm::DenseSet<Value> &seen) {
    auto type = cast<RankedTensorType>(value.getType());
    if (type.getRank() == 0 || !seen.insert(value).second)
      return true;
    if (type.getNumElements() > b.getMesh().getMesh().size())
      return false;
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      unsigned i = argument.getArgNumber();
      return argument.getOwner() == &loop.getBody().front() &&
             isKnownEverywhere(loop->getOperand(i), loop, seen) &&
             isKnownEverywhere(
                 loop.getBody().front().getTerminator()->getOperand(i), loop,
                 seen);
    }
    Operation *op = value.getDefiningOp();
    return op->getNumRegions() == 0 &&
           llvm::all_of(op->getOperands(), [&](Value operand) {
             return isKnownEverywhere(operand, loop, seen);
           });
  }

  /// Every device keeps `value` for all devices: then none has to ask whether
  /// others are still running.
  void keepEverywhere(Value value) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointAfterValue(value);
    Layout whole = Layout::replicated(b.getMesh().getMesh(),
                                      unsigned(b.lanesOf(value).size()));
    auto kept = b.create<dtensor::ConstraintOp>(
        b.getLoc(), value, dtensor::LayoutAttr::get(b.getContext(), whole));
    b.note(kept, SmallVector<unsigned>(b.lanesOf(value)));
    value.replaceAllUsesExcept(kept, kept);
  }

  Importer &im;
  LaneBuilder &b;
  stablehlo::WhileOp op;
  SmallVector<Lanes> carried;
  /// Whether the last carried value counts the turns.
  bool counts = false;
};
} // namespace

static Imported importBranches(Importer &im, Value index,
                               ArrayRef<Region *> regions, Operation *source) {
  LaneBuilder &b = im.b;
  Location loc = b.getLoc();
  if (regions.empty())
    return im.error("needs at least one branch");
  SmallVector<RankedTensorType> types;
  for (Type type : source->getResultTypes())
    flatten(type, types);
  auto checkCount = [&](Imported &results) -> LogicalResult {
    if (failed(results))
      return failure();
    bool fits = results->size() == types.size();
    for (size_t i = 0; fits && i < types.size(); ++i)
      fits = b.typeOf((*results)[i]) == types[i];
    if (!fits)
      return im.error("a branch does not give what the op's type says");
    return success();
  };

  if (!b.lanesOf(index).empty()) {
    // Devices take different branches: all are computed, and picked from.
    SmallVector<Value> picked;
    for (size_t i = regions.size(); i-- > 0;) {
      Imported results = im.importInline(*regions[i], {});
      if (failed(checkCount(results)))
        return failure();
      if (picked.empty()) { // the last one is for all other indices
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
  auto branch =
      b.create<dtensor::CaseOp>(loc, unlaned, index, unsigned(regions.size()));
  SmallVector<SmallVector<Value>> values;
  SmallVector<Lanes> lanes(types.size());
  for (auto [i, region] : llvm::enumerate(regions)) {
    b.setInsertionPointToStart(&branch.getBranches()[i].front());
    Imported results = im.importInline(*region, {});
    if (failed(checkCount(results)))
      return failure();
    for (auto [value, its] : llvm::zip_equal(*results, lanes))
      its = unionOf(its, b.lanesOf(value));
    values.push_back(std::move(*results));
  }
  for (auto [i, results] : llvm::enumerate(values)) {
    b.setInsertionPointToEnd(&branch.getBranches()[i].front());
    for (auto [value, its] : llvm::zip_equal(results, lanes))
      value = b.withLanes(value, its);
    b.create<dtensor::YieldOp>(loc, results);
  }
  for (auto [result, type, its] :
       llvm::zip_equal(branch.getResults(), types, lanes)) {
    result.setType(b.laned(type, its));
    b.note(result, its);
  }
  return SmallVector<Value>(branch.getResults());
}

static Imported importIf(Importer &im, stablehlo::IfOp op) {
  LaneBuilder &b = im.b;
  auto type = RankedTensorType::get({}, b.getI32Type());
  Value index =
      b.select(im.get(op.getPred()), b.splat(type, 0.0), b.splat(type, 1.0));
  return importBranches(im, index, {&op.getTrueBranch(), &op.getFalseBranch()},
                        op);
}

static Imported importCase(Importer &im, stablehlo::CaseOp op) {
  SmallVector<Region *> regions;
  for (Region &region : op.getBranches())
    regions.push_back(&region);
  return importBranches(im, im.get(op.getIndex()), regions, op);
}

void importer::addControlFlow(Handlers &handlers) {
  handlers.add<stablehlo::WhileOp>([](Importer &im, stablehlo::WhileOp op) {
    return WhileImport(im, op).run();
  });
  handlers.add<stablehlo::IfOp>(importIf);
  handlers.add<stablehlo::CaseOp>(importCase);
}
