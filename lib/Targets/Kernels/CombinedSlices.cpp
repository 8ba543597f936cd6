// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A reduction takes rounds, from the last dim on. A round cuts a dim of n
// elements into runs of c neighbours, c from 4 to 12, and combines the first
// elements of all runs with the second ones, these with the third ones, and so
// on: c slices of n / c elements. The order of the elements stays as it is, so
// that the function need not be commutative. Where it is, the slices are c
// blocks of the dim, which kernels read faster. All rounds together read less
// than 1 + 2 / c of the operand, and n terms are grouped in log(n) / log(c)
// levels, so that sums are nearly as accurate as pairwise ones.
//
// A window of w elements takes w slices of the padded operand, one after the
// other from the init value on, as the library does.
#include "CombinedSlices.h"

#include "meshloom/ControlFlow/Determinism.h"
#include "meshloom/Dialect/DTensor/ElementwiseRegion.h"
#include "meshloom/Dialect/SPMD/SPMD.h"

#include <numeric>

using namespace meshloom;
using namespace meshloom::dtensor;

namespace {

/// The most ops of a region that are written out for one kernel, and the most
/// slices that it reads: two such kernels of the same slices become one.
constexpr int64_t mostOps = 64, mostSlices = 12;

/// Returns whether ops on slices of the value's `dims` give what its users get.
bool isSliceable(Type type, ArrayRef<int64_t> dims) {
  if (!isShard(type) || spmd::layoutOf(type).is_partial() ||
      !spmd::windowsOf(type).empty() ||
      llvm::is_contained(globalShape(type), 0))
    return false;
  const Layout layout = spmd::layoutOf(type);
  return llvm::all_of(dims,
                      [&](int64_t dim) { return layout.axes(dim).empty(); });
}

/// Returns whether each result is a commutative op of its accumulator and its
/// element.
bool isCommutative(Block &region) {
  const unsigned count = region.getNumArguments() / 2;
  return llvm::all_of(
      llvm::enumerate(region.getTerminator()->getOperands()), [&](auto item) {
        Operation *op = item.value().getDefiningOp();
        Value accumulator = region.getArgument(item.index()),
              element = region.getArgument(count + item.index());
        return op && op->hasTrait<mlir::OpTrait::IsCommutative>() &&
               op->getNumOperands() == 2 &&
               llvm::is_contained(op->getOperands(), accumulator) &&
               llvm::is_contained(op->getOperands(), element);
      });
}

/// Returns the operand of a concatenation that is its slice of this start and
/// shape: null where none is.
Value operandAt(ConcatenateOp join, ArrayRef<int64_t> start,
                ArrayRef<int64_t> shape) {
  SmallVector<int64_t> place(shape.size(), 0);
  for (Value operand : join.getInputs()) {
    const SmallVector<int64_t> sizes = globalShape(operand.getType());
    if (ArrayRef(place) == start && ArrayRef(sizes) == shape &&
        layoutAttrOf(operand.getType()) == layoutAttrOf(join.getType()))
      return operand;
    place[join.getDimension()] += sizes[join.getDimension()];
  }
  return {};
}

/// Builds the ops that replace one op, whose results have one layout.
class SliceBuilder {
public:
  SliceBuilder(Operation *op, Region &region, LayoutAttr layout)
      : b(op), loc(op->getLoc()), region(region), layout(layout) {}

  Type typeOf(Value like, ArrayRef<int64_t> shape) const {
    return spmd::shardType(shape, elementTypeOf(like.getType()), layout);
  }

  /// The function of two lists of values, element by element.
  SmallVector<Value> apply(ArrayRef<Value> accumulators,
                           ArrayRef<Value> elements) {
    SmallVector<Value> operands(accumulators);
    llvm::append_range(operands, elements);
    Operation *next = &*b.getInsertionPoint(), *previous = next->getPrevNode();
    auto results = applyElementwise(b, loc, region, operands);
    assert(succeeded(results) && "isElementwise holds");
    // They have global shapes only.
    while (next->getPrevNode() != previous) {
      next = next->getPrevNode();
      Value result = next->getResult(0);
      result.setType(typeOf(result, globalShape(result.getType())));
    }
    return *results;
  }

  /// The function of slices: of all values those that begin at `starts[0]`,
  /// then those at `starts[1]`, and so on. Without accumulators the first ones
  /// take their place.
  SmallVector<Value> applyToSlices(SmallVector<Value> accumulators,
                                   ArrayRef<Value> values,
                                   ArrayRef<SmallVector<int64_t>> starts,
                                   ArrayRef<int64_t> shape,
                                   ArrayRef<int64_t> strides) {
    for (const SmallVector<int64_t> &start : starts) {
      SmallVector<Value> slices;
      for (Value value : values)
        slices.push_back(slice(value, start, shape, strides));
      accumulators =
          accumulators.empty() ? slices : apply(accumulators, slices);
    }
    return accumulators;
  }

