// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// sort along a cut dim of n elements in P full blocks of r, without any device
// seeing more than a block at a time.
//
// Columnsort (F. T. Leighton, "Tight bounds on the complexity of parallel
// sorting", 1985), where P divides r and r >= 2 (P - 1)^2. Blocks are columns:
//   1. sort each block;
//   2. deal each block out to all, element i to block i mod P: an all_to_all;
//   3. sort; 4. give them back, the k-th P-th of each to block k; 5. sort.
//   Now no element is more than half a block from its place:
//   6. the upper half of each block and the lower half of the next one exchange
//      what is in the wrong one, and each block is sorted once more.
// A device sends (3 - 2 / P) r elements, where gathering takes (P - 1) r.
//
// Batcher's merge exchange (D. E. Knuth, The Art of Computer Programming 3,
// algorithm 5.2.2M) for smaller blocks: a sorting network whose wires are
// sorted blocks. With t = log2(P) rounded up, t (t + 1) / 2 rounds in which
// pairs of blocks keep the smaller and the larger half of what both have (that
// this sorts is exercise 5.3.4-38 there), r elements each.
//
// The smaller half of two sorted blocks a and b is { min(a[i], b[r - 1 - i]) },
// and the larger one has the maxima: one comparison an element, then a sort.
//
// The result is that of a stable sort, to the bit. Either elements that compare
// equal are the same, or there are none, or their indices decide: those of an
// iota among the operands (as in argsort), or of an operand that is added. In
// columnsort that is not needed before step 4: up to there blocks keep equal
// elements in order, and by what step 2 deals them, columns do too. So it is
// made after step 2, from the places that elements have there.

#include "DistributeOps.h"
#include "SortOrder.h"

#include "meshloom/Dialect/DTensor/ElementwiseRegion.h"

#include "mlir/IR/IRMapping.h"

#include "llvm/Support/MathExtras.h"

#include <limits>

namespace meshloom::distribution {
namespace {
using Direction = dtensor::ComparisonDirection;

/// The smallest type that holds indices below `n`.
IntegerType indexType(MLIRContext *context, int64_t n) {
  for (unsigned width : {8, 16})
    if (n <= int64_t(1) << width)
      return IntegerType::get(context, width, IntegerType::Unsigned);
  return IntegerType::get(context, n <= int64_t(1) << 31 ? 32 : 64);
}

/// How a sort is distributed.
struct SortScheme {
  /// Leighton's columnsort; else Batcher's merge exchange.
  bool columns;
  /// Operand that decides ties, where they have to be decided: an iota; or the
  /// number of operands, for one that is added.
  std::optional<unsigned> tie;
};

//===----------------------------------------------------------------------===//
// Comparators
//===----------------------------------------------------------------------===//

/// Returns the value that the region yields for `arguments`.
Value cloneRegion(OpBuilder &builder, Region &region,
                  ArrayRef<Value> arguments) {
  mlir::IRMapping mapping;
  for (auto [from, to] : llvm::zip(region.getArguments(), arguments))
    mapping.map(from, to);
  Block &block = region.front();
  for (Operation &op : block.without_terminator())
    builder.clone(op, mapping);
  return mapping.lookupOrDefault(block.getTerminator()->getOperand(0));
}

/// Returns whether `a` comes before `b` where neither says so: by an index.
Value decideTie(dtensor::TensorBuilder &make, Value before, Value after,
                Value a, Value b) {
  Value lower = make.compare(Direction::LT, a, b);
  Value tied =
      make.apply<dtensor::AndOp>(make.apply<dtensor::NotOp>(after), lower);
  return make.apply<dtensor::OrOp>(before, tied);
}

/// Sorts values of the shape [..., P, r, ...].
class BlockSort {
public:
  BlockSort(dtensor::TensorBuilder &make, dtensor::SortOp op,
            const Candidate &candidate, std::optional<unsigned> tie)
      : make(make), op(op), tie(tie), mesh(candidate.layout.mesh()),
        axes(candidate.layout.axes(unsigned(candidate.dim)).begin(),
             candidate.layout.axes(unsigned(candidate.dim)).end()),
        dim(candidate.dim) {
    SmallVector<int64_t> whole =
        dtensor::globalShape(op.getInputs()[0].getType());
    blocks = groupSize(mesh, axes);
    size = whole[dim] / blocks;
    index = indexType(op.getContext(), whole[dim]);
    shape = whole;
    shape[dim] = blocks;
    shape.insert(shape.begin() + dim + 1, size);
    for (auto [i, input] : llvm::enumerate(op.getInputs())) {
      // An index of few bits is sent instead of one of many.
      if (i == tie && isUnread(i))
        input = make.convert(input, index);
      values.push_back(make.reshape(input, shape));
    }
  }

