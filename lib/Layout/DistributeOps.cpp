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

#include "meshloom/Layout/LayoutFlow.h"

#include "meshloom/Layout/Passes.h"

#include <limits>

namespace meshloom {
#define GEN_PASS_DEF_DISTRIBUTEOPS
#include "meshloom/Layout/Passes.h.inc"

using namespace distribution;

namespace {
using Direction = dtensor::ComparisonDirection;

/// The largest (or smallest) value, then the least index that has it: two
/// reductions of a result's size, whatever the blocks.
void distributeArg(Maker &make, Operation *op, ReduceKind kind, int64_t dim) {
  Value operand = op->getOperand(0);
  Type index = dtensor::elementTypeOf(op->getResult(0).getType());
  SmallVector<int64_t> shape = Maker::shapeOf(operand);
  Value best = make.make<dtensor::ReduceOp>(kind, operand, ArrayRef{dim});
  Value wins = make.make<dtensor::CompareOp>(Direction::EQ, operand,
                                             make.repeat(best, shape, dim));
  // The best of numbers with a nan among them is a nan, which equals nothing.
  if (isa<FloatType>(dtensor::elementTypeOf(operand.getType())))
    wins = make.make<dtensor::OrOp>(
        wins, make.make<dtensor::CompareOp>(Direction::NE, operand, operand));
  Value none = make.splat(RankedTensorType::get(shape, index),
                          make.builder.getIntegerAttr(index, shape[dim]));
  Value where =
      make.make<dtensor::SelectOp>(wins, make.iota(shape, index, dim), none);
  Value first =
      make.make<dtensor::ReduceOp>(ReduceKind::Min, where, ArrayRef{dim});
  op->getResult(0).replaceAllUsesWith(first);
}

/// Running values inside each block, and what the blocks before it come to.
void distributeCumulative(Maker &make, dtensor::CumulativeOp op,
                          const Cut &cut) {
  ReduceKind kind = op.getKind();
  bool reverse = op.getReverse();
  Value operand = op.getOperand();
  Type element = dtensor::elementTypeOf(operand.getType());
  // Small floats are accumulated in f32.
  Type wide =
      element.isF16() || element.isBF16() ? make.builder.getF32Type() : element;
  operand = make.convert(operand, wide);
  Value identity = make.scalar(identityOf(kind, wide), wide);
  Value blocks = cut.apply(make, operand, identity);
  int64_t inner = cut.inner();
  Value running =
      make.make<dtensor::CumulativeOp>(kind, blocks, inner, reverse);
  // All blocks, in one dim: few.
  Value totals = make.make<dtensor::ReduceOp>(kind, blocks, ArrayRef{inner});
  SmallVector<int64_t> outerShape = Maker::shapeOf(totals), flat = outerShape;
  flat.erase(flat.begin() + cut.dim, flat.begin() + inner);
  flat.insert(flat.begin() + cut.dim, cut.blocks());
  totals = make.make<dtensor::ReshapeOp>(totals, flat);
  Value before =
      make.make<dtensor::CumulativeOp>(kind, totals, cut.dim, reverse);
  before = reverse ? make.pad(before, identity, cut.dim, -1, 1)
                   : make.pad(before, identity, cut.dim, 1, -1);
  before = make.make<dtensor::ReshapeOp>(before, outerShape);
  Value offset = make.repeat(before, Maker::shapeOf(running), inner);
  Value whole = combine(make, kind, offset, running);
  Value result = make.convert(cut.undo(make, whole, identity), element);
  op->getResult(0).replaceAllUsesWith(result);
}

/// The largest of each block, and the largest of those. Candidates are in order
/// of block and rank, so of equal ones the one of lower index comes first.
void distributeTopK(Maker &make, dtensor::TopKOp op, const Cut &cut) {
  Value operand = op.getOperand();
  int64_t k = int64_t(op.getK()), few = std::min(k, cut.block());
  Type element = dtensor::elementTypeOf(operand.getType()),
       index = dtensor::elementTypeOf(op.getIndices().getType());
  // Padding is behind all that is there: in the total order, the least nan.
  mlir::TypedAttr least = identityOf(ReduceKind::Max, element);
  if (auto floats = dyn_cast<FloatType>(element))
    least = make.builder.getFloatAttr(
        element, llvm::APFloat::getNaN(floats.getFloatSemantics(),
                                       /*Negative=*/true));
  Value padding = make.scalar(least, element);
  Value blocks = cut.apply(make, operand, padding);
  auto local = make.builder.create<dtensor::TopKOp>(make.location, blocks, few);
  auto convert = [&](Value value) { return make.convert(value, index); };
  SmallVector<int64_t> shape = Maker::shapeOf(local.getValues());
  // Global indices: where the block begins, and where it is in there.
  Value where = convert(local.getIndices());
  for (size_t i = 0; i < cut.axes.size(); ++i) {
    Value begin = make.make<dtensor::MultiplyOp>(
        make.iota(shape, index, cut.dim + int64_t(i)),
        make.splat(RankedTensorType::get(shape, index),
                   make.builder.getIntegerAttr(index, cut.extents[i + 1])));
    where = make.make<dtensor::AddOp>(where, begin);
  }
  SmallVector<int64_t> flat = shape;
  int64_t candidates = 1;
  while (int64_t(flat.size()) > cut.dim)
    candidates *= flat.pop_back_val();
  flat.push_back(candidates);
  Value values = make.make<dtensor::ReshapeOp>(local.getValues(), flat);
  where = make.make<dtensor::ReshapeOp>(where, flat);
  auto best = make.builder.create<dtensor::TopKOp>(make.location, values, k);
  // The global index of each: the one candidate that it was.
  Value place = convert(best.getIndices());
  SmallVector<int64_t> pairs = Maker::shapeOf(best.getValues());
  pairs.push_back(candidates);
  int64_t last = int64_t(pairs.size()) - 1;
  Value isIt = make.make<dtensor::CompareOp>(Direction::EQ,
                                             make.repeat(place, pairs, last),
                                             make.iota(pairs, index, last));
  Value picked = make.make<dtensor::SelectOp>(
      isIt, make.repeat(where, pairs, last - 1),
      make.splat(RankedTensorType::get(pairs, index),
                 make.builder.getIntegerAttr(index, 0)));
  Value indices =
      make.make<dtensor::ReduceOp>(ReduceKind::Sum, picked, ArrayRef{last});
  op.getValues().replaceAllUsesWith(best.getValues());
  op.getIndices().replaceAllUsesWith(indices);
}

class DistributeOpsPass : public impl::DistributeOpsBase<DistributeOpsPass> {
public:
  using DistributeOpsBase::DistributeOpsBase;

private:
  void runOnOperation() override {
    mlir::func::FuncOp function = getOperation();
    if (function.isExternal())
      return;
    bool any = false;
    function.walk([&](Operation *op) { any |= mayDistribute(op); });
    if (!any)
      return;
    const MachineModel &model = machine;
    std::vector<Candidate> candidates;
    {
      LayoutFlow flow(function);
      if (failed(flow.run()))
        return signalPassFailure();
      for (const FlowOp &each : flow.ops)
        if (!each.linksOnly && !each.joins && mayDistribute(each.op))
          if (std::optional<Candidate> candidate = candidateFor(flow, each))
            candidates.push_back(std::move(*candidate));
    }
    // All decisions look at the program as it was written.
    std::vector<std::optional<SortScheme>> schemes;
    for (const Candidate &candidate : candidates) {
      auto sort = dyn_cast<dtensor::SortOp>(candidate.op);
      schemes.push_back(sort ? schemeFor(sort, candidate, model)
                             : std::nullopt);
    }
    for (auto [candidate, scheme] : llvm::zip_equal(candidates, schemes))
      if (isa<dtensor::SortOp>(candidate.op)
              ? scheme.has_value()
              : cost(candidate, model) < cheapestRelayout(candidate, model))
        rewrite(candidate, scheme);
  }

