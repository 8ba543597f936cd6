// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// argmax, argmin, top_k and cumulative along a cut dim.
//
// argmax is two reductions of a result's size, whatever the blocks: the largest
// value, then the least index that has it. top_k takes the largest of each
// block, and the largest of those, which all devices get. cumulative takes
// running values inside each block, and what the blocks before it come to,
// which all devices get of all blocks.

#include "DistributeOps.h"

namespace meshloom::distribution {
namespace {
using Direction = dtensor::ComparisonDirection;

/// How often an op reads or writes as much as its operand takes; a write counts
/// twice, as it reads the cache line first.
struct Passes {
  int64_t whole;  ///< on the whole dim
  int64_t blocks; ///< of the ops on its blocks, with the copy into blocks
  /// Workers take parts of a whole line, not only lines.
  bool lineIsShared = false;
};

/// Returns the time by which work on blocks takes longer than work on whole
/// lines, where devices share memory: few workers do all of either. Negative
/// where blocks keep more workers busy; one worker does what is done before
/// another one could begin.
Cost moreWork(const Candidate &candidate, const Cut &cut, Passes passes,
              const MachineModel &model) {
  if (!model.sharedMemory)
    return 0;
  const Value operand = candidate.op->getOperand(0);
  int64_t elements = 1;
  for (int64_t extent : dtensor::globalShape(operand.getType()))
    elements *= extent;
  const int64_t bytes = elements * byteWidth(dtypeOf(operand));
  auto time = [&](int64_t count, int64_t shards, bool splittable) {
    Work work{.totalBytes = count * bytes, .splittable = false};
    const Cost alone = model.work(work);
    if (alone <= model.phaseBoundary)
      return alone;
    work.shards = shards;
    work.splittable = splittable;
    return model.work(work);
  };
  const int64_t lines = elements / std::max<int64_t>(1, cut.extents.front());
  return time(passes.blocks, lines * cut.blocks(), false) -
         time(passes.whole, lines, passes.lineIsShared);
}

/// The largest (or smallest) value, then the least index that has it: two
/// reductions of a result's size, whatever the blocks.
void distributeArg(dtensor::TensorBuilder &make, Operation *op, ReduceKind kind,
                   int64_t dim) {
  Value operand = op->getOperand(0);
  Type index = dtensor::elementTypeOf(op->getResult(0).getType());
  SmallVector<int64_t> shape = dtensor::globalShape(operand.getType());
  Value best = make.reduce(kind, operand, ArrayRef{dim});
  Value wins =
      make.compare(Direction::EQ, operand, make.repeat(best, shape, dim));
  // The best of numbers with a nan among them is a nan, which equals nothing.
  if (isa<FloatType>(dtensor::elementTypeOf(operand.getType())))
    wins = make.apply<dtensor::OrOp>(
        wins, make.compare(Direction::NE, operand, operand));
  Value none = make.splat(RankedTensorType::get(shape, index),
                          make.getIntegerAttr(index, shape[dim]));
  Value where = make.select(wins, make.iota(shape, dim, index), none);
  Value first = make.reduce(ReduceKind::Min, where, ArrayRef{dim});
  op->getResult(0).replaceAllUsesWith(first);
}

Cost costOfArg(Operation *op, const Candidate &candidate,
               const MachineModel &model) {
  const Layout &layout = candidate.layout;
  Cut cut(layout, dtensor::globalShape(op->getOperand(0).getType()),
          candidate.dim);
  Layout result = layout.remove({unsigned(candidate.dim)});
  Cost sum = 0;
  for (auto [kind, type] :
       {std::pair(ReduceKind::Max, dtypeOf(op->getOperand(0))),
        std::pair(ReduceKind::Min, dtypeOf(op->getResult(0)))}) {
    std::vector<Partial> pending;
    for (unsigned axis : cut.axes)
      pending.push_back({axis, kind});
    Exchange reduction;
    reduction.add(result.with_partial(pending), result,
                  dtensor::globalShape(op->getResult(0).getType()), type,
                  model);
    sum += reduction.total();
  }
  // Both reductions read the operand.
  return sum + resultCost(candidate, layout, model) +
         moreWork(candidate, cut,
                  {.whole = 1, .blocks = 2, .lineIsShared = true}, model);
}

template <typename Op, ReduceKind kind>
struct ArgModel
    : DistributableOpInterface::ExternalModel<ArgModel<Op, kind>, Op> {
  std::optional<int64_t> getCutDim(Operation *op, const Layout &layout) const {
    return cutDim(layout, int64_t(cast<Op>(op).getDimension()));
  }
  std::optional<Distribution> getDistribution(Operation *op,
                                              const Candidate &candidate,
                                              const MachineModel &model) const {
    return Distribution{
        costOfArg(op, candidate, model),
        [op, dim = candidate.dim](dtensor::TensorBuilder &make) {
          distributeArg(make, op, kind, dim);
        }};
  }
};

/// The largest of each block, and the largest of those. Candidates are in order
/// of block and rank, so of equal ones the one of lower index comes first.
void distributeTopK(dtensor::TensorBuilder &make, dtensor::TopKOp op,
                    const Cut &cut) {
  Value operand = op.getOperand();
  int64_t k = int64_t(op.getK()), few = std::min(k, cut.block());
  Type element = dtensor::elementTypeOf(operand.getType()),
       index = dtensor::elementTypeOf(op.getIndices().getType());
  // Padding is behind all that is there: in the total order, the least nan.
  mlir::TypedAttr least = identityOf(ReduceKind::Max, element);
  if (auto floats = dyn_cast<FloatType>(element))
    least = make.getFloatAttr(element,
                              llvm::APFloat::getNaN(floats.getFloatSemantics(),
                                                    /*Negative=*/true));
  Value padding = make.splat(RankedTensorType::get({}, element), least);
  Value blocks = cut.apply(make, operand, padding);
  auto local = make.create<dtensor::TopKOp>(make.getLoc(), blocks, few);
  auto convert = [&](Value value) { return make.convert(value, index); };
  SmallVector<int64_t> shape =
      dtensor::globalShape(local.getValues().getType());
  // Global indices: where the block begins, and where it is in there.
  Value where = convert(local.getIndices());
  for (size_t i = 0; i < cut.axes.size(); ++i) {
    Value begin = make.apply<dtensor::MultiplyOp>(
        make.iota(shape, cut.dim + int64_t(i), index),
        make.splat(RankedTensorType::get(shape, index),
                   make.getIntegerAttr(index, cut.extents[i + 1])));
    where = make.apply<dtensor::AddOp>(where, begin);
  }
  SmallVector<int64_t> flat = shape;
  int64_t candidates = 1;
  while (int64_t(flat.size()) > cut.dim)
    candidates *= flat.pop_back_val();
  flat.push_back(candidates);
  Value values = make.reshape(local.getValues(), flat);
  where = make.reshape(where, flat);
  auto best = make.create<dtensor::TopKOp>(make.getLoc(), values, k);
  // The global index of each: the one candidate that it was.
  Value place = convert(best.getIndices());
  SmallVector<int64_t> pairs = dtensor::globalShape(best.getValues().getType());
  pairs.push_back(candidates);
  int64_t last = int64_t(pairs.size()) - 1;
  Value isIt = make.compare(Direction::EQ, make.repeat(place, pairs, last),
                            make.iota(pairs, last, index));
  Value picked = make.select(isIt, make.repeat(where, pairs, last - 1),
                             make.splat(RankedTensorType::get(pairs, index),
                                        make.getIntegerAttr(index, 0)));
  Value indices = make.reduce(ReduceKind::Sum, picked, ArrayRef{last});
  op.getValues().replaceAllUsesWith(best.getValues());
  op.getIndices().replaceAllUsesWith(indices);
}

Cost costOfTopK(dtensor::TopKOp op, const Candidate &candidate,
                const MachineModel &model) {
  const Layout &layout = candidate.layout;
  SmallVector<int64_t> shape = dtensor::globalShape(op.getOperand().getType());
  Cut cut(layout, shape, candidate.dim);
  SmallVector<int64_t> found =
      cut.cutShape(shape, std::min(int64_t(op.getK()), cut.block()));
  Layout from = cut.cutLayout(layout, /*block=*/true),
         to = cut.gathered(layout, /*block=*/true);
  Exchange exchange;
  exchange.add(from, to, found, dtypeOf(op.getOperand()), model);
  exchange.add(from, to, found, dtypeOf(op.getIndices()), model);
  Layout whole = layout.with_dim(unsigned(candidate.dim), {});
  return exchange.total() + resultCost(candidate, whole, model);
}

struct TopKModel
    : DistributableOpInterface::ExternalModel<TopKModel, dtensor::TopKOp> {
  std::optional<int64_t> getCutDim(Operation *, const Layout &layout) const {
    return cutDim(layout, int64_t(layout.rank()) - 1);
  }
  std::optional<Distribution> getDistribution(Operation *op,
                                              const Candidate &candidate,
                                              const MachineModel &model) const {
    auto top = cast<dtensor::TopKOp>(op);
    Cut cut(candidate.layout, dtensor::globalShape(top.getOperand().getType()),
            candidate.dim);
    // Blocks are copied and read.
    return Distribution{
        costOfTopK(top, candidate, model) +
            moreWork(candidate, cut,
                     {.whole = 1, .blocks = 3 + 1, .lineIsShared = true},
                     model),
        [top, cut](dtensor::TensorBuilder &make) {
          distributeTopK(make, top, cut);
        }};
  }
};

/// Running values inside each block, and what the blocks before it come to.
void distributeCumulative(dtensor::TensorBuilder &make,
                          dtensor::CumulativeOp op, const Cut &cut) {
  ReduceKind kind = op.getKind();
  bool reverse = op.getReverse();
  Value operand = op.getOperand();
  Type element = dtensor::elementTypeOf(operand.getType());
  // Small floats are accumulated in f32.
  Type wide = element.isF16() || element.isBF16() ? make.getF32Type() : element;
  operand = make.convert(operand, wide);
  Value identity =
      make.splat(RankedTensorType::get({}, wide), identityOf(kind, wide));
  Value blocks = cut.apply(make, operand, identity);
  int64_t inner = cut.inner();
  Value running = make.create<dtensor::CumulativeOp>(make.getLoc(), kind,
                                                     blocks, inner, reverse);
  // All blocks, in one dim: few.
  Value totals = make.reduce(kind, blocks, ArrayRef{inner});
  SmallVector<int64_t> outerShape = dtensor::globalShape(totals.getType()),
                       flat = outerShape;
  flat.erase(flat.begin() + cut.dim, flat.begin() + inner);
  flat.insert(flat.begin() + cut.dim, cut.blocks());
  totals = make.reshape(totals, flat);
  Value before = make.create<dtensor::CumulativeOp>(make.getLoc(), kind, totals,
                                                    cut.dim, reverse);
  before = reverse ? make.padDim(identity, before, cut.dim, -1, 1)
                   : make.padDim(identity, before, cut.dim, 1, -1);
  before = make.reshape(before, outerShape);
  Value offset =
      make.repeat(before, dtensor::globalShape(running.getType()), inner);
  Value whole = make.combine(kind, offset, running);
  Value result = make.convert(cut.undo(make, whole, identity), element);
  op->getResult(0).replaceAllUsesWith(result);
}

struct CumulativeModel
    : DistributableOpInterface::ExternalModel<CumulativeModel,
                                              dtensor::CumulativeOp> {
  std::optional<int64_t> getCutDim(Operation *op, const Layout &layout) const {
    auto cumulative = cast<dtensor::CumulativeOp>(op);
    if (isa<mlir::ComplexType>(
            dtensor::elementTypeOf(cumulative.getOperand().getType())))
      return std::nullopt;
    return cutDim(layout, int64_t(cumulative.getDimension()));
  }
  bool combinesElements(Operation *) const { return true; }
  std::optional<Distribution> getDistribution(Operation *op,
                                              const Candidate &candidate,
                                              const MachineModel &model) const {
    auto cumulative = cast<dtensor::CumulativeOp>(op);
    Value operand = cumulative.getOperand();
    const Layout &layout = candidate.layout;
    SmallVector<int64_t> shape = dtensor::globalShape(operand.getType());
    Cut cut(layout, shape, candidate.dim);
    DType type = dtypeOf(operand);
    Exchange totals;
    totals.add(cut.cutLayout(layout, false), cut.gathered(layout, false),
               cut.cutShape(shape, std::nullopt),
               byteWidth(type) < 4 ? DType::F32 : type, model);
    // Blocks are copied, accumulated and reduced; then offsets are added. An
    // element of a line of floats takes as long as ten reads.
    const bool isFloat =
        isa<FloatType>(dtensor::elementTypeOf(operand.getType()));
    const int64_t running = isFloat ? 10 : 3;
    return Distribution{
        totals.total() + resultCost(candidate, layout, model) +
            moreWork(candidate, cut,
                     {.whole = running, .blocks = 3 + running + 1 + 4}, model),
        [cumulative, cut](dtensor::TensorBuilder &make) {
          distributeCumulative(make, cumulative, cut);
        }};
  }
};
} // namespace

void attachLines(MLIRContext *context) {
  using namespace dtensor;
  ArgMaxOp::attachInterface<ArgModel<ArgMaxOp, ReduceKind::Max>>(*context);
  ArgMinOp::attachInterface<ArgModel<ArgMinOp, ReduceKind::Min>>(*context);
  TopKOp::attachInterface<TopKModel>(*context);
  CumulativeOp::attachInterface<CumulativeModel>(*context);
}

} // namespace meshloom::distribution