  void columns() {
    sort(/*byTie=*/false);
    for (Value &value : values)
      value = dealt(value);
    if (tie == op.getInputs().size())
      values.push_back(dealtIndex());
    sort(/*byTie=*/false);
    for (Value &value : values)
      value = returned(value);
    sort(/*byTie=*/true);
    exchangeHalves();
    sort(/*byTie=*/true);
  }

  void network() {
    sort(/*byTie=*/false);
    if (tie == op.getInputs().size())
      values.push_back(placeIndex());
    for (ArrayRef<int64_t> partners : mergeExchange(blocks)) {
      mergeSplit(partners);
      sort(/*byTie=*/true);
    }
  }

  void finish() {
    for (auto [result, value] : llvm::zip(op.getResults(), values)) {
      value = make.reshape(value, dtensor::globalShape(result.getType()));
      value = make.convert(value, dtensor::elementTypeOf(result.getType()));
      result.replaceAllUsesWith(value);
    }
  }

  /// Per round, the partner of each block; its own number where it has none.
  static SmallVector<SmallVector<int64_t>> mergeExchange(int64_t blocks) {
    SmallVector<SmallVector<int64_t>> rounds;
    int64_t most = int64_t(llvm::PowerOf2Ceil(uint64_t(blocks))) / 2;
    for (int64_t p = most; p > 0; p /= 2)
      for (int64_t q = most, r = 0, d = p; q >= p; d = q - p, q /= 2, r = p) {
        auto partners = llvm::to_vector(llvm::seq<int64_t>(0, blocks));
        for (int64_t i = 0; i + d < blocks; ++i)
          if ((i & p) == r)
            std::swap(partners[i], partners[i + d]);
        rounds.push_back(partners);
      }
    return rounds;
  }

private:
  /// Returns whether the comparator does not look at operand `i`.
  bool isUnread(size_t i) {
    Region &region = op.getComparator();
    return region.getArgument(2 * i).use_empty() &&
           region.getArgument(2 * i + 1).use_empty();
  }

  void sort(bool byTie) {
    auto sorted =
        make.create<dtensor::SortOp>(make.getLoc(), values, dim + 1, true);
    OpBuilder::InsertionGuard guard(make);
    Block *block = make.createBlock(&sorted.getComparator());
    SmallVector<Value> forward, backward;
    for (Value value : values) {
      auto scalar =
          RankedTensorType::get({}, dtensor::elementTypeOf(value.getType()));
      Value a = block->addArgument(scalar, make.getLoc()),
            b = block->addArgument(scalar, make.getLoc());
      forward.append({a, b});
      backward.append({b, a});
    }
    Value before = cloneRegion(make, op.getComparator(), forward);
    if (byTie && tie) {
      Value after = cloneRegion(make, op.getComparator(), backward);
      before = decideTie(make, before, after, forward[2 * *tie],
                         forward[2 * *tie + 1]);
    }
    make.create<dtensor::YieldOp>(make.getLoc(), before);
    values.assign(sorted.result_begin(), sorted.result_end());
  }

  /// Per element, whether that of `a` comes before that of `b`.
  Value isBefore(ArrayRef<Value> a, ArrayRef<Value> b) {
    auto apply = [&](ArrayRef<Value> a, ArrayRef<Value> b) {
      SmallVector<Value> operands;
      for (unsigned i = 0; i < op.getInputs().size(); ++i)
        operands.append({a[i], b[i]});
      auto results = dtensor::applyElementwise(make, make.getLoc(),
                                               op.getComparator(), operands);
      assert(succeeded(results) && "checked by schemeFor");
      return results->front();
    };
    Value before = apply(a, b);
    if (!tie)
      return before;
    return decideTie(make, before, apply(b, a), a[*tie], b[*tie]);
  }

  //===------------------------------------------------------------------===//
  // Columnsort
  //===------------------------------------------------------------------===//

