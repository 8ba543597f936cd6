// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// while, if and case.
#include "Importer.h"

#include "meshloom/Dialect/DTensor/Inlined.h"
#include "meshloom/Dialect/DTensor/Recompute.h"
#include "meshloom/Lanes/ControlFlow.h"

#include "llvm/Support/SaveAndRestore.h"

using namespace meshloom;
using namespace meshloom::importer;

/// Returns whether an op of `region`, or of a function that it calls, holds for
/// `test`.
static bool hasOp(ModuleOp module, Region &region,
                  llvm::function_ref<bool(Operation *)> test,
                  llvm::DenseSet<Operation *> &seen) {
  auto found = region.walk([&](Operation *op) {
    if (test(op))
      return mlir::WalkResult::interrupt();
    mlir::FlatSymbolRefAttr symbol;
    if (auto call = dyn_cast<mlir::func::CallOp>(op))
      symbol = call.getCalleeAttr();
    else if (auto call = dyn_cast<stablehlo::CompositeOp>(op))
      symbol = call.getDecompositionAttr();
    auto callee = symbol ? module.lookupSymbol<mlir::func::FuncOp>(symbol)
                         : mlir::func::FuncOp();
    if (callee && seen.insert(callee).second &&
        hasOp(module, callee.getBody(), test, seen))
      return mlir::WalkResult::interrupt();
    return mlir::WalkResult::advance();
  });
  return found.wasInterrupted();
}

static bool drawsRandomly(ModuleOp module, Region &region) {
  llvm::DenseSet<Operation *> seen;
  return hasOp(module, region, llvm::IsaPred<stablehlo::RngOp>, seen);
}

static bool callsHost(ModuleOp module, Region &region) {
  llvm::DenseSet<Operation *> seen;
  auto hasEffect = [](Operation *op) {
    auto call = dyn_cast<stablehlo::CustomCallOp>(op);
    return call && call.getHasSideEffect();
  };
  return hasOp(module, region, hasEffect, seen);
}

/// Returns the places where what is being imported runs and `pred` holds.
static Value runningWhere(Importer &im, Value pred) {
  return im.running ? im.b.apply<dtensor::AndOp>({im.running, pred}) : pred;
}

static Imported importWhile(Importer &im, stablehlo::WhileOp op) {
  LaneBuilder &b = im.b;
  SmallVector<Value> inits = im.leaves(op.getOperand());
  const size_t count = inits.size();
  // Says whether the last carried value counts the turns.
  const bool counts = drawsRandomly(im.module, op.getCond()) ||
                      drawsRandomly(im.module, op.getBody());
  if (counts)
    inits.push_back(b.splat(
        RankedTensorType::get({}, b.getIntegerType(32, /*isSigned=*/false)),
        0.0));
  auto importRegion = [&](Region &region,
                          ArrayRef<Value> arguments) -> Imported {
    if (!counts)
      return im.importInline(region, arguments);
    im.turns.push_back(arguments.back());
    Imported results = im.importInline(region, arguments.drop_back());
    im.turns.pop_back();
    return results;
  };
  const unsigned randomOps = im.randomOps;
  LoopParts parts;
  parts.condition = [&](ArrayRef<Value> arguments) -> Imported {
    // Where it is made twice, it is the same one.
    const unsigned now = std::exchange(im.randomOps, randomOps);
    Imported preds = importRegion(op.getCond(), arguments);
    im.randomOps = std::max(im.randomOps, now);
    if (failed(preds))
      return failure();
    if (preds->size() != 1 ||
        b.typeOf(preds->front()) != RankedTensorType::get({}, b.getI1Type()))
      return im.error("the condition of a while must give one tensor<i1>");
    return preds;
  };
  parts.body = [&](ArrayRef<Value> arguments, bool diverges) -> Imported {
    Value running = im.running;
    if (diverges && callsHost(im.module, op.getBody())) {
      Imported preds = parts.condition(arguments);
      if (failed(preds))
        return failure();
      running = runningWhere(im, preds->front());
    }
    const llvm::SaveAndRestore<Value> mask(im.running, running);
    Imported next = importRegion(op.getBody(), arguments);
    if (failed(next))
      return failure();
    if (next->size() != count)
      return im.error("the results of the body of a while are ")
             << next->size() << " values for " << count << " carried ones";
    if (counts)
      next->push_back(b.apply<dtensor::AddOp>(
          {arguments.back(), b.like(arguments.back(), 1)}));
    return next;
  };
  parts.retract = [&](dtensor::WhileOp loop) {
    im.retract(loop);
    im.randomOps = randomOps;
  };
  parts.governors.assign(count, 0);
  if (counts)
    parts.governors.push_back(LoopParts::always);
  Imported results = buildWhile(b, inits, parts);
  if (succeeded(results))
    results->truncate(count);
  return results;
}

/// Returns at which places `index` is that of branch `i` of `count`. The last
/// one is for all other indices.
static Value takes(LaneBuilder &b, Value index, unsigned i, unsigned count) {
  using Direction = dtensor::ComparisonDirection;
  if (i + 1 < count)
    return b.compare(Direction::EQ, index, b.like(index, double(i)));
  return b.apply<dtensor::OrOp>(
      {b.compare(Direction::LT, index, b.like(index, 0)),
       b.compare(Direction::GE, index, b.like(index, double(i)))});
}

static Imported importBranches(Importer &im, Value index,
                               ArrayRef<Region *> regions, Operation *source) {
  LaneBuilder &b = im.b;
  if (regions.empty())
    return im.error("needs at least one branch");
  SmallVector<RankedTensorType> types;
  for (Type type : source->getResultTypes())
    flatten(type, types);
  const auto count = unsigned(regions.size());
  auto branch = [&](unsigned i, bool diverges) -> Imported {
    const bool isMasked = diverges && callsHost(im.module, *regions[i]);
    const llvm::SaveAndRestore<Value> mask(
        im.running,
        isMasked ? runningWhere(im, takes(b, index, i, count)) : im.running);
    Imported results = im.importInline(*regions[i], {});
    if (failed(results))
      return failure();
    bool fits = results->size() == types.size();
    for (size_t k = 0; fits && k < types.size(); ++k)
      fits = b.typeOf((*results)[k]) == types[k];
    if (!fits)
      return im.error("the results of a branch do not have the types of the "
                      "op's results");
    return results;
  };
  return buildCase(b, index, types, count, branch);
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

/// A region keeps what is computed from the barrier's results apart from what
/// is computed from its operands: jax.checkpoint computes values again there.
static Imported importBarrier(Importer &im,
                              stablehlo::OptimizationBarrierOp op) {
  LaneBuilder &b = im.b;
  const SmallVector<Value> values = im.leaves(op.getOperand());
  if (values.empty())
    return values;
  SmallVector<RankedTensorType> types;
  for (Value value : values)
    types.push_back(b.typeOf(value));
  const Value index = b.splat(RankedTensorType::get({}, b.getI32Type()), 0.0);
  Imported results = buildCase(
      b, index, types, 1, [&](unsigned, bool) -> Imported { return values; });
  Operation *region = results->front().getDefiningOp();
  region->setAttr(dtensor::recomputedAttr, b.getUnitAttr());
  region->setAttr(dtensor::inlinedAttr, b.getUnitAttr());
  return results;
}

void importer::addControlFlow(Handlers &handlers) {
  handlers.add<stablehlo::WhileOp>(importWhile);
  handlers.add<stablehlo::IfOp>(importIf);
  handlers.add<stablehlo::CaseOp>(importCase);
  handlers.add<stablehlo::OptimizationBarrierOp>(importBarrier);
}
