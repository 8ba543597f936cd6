// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The updates of a scatter are put in the order of their places, equal ones in
// their own order. A running reduction combines the updates of a place; each
// row of the result then searches its last update:
//
//   key[m]   = the place of update m as one number, or more than any place
//   total[r] = t = update[r]; for s = 1, 8, 64, ...: t = t combined with
//              t[r - s], ..., t[r - 7 * s], as far as their keys are key[r]
//   x[p]     = x[p] combined with total[r], for the last r with key[r] == p
//
// Without a kind the last update replaces x[p]. Nothing depends on the order in
// which threads run.
#include "ScatteredElements.h"

#include "ShapedBuilder.h"
#include "SortedElements.h"

#include "llvm/Support/MathExtras.h"

using namespace meshloom;
using namespace meshloom::dtensor;

namespace {
/// The dims of a scatter that kernels compute.
struct ScatterDims {
  int64_t line = -1;            ///< the dim of the updates that counts them
  SmallVector<int64_t> window;  ///< other dims of the updates, by input dim
  SmallVector<int64_t> indexed; ///< dims of the input
  SmallVector<int64_t> others;  ///< further dims of the input
};

std::optional<ScatterDims> dimsOf(ScatterOp op) {
  const SmallVector<int64_t> sizes = globalShape(op.getInputs()[0].getType()),
                             updates =
                                 globalShape(op.getUpdates()[0].getType());
  const ArrayRef<int64_t> inserted = op.getInsertedWindowDims();
  ScatterDims dims;
  llvm::append_range(dims.window, op.getUpdateWindowDims());
  for (int64_t dim = 0; dim < int64_t(sizes.size()); ++dim)
    (llvm::is_contained(inserted, dim) ? dims.indexed : dims.others)
        .push_back(dim);
  if (updates.size() != dims.window.size() + 1 ||
      dims.window.size() != dims.others.size() ||
      op.getScatterDimsToOperandDims().size() != dims.indexed.size() ||
      !llvm::all_of(op.getScatterDimsToOperandDims(), [&](int64_t dim) {
        return llvm::is_contained(inserted, dim);
      }))
    return std::nullopt;
  for (auto [dim, other] : llvm::zip_equal(dims.window, dims.others))
    if (updates[dim] != sizes[other])
      return std::nullopt;
  dims.line = 0;
  while (llvm::is_contained(dims.window, dims.line))
    ++dims.line;
  return dims;
}

class ScatterBuilder {
public:
  ScatterBuilder(ScatterOp op, ScatterDims scattered)
      : op(op), dims(std::move(scattered)),
        results(op, op.getResults()[0].getType()),
        updates(op, op.getUpdates()[0].getType()),
        lines(replicated(updates.shape[dims.line])),
        rows(replicated(indexedSizes())) {}
  Value build();

private:
  template <typename Op> Value make(ShapedBuilder &b, Value x, Value y) {
    return b.b.create<Op>(b.loc, x.getType(), x, y);
  }
  Value splat(ShapedBuilder &b, int64_t number) {
    return b.splat(b.b.getI64Type(), number);
  }
  ShapedBuilder replicated(ArrayRef<int64_t> shape) {
    const Mesh mesh = results.layout.getLayout().mesh();
    return {op, shape,
            LayoutAttr::get(op.getContext(),
                            Layout::replicated(mesh, shape.size()))};
  }
  SmallVector<int64_t> indexedSizes() {
    SmallVector<int64_t> sizes;
    for (int64_t dim : dims.indexed)
      sizes.push_back(results.shape[dim]);
    return sizes;
  }
  Value keys();
  Value totals(Value order, Value sortedKeys);
  Value lastUpdates(Value sortedKeys);