  /// `dim` and `dim + 1` of [..., P, r, ...] replaced by `extents`.
  SmallVector<int64_t> with(ArrayRef<int64_t> extents) const {
    SmallVector<int64_t> replaced(shape);
    replaced.erase(replaced.begin() + dim, replaced.begin() + dim + 2);
    replaced.insert(replaced.begin() + dim, extents.begin(), extents.end());
    return replaced;
  }
  /// Three dims from `dim` on, in another order, and the first one cut.
  Value exchanged(Value value, std::array<int64_t, 3> order) {
    auto dims = llvm::to_vector(llvm::seq<int64_t>(
        0, int64_t(dtensor::globalShape(value.getType()).size())));
    for (int64_t i = 0; i < 3; ++i)
      dims[dim + i] = dim + order[i];
    value = make.transpose(value, dims);
    value = pin(make, value, mesh, {dim, dim + 1, dim + 2},
                {axes, std::vector<unsigned>(), std::vector<unsigned>()});
    return make.reshape(value, shape);
  }
  /// [block, i / P, i mod P] -> [i mod P, block, i / P]
  Value dealt(Value value) {
    value = make.reshape(value, with({blocks, size / blocks, blocks}));
    return exchanged(value, {2, 0, 1});
  }
  /// [from, to, rest] -> [to, from, rest]
  Value returned(Value value) {
    value = make.reshape(value, with({blocks, blocks, size / blocks}));
    return exchanged(value, {1, 0, 2});
  }
  Value times(Value value, int64_t factor) {
    return make.apply<dtensor::MultiplyOp>(
        value,
        make.integers(dtensor::globalShape(value.getType()), factor, index));
  }
  /// For each element after dealing, its place before: block * r + i.
  Value dealtIndex() {
    SmallVector<int64_t> parts = with({blocks, blocks, size / blocks});
    Value place = times(make.iota(parts, dim + 1, index), size);
    place = make.apply<dtensor::AddOp>(
        place, times(make.iota(parts, dim + 2, index), blocks));
    place = make.apply<dtensor::AddOp>(place, make.iota(parts, dim, index));
    return make.reshape(place, shape);
  }
  /// For each element, its place.
  Value placeIndex() {
    return make.apply<dtensor::AddOp>(times(make.iota(shape, dim, index), size),
                                      make.iota(shape, dim + 1, index));
  }

  Value reversed(Value value) {
    return make.create<dtensor::ReverseOp>(make.getLoc(), value,
                                           ArrayRef<int64_t>{dim + 1});
  }
  /// The value of the block before (1) or behind (-1).
  Value shifted(Value value, int64_t by) {
    return make.padDim(make.zeros(RankedTensorType::get(
                           {}, dtensor::elementTypeOf(value.getType()))),
                       value, dim, by, -by);
  }
  Value isBlock(int64_t number) {
    SmallVector<int64_t> half = shape;
    half[dim + 1] = size / 2;
    Type type = make.getI32Type();
    return make.compare(Direction::EQ, make.iota(half, dim, type),
                        make.integers(half, number, type));
  }

  void exchangeHalves() {
    int64_t half = size / 2;
    SmallVector<Value> lower, upper, before, behind;
    for (Value value : values) {
      lower.push_back(make.sliceDim(value, dim + 1, 0, half));
      upper.push_back(make.sliceDim(value, dim + 1, half, size));
      before.push_back(reversed(shifted(upper.back(), 1)));
      behind.push_back(reversed(shifted(lower.back(), -1)));
    }
    // The first block has none before it, the last one none behind it.
    Value first = isBlock(0), last = isBlock(blocks - 1);
    Value lowerGoes = isBefore(lower, before),
          behindComes = isBefore(behind, upper);
    for (auto [i, value] : llvm::enumerate(values)) {
      Value low = make.select(lowerGoes, before[i], lower[i]),
            high = make.select(behindComes, behind[i], upper[i]);
      low = make.select(first, lower[i], low);
      high = make.select(last, upper[i], high);
      value = make.concatenate(ArrayRef<Value>{low, high}, dim + 1);
    }
  }

  //===------------------------------------------------------------------===//
  // Merge exchange
  //===------------------------------------------------------------------===//

  /// A truth value a block, repeated.
  template <typename Function> Value ofBlocks(const Function &function) {
    SmallVector<bool> truths;
    for (int64_t block = 0; block < blocks; ++block)
      truths.push_back(function(block));
    auto type = RankedTensorType::get({blocks}, make.getI1Type());
    Value values =
        make.constant(DenseElementsAttr::get(type, ArrayRef<bool>(truths)));
    return make.broadcast(values, shape, ArrayRef<int64_t>{dim});
  }

