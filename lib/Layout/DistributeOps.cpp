// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// DistributeOps: an op that needs a dim whole, and whose operand is cut there,
// becomes ordinary ops that work on each block and exchange little, where the
// machine model says that this is cheaper than bringing the dim together.
//
// Runs before layouts are decided: it asks the flow of axes how the operand is
// going to be laid out, and leaves the layouts of what it makes to propagation.
// The blocks are the layout's own, so cutting a dim into them moves nothing:
// along an axis of size g, a dim of n is padded to g blocks of ceil(n / g), and
// becomes two dims; the next axis cuts the second one again.

#include "DistributeOps.h"

#include "LayoutFlow.h"
#include "meshloom/ControlFlow/Determinism.h"

#include "meshloom/Layout/Passes.h"

#include <limits>

namespace meshloom {
#define GEN_PASS_DEF_DISTRIBUTEOPS
#include "meshloom/Layout/Passes.h.inc"

using namespace distribution;

void registerDistribution(mlir::DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, dtensor::DTensorDialect *) {
    attachLines(context);
    attachReduce(context);
    attachSort(context);
  });
}

namespace {
class DistributeOpsPass : public impl::DistributeOpsBase<DistributeOpsPass> {
public:
  using DistributeOpsBase::DistributeOpsBase;

private:
  void runOnOperation() override {
    mlir::func::FuncOp function = getOperation();
    if (function.isExternal())
      return;
    bool any = false;
    function.walk([&](DistributableOpInterface) { any = true; });
    if (!any)
      return;
    const MachineModel &model = machine;
    std::vector<Candidate> candidates;
    {
      LayoutFlow flow(function);
      if (failed(flow.run()))
        return signalPassFailure();
      for (const FlowOp &flowOp : flow.ops)
        if (!flowOp.linksOnly && !flowOp.joins &&
            isa<DistributableOpInterface>(flowOp.op) &&
            mayDistribute(cast<DistributableOpInterface>(flowOp.op)))
          if (std::optional<Candidate> candidate = candidateFor(flow, flowOp))
            candidates.push_back(std::move(*candidate));
    }
    // All decisions look at the program as it was written.
    std::vector<std::pair<Candidate *, Distribution>> chosen;
    for (Candidate &candidate : candidates) {
      std::optional<Distribution> way =
          cast<DistributableOpInterface>(candidate.op)
              .getDistribution(candidate, model);
      if (way && way->cost < cheapestRelayout(candidate, model))
        chosen.emplace_back(&candidate, std::move(*way));
    }
    for (auto &[candidate, way] : chosen)
      rewrite(candidate->op, way);
  }

  /// In a deterministic function nothing is summed block by block.
  static bool mayDistribute(DistributableOpInterface op) {
    return !isDeterministic(op) || !op.combinesElements() ||
           llvm::none_of(op->getOperandTypes(), [](Type type) {
             return isa<FloatType, mlir::ComplexType>(
                 dtensor::elementTypeOf(type));
           });
  }

  /// Returns whether every device can make the value in any layout: from
  /// nothing, or by repeating what is made so.
  static bool isFree(Value value) {
    Operation *op = value.getDefiningOp();
    while (isa_and_nonnull<dtensor::BroadcastInDimOp>(op) &&
           !dtensor::isFreeToMake(op))
      op = op->getOperand(0).getDefiningOp();
    return dtensor::isFreeToMake(op);
  }

  static std::optional<Candidate> candidateFor(const LayoutFlow &flow,
                                               const FlowOp &flowOp) {
    std::optional<Candidate> candidateOp;
    auto op = cast<DistributableOpInterface>(flowOp.op);
    SmallVector<std::optional<Layout>> operands;
    for (auto [value, state] :
         llvm::zip_equal(flowOp.op->getOperands(), flowOp.operands)) {
      Layout layout = flow.layoutOf(state);
      bool free = isFree(value);
      operands.push_back(free ? std::nullopt : std::optional(layout));
      if (candidateOp || free)
        continue;
      if (layout.rank() == 0)
        continue;
      if (std::optional<int64_t> dim = op.getCutDim(layout))
        candidateOp =
            Candidate{flowOp.op, layout, *dim, op.getWholeDims(*dim), {}, {}};
    }
    if (!candidateOp)
      return std::nullopt;
    candidateOp->operands = std::move(operands);
    for (auto [value, state] :
         llvm::zip_equal(flowOp.op->getResults(), flowOp.results))
      candidateOp->results.push_back(
          wanted(value, flow.layoutOf(state), *candidateOp));
    return candidateOp;
  }

  /// Returns the layout that the user asks for in the value that replaces a
  /// result: of the dim that is cut, or, where that is gone, of all dims.
  static std::optional<Layout> wanted(Value value, const Layout &flowed,
                                      const Candidate &candidate) {
    auto requested = annotatedLayout(value.getType());
    if (requested && !requested->is_partial())
      return requested;
    bool hasDim = flowed.rank() == candidate.layout.rank();
    unsigned dim = unsigned(candidate.dim);
    auto decides = [&](const dtensor::Wish &wish) {
      if (hasDim)
        return !wish.isOpen(dim);
      return !llvm::is_contained(wish.open, true);
    };
    for (OpOperand &use : value.getUses()) {
      Operation *user = use.getOwner();
      std::optional<Layout> layout;
      if (auto constraint = dyn_cast<dtensor::ConstraintOp>(user)) {
        layout = annotatedLayout(constraint.getResult().getType());
        if (auto wish = dtensor::wishOf(constraint); wish && decides(*wish))
          layout = wish->layout;
      } else if (isa<dtensor::RelayoutOp>(user)) {
        layout = annotatedLayout(user->getResult(0).getType());
      } else if (isa<mlir::func::ReturnOp>(user)) {
        if (auto function = dyn_cast<mlir::func::FuncOp>(user->getParentOp()))
          layout = annotatedLayout(
              function.getResultTypes()[use.getOperandNumber()]);
      }
      if (layout && !layout->is_partial())
        return layout;
    }
    if (hasDim && !flowed.axes(dim).empty())
      return flowed;
    return std::nullopt;
  }

  static Cost cheapestRelayout(const Candidate &candidate,
                               const MachineModel &model) {
    Cost least = std::numeric_limits<Cost>::max();
    for (const Layout &whole : wholeLayouts(candidate))
      least = std::min(least, relayoutCost(candidate, whole, model));
    return least;
  }

  static void rewrite(Operation *op, const Distribution &way) {
    SmallVector<Value> results(op->getResults());
    dtensor::TensorBuilder make(OpBuilder(op), op->getLoc());
    // A layout that the user wrote stays one: users of the result see it.
    for (Value result : results) {
      auto attribute = dyn_cast_or_null<dtensor::LayoutAttr>(
          cast<RankedTensorType>(result.getType()).getEncoding());
      if (!attribute)
        continue;
      OpBuilder after(op->getContext());
      after.setInsertionPointAfter(op);
      auto pinned =
          after.create<dtensor::ConstraintOp>(op->getLoc(), result, attribute);
      result.setType(dtensor::undecided(result.getType()));
      result.replaceAllUsesExcept(pinned.getResult(), pinned);
    }
    way.rewrite(make);
    op->erase();
  }
};
} // namespace
} // namespace meshloom
