// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// GatherSmallLoops: a loop whose turns do little work has all of its values
// whole. InsertRelayouts then gathers what the loop reads, in front of it, and
// nothing is sent inside. A relayout behind the loop brings each result to the
// layout that the result had.

#include "LaidOut.h"

#include "meshloom/ControlFlow/ControlFlow.h"
#include "meshloom/ControlFlow/SmallLoops.h"
#include "meshloom/ControlFlow/SourceLocation.h"
#include "meshloom/Dialect/DTensor/FunctionLayouts.h"
#include "meshloom/Dialect/DTensor/Notes.h"
#include "meshloom/Layout/Passes.h"

namespace meshloom {
#define GEN_PASS_DEF_GATHERSMALLLOOPS
#include "meshloom/Layout/Passes.h.inc"

namespace {
using dtensor::WhileOp;

/// The work of one turn of a loop on all devices together.
class TurnWork {
public:
  /// Adds the ops of `block`. Loops inside it count by themselves. Returns
  /// false where an op has no known cost.
  bool add(Block &block) {
    for (Operation &op : block.without_terminator()) {
      if (isa<WhileOp>(op))
        continue;
      if (isa<dtensor::CaseOp>(op)) {
        if (!llvm::all_of(op.getRegions(), [this](Region &region) {
              return add(region.front());
            }))
          return false;
        continue;
      }
      auto sharded = dyn_cast<dtensor::ShardedOpInterface>(op);
      if (!sharded || op.getNumResults() == 0)
        return false;
      add(sharded);
    }
    return true;
  }

  bool isSmall() const {
    return flops <= mostLoopFlops * std::max<int64_t>(1, steps) &&
           products <= mostLoopProducts;
  }

private:
  void add(dtensor::ShardedOpInterface sharded) {
    const ShardingRule rule = sharded.getShardingRule();
    const int64_t cost = sharded.getCost(rule).total(rule);
    Operation *op = sharded;
    if (isa<dtensor::DotGeneralOp>(op))
      products += cost / 2;
    else
      flops += cost;
    // An elementwise op is fused with others, mostly into one kernel between
    // two of the ops that count here.
    if (!isa<dtensor::ElementwiseOpInterface>(op) && !sharded.isFreeToMake() &&
        llvm::any_of(op->getResultTypes(), [](Type type) {
          return cast<RankedTensorType>(type).getNumElements() > 1;
        }))
      ++steps;
  }

  int64_t flops = 0;
  int64_t products = 0; ///< multiplications of products
  int64_t steps = 0;
};

/// Returns whether one device computes all parts of `loop` in less time than
/// devices take to start the steps of their own.
bool isSmall(WhileOp loop) {
  TurnWork work;
  if (!work.add(loop.getCondition().front()) ||
      !work.add(loop.getBody().front()) || !work.isSmall())
    return false;
  const auto inside = loop.getBody().walk([](WhileOp inner) {
    return isSmall(inner) ? mlir::WalkResult::skip()
                          : mlir::WalkResult::interrupt();
  });
  return !inside.wasInterrupted();
}

/// Calls `visit` with each value that has a layout and is defined in a block
/// that `control` runs.
template <typename Visit> void visitValues(Operation *control, Visit visit) {
  for (Region &region : control->getRegions())
    for (Block &block : region) {
      for (BlockArgument argument : block.getArguments())
        visit(argument);
      for (Operation &op : block) {
        for (Value result : op.getResults())
          visit(result);
        if (isControl(&op))
          visitValues(&op, visit);
      }
    }
}

bool isWhole(Value value) {
  return annotatedLayout(value.getType())->is_fully_replicated();
}

class GatherSmallLoopsPass
    : public impl::GatherSmallLoopsBase<GatherSmallLoopsPass> {
public:
  using GatherSmallLoopsBase::GatherSmallLoopsBase;

private:
  void runOnOperation() override {
    mlir::func::FuncOp function = getOperation();
    if (function.isExternal())
      return;
    function.walk<mlir::WalkOrder::PreOrder>([this](WhileOp loop) {
      if (!isSmall(loop))
        return mlir::WalkResult::advance();
      bool isCut = false;
      visitValues(loop, [&](Value value) { isCut |= !isWhole(value); });
      for (Value result : loop.getResults())
        isCut |= !isWhole(result);
      if (isCut)
        gather(loop);
      return mlir::WalkResult::skip();
    });
  }

  static void makeWhole(Value value) {
    const Layout layout = *annotatedLayout(value.getType());
    setLayout(value, Layout::replicated(layout.mesh(), layout.rank()));
  }

  void gather(WhileOp loop) {
    visitValues(loop, makeWhole);
    copyConstants(loop);
    OpBuilder builder(loop->getContext());
    builder.setInsertionPointAfter(loop);
    for (mlir::OpResult result : loop->getResults()) {
      const Layout layout = *annotatedLayout(result.getType());
      makeWhole(result);
      if (!layout.is_fully_replicated() && !result.use_empty())
        bringBack(builder, result, layout);
    }
    addNote(loop);
  }

  /// Gives `loop` whole copies of the constants that it uses, so that none is
  /// gathered.
  static void copyConstants(WhileOp loop) {
    OpBuilder builder(loop);
    for (Value used : usedValues(loop)) {
      Operation *op = used.getDefiningOp();
      if (!op || op->getNumOperands() > 0 || !dtensor::isFreeToMake(op))
        continue;
      Value whole = builder.clone(*op)->getResult(0);
      makeWhole(whole);
      used.replaceUsesWithIf(whole, [&](OpOperand &use) {
        return loop->isAncestor(use.getOwner());
      });
    }
  }

  /// Puts a relayout of a loop's whole result to `layout` behind the loop.
  static void bringBack(OpBuilder &builder, mlir::OpResult result,
                        const Layout &layout) {
    Operation *loop = result.getOwner();
    auto relayout = builder.create<dtensor::RelayoutOp>(
        loop->getLoc(), laidOut(result, layout), result);
    relayout->setAttr(
        dtensor::reasonAttr,
        builder.getStringAttr(annotatedLayout(result.getType())->spec_string() +
                              " -> " + layout.spec_string() + " for result #" +
                              std::to_string(result.getResultNumber()) +
                              " of while, which is computed whole"));
    relayout->setAttr(dtensor::consumerAttr,
                      builder.getStringAttr(loop->getName().getStringRef()));
    result.replaceAllUsesExcept(relayout, relayout);
  }

  /// Tells --explain that all devices' parts of `loop` are computed together.
  void addNote(WhileOp loop) {
    mlir::func::FuncOp function = getOperation();
    SmallVector<Attribute> notes;
    if (auto before =
            function->getAttrOfType<mlir::ArrayAttr>(dtensor::refinedAttr))
      llvm::append_range(notes, before);
    notes.push_back(StringAttr::get(
        &getContext(),
        "the loop at " + locationText(loop.getLoc()) +
            " has its values whole: a turn takes less time than it takes to "
            "start the devices' parts of it"));
    function->setAttr(dtensor::refinedAttr,
                      mlir::ArrayAttr::get(&getContext(), notes));
  }
};
} // namespace
} // namespace meshloom