  static bool mayDistribute(Operation *op) {
    if (isa<dtensor::ArgMaxOp, dtensor::ArgMinOp, dtensor::TopKOp,
            dtensor::SortOp, dtensor::GenericReduceOp>(op))
      return true;
    auto cumulative = dyn_cast<dtensor::CumulativeOp>(op);
    return cumulative &&
           !isa<mlir::ComplexType>(Maker::elementOf(cumulative.getOperand()));
  }

  /// The dim that an op needs whole and that `layout`, an operand's, cuts.
  static std::optional<int64_t> cutDim(Operation *op, const Layout &layout) {
    if (auto reduce = dyn_cast<dtensor::GenericReduceOp>(op))
      return reducedDim(reduce, layout);
    int64_t dim = int64_t(layout.rank()) - 1; // of top_k
    if (auto attr = op->getAttrOfType<IntegerAttr>("dimension"))
      dim = attr.getInt();
    if (layout.axes(unsigned(dim)).empty())
      return std::nullopt;
    return dim;
  }

  /// Whether every device can make the value in any layout.
  static bool isFree(Value value) {
    Operation *op = value.getDefiningOp();
    if (auto constant = dyn_cast_or_null<dtensor::ConstantOp>(op))
      return isa<mlir::SplatElementsAttr>(constant.getValue());
    if (auto repeated = dyn_cast_or_null<dtensor::BroadcastInDimOp>(op))
      return isFree(repeated.getOperand());
    return isa_and_nonnull<dtensor::IotaOp>(op);
  }