  /// A slice that is an operand of a concatenation is that operand, which then
  /// need not be copied.
  Value slice(Value value, ArrayRef<int64_t> start, ArrayRef<int64_t> shape,
              ArrayRef<int64_t> strides) {
    if (auto join = value.getDefiningOp<ConcatenateOp>())
      if (Value part = operandAt(join, start, shape))
        return part;
    SmallVector<int64_t> limits;
    for (auto [begin, extent, stride] : llvm::zip_equal(start, shape, strides))
      limits.push_back(begin + (extent - 1) * stride + 1);
    return b.create<SliceOp>(loc, typeOf(value, shape), value, start, limits,
                             strides);
  }

  OpBuilder b;
  const Location loc;

private:
  Region &region;
  const LayoutAttr layout;
};

//===----------------------------------------------------------------------===//
// generic_reduce
//===----------------------------------------------------------------------===//

/// How many slices of a dim are combined in one round: a divisor of its extent
/// where there is one, at best one that leaves no short rows, as kernels that
/// write these out take long to compile.
int64_t slicesOf(int64_t extent, int64_t most) {
  if (extent <= most)
    return extent;
  for (const int64_t shortRow : {16, 1})
    for (int64_t count = most; count > most / 3; --count)
      if (extent % count == 0 && extent / count > shortRow)
        return count;
  return most;
}

class Rounds {
public:
  Rounds(GenericReduceOp op, DenseSet<Value> &inMemory)
      : op(op), inMemory(inMemory), values(op.getInputs()),
        shape(globalShape(values.front().getType())), dims(op.getDimensions()),
        builder(op, op.getComputation(),
                layoutAttrOf(values.front().getType())),
        isCommutative(::isCommutative(op.getComputation().front())) {
    llvm::sort(dims);
    const auto ops =
        int64_t(op.getComputation().front().getOperations().size());
    mostOfRound = std::clamp<int64_t>(mostOps / ops, 4, mostSlices);
    // The library takes some 50 times a kernel's time for an element.
    fewElements = std::max<int64_t>(count() / 1024, 256);
  }

  void run() {
    for (int64_t dim : llvm::reverse(dims))
      while (shape[dim] > 1) {
        if (count() <= fewElements)
          return leave();
        combine(dim);
      }
    finish();
  }

private:
  int64_t count() const {
    return std::accumulate(shape.begin(), shape.end(), int64_t(1),
                           std::multiplies<>());
  }

  void combine(int64_t dim) {
    const int64_t extent = shape[dim], slices = slicesOf(extent, mostOfRound),
                  length = extent / slices, covered = length * slices;
    SmallVector<int64_t> start(shape.size(), 0), strides(shape.size(), 1);
    if (!isCommutative)
      strides[dim] = slices;
    SmallVector<SmallVector<int64_t>> starts;
    for (int64_t i = 0; i < slices; ++i) {
      start[dim] = isCommutative ? i * length : i;
      starts.push_back(start);
    }
    shape[dim] = length;
    SmallVector<Value> combined =
        builder.applyToSlices({}, values, starts, shape, strides);
    if (covered < extent) {
      start[dim] = covered;
      strides[dim] = 1;
      append(combined, dim, start, extent - covered, strides);
    }
    values = std::move(combined);
    if (llvm::any_of(dims, [&](int64_t d) { return shape[d] > 1; }))
      inMemory.insert(values.begin(), values.end());
  }

  /// Puts the elements from `start` on behind the combined ones.
  void append(SmallVector<Value> &combined, int64_t dim,
              ArrayRef<int64_t> start, int64_t extent,
              ArrayRef<int64_t> strides) {
    SmallVector<int64_t> remaining = shape;
    remaining[dim] = extent;
    shape[dim] += extent;
    for (auto [value, joined] : llvm::zip_equal(values, combined))
      joined = builder.b.create<ConcatenateOp>(
          builder.loc, builder.typeOf(value, shape),
          ValueRange{joined, builder.slice(value, start, remaining, strides)},
          dim);
  }

  /// The library reduces what remains.
  void leave() { op.getInputsMutable().assign(values); }

  void finish() {
    SmallVector<Value> inits, elements;
    const LayoutAttr layout = layoutAttrOf(op.getResults()[0].getType());
    for (auto [init, value, result] :
         llvm::zip_equal(op.getInitValues(), values, op.getResults())) {
      Type type = result.getType();
      inits.push_back(builder.b.create<BroadcastInDimOp>(
          builder.loc, type, init, ArrayRef<int64_t>()));
      elements.push_back(builder.b.create<ReshapeOp>(builder.loc, type, value));
    }
    SliceBuilder last(op, op.getComputation(), layout);
    op.replaceAllUsesWith(last.apply(inits, elements));
    op.erase();
  }

