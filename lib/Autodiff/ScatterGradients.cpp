// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Gradients of gathers and scatters. A gather's is a scatter that adds.
//
// Scatters by a kind: sums give the updates the gradient at their places. For a
// minimum or a maximum, the input's element and the updates that equal the
// result share its gradient equally, as TensorFlow's tensor_scatter_max,
// PyTorch's scatter_reduce and JAX's scatter_max have it. A factor of a product
// gets the product of all others: of those that are not zero, divided by itself
// where it is not zero either, and nothing where another one is zero. So zeros
// do no harm, and two scatters suffice, however many updates meet.
//
// By a region: the same as replacing each window by what the region makes of it
// and its update, one index vector after the other; of unique indices, of all
// at once.
#include "Expansion.h"
#include "GradientRules.h"

#include "meshloom/Dialect/DTensor/ElementwiseRegion.h"

namespace meshloom {

using dtensor::ComparisonDirection, dtensor::ScatterOp;

/// Integers, one an entry of an index vector, as a tensor like `indices`.
static Value perEntry(dtensor::TensorBuilder &g, Value indices,
                      int64_t vectorDim, ArrayRef<int64_t> numbers) {
  RankedTensorType type = g.typeOf(indices);
  Type element = type.getElementType();
  SmallVector<Attribute> values;
  for (int64_t number : numbers)
    values.push_back(g.getIntegerAttr(element, number));
  auto list = RankedTensorType::get({int64_t(numbers.size())}, element);
  Value constant = g.create<dtensor::ConstantOp>(
      g.getLoc(), DenseElementsAttr::get(list, values));
  if (vectorDim == type.getRank())
    return g.broadcast(g.reshape(constant, {}), type.getShape(), {});
  return g.broadcast(constant, type.getShape(), {vectorDim});
}

/// Elements go back to where they came from: a scatter that adds, at indices
/// clamped as the gather clamps them.
static void gradientOf(dtensor::GatherOp op, OpGradient &g) {
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
  indices = g.create<dtensor::ClampOp>(
      g.getLoc(), perEntry(g, indices, vectorDim, least), indices,
      perEntry(g, indices, vectorDim, most));
  g.give(0, g.create<ScatterOp>(
                 g.getLoc(), ValueRange{g.zeros(from)}, indices,
                 ValueRange{g.of()}, op.getOffsetDims(),
                 op.getCollapsedSliceDims(), op.getOperandBatchingDims(),
                 op.getStartIndicesBatchingDims(), op.getStartIndexMap(),
                 vectorDim, ReduceKind::Sum)
                .getResult(0));
}

//===----------------------------------------------------------------------===//
// Where updates land
//===----------------------------------------------------------------------===//

/// The size of an update's window along each dim of the inputs.
static SmallVector<int64_t> windowSizes(ScatterOp op) {
  RankedTensorType updates = dtensor::undecided(op.getUpdates()[0].getType());
  SmallVector<int64_t> sizes(
      dtensor::undecided(op.getInputs()[0].getType()).getRank(), 1);
  unsigned next = 0;
  for (auto [dim, size] : llvm::enumerate(sizes))
    if (!llvm::is_contained(op.getInsertedWindowDims(), int64_t(dim)) &&
        !llvm::is_contained(op.getInputBatchingDims(), int64_t(dim)))
      size = updates.getDimSize(op.getUpdateWindowDims()[next++]);
  return sizes;
}

/// No window is in bounds of inputs that are smaller than one.
static bool windowsFit(ScatterOp op) {
  return llvm::all_of(
      llvm::zip(windowSizes(op),
                dtensor::undecided(op.getInputs()[0].getType()).getShape()),
      [](auto pair) { return std::get<0>(pair) <= std::get<1>(pair); });
}

/// The updates' places in `value`, which is like an input of `op`.
static Value gatherUpdates(dtensor::TensorBuilder &g, ScatterOp op, Value value,
                           Value indices) {
  return g.create<dtensor::GatherOp>(
      g.getLoc(), value, indices, op.getUpdateWindowDims(),
      op.getInsertedWindowDims(), op.getInputBatchingDims(),
      op.getScatterIndicesBatchingDims(), op.getScatterDimsToOperandDims(),
      op.getIndexVectorDim(), windowSizes(op));
}
static Value gatherUpdates(OpGradient &g, ScatterOp op, Value value) {
  return gatherUpdates(g, op, value, op.getScatterIndices());
}

static SmallVector<Value> scatterInto(dtensor::TensorBuilder &g, ScatterOp op,
                                      ValueRange inputs, Value indices,
                                      ValueRange updates,
                                      std::optional<ReduceKind> kind) {
  auto scatter = g.create<ScatterOp>(
      g.getLoc(), inputs, indices, updates, op.getUpdateWindowDims(),
      op.getInsertedWindowDims(), op.getInputBatchingDims(),
      op.getScatterIndicesBatchingDims(), op.getScatterDimsToOperandDims(),
      op.getIndexVectorDim(), kind);
  return SmallVector<Value>(scatter.getResults());
}
static Value scatterInto(OpGradient &g, ScatterOp op, Value input,
                         Value updates, std::optional<ReduceKind> kind) {
  return scatterInto(g, op, ValueRange{input}, op.getScatterIndices(),
                     ValueRange{updates}, kind)[0];
}

/// 1, 2, 3, ...: another number for each update.
static Value updateNumbers(OpGradient &g, RankedTensorType updates) {
  int64_t count = updates.getNumElements();
  auto flat = RankedTensorType::get({count}, g.getI64Type());
  Value numbers =
      g.create<dtensor::IotaOp>(g.getLoc(), flat, g.getI64IntegerAttr(0));
  return g.reshape(g.add(numbers, 1), updates.getShape());
}

/// 1 for each update that is in the result: in bounds, and the last one at its
/// place where updates replace.
static Value landed(OpGradient &g, ScatterOp op) {
  RankedTensorType updates = g.typeOf(op.getUpdates()[0]);
  Value numbers = updateNumbers(g, updates);
  auto board = RankedTensorType::get(g.typeOf(op.getInputs()[0]).getShape(),
                                     g.getI64Type());
  Value written = scatterInto(g, op, g.zeros(board), numbers, std::nullopt);
  return g.compare(ComparisonDirection::EQ, gatherUpdates(g, op, written),
                   numbers);
}

/// Returns whether an update's window is in bounds, from its index vector.
static Value inBounds(OpGradient &g, ScatterOp op) {
  RankedTensorType input = g.typeOf(op.getInputs()[0]);
  RankedTensorType updates = g.typeOf(op.getUpdates()[0]);
  Value indices = op.getScatterIndices();
  int64_t vectorDim = op.getIndexVectorDim();
  SmallVector<int64_t> windowOf = windowSizes(op), least, most;
  for (int64_t dim : op.getScatterDimsToOperandDims()) {
    least.push_back(0);
    most.push_back(input.getDimSize(dim) - windowOf[dim]);
  }
  Value in =
      g.apply<dtensor::AndOp>(g.compare(ComparisonDirection::GE, indices,
                                        perEntry(g, indices, vectorDim, least)),
                              g.compare(ComparisonDirection::LE, indices,
                                        perEntry(g, indices, vectorDim, most)));
  if (vectorDim < g.typeOf(in).getRank())
    in = g.reduce(ReduceKind::And, in, {vectorDim});
  SmallVector<int64_t> batch;
  for (int64_t dim = 0; dim < updates.getRank(); ++dim)
    if (!llvm::is_contained(op.getUpdateWindowDims(), dim))
      batch.push_back(dim);
  return g.broadcast(in, updates.getShape(), batch);
}

//===----------------------------------------------------------------------===//
// Kinds
//===----------------------------------------------------------------------===//

static void extremeGradient(OpGradient &g, ScatterOp op, unsigned i) {
  unsigned update = unsigned(op.getInputs().size()) + 1 + i;
  Value x = op.getInputs()[i], u = op.getUpdates()[i], result = op.getResult(i);
  Value one = g.like(x, 1), zero = g.like(x, 0);
  Value isOriginal = g.compare(ComparisonDirection::EQ, x, result);
  Value hit = g.apply<dtensor::AndOp>(
      inBounds(g, op),
      g.compare(ComparisonDirection::EQ, u, gatherUpdates(g, op, result)));
  Value count = scatterInto(g, op, g.select(isOriginal, one, zero),
                            g.keepIf(hit, g.like(u, 1)), ReduceKind::Sum);
  // Nothing equals a nan.
  count = g.apply<dtensor::MaximumOp>(count, one);
  Value share = g.divide(g.of(i), count);
  if (g.wants(i))
    g.give(i, g.keepIf(isOriginal, share));
  if (g.wants(update))
    g.give(update, g.keepIf(hit, gatherUpdates(g, op, share)));
}

static void productGradient(OpGradient &g, ScatterOp op, unsigned i) {
  unsigned update = unsigned(op.getInputs().size()) + 1 + i;
  Value x = op.getInputs()[i], u = op.getUpdates()[i];
  Value one = g.like(x, 1), zero = g.like(x, 0);
  if (g.wants(i)) {
    Value others = scatterInto(g, op, one, u, ReduceKind::Prod);
    g.give(i, g.multiply(g.of(i), g.conjugate(others)));
  }
  if (!g.wants(update))
    return;
  auto isZero = [&](Value value) {
    return g.compare(ComparisonDirection::EQ, value, g.like(value, 0));
  };
  auto nonzero = [&](Value value) {
    return g.select(isZero(value), g.like(value, 1), value);
  };
  Value zeros = scatterInto(g, op, g.select(isZero(x), one, zero),
                            g.keepIf(isZero(u), g.like(u, 1)), ReduceKind::Sum);
  Value product = gatherUpdates(
      g, op, scatterInto(g, op, nonzero(x), nonzero(u), ReduceKind::Prod));
  zeros = gatherUpdates(g, op, zeros);
  Value none = isZero(zeros);
  Value single = g.compare(ComparisonDirection::EQ, zeros, g.like(zeros, 1));
  Value others = g.select(isZero(u), g.keepIf(single, product),
                          g.keepIf(none, g.divide(product, nonzero(u))));
  Value gradient = gatherUpdates(g, op, g.of(i));
  g.give(update,
         g.keepIf(inBounds(g, op), g.multiply(gradient, g.conjugate(others))));
}

static void sumGradient(OpGradient &g, ScatterOp op, unsigned i) {
  unsigned update = unsigned(op.getInputs().size()) + 1 + i;
  if (g.wants(i))
    g.give(i, g.of(i));
  if (g.wants(update))
    g.give(update, g.keepIf(inBounds(g, op), gatherUpdates(g, op, g.of(i))));
}

static void replaceGradient(OpGradient &g, ScatterOp op, unsigned i) {
  unsigned update = unsigned(op.getInputs().size()) + 1 + i;
  if (g.wants(i))
    g.give(i, scatterInto(g, op, g.of(i), g.zeros(g.typeOf(op.getUpdates()[i])),
                          std::nullopt));
  if (g.wants(update))
    g.give(update, g.keepIf(landed(g, op), gatherUpdates(g, op, g.of(i))));
}

//===----------------------------------------------------------------------===//
// Regions
//===----------------------------------------------------------------------===//

/// `inputs` with the windows at `indices`, no two of which overlap, replaced by
/// what the region makes of them and `updates`.
static SmallVector<Value> applyAtOnce(dtensor::TensorBuilder &math,
                                      ScatterOp op, ValueRange inputs,
                                      Value indices, ValueRange updates) {
  SmallVector<Value> arguments;
  for (Value input : inputs)
    arguments.push_back(gatherUpdates(math, op, input, indices));
  llvm::append_range(arguments, updates);
  return scatterInto(math, op, inputs, indices,
                     applyRegion(math, op.getComputation(), arguments),
                     std::nullopt);
}

namespace {
/// The index vectors of a scatter as rows, [n, entries], and its updates as [n,
/// window...]. Batching dims are entries of the vectors too.
struct Rows {
  int64_t count = 1;
  Value indices;
  SmallVector<Value> updates;
  SmallVector<int64_t> inserted, dims;
};
} // namespace

static Rows rowsOf(dtensor::TensorBuilder &math, ScatterOp op, Value indices,
                   ValueRange updates) {
  Rows rows;
  RankedTensorType type = math.typeOf(indices);
  int64_t rank = type.getRank(), vectorDim = op.getIndexVectorDim();
  SmallVector<int64_t> order, batch;
  for (int64_t dim = 0; dim < rank; ++dim)
    if (dim != vectorDim) {
      order.push_back(dim);
      batch.push_back(type.getDimSize(dim));
      rows.count *= batch.back();
    }
  if (vectorDim < rank)
    order.push_back(vectorDim);
  int64_t entries = int64_t(op.getScatterDimsToOperandDims().size());
  SmallVector<Value> columns{
      math.reshape(math.transpose(indices, order), {rows.count, entries})};
  llvm::append_range(rows.dims, op.getScatterDimsToOperandDims());
  llvm::append_range(rows.inserted, op.getInsertedWindowDims());
  for (auto [dim, along] : llvm::zip_equal(
           op.getInputBatchingDims(), op.getScatterIndicesBatchingDims())) {
    Value index = math.create<dtensor::IotaOp>(
        math.getLoc(), RankedTensorType::get(batch, type.getElementType()),
        math.getI64IntegerAttr(along - (along > vectorDim)));
    columns.push_back(math.reshape(index, {rows.count, 1}));
    rows.dims.push_back(dim);
    rows.inserted.push_back(dim);
  }
  llvm::sort(rows.inserted);
  rows.indices = math.concatenate(columns, 1);

  RankedTensorType update = math.typeOf(updates[0]);
  SmallVector<int64_t> permutation, shape{rows.count};
  for (int64_t dim = 0; dim < update.getRank(); ++dim)
    if (!llvm::is_contained(op.getUpdateWindowDims(), dim))
      permutation.push_back(dim);
  for (int64_t dim : op.getUpdateWindowDims()) {
    permutation.push_back(dim);
    shape.push_back(update.getDimSize(dim));
  }
  for (Value value : updates)
    rows.updates.push_back(
        math.reshape(math.transpose(value, permutation), shape));
  return rows;
}

/// One index vector after the other.
static SmallVector<Value> applyInTurn(dtensor::TensorBuilder &math,
                                      ScatterOp op, ValueRange inputs,
                                      Value indices, ValueRange updates) {
  Rows rows = rowsOf(math, op, indices, updates);
  SmallVector<int64_t> sizes = windowSizes(op);
  SmallVector<int64_t> window =
      range(0, math.typeOf(rows.updates[0]).getRank() - 1);
  auto step = [&](dtensor::TensorBuilder &inner, Turn turn,
                  ValueRange carried) {
    Value vector = rowOf(inner, rows.indices, turn);
    SmallVector<Value> arguments;
    for (Value input : carried)
      arguments.push_back(inner.create<dtensor::GatherOp>(
          inner.getLoc(), input, vector, window, rows.inserted,
          ArrayRef<int64_t>{}, ArrayRef<int64_t>{}, rows.dims, 0, sizes));
    for (Value update : rows.updates)
      arguments.push_back(rowOf(inner, update, turn));
    auto scatter = inner.create<ScatterOp>(
        inner.getLoc(), carried, vector,
        applyRegion(inner, op.getComputation(), arguments), window,
        rows.inserted, ArrayRef<int64_t>{}, ArrayRef<int64_t>{}, rows.dims, 0);
    return SmallVector<Value>(scatter.getResults());
  };
  return repeatSteps(math, rows.count, /*writtenOut=*/4,
                     SmallVector<Value>(inputs), step);
}

static void regionGradient(OpGradient &g, ScatterOp op) {
  unsigned count = op.getInputs().size();
  differentiateExpansion(
      g, op, {&op.getComputation()},
      [&](dtensor::TensorBuilder &math,
          ValueRange operands) -> SmallVector<Value> {
        ValueRange inputs = operands.take_front(count),
                   updates = operands.take_back(count);
        Value indices = operands[count];
        if (op.getUniqueIndices())
          return applyAtOnce(math, op, inputs, indices, updates);
        return applyInTurn(math, op, inputs, indices, updates);
      });
}

static void gradientOf(ScatterOp op, OpGradient &g) {
  unsigned count = op.getInputs().size();
  if (!windowsFit(op)) {
    for (unsigned i = 0; i < count; ++i)
      if (g.of(i) && g.wants(i))
        g.give(i, g.of(i));
    return;
  }
  std::optional<ReduceKind> kind = op.getKind();
  if (!op.getComputation().empty()) {
    kind = dtensor::plainKind(op.getComputation());
    if (count != 1 || !kind)
      return regionGradient(g, op);
  }
  for (unsigned i = 0; i < count; ++i) {
    if (!g.of(i))
      continue;
    if (!kind)
      replaceGradient(g, op, i);
    else if (kind == ReduceKind::Sum)
      sumGradient(g, op, i);
    else if (kind == ReduceKind::Prod)
      productGradient(g, op, i);
    else // and, or are of integers, which have no gradients
      extremeGradient(g, op, i);
  }
}

void attachScatterGradients(MLIRContext *context) {
  using namespace dtensor;
  attachGradients<GatherOp, ScatterOp>(context);
}

} // namespace meshloom