  ScatterOp op;
  const ScatterDims dims;
  ShapedBuilder results, updates;
  ShapedBuilder lines, rows; ///< a number for each update and each place
};

Value ScatterBuilder::keys() {
  Value vectors = op.getScatterIndices();
  const auto vectorDim = int64_t(op.getIndexVectorDim());
  const bool hasVectors =
      vectorDim < int64_t(globalShape(vectors.getType()).size());
  Value key = splat(lines, 0), inside;
  for (auto [number, dim] : llvm::enumerate(op.getScatterDimsToOperandDims())) {
    Value entry = lines.index(0);
    if (!hasVectors) {
      entry = lines.pick(vectors, 0, entry);
    } else {
      SmallVector<Value> places(2, entry);
      places[vectorDim] = splat(lines, int64_t(number));
      entry = lines.pick(vectors, {0, 1}, places);
    }
    entry = lines.b.create<ConvertOp>(lines.loc, lines.of(lines.b.getI64Type()),
                                      entry);
    int64_t distance = 1;
    for (int64_t inner : dims.indexed)
      if (inner > dim)
        distance *= results.shape[inner];
    key = make<AddOp>(lines, key, lines.times(entry, distance));
    inside = lines.both(inside, lines.isInside(entry, results.shape[dim]));
  }
  return lines.select(
      inside, key, splat(lines, mlir::ShapedType::getNumElements(rows.shape)));
}

Value ScatterBuilder::totals(Value order, Value sortedKeys) {
  ShapedBuilder &b = updates;
  const int64_t count = lines.shape[0];
  Value line = b.index(dims.line);
  Value running = b.pick(op.getUpdates()[0], dims.line, b.pick(order, 0, line));
  if (!op.getKind())
    return running;
  const Type element = elementTypeOf(running.getType());
  if (element.isBF16() || element.isF16())
    running = b.b.create<ConvertOp>(b.loc, b.of(b.b.getF32Type()), running);
  constexpr int64_t radix = 8;
  for (int64_t step = 1; step < count; step *= radix) {
    Value next = running;
    for (int64_t shift = step; shift < std::min(radix * step, count);
         shift += step) {
      Value place = b.plus(line, -shift);
      Value isSame = b.both(b.isInside(place, count),
                            b.compare(ComparisonDirection::EQ,
                                      b.pick(sortedKeys, 0, place),
                                      b.pick(sortedKeys, 0, line)));
      Value picked = b.pick(running, dims.line, place);
      next = b.select(isSame, b.combine(*op.getKind(), picked, next), next);
    }
    running = next;
  }
  return running;
}

/// The number of the last update of each place, or -1.
Value ScatterBuilder::lastUpdates(Value sortedKeys) {
  ShapedBuilder &b = rows;
  const int64_t count = lines.shape[0];
  Value key = splat(b, 0);
  for (auto [dim, size] : llvm::enumerate(b.shape))
    key = make<AddOp>(b, b.times(key, size), b.index(int64_t(dim)));
  // Updates before `low` have keys up to this one, those from `high` on not.
  Value low = splat(b, 0), high = splat(b, count);
  for (unsigned step = 0; step <= llvm::Log2_64(uint64_t(count)); ++step) {
    Value middle =
        make<ShiftRightLogicalOp>(b, make<AddOp>(b, low, high), splat(b, 1));
    Value isOpen = b.compare(ComparisonDirection::LT, low, high);
    Value isUpTo =
        b.compare(ComparisonDirection::LE, b.pick(sortedKeys, 0, middle), key);
    high = b.select(isUpTo, high, middle);
    low = b.select(b.both(isOpen, isUpTo), b.plus(middle, 1), low);
  }
  Value last = b.plus(low, -1);
  Value isThere = b.both(
      b.isInside(last, count),
      b.compare(ComparisonDirection::EQ, b.pick(sortedKeys, 0, last), key));
  return b.select(isThere, last, splat(b, -1));
}

Value ScatterBuilder::build() {
  Value found = keys();
  auto before = [&](ShapedBuilder &b, Value first, Value second) {
    return b.compare(ComparisonDirection::LT, b.pick(found, 0, first),
                     b.pick(found, 0, second));
  };
  Value order = orderBy(op, found.getType(), 0, before);
  Value sortedKeys = lines.pick(found, 0, order);
  Value total = totals(order, sortedKeys), last = lastUpdates(sortedKeys);

  SmallVector<Value> place, inUpdates(updates.shape.size());
  for (int64_t dim : dims.indexed)
    place.push_back(results.index(dim));
  inUpdates[dims.line] = results.pick(
      last, llvm::to_vector(llvm::seq<int64_t>(0, int64_t(place.size()))),
      place);
  for (auto [dim, other] : llvm::zip_equal(dims.window, dims.others))
    inUpdates[dim] = results.index(other);
  Value picked = results.pick(
      total, llvm::to_vector(llvm::seq<int64_t>(0, int64_t(inUpdates.size()))),
      inUpdates);
  Value input = op.getInputs()[0];
  if (op.getKind()) {
    const Type wide = picked.getType(), narrow = input.getType();
    Value present = input;
    if (wide != narrow)
      present = results.b.create<ConvertOp>(results.loc, wide, present);
    picked = results.combine(*op.getKind(), present, picked);
    if (wide != narrow)
      picked = results.b.create<ConvertOp>(results.loc, narrow, picked);
  }
  Value isUpdated = results.compare(ComparisonDirection::GE,
                                    inUpdates[dims.line], splat(results, 0));
  return results.select(isUpdated, picked, input);
}
} // namespace

void meshloom::pickScattered(ScatterOp op) {
  const auto dimsOfAll = [](Value value) {
    return llvm::to_vector(
        llvm::seq<int64_t>(0, int64_t(globalShape(value.getType()).size())));
  };
  if (op.getInputs().size() != 1 || !op.getComputation().empty() ||
      (op.getKind() &&
       !isCombined(elementTypeOf(op.getInputs()[0].getType()), *op.getKind())))
    return;
  std::optional<ScatterDims> dims = dimsOf(op);
  if (!dims || !op.getInputBatchingDims().empty() || dims->indexed.empty())
    return;
  for (Value whole : {op.getUpdates()[0], Value(op.getScatterIndices())})
    if (!isPickable(whole, dimsOfAll(whole), op))
      return;
  op.getResults()[0].replaceAllUsesWith(
      ScatterBuilder(op, std::move(*dims)).build());
  op.erase();
}
