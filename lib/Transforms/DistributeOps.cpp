// DistributeOps: an op that needs a dim whole, and whose operand is cut there,
// becomes ordinary ops that work on each block and exchange little, where the
// machine model says that this is cheaper than bringing the dim together.
//
// Runs before layouts are decided: it asks the flow of axes how the operand is
// going to be laid out, and leaves the layouts of what it makes to propagation.
// The blocks are the layout's own, so cutting a dim into them moves nothing:
// along an axis of size g, a dim of n is padded to g blocks of ceil(n / g), and
// becomes two dims; the next axis cuts the second one again.

#include "LayoutFlow.h"

#include "meshloom/Core/RelayoutPlanner.h"
#include "meshloom/Support/MachineModelFile.h"
#include "meshloom/Transforms/Passes.h"

#include <limits>

namespace meshloom {
#define GEN_PASS_DEF_DISTRIBUTEOPS
#include "meshloom/Transforms/Passes.h.inc"

namespace {
using Direction = dtensor::ComparisonDirection;

/// The ops that rewrites are made of; types have no layouts.
struct Maker {
  OpBuilder builder;
  Location location;

  template <typename Op, typename... Args> Value make(Args &&...args) {
    return builder.create<Op>(location, std::forward<Args>(args)...)
        ->getResult(0);
  }
  static RankedTensorType typeOf(Value value) {
    return dtensor::undecided(value.getType());
  }
  static SmallVector<int64_t> shapeOf(Value value) {
    return dtensor::globalShape(value.getType());
  }
  Value splat(RankedTensorType type, Attribute element) {
    return make<dtensor::ConstantOp>(DenseElementsAttr::get(type, element));
  }
  Value scalar(Attribute element, Type elementType) {
    return splat(RankedTensorType::get({}, elementType), element);
  }
  Value iota(ArrayRef<int64_t> shape, Type elementType, int64_t dim) {
    return make<dtensor::IotaOp>(RankedTensorType::get(shape, elementType),
                                 uint64_t(dim));
  }
  /// Repeats `value` along `dims` of `shape`.
  Value repeat(Value value, ArrayRef<int64_t> shape, ArrayRef<int64_t> dims) {
    SmallVector<int64_t> kept;
    for (int64_t dim = 0; dim < int64_t(shape.size()); ++dim)
      if (!llvm::is_contained(dims, dim))
        kept.push_back(dim);
    return make<dtensor::BroadcastInDimOp>(value, shape, kept);
  }
  /// `low` and `high` elements more along one dim; negative: fewer.
  Value pad(Value value, Value element, int64_t dim, int64_t low,
            int64_t high) {
    if (low == 0 && high == 0)
      return value;
    SmallVector<int64_t> lows(shapeOf(value).size()), highs = lows, none = lows;
    lows[dim] = low;
    highs[dim] = high;
    return make<dtensor::PadOp>(value, element, lows, highs, none);
  }
};

/// What no element is combined with by `kind` to give another one.
mlir::TypedAttr identityOf(ReduceKind kind, Type type) {
  Builder builder(type.getContext());
  if (auto floats = dyn_cast<FloatType>(type)) {
    const llvm::fltSemantics &semantics = floats.getFloatSemantics();
    switch (kind) {
    case ReduceKind::Prod:
      return builder.getFloatAttr(type, 1);
    case ReduceKind::Min:
      return builder.getFloatAttr(type, llvm::APFloat::getInf(semantics));
    case ReduceKind::Max:
      return builder.getFloatAttr(
          type, llvm::APFloat::getInf(semantics, /*Negative=*/true));
    default:
      return builder.getFloatAttr(type, 0);
    }
  }
  unsigned width = type.getIntOrFloatBitWidth();
  // A single bit is a truth value: false below true.
  bool isSigned = !type.isUnsignedInteger() && width > 1;
  switch (kind) {
  case ReduceKind::Prod:
    return builder.getIntegerAttr(type, llvm::APInt(width, 1));
  case ReduceKind::Min:
    return builder.getIntegerAttr(
        type, isSigned ? llvm::APInt::getSignedMaxValue(width)
                       : llvm::APInt::getMaxValue(width));
  case ReduceKind::Max:
    return builder.getIntegerAttr(
        type, isSigned ? llvm::APInt::getSignedMinValue(width)
                       : llvm::APInt::getMinValue(width));
  case ReduceKind::And:
    return builder.getIntegerAttr(type, llvm::APInt::getAllOnes(width));
  default:
    return builder.getIntegerAttr(type, llvm::APInt::getZero(width));
  }
}

/// How a dim is cut into a layout's blocks: [n] -> [g0, g1, ..., block].
struct Cut {
  int64_t dim;
  std::vector<unsigned> axes;
  SmallVector<int64_t> counts;  ///< g0, g1, ...
  SmallVector<int64_t> extents; ///< n, and what a block of each axis holds

