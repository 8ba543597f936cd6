// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// while, if and case.
#include "Importer.h"

#include "meshloom/Dialect/DTensor/Inlined.h"
#include "meshloom/Dialect/DTensor/Recompute.h"
#include "meshloom/Lanes/ControlFlow.h"

using namespace meshloom;
using namespace meshloom::importer;

/// Returns whether `region` or a function that it calls draws random numbers.
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

static Imported importWhile(Importer &im, stablehlo::WhileOp op) {
  LaneBuilder &b = im.b;
  SmallVector<Value> inits = im.leaves(op.getOperand());
  const size_t count = inits.size();
  llvm::DenseSet<Operation *> seen;
  // Says whether the last carried value counts the turns.
  const bool counts = drawsRandomly(im.module, op.getCond(), seen) ||
                      drawsRandomly(im.module, op.getBody(), seen);
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
  parts.body = [&](ArrayRef<Value> arguments, bool) -> Imported {
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

static Imported importBranches(Importer &im, Value index,
                               ArrayRef<Region *> regions, Operation *source) {
  LaneBuilder &b = im.b;
  if (regions.empty())
    return im.error("needs at least one branch");
  SmallVector<RankedTensorType> types;
  for (Type type : source->getResultTypes())
    flatten(type, types);
  return buildCase(b, index, types, unsigned(regions.size()),
                   [&](unsigned i, bool) -> Imported {
                     Imported results = im.importInline(*regions[i], {});
                     if (failed(results))
                       return failure();
                     bool fits = results->size() == types.size();
                     for (size_t k = 0; fits && k < types.size(); ++k)
                       fits = b.typeOf((*results)[k]) == types[k];
                     if (!fits)
                       return im.error("the results of a branch do not have "
                                       "the types of the op's results");
                     return results;
                   });
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