  GenericReduceOp op;
  DenseSet<Value> &inMemory;
  SmallVector<Value> values;
  SmallVector<int64_t> shape, dims;
  SliceBuilder builder;
  const bool isCommutative;
  int64_t mostOfRound, fewElements;
};

bool takesSlices(GenericReduceOp op) {
  return op->hasAttr(associativeAttrName) && !isDeterministic(op) &&
         isElementwise(op.getComputation()) &&
         llvm::all_of(op.getInputs(),
                      [&](Value input) {
                        return isSliceable(input.getType(), op.getDimensions());
                      }) &&
         llvm::all_of(op.getInitValues(), [](Value init) {
           return isSliceable(init.getType(), {});
         });
}

//===----------------------------------------------------------------------===//
// reduce_window
//===----------------------------------------------------------------------===//

/// The starts of the slices that a window's elements are in, in row-major
/// order.
SmallVector<SmallVector<int64_t>> startsOf(const WindowSpec &window) {
  SmallVector<SmallVector<int64_t>> starts{{}};
  for (auto [extent, dilation] :
       llvm::zip_equal(window.dimensions, window.windowDilations)) {
    SmallVector<SmallVector<int64_t>> longer;
    for (const SmallVector<int64_t> &start : starts)
      for (int64_t i = 0; i < extent; ++i) {
        longer.push_back(start);
        longer.back().push_back(i * dilation);
      }
    starts = std::move(longer);
  }
  return starts;
}

/// The dims that a window is not just one element of.
SmallVector<int64_t> windowedDims(const WindowSpec &window) {
  SmallVector<int64_t> dims;
  for (size_t d = 0; d < window.dimensions.size(); ++d)
    if (window.dimensions[d] != 1 || window.strides[d] != 1 ||
        window.baseDilations[d] != 1 || window.padding[2 * d] != 0 ||
        window.padding[2 * d + 1] != 0)
      dims.push_back(int64_t(d));
  return dims;
}

bool takesSlices(ReduceWindowOp op) {
  if (op.getPlainKind() || !isElementwise(op.getBody()))
    return false;
  const WindowSpec window = op.getWindow();
  const int64_t elements =
      std::accumulate(window.dimensions.begin(), window.dimensions.end(),
                      int64_t(1), std::multiplies<>());
  const auto ops = int64_t(op.getBody().front().getOperations().size());
  const SmallVector<int64_t> dims = windowedDims(window);
  return elements <= 3 * mostSlices && elements * ops <= 2 * mostOps &&
         llvm::all_of(
             llvm::concat<const Value>(SmallVector<Value>(op.getInputs()),
                                       SmallVector<Value>(op.getOutputs())),
             [&](Value value) { return isSliceable(value.getType(), dims); }) &&
         llvm::all_of(op.getInitValues(), [](Value init) {
           return isSliceable(init.getType(), {});
         });
}

void combineWindow(ReduceWindowOp op) {
  const WindowSpec window = op.getWindow();
  const Type type = op.getOutputs()[0].getType();
  SliceBuilder builder(op, op.getBody(), layoutAttrOf(type));
  SmallVector<int64_t> low, high, interior, padded;
  for (auto [d, extent] :
       llvm::enumerate(globalShape(op.getInputs()[0].getType()))) {
    low.push_back(window.padding[2 * d]);
    high.push_back(window.padding[2 * d + 1]);
    interior.push_back(window.baseDilations[d] - 1);
    padded.push_back(dilated(extent, window.baseDilations[d]) + low.back() +
                     high.back());
  }
  SmallVector<Value> inits, values;
  for (auto [input, init, output] :
       llvm::zip_equal(op.getInputs(), op.getInitValues(), op.getOutputs())) {
    inits.push_back(builder.b.create<BroadcastInDimOp>(
        builder.loc, output.getType(), init, ArrayRef<int64_t>()));
    values.push_back(builder.b.create<PadOp>(builder.loc,
                                             builder.typeOf(input, padded),
                                             input, init, low, high, interior));
  }
  op.replaceAllUsesWith(builder.applyToSlices(
      inits, values, startsOf(window), globalShape(type), window.strides));
  op.erase();
}
} // namespace

void meshloom::combineSlices(Block &block, DenseSet<Value> &inMemory) {
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (auto reduce = dyn_cast<GenericReduceOp>(op);
        reduce && takesSlices(reduce))
      Rounds(reduce, inMemory).run();
    else if (auto windowed = dyn_cast<ReduceWindowOp>(op);
             windowed && takesSlices(windowed))
      combineWindow(windowed);
  }
}