  Cut(const Layout &layout, ArrayRef<int64_t> shape, int64_t dim)
      : dim(dim), axes(layout.axes(dim).begin(), layout.axes(dim).end()),
        extents{shape[dim]} {
    for (unsigned axis : axes) {
      counts.push_back(layout.mesh().axis_size(axis));
      extents.push_back((extents.back() + counts.back() - 1) / counts.back());
    }
  }
  int64_t block() const { return extents.back(); }
  /// The dim of the elements of a block, after cutting.
  int64_t inner() const { return dim + int64_t(axes.size()); }
  SmallVector<int64_t> outer() const {
    return llvm::to_vector(llvm::seq<int64_t>(dim, inner()));
  }

  Value apply(Maker &make, Value value, Value padding) const {
    for (size_t i = 0; i < axes.size(); ++i) {
      int64_t at = dim + int64_t(i);
      value = make.pad(value, padding, at, 0,
                       counts[i] * extents[i + 1] - extents[i]);
      SmallVector<int64_t> shape = Maker::shapeOf(value);
      shape[at] = counts[i];
      shape.insert(shape.begin() + at + 1, extents[i + 1]);
      value = make.make<dtensor::ReshapeOp>(value, shape);
    }
    return value;
  }
  Value undo(Maker &make, Value value, Value padding) const {
    for (size_t i = axes.size(); i-- > 0;) {
      int64_t at = dim + int64_t(i);
      SmallVector<int64_t> shape = Maker::shapeOf(value);
      shape[at] = counts[i] * extents[i + 1];
      shape.erase(shape.begin() + at + 1);
      value = make.make<dtensor::ReshapeOp>(value, shape);
      value = make.pad(value, padding, at, 0,
                       extents[i] - counts[i] * extents[i + 1]);
    }
    return value;
  }
  /// The layout of a value of the operand's, cut: each outer dim on its axis.
  /// With `block`, of one that has a dim for the elements of a block.
  Layout cutLayout(const Layout &layout, bool block) const {
    Layout::DimAxes dims = layout.dim_axes();
    dims.erase(dims.begin() + dim);
    if (block)
      dims.insert(dims.begin() + dim, std::vector<unsigned>());
    for (unsigned axis : llvm::reverse(axes))
      dims.insert(dims.begin() + dim, {axis});
    return *Layout::get(layout.mesh(), dims);
  }
  /// The same with the outer dims on every device.
  Layout gathered(const Layout &layout, bool block) const {
    Layout made = cutLayout(layout, block);
    for (int64_t outer : this->outer())
      made = made.with_dim(unsigned(outer), {});
    return made;
  }
  SmallVector<int64_t> cutShape(ArrayRef<int64_t> shape,
                                std::optional<int64_t> block) const {
    SmallVector<int64_t> made(shape);
    made.erase(made.begin() + dim);
    if (block)
      made.insert(made.begin() + dim, *block);
    made.insert(made.begin() + dim, counts.begin(), counts.end());
    return made;
  }
};

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

Value combine(Maker &make, ReduceKind kind, Value a, Value b) {
  switch (kind) {
  case ReduceKind::Sum:
    return make.make<dtensor::AddOp>(a, b);
  case ReduceKind::Prod:
    return make.make<dtensor::MultiplyOp>(a, b);
  case ReduceKind::Min:
    return make.make<dtensor::MinimumOp>(a, b);
  case ReduceKind::Max:
    return make.make<dtensor::MaximumOp>(a, b);
  case ReduceKind::And:
    return make.make<dtensor::AndOp>(a, b);
  case ReduceKind::Or:
    return make.make<dtensor::OrOp>(a, b);
  }
  return a;
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
  if (wide != element)
    operand = make.make<dtensor::ConvertOp>(operand, wide);
  Value identity = make.scalar(identityOf(kind, wide), wide);
  Value blocks = cut.apply(make, operand, identity);
  int64_t inner = cut.inner();
  Value running =
      make.make<dtensor::CumulativeOp>(kind, blocks, inner, reverse);
  // All blocks, in one dim: few.
  Value totals = make.make<dtensor::ReduceOp>(kind, blocks, ArrayRef{inner});
  SmallVector<int64_t> outerShape = Maker::shapeOf(totals), flat = outerShape;
  int64_t count = 1;
  for (int64_t each : cut.counts)
    count *= each;
  flat.erase(flat.begin() + cut.dim, flat.begin() + inner);
  flat.insert(flat.begin() + cut.dim, count);
  totals = make.make<dtensor::ReshapeOp>(totals, flat);
  Value before =
      make.make<dtensor::CumulativeOp>(kind, totals, cut.dim, reverse);
  before = reverse ? make.pad(before, identity, cut.dim, -1, 1)
                   : make.pad(before, identity, cut.dim, 1, -1);
  before = make.make<dtensor::ReshapeOp>(before, outerShape);
  Value offset = make.repeat(before, Maker::shapeOf(running), inner);
  Value whole = combine(make, kind, offset, running);
  Value result = cut.undo(make, whole, identity);
  if (wide != element)
    result = make.make<dtensor::ConvertOp>(result, element);
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
  auto convert = [&](Value value) -> Value {
    if (dtensor::elementTypeOf(value.getType()) == index)
      return value;
    return make.make<dtensor::ConvertOp>(value, index);
  };
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

/// One op that may be distributed, and over which blocks.
struct Candidate {
  Operation *op;
  Layout layout; ///< of the operand
  int64_t dim;
};

class DistributeOpsPass : public impl::DistributeOpsBase<DistributeOpsPass> {
public:
  using DistributeOpsBase::DistributeOpsBase;

private:
  void runOnOperation() override {
    mlir::func::FuncOp function = getOperation();
    if (function.isExternal())
      return;
    bool any = false;
    function.walk([&](Operation *op) { any |= wholeDim(op).has_value(); });
    if (!any)
      return;
    Result<MachineModel> model = loadMachineModel(machine);
    if (!model) {
      function.emitError(model.error().message());
      return signalPassFailure();
    }
    std::vector<Candidate> candidates;
    {
      LayoutFlow flow(function);
      if (failed(flow.run()))
        return signalPassFailure();
      for (const FlowOp &each : flow.ops)
        if (std::optional<int64_t> dim = wholeDim(each.op)) {
          Layout layout = flow.states[each.operands.front()].wish();
          if (!layout.axes(unsigned(*dim)).empty())
            candidates.push_back({each.op, layout, *dim});
        }
    }
    for (const Candidate &candidate : candidates)
      if (cost(candidate, *model) < relayoutCost(candidate, *model))
        rewrite(candidate);
  }

  /// The dim that an op needs whole, if it can be distributed along it.
  static std::optional<int64_t> wholeDim(Operation *op) {
    if (auto arg = dyn_cast<dtensor::ArgMaxOp>(op))
      return int64_t(arg.getDimension());
    if (auto arg = dyn_cast<dtensor::ArgMinOp>(op))
      return int64_t(arg.getDimension());
    if (auto top = dyn_cast<dtensor::TopKOp>(op))
      return int64_t(dtensor::globalShape(top.getOperand().getType()).size()) -
             1;
    auto cumulative = dyn_cast<dtensor::CumulativeOp>(op);
    if (cumulative && !isa<mlir::ComplexType>(dtensor::elementTypeOf(
                          cumulative.getOperand().getType())))
      return int64_t(cumulative.getDimension());
    return std::nullopt;
  }

  static Cost planCost(const Layout &from, const Layout &to,
                       ArrayRef<int64_t> shape, DType type,
                       const MachineModel &model) {
    auto plan =
        planRelayout(from, to, Shape(shape.begin(), shape.end()), type, model);
    return plan ? plan->cost : std::numeric_limits<Cost>::max() / 4;
  }
  static DType dtypeOf(Value value) {
    return *dtensor::dtypeOf(dtensor::elementTypeOf(value.getType()));
  }

  /// Bringing the dim together: on every device, or with another dim cut.
  static Cost relayoutCost(const Candidate &candidate,
                           const MachineModel &model) {
    Value operand = candidate.op->getOperand(0);
    SmallVector<int64_t> shape = Maker::shapeOf(operand);
    Layout whole = candidate.layout.with_dim(unsigned(candidate.dim), {});
    auto moved = candidate.layout.axes(unsigned(candidate.dim));
    Cost least =
        planCost(candidate.layout, whole, shape, dtypeOf(operand), model);
    for (unsigned dim = 0; dim < whole.rank(); ++dim) {
      if (dim == candidate.dim)
        continue;
      auto has = whole.axes(dim);
      std::vector<unsigned> axes(has.begin(), has.end());
      axes.insert(axes.end(), moved.begin(), moved.end());
      least =
          std::min(least, planCost(candidate.layout, whole.with_dim(dim, axes),
                                   shape, dtypeOf(operand), model));
    }
    return least;
  }

  /// What the rewritten ops exchange.
  static Cost cost(const Candidate &candidate, const MachineModel &model) {
    Operation *op = candidate.op;
    Value operand = op->getOperand(0);
    SmallVector<int64_t> shape = Maker::shapeOf(operand);
    const Layout &layout = candidate.layout;
    Cut cut(layout, shape, candidate.dim);
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
        sum +=
            planCost(result.with_partial(pending), result, rest, type, model);
      }
      return sum;
    }
    if (auto top = dyn_cast<dtensor::TopKOp>(op)) {
      SmallVector<int64_t> found =
          cut.cutShape(shape, std::min(int64_t(top.getK()), cut.block()));
      Layout from = cut.cutLayout(layout, /*block=*/true),
             to = cut.gathered(layout, /*block=*/true);
      return planCost(from, to, found, dtypeOf(operand), model) +
             planCost(from, to, found, dtypeOf(top.getIndices()), model);
    }
    // A result that is needed whole is gathered after all.
    SmallVector<int64_t> totals = cut.cutShape(shape, std::nullopt);
    DType type = dtypeOf(operand);
    Cost sum =
        planCost(cut.cutLayout(layout, false), cut.gathered(layout, false),
                 totals, byteWidth(type) < 4 ? DType::F32 : type, model);
    if (neededWhole(op->getResult(0), candidate.dim))
      sum += planCost(layout, layout.with_dim(unsigned(candidate.dim), {}),
                      shape, type, model);
    return sum;
  }

  /// Whether the user wants the dim whole in what becomes of the value.
  static bool neededWhole(Value value, int64_t dim) {
    auto isWhole = [&](Type type) {
      auto layout = givenLayout(type);
      return layout && layout->rank() > dim &&
             layout->axes(unsigned(dim)).empty();
    };
    if (isWhole(value.getType()))
      return true;
    return llvm::any_of(value.getUses(), [&](OpOperand &use) {
      Operation *user = use.getOwner();
      if (isa<dtensor::ConstraintOp, dtensor::RelayoutOp>(user))
        return isWhole(user->getResult(0).getType());
      auto function = dyn_cast<mlir::func::FuncOp>(user->getParentOp());
      return isa<mlir::func::ReturnOp>(user) && function &&
             isWhole(function.getResultTypes()[use.getOperandNumber()]);
    });
  }

  static void rewrite(const Candidate &candidate) {
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
    else
      distributeCumulative(make, cast<dtensor::CumulativeOp>(op), cut);
    op->erase();
  }
};
} // namespace
} // namespace meshloom