  void mergeSplit(ArrayRef<int64_t> partners) {
    Value isLower =
        ofBlocks([&](int64_t block) { return block < partners[block]; });
    Value isUpper =
        ofBlocks([&](int64_t block) { return block > partners[block]; });
    SmallVector<Value> theirs, first, second;
    for (Value value : values) {
      theirs.push_back(reversed(make.take(value, dim, partners)));
      first.push_back(make.select(isLower, value, theirs.back()));
      second.push_back(make.select(isLower, theirs.back(), value));
    }
    // Both blocks of a pair compare the same elements: they decide alike.
    Value swap = isBefore(second, first);
    Value keep = make.apply<dtensor::OrOp>(
        make.apply<dtensor::AndOp>(isLower, make.apply<dtensor::NotOp>(swap)),
        make.apply<dtensor::AndOp>(isUpper, swap));
    Value alone =
        ofBlocks([&](int64_t block) { return block == partners[block]; });
    for (auto [i, value] : llvm::enumerate(values)) {
      Value half = make.select(keep, first[i], second[i]);
      value = make.select(alone, value, half);
    }
  }

  dtensor::TensorBuilder &make;
  dtensor::SortOp op;
  std::optional<unsigned> tie;
  const Mesh mesh;
  std::vector<unsigned> axes;
  int64_t dim, blocks, size;
  IntegerType index;
  SmallVector<int64_t> shape;
  SmallVector<Value> values;
};

//===----------------------------------------------------------------------===//
// Costs
//===----------------------------------------------------------------------===//

struct Price {
  Cost sent = 0, work = 0;
  Cost total() const { return sent + work; }
};

/// Sorting lines of `length`, `times` over, with the elements cut into as many
/// parts as `layout` has shards.
Cost sortWork(dtensor::SortOp op, const Layout &layout, int64_t length,
              int64_t times, const MachineModel &model) {
  Shape shape;
  for (int64_t extent : dtensor::globalShape(op.getInputs()[0].getType()))
    shape.push_back(extent);
  int64_t comparisons =
      4 * times * int64_t(op.getInputs().size()) *
      std::max<int64_t>(1, llvm::Log2_64_Ceil(uint64_t(length)));
  Work work;
  work.flops = comparisons * elementCount(layout.local_shape(shape));
  work.totalFlops = comparisons * elementCount(shape);
  for (unsigned dim = 0; dim < layout.rank(); ++dim)
    work.shards *= groupSize(layout.mesh(), layout.axes(dim));
  work.splittable = false;
  return model.work(work);
}

/// Returns the types in which the operands are sent, with the one that decides
/// ties.
SmallVector<DType> sentTypes(dtensor::SortOp op, int64_t n,
                             std::optional<unsigned> tie) {
  SmallVector<DType> types;
  for (Value input : op.getInputs())
    types.push_back(dtypeOf(input));
  DType index = *dtensor::dtypeOf(indexType(op.getContext(), n));
  if (tie && *tie == types.size())
    types.push_back(index);
  else if (tie && op.getComparator().getArgument(2 * *tie).use_empty() &&
           op.getComparator().getArgument(2 * *tie + 1).use_empty())
    types[*tie] = index;
  return types;
}

Price priceOf(dtensor::SortOp op, const Candidate &candidate,
              const SortScheme &scheme, const MachineModel &model) {
  Cut cut(candidate.layout, dtensor::globalShape(op.getInputs()[0].getType()),
          candidate.dim);
  int64_t blocks = cut.blocks(), size = cut.block(), n = cut.extents.front();
  SmallVector<DType> types = sentTypes(op, n, scheme.tie);
  size_t inputs = op.getInputs().size();
  // [..., P, r, ...]
  SmallVector<int64_t> shape =
      dtensor::globalShape(op.getInputs()[0].getType());
  shape[candidate.dim] = blocks;
  shape.insert(shape.begin() + candidate.dim + 1, size);
  Layout::DimAxes dims = candidate.layout.dim_axes();
  dims.insert(dims.begin() + candidate.dim + 1, std::vector<unsigned>());
  Layout layout = *Layout::get(candidate.layout.mesh(), dims);
  Shape whole(shape.begin(), shape.end());
  int64_t local = elementCount(layout.local_shape(whole));

  Price price;
  price.sent = resultCost(candidate, candidate.layout, model);
  Exchange first;
  for (auto [input, from] : llvm::zip_equal(op.getInputs(), candidate.operands))
    if (from)
      first.add(*from, candidate.layout, dtensor::globalShape(input.getType()),
                dtypeOf(input), model);
  price.sent += first.total();
  int64_t sorts = 4;
  if (scheme.columns) {
    SmallVector<int64_t> parts = shape;
    parts[candidate.dim + 1] = blocks;
    parts.insert(parts.begin() + candidate.dim + 2, size / blocks);
    dims.insert(dims.begin() + candidate.dim + 1, std::vector<unsigned>());
    Layout from = *Layout::get(layout.mesh(), dims);
    std::swap(dims[candidate.dim], dims[candidate.dim + 1]);
    Layout to = *Layout::get(layout.mesh(), dims);
    for (auto [i, type] : llvm::enumerate(types)) {
      Exchange deal, half;
      deal.add(from, to, parts, type, model);
      half.addHalo(layout, cut.axes, local / 2, shape, type, model);
      price.sent += (i < inputs ? 2 : 1) * deal.total() + 2 * half.total();
    }
  } else {
    int64_t rounds = int64_t(BlockSort::mergeExchange(blocks).size());
    for (DType type : types) {
      Exchange round;
      round.addHalo(layout, cut.axes, local, shape, type, model);
      price.sent += rounds * round.total();
    }
    sorts = 1 + rounds;
  }
  price.work = sortWork(op, candidate.layout, size, sorts, model);
  return price;
}

/// The cheapest scheme, where it is cheaper than any relayout, and what it
/// sends.
std::optional<std::pair<SortScheme, Cost>>
schemeFor(dtensor::SortOp op, const Candidate &candidate,
          const MachineModel &model) {
  Cut cut(candidate.layout, dtensor::globalShape(op.getInputs()[0].getType()),
          candidate.dim);
  int64_t blocks = cut.blocks(), size = cut.block();
  if (!cut.isEven() || size < 2 || candidate.layout.is_partial() ||
      !dtensor::isElementwise(op.getComparator()))
    return std::nullopt;
  std::optional<SortOrder> order = sortOrder(op.getComparator());
  if (!order)
    return std::nullopt;
  // Equal elements that can differ need an operand that decides their order.
  std::optional<unsigned> tie;
  bool noneAreEqual = llvm::any_of(
      llvm::zip_equal(op.getInputs(), order->determined), [&](auto pair) {
        return std::get<1>(pair) &&
               isDistinctAlong(std::get<0>(pair), candidate.dim);
      });
  if (!noneAreEqual &&
      !llvm::all_of(order->determined, [](bool b) { return b; })) {
    auto index = llvm::find_if(op.getInputs(), [&](Value input) {
      return isIndexAlong(input, candidate.dim);
    });
    tie = unsigned(index - op.getInputs().begin());
  }

  Price least{std::numeric_limits<Cost>::max() / 4, 0};
  Cost leastSent = least.sent;
  for (const Layout &whole : wholeLayouts(candidate)) {
    Price price{relayoutCost(candidate, whole, model),
                sortWork(op, whole, cut.extents.front(), 1, model)};
    leastSent = std::min(leastSent, price.sent);
    if (price.total() < least.total())
      least = price;
  }
  std::optional<std::pair<SortScheme, Cost>> best;
  for (bool columns : {true, false}) {
    if (columns && (size % blocks != 0 || size % 2 != 0 ||
                    size < 2 * (blocks - 1) * (blocks - 1)))
      continue;
    SortScheme scheme{columns, tie};
    Price price = priceOf(op, candidate, scheme, model);
    if (price.sent < leastSent && price.total() < least.total()) {
      least = price;
      best = {scheme, price.sent};
    }
  }
  return best;
}

struct SortModel
    : DistributableOpInterface::ExternalModel<SortModel, dtensor::SortOp> {
  std::optional<int64_t> getCutDim(Operation *op, const Layout &layout) const {
    return cutDim(layout, int64_t(cast<dtensor::SortOp>(op).getDimension()));
  }
  std::optional<Distribution> getDistribution(Operation *op,
                                              const Candidate &candidate,
                                              const MachineModel &model) const {
    auto sort = cast<dtensor::SortOp>(op);
    auto best = schemeFor(sort, candidate, model);
    if (!best)
      return std::nullopt;
    return Distribution{best->second, [sort, candidate, scheme = best->first](
                                          dtensor::TensorBuilder &make) {
                          BlockSort blocks(make, sort, candidate, scheme.tie);
                          if (scheme.columns)
                            blocks.columns();
                          else
                            blocks.network();
                          blocks.finish();
                        }};
  }
};
} // namespace

void attachSort(MLIRContext *context) {
  dtensor::SortOp::attachInterface<SortModel>(*context);
}

} // namespace meshloom::distribution
