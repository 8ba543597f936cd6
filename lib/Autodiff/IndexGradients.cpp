// Gradient rules of gathers, scatters, slices at run-time indices, sorting.
#include "GradientRules.h"

#include "mlir/IR/IRMapping.h"

namespace meshloom {

using dtensor::ComparisonDirection;

static SmallVector<int64_t> range(int64_t from, int64_t to) {
  return llvm::to_vector(llvm::seq<int64_t>(from, to));
}

/// Integers, one an entry of an index vector, as a tensor like `indices`.
static Value perEntry(OpGradient &g, Value indices, int64_t vectorDim,
                      ArrayRef<int64_t> numbers) {
  RankedTensorType type = g.typeOf(indices);
  Type element = type.getElementType();
  SmallVector<Attribute> values;
  for (int64_t number : numbers)
    values.push_back(g.builder.getIntegerAttr(element, number));
  auto list = RankedTensorType::get({int64_t(numbers.size())}, element);
  Value constant = g.builder.create<dtensor::ConstantOp>(
      g.location, DenseElementsAttr::get(list, values));
  if (vectorDim == type.getRank())
    return g.broadcast(g.reshape(constant, {}), type.getShape(), {});
  return g.broadcast(constant, type.getShape(), {vectorDim});
}

/// Elements go back to where they came from: a scatter that adds, at indices
/// clamped as the gather clamps them.
void gradientOf(dtensor::GatherOp op, OpGradient &g) {
  if (!g.wants(0))
    return;
  RankedTensorType from = g.typeOf(op.getOperand());
  Value indices = op.getStartIndices();
  SmallVector<int64_t> most, least;
  for (int64_t dim : op.getStartIndexMap()) {
    most.push_back(from.getDimSize(dim) - op.getSliceSizes()[dim]);
    least.push_back(0);
  }
  int64_t vectorDim = op.getIndexVectorDim();
  indices = g.builder.create<dtensor::ClampOp>(
      g.location, perEntry(g, indices, vectorDim, least), indices,
      perEntry(g, indices, vectorDim, most));
  g.give(0, g.builder
                .create<dtensor::ScatterOp>(
                    g.location, ValueRange{g.zeros(from)}, indices,
                    ValueRange{g.of()}, op.getOffsetDims(),
                    op.getCollapsedSliceDims(), op.getOperandBatchingDims(),
                    op.getStartIndicesBatchingDims(), op.getStartIndexMap(),
                    vectorDim, ReduceKind::Sum)
                .getResult(0));
}

/// The updates' places in `value`, which is like an input of `op`.
static Value gatherUpdates(OpGradient &g, dtensor::ScatterOp op, Value value) {
  ArrayRef<int64_t> updates = g.typeOf(op.getUpdates()[0]).getShape();
  SmallVector<int64_t> sizes;
  unsigned next = 0;
  for (int64_t dim = 0; dim < g.typeOf(value).getRank(); ++dim)
    sizes.push_back(llvm::is_contained(op.getInsertedWindowDims(), dim) ||
                            llvm::is_contained(op.getInputBatchingDims(), dim)
                        ? 1
                        : updates[op.getUpdateWindowDims()[next++]]);
  return g.builder.create<dtensor::GatherOp>(
      g.location, value, op.getScatterIndices(), op.getUpdateWindowDims(),
      op.getInsertedWindowDims(), op.getInputBatchingDims(),
      op.getScatterIndicesBatchingDims(), op.getScatterDimsToOperandDims(),
      op.getIndexVectorDim(), sizes);
}

static Value scatterInto(OpGradient &g, dtensor::ScatterOp op, Value input,
                         Value updates, std::optional<ReduceKind> kind) {
  return g.builder
      .create<dtensor::ScatterOp>(
          g.location, ValueRange{input}, op.getScatterIndices(),
          ValueRange{updates}, op.getUpdateWindowDims(),
          op.getInsertedWindowDims(), op.getInputBatchingDims(),
          op.getScatterIndicesBatchingDims(), op.getScatterDimsToOperandDims(),
          op.getIndexVectorDim(), kind)
      .getResult(0);
}

/// 1, 2, 3, ...: another number for each update.
static Value ownNumbers(OpGradient &g, RankedTensorType updates) {
  int64_t count = updates.getNumElements();
  auto flat = RankedTensorType::get({count}, g.builder.getI64Type());
  Value numbers = g.builder.create<dtensor::IotaOp>(
      g.location, flat, g.builder.getI64IntegerAttr(0));
  return g.reshape(g.add(numbers, 1), updates.getShape());
}

/// 1 for each update that is in the result: in bounds, and the last one at its
/// place where updates replace.
static Value landed(OpGradient &g, dtensor::ScatterOp op) {
  RankedTensorType updates = g.typeOf(op.getUpdates()[0]);
  Value numbers = ownNumbers(g, updates);
  auto board = RankedTensorType::get(g.typeOf(op.getInputs()[0]).getShape(),
                                     g.builder.getI64Type());
  Value written = scatterInto(g, op, g.zeros(board), numbers, std::nullopt);
  return g.compare(ComparisonDirection::EQ, gatherUpdates(g, op, written),
                   numbers);
}

/// The size of an update's window along each dim of the inputs.
static SmallVector<int64_t> windowSizes(OpGradient &g, dtensor::ScatterOp op) {
  RankedTensorType updates = g.typeOf(op.getUpdates()[0]);
  SmallVector<int64_t> sizes(g.typeOf(op.getInputs()[0]).getRank(), 1);
  unsigned next = 0;
  for (auto [dim, size] : llvm::enumerate(sizes))
    if (!llvm::is_contained(op.getInsertedWindowDims(), int64_t(dim)) &&
        !llvm::is_contained(op.getInputBatchingDims(), int64_t(dim)))
      size = updates.getDimSize(op.getUpdateWindowDims()[next++]);
  return sizes;
}

/// Whether an update's window is in bounds, from its index vector.
static Value inBounds(OpGradient &g, dtensor::ScatterOp op) {
  RankedTensorType input = g.typeOf(op.getInputs()[0]);
  RankedTensorType updates = g.typeOf(op.getUpdates()[0]);
  Value indices = op.getScatterIndices();
  int64_t vectorDim = op.getIndexVectorDim();
  SmallVector<int64_t> windowOf = windowSizes(g, op), least, most;
  for (int64_t dim : op.getScatterDimsToOperandDims()) {
    least.push_back(0);
    most.push_back(input.getDimSize(dim) - windowOf[dim]);
  }
  Value in =
      g.make<dtensor::AndOp>(g.compare(ComparisonDirection::GE, indices,
                                       perEntry(g, indices, vectorDim, least)),
                             g.compare(ComparisonDirection::LE, indices,
                                       perEntry(g, indices, vectorDim, most)));
  if (vectorDim < g.typeOf(in).getRank())
    in = g.reduce(in, {vectorDim}, ReduceKind::And);
  SmallVector<int64_t> batch;
  for (int64_t dim = 0; dim < updates.getRank(); ++dim)
    if (!llvm::is_contained(op.getUpdateWindowDims(), dim))
      batch.push_back(dim);
  return g.broadcast(in, updates.getShape(), batch);
}

void gradientOf(dtensor::ScatterOp op, OpGradient &g) {
  if (!op.getComputation().empty())
    return g.refuse("a scatter by a region");
  std::optional<ReduceKind> kind = op.getKind();
  if (kind && kind != ReduceKind::Sum)
    return g.refuse("a scatter by " + std::string(name(*kind)));
  unsigned count = op.getInputs().size();
  // No window is in bounds of inputs that are smaller than one.
  bool fits = llvm::all_of(
      llvm::zip(windowSizes(g, op), g.typeOf(op.getInputs()[0]).getShape()),
      [](auto pair) { return std::get<0>(pair) <= std::get<1>(pair); });
  for (unsigned i = 0; i < count; ++i) {
    Value gradient = g.of(i);
    if (!gradient)
      continue;
    unsigned update = count + 1 + i;
    if (!fits) {
      if (g.wants(i))
        g.give(i, gradient);
      continue;
    }
    if (kind) {
      if (g.wants(i))
        g.give(i, gradient);
      if (g.wants(update))
        g.give(update,
               g.keepIf(inBounds(g, op), gatherUpdates(g, op, gradient)));
      continue;
    }
    if (g.wants(i))
      g.give(i,
             scatterInto(g, op, gradient, g.zeros(g.typeOf(op.getUpdates()[i])),
                         std::nullopt));
    if (g.wants(update))
      g.give(update, g.keepIf(landed(g, op), gatherUpdates(g, op, gradient)));
  }
}

void gradientOf(dtensor::DynamicSliceOp op, OpGradient &g) {
  if (g.wants(0))
    g.give(0, g.builder.create<dtensor::DynamicUpdateSliceOp>(
                  g.location, g.zeros(g.typeOf(op.getOperand())), g.of(),
                  op.getStartIndices()));
}

void gradientOf(dtensor::DynamicUpdateSliceOp op, OpGradient &g) {
  RankedTensorType update = g.typeOf(op.getUpdate());
  if (g.wants(0))
    g.give(0, g.builder.create<dtensor::DynamicUpdateSliceOp>(
                  g.location, g.of(), g.zeros(update), op.getStartIndices()));
  if (g.wants(1))
    g.give(1, g.builder.create<dtensor::DynamicSliceOp>(
                  g.location, g.of(), op.getStartIndices(), update.getShape()));
}

/// Sorts again with the places along; gradients go back by sorting by those.
void gradientOf(dtensor::SortOp op, OpGradient &g) {
  Value first = op.getInputs()[0];
  int64_t dim = op.getDimension();
  auto places =
      RankedTensorType::get(g.typeOf(first).getShape(), g.builder.getI32Type());
  SmallVector<Value> inputs(op.getInputs());
  inputs.push_back(g.builder.create<dtensor::IotaOp>(
      g.location, places, g.builder.getI64IntegerAttr(dim)));
  auto sorted =
      g.builder.create<dtensor::SortOp>(g.location, inputs, dim, true);
  mlir::IRMapping mapping;
  op.getComparator().cloneInto(&sorted.getComparator(), mapping);
  auto scalar = RankedTensorType::get({}, g.builder.getI32Type());
  for (int i = 0; i < 2; ++i)
    sorted.getComparator().front().addArgument(scalar, g.location);
  Value order = sorted.getResults().back();

  SmallVector<Value> keyed{order};
  SmallVector<unsigned> owners;
  for (unsigned i = 0; i < op.getInputs().size(); ++i)
    if (g.wants(i) && g.of(i)) {
      keyed.push_back(g.of(i));
      owners.push_back(i);
    }
  auto back = g.builder.create<dtensor::SortOp>(g.location, keyed, dim, true);
  OpBuilder::InsertionGuard guard(g.builder);
  Block *block = g.builder.createBlock(&back.getComparator());
  for (Value value : keyed)
    for (int i = 0; i < 2; ++i)
      block->addArgument(
          RankedTensorType::get({}, g.typeOf(value).getElementType()),
          g.location);
  Value less = g.compare(ComparisonDirection::LT, block->getArgument(0),
                         block->getArgument(1));
  g.builder.create<dtensor::YieldOp>(g.location, less);
  for (auto [i, owner] : llvm::enumerate(owners))
    g.give(owner, back.getResults()[i + 1]);
}

/// Each of the k largest goes back to its place; no place is taken twice.
void gradientOf(dtensor::TopKOp op, OpGradient &g) {
  if (!g.of(0))
    return;
  RankedTensorType from = g.typeOf(op.getOperand());
  SmallVector<int64_t> vectors(g.typeOf(op.getIndices()).getShape());
  int64_t last = from.getRank() - 1;
  vectors.push_back(1);
  SmallVector<int64_t> batch = range(0, last);
  g.give(0, g.builder
                .create<dtensor::ScatterOp>(
                    g.location, ValueRange{g.zeros(from)},
                    g.reshape(op.getIndices(), vectors), ValueRange{g.of(0)},
                    ArrayRef<int64_t>{}, ArrayRef<int64_t>{last}, batch, batch,
                    ArrayRef<int64_t>{last}, last + 1, ReduceKind::Sum)
                .getResult(0));
}

} // namespace meshloom