  static std::optional<Candidate> candidateFor(const LayoutFlow &flow,
                                               const FlowOp &each) {
    std::optional<Candidate> made;
    SmallVector<std::optional<Layout>> operands;
    for (auto [value, state] :
         llvm::zip_equal(each.op->getOperands(), each.operands)) {
      Layout layout = flow.states[state].wish();
      bool free = isFree(value);
      operands.push_back(free ? std::nullopt : std::optional(layout));
      if (made || free)
        continue;
      if (layout.rank() == 0)
        continue;
      if (std::optional<int64_t> dim = cutDim(each.op, layout))
        made = Candidate{each.op, layout, *dim, {*dim}, {}, {}};
    }
    if (!made)
      return std::nullopt;
    made->operands = std::move(operands);
    if (auto reduce = dyn_cast<dtensor::GenericReduceOp>(each.op))
      made->whole = llvm::to_vector(reduce.getDimensions());
    for (auto [value, state] :
         llvm::zip_equal(each.op->getResults(), each.results))
      made->results.push_back(wanted(value, flow.states[state].wish(), *made));
    return made;
  }

  /// What the user asks for in what becomes of a result: of the dim that is
  /// cut, or, where that is gone, of all dims.
  static std::optional<Layout> wanted(Value value, const Layout &flowed,
                                      const Candidate &candidate) {
    auto given = givenLayout(value.getType());
    if (given && !given->is_partial())
      return given;
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
        layout = givenLayout(constraint.getResult().getType());
        if (auto wish = dtensor::wishOf(constraint); wish && decides(*wish))
          layout = wish->layout;
      } else if (isa<dtensor::RelayoutOp>(user)) {
        layout = givenLayout(user->getResult(0).getType());
      } else if (isa<mlir::func::ReturnOp>(user)) {
        if (auto function = dyn_cast<mlir::func::FuncOp>(user->getParentOp()))
          layout =
              givenLayout(function.getResultTypes()[use.getOperandNumber()]);
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

  /// What the rewritten ops exchange.
  static Cost cost(const Candidate &candidate, const MachineModel &model) {
    Operation *op = candidate.op;
    if (auto reduce = dyn_cast<dtensor::GenericReduceOp>(op))
      return costOf(reduce, candidate, model);
    Value operand = op->getOperand(0);
    SmallVector<int64_t> shape = Maker::shapeOf(operand);
    const Layout &layout = candidate.layout;
    Cut cut(layout, shape, candidate.dim);
    Exchange exchange;
    if (isa<dtensor::ArgMaxOp, dtensor::ArgMinOp>(op)) {
      Layout result = layout.remove({unsigned(candidate.dim)});
      SmallVector<int64_t> rest = Maker::shapeOf(op->getResult(0));
      Cost sum = 0;
      for (auto [kind, type] :
           {std::pair(ReduceKind::Max, dtypeOf(operand)),
            std::pair(ReduceKind::Min, dtypeOf(op->getResult(0)))}) {
        std::vector<Partial> pending;
        for (unsigned axis : cut.axes)
          pending.push_back({axis, kind});
        Exchange reduction;
        reduction.add(result.with_partial(pending), result, rest, type, model);
        sum += reduction.total();
      }
      return sum + resultCost(candidate, layout, model);
    }
    if (auto top = dyn_cast<dtensor::TopKOp>(op)) {
      SmallVector<int64_t> found =
          cut.cutShape(shape, std::min(int64_t(top.getK()), cut.block()));
      Layout from = cut.cutLayout(layout, /*block=*/true),
             to = cut.gathered(layout, /*block=*/true);
      exchange.add(from, to, found, dtypeOf(operand), model);
      exchange.add(from, to, found, dtypeOf(top.getIndices()), model);
      Layout whole = layout.with_dim(unsigned(candidate.dim), {});
      return exchange.total() + resultCost(candidate, whole, model);
    }
    SmallVector<int64_t> totals = cut.cutShape(shape, std::nullopt);
    DType type = dtypeOf(operand);
    exchange.add(cut.cutLayout(layout, false), cut.gathered(layout, false),
                 totals, byteWidth(type) < 4 ? DType::F32 : type, model);
    return exchange.total() + resultCost(candidate, layout, model);
  }

  static void rewrite(const Candidate &candidate,
                      const std::optional<SortScheme> &scheme) {
    Operation *op = candidate.op;
    SmallVector<Value> results(op->getResults());
    Maker make{OpBuilder(op), op->getLoc()};
    // A layout that the user wrote stays one: users of the result see it.
    for (Value result : results) {
      auto given = dyn_cast_or_null<dtensor::LayoutAttr>(
          cast<RankedTensorType>(result.getType()).getEncoding());
      if (!given)
        continue;
      OpBuilder after(op->getContext());
      after.setInsertionPointAfter(op);
      auto pinned =
          after.create<dtensor::ConstraintOp>(op->getLoc(), result, given);
      result.setType(dtensor::undecided(result.getType()));
      result.replaceAllUsesExcept(pinned.getResult(), pinned);
    }
    Cut cut(candidate.layout, Maker::shapeOf(op->getOperand(0)), candidate.dim);
    if (isa<dtensor::ArgMaxOp>(op))
      distributeArg(make, op, ReduceKind::Max, candidate.dim);
    else if (isa<dtensor::ArgMinOp>(op))
      distributeArg(make, op, ReduceKind::Min, candidate.dim);
    else if (auto top = dyn_cast<dtensor::TopKOp>(op))
      distributeTopK(make, top, cut);
    else if (auto sort = dyn_cast<dtensor::SortOp>(op))
      distribute(make, sort, candidate, *scheme);
    else if (auto reduce = dyn_cast<dtensor::GenericReduceOp>(op))
      distribute(make, reduce, candidate);
    else
      distributeCumulative(make, cast<dtensor::CumulativeOp>(op), cut);
    op->erase();
  }
};
} // namespace
} // namespace meshloom
