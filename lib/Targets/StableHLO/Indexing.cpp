// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Gather, scatter and dynamic slices. Along an indexed dim that is cut, the
// device's block gets a border as wide as a slice on both sides, and indices
// become local. StableHLO clamps (gather, slices) or drops (scatter) what lies
// outside, so whatever does not touch the block ends in the border: zeros are
// read there, and what is written there is cut off again.
#include "Exporter.h"

#include "meshloom/Dialect/DTensor/TensorBuilder.h"

namespace meshloom::exporting {

/// `index` clamped to where a slice of `size` fits into `extent` elements.
static Value clampStart(Exporter &e, Value index, int64_t extent,
                        int64_t size) {
  auto type = cast<RankedTensorType>(index.getType());
  auto filled = [&](int64_t number) {
    return e.broadcast(e.number(type.getElementType(), number),
                       type.getShape());
  };
  return e.same("clamp", {filled(0), index, filled(extent - size)});
}

/// Minus where the device's block begins, plus the border.
static Value localIndex(Exporter &e, Value index, const Held &held,
                        unsigned dim, int64_t border) {
  auto type = cast<RankedTensorType>(index.getType());
  SmallVector<int64_t> shifts;
  for (Interval range : held.ranges[dim])
    shifts.push_back(border - range.begin);
  Value shift = e.convert(e.lookup(shifts), type.getElementType());
  return e.same("add", {index, e.broadcast(shift, type.getShape())});
}

/// Signed and wide enough for what is computed with indices.
static Value signedIndex(Exporter &e, Value index) {
  Type element = cast<RankedTensorType>(index.getType()).getElementType();
  bool good = element.isInteger(64) || element.isInteger(32);
  return good && !element.isUnsignedInteger()
             ? index
             : e.convert(index, element.getIntOrFloatBitWidth() < 32
                                    ? e.b.getI32Type()
                                    : e.b.getI64Type());
}

/// Adds a border of zeros before and behind the block.
static void addBorder(Exporter &e, Operand &operand, unsigned dim,
                      int64_t border) {
  operand.value = e.mask(operand.value, operand.held, int64_t(dim),
                         e.zero(operand.held.element));
  operand.value = e.pad(operand.value, dim, border, border, {});
  operand.held.buffer[dim] += 2 * border;
}

static Emitted emitDynamicSlice(Exporter &e, Operation *op,
                                MutableArrayRef<Operand> operands,
                                ArrayRef<Held> results) {
  Operand &operand = operands[0];
  const Held &result = results[0];
  auto sizes = cast<dtensor::DynamicSliceOp>(op).getSliceSizes();
  Values starts;
  for (unsigned dim = 0; dim < result.rank(); ++dim) {
    Value start = operands[1 + dim].value;
    if (operand.held.isWhole(dim) && result.isWhole(dim)) {
      // XLA makes one slice of this and one that follows, and forgets that this
      // one's start is clamped.
      starts.push_back(clampStart(e, signedIndex(e, start),
                                  operand.held.global[dim], sizes[dim]));
      continue;
    }
    if (sizes[dim] == operand.held.global[dim]) {
      // The start can only be 0.
      if (!e.fit(operand, dim, result, dim))
        return std::nullopt;
      starts.push_back(e.same("subtract", {start, start}));
      continue;
    }
    if (!result.isWhole(dim))
      return std::nullopt;
    start = clampStart(e, signedIndex(e, start), operand.held.global[dim],
                       sizes[dim]);
    starts.push_back(localIndex(e, start, operand.held, dim, sizes[dim]));
    addBorder(e, operand, dim, sizes[dim]);
  }
  // StableHLO wants one type of all starts.
  for (Value &start : starts)
    start = e.convert(signedIndex(e, start), e.b.getI64Type());
  Values values{operand.value};
  values.append(starts);
  return Values{e.one("dynamic_slice", result.type(), values,
                      e.list("slice_sizes", result.buffer))};
}

static Emitted emitDynamicUpdateSlice(Exporter &e, Operation *,
                                      MutableArrayRef<Operand> operands,
                                      ArrayRef<Held> results) {
  Operand &operand = operands[0], &update = operands[1];
  const Held &result = results[0];
  if (!e.fitAll(operand, result))
    return std::nullopt;
  Values starts;
  SmallVector<int64_t> borders(result.rank());
  for (unsigned dim = 0; dim < result.rank(); ++dim) {
    Value start = operands[2 + dim].value;
    int64_t size = update.held.global[dim];
    if (result.isWhole(dim) && update.held.isWhole(dim)) {
      starts.push_back(start);
    } else if (size == result.global[dim]) {
      if (!e.fit(update, dim, result, dim))
        return std::nullopt;
      starts.push_back(e.same("subtract", {start, start}));
    } else if (update.held.isWhole(dim)) {
      start = clampStart(e, signedIndex(e, start), result.global[dim], size);
      starts.push_back(localIndex(e, start, result, dim, size));
      borders[dim] = size;
      operand.value = e.pad(operand.value, dim, size, size, {});
    } else {
      return std::nullopt;
    }
  }
  Values values{operand.value, update.value};
  for (Value start : starts)
    values.push_back(e.convert(signedIndex(e, start), e.b.getI64Type()));
  Value value = e.same("dynamic_update_slice", values);
  for (unsigned dim = 0; dim < result.rank(); ++dim)
    value =
        e.slice(value, dim, borders[dim], borders[dim] + result.buffer[dim]);
  return Values{value};
}

namespace {
/// The entries of index vectors, one value each, of the shape of the batch.
struct IndexVectors {
  Exporter &e;
  unsigned vectorDim;
  Values entries;

  IndexVectors(Exporter &e, Value indices, unsigned vectorDim)
      : e(e), vectorDim(vectorDim) {
    indices = signedIndex(e, indices);
    auto type = cast<RankedTensorType>(indices.getType());
    auto shape = llvm::to_vector(type.getShape());
    if (vectorDim == shape.size()) {
      shape.push_back(1);
      indices = e.reshape(indices, shape);
    }
    for (int64_t i = 0; i < shape[vectorDim]; ++i)
      entries.push_back(e.slice(indices, vectorDim, i, i + 1));
  }
  Value joined() {
    auto type = cast<RankedTensorType>(entries[0].getType());
    auto shape = llvm::to_vector(type.getShape());
    shape[vectorDim] = entries.size();
    return entries.size() == 1
               ? entries[0]
               : e.one("concatenate",
                       RankedTensorType::get(shape, type.getElementType()),
                       entries, e.attr("dimension", int64_t(vectorDim)));
  }
};
} // namespace

static Emitted emitGather(Exporter &e, Operation *op,
                          MutableArrayRef<Operand> operands,
                          ArrayRef<Held> results) {
  auto gather = cast<dtensor::GatherOp>(op);
  Operand &operand = operands[0], &indices = operands[1];
  const Held &result = results[0];
  unsigned vectorDim = gather.getIndexVectorDim();
  if (vectorDim < indices.held.rank() && !indices.held.isWhole(vectorDim))
    return std::nullopt;

  // The batch dims of the indices are those of the result that are not offsets.
  SmallVector<int64_t> batch =
      dtensor::remainingDims(result.rank(), gather.getOffsetDims());
  SmallVector<int64_t> rows =
      dtensor::remainingDims(indices.held.rank(), vectorDim);
  for (auto [row, dim] : llvm::zip(rows, batch))
    if (!e.fit(indices, row, result, dim))
      return std::nullopt;
  for (auto [o, i] : llvm::zip(gather.getOperandBatchingDims(),
                               gather.getStartIndicesBatchingDims()))
    if (!e.fit(operand, o, indices.held, i))
      return std::nullopt;

  SmallVector<int64_t> gone(gather.getCollapsedSliceDims());
  gone.append(gather.getOperandBatchingDims().begin(),
              gather.getOperandBatchingDims().end());
  SmallVector<int64_t> sizes(gather.getSliceSizes());
  SmallVector<int64_t> offsetDims =
      dtensor::remainingDims(operand.held.rank(), gone);
  DenseMap<int64_t, int64_t> resultDim;
  for (auto [dim, offset] : llvm::zip(offsetDims, gather.getOffsetDims()))
    resultDim[dim] = offset;

  IndexVectors vectors(e, indices.value, vectorDim);
  for (unsigned dim = 0; dim < operand.held.rank(); ++dim) {
    if (llvm::is_contained(gather.getOperandBatchingDims(), dim))
      continue;
    auto to = resultDim.find(dim);
    bool resultWhole = to == resultDim.end() || result.isWhole(to->second);
    if (operand.held.isWhole(dim) && resultWhole)
      continue;
    auto entry = llvm::find(gather.getStartIndexMap(), dim);
    bool indexed = entry != gather.getStartIndexMap().end();
    if (sizes[dim] == operand.held.global[dim] && to != resultDim.end() &&
        !resultWhole) {
      // All of the dim: an index can only be 0.
      if (!e.fit(operand, dim, result, to->second))
        return std::nullopt;
      sizes[dim] = result.buffer[to->second];
      continue;
    }
    if (!resultWhole || !indexed)
      return std::nullopt;
    Value &index = vectors.entries[entry - gather.getStartIndexMap().begin()];
    index = clampStart(e, index, operand.held.global[dim], sizes[dim]);
    index = localIndex(e, index, operand.held, dim, sizes[dim]);
    addBorder(e, operand, dim, sizes[dim]);
  }
  auto dims = stablehlo::GatherDimensionNumbersAttr::get(
      e.b.getContext(), gather.getOffsetDims(), gather.getCollapsedSliceDims(),
      gather.getOperandBatchingDims(), gather.getStartIndicesBatchingDims(),
      gather.getStartIndexMap(), vectorDim);
  return Values{
      e.one("gather", result.type(), {operand.value, vectors.joined()},
            {e.attr("dimension_numbers", Attribute(dims)),
             e.list("slice_sizes", sizes),
             e.attr("indices_are_sorted", Attribute(e.b.getBoolAttr(false)))})};
}

namespace {
/// A scatter of what one device holds. Indices into dims that are cut become
/// local ones, into the block with a border on both sides, where an update that
/// is another device's lands.
class ScatterExport {
public:
  ScatterExport(Exporter &e, Operation *op, MutableArrayRef<Operand> operands,
                ArrayRef<Held> results)
      : e(e), scatter(cast<dtensor::ScatterOp>(op)), results(results),
        result(results[0]), inputs(operands.take_front(results.size())),
        indices(operands[results.size()]),
        updates(operands.drop_front(results.size() + 1)),
        vectorDim(scatter.getIndexVectorDim()), borders(result.rank()) {}

  Emitted run() {
    if (vectorDim < indices.held.rank() && !indices.held.isWhole(vectorDim))
      return std::nullopt;
    rows = dtensor::remainingDims(indices.held.rank(), vectorDim);
    if (!fitOperands())
      return std::nullopt;
    IndexVectors vectors(e, indices.value, vectorDim);
    if (vectors.entries.empty() || !makeLocal(vectors))
      return std::nullopt;
    dropPadding(vectors);
    Operation *scattered = emit(vectors);
    return scattered ? Emitted(withoutBorders(scattered)) : std::nullopt;
  }

private:
  /// Brings inputs to the result's blocks, and updates to those of the indices.
  bool fitOperands() {
    SmallVector<int64_t> batch = dtensor::remainingDims(
        updates[0].held.rank(), scatter.getUpdateWindowDims());
    for (Operand &input : inputs)
      if (!e.fitAll(input, result))
        return false;
    keepOneInput();
    for (Operand &update : updates)
      for (auto [row, dim] : llvm::zip(rows, batch))
        if (!e.fit(update, dim, indices.held, row))
          return false;
    for (auto [o, i] : llvm::zip(scatter.getInputBatchingDims(),
                                 scatter.getScatterIndicesBatchingDims()))
      if (!result.agrees(o, indices.held, i))
        return false;
    return true;
  }

  /// Where updates are cut, each device adds its own: to the input on one of
  /// them, to nothing on the others.
  void keepOneInput() {
    if (e.onWholeValues)
      return;
    for (auto [input, from, to] : llvm::zip(inputs, scatter->getOperandTypes(),
                                            scatter->getResultTypes())) {
      if (!dtensor::isShard(to))
        continue;
      for (Partial partial : spmd::layoutOf(to).partial())
        if (!llvm::is_contained(spmd::layoutOf(from).partial(), partial))
          input.value = e.onFirstAlong(partial, input.value);
    }
  }

  /// The dim of the updates that goes along `dim` of the result, if one does.
  std::optional<int64_t> windowDim(unsigned dim) {
    SmallVector<int64_t> gone(scatter.getInsertedWindowDims());
    llvm::append_range(gone, scatter.getInputBatchingDims());
    SmallVector<int64_t> windowDims =
        dtensor::remainingDims(result.rank(), gone);
    auto *place = llvm::find(windowDims, int64_t(dim));
    if (place == windowDims.end())
      return std::nullopt;
    return scatter.getUpdateWindowDims()[size_t(place - windowDims.begin())];
  }

  /// Makes the indices into cut dims local.
  bool makeLocal(IndexVectors &vectors) {
    for (unsigned dim = 0; dim < result.rank(); ++dim)
      if (!llvm::is_contained(scatter.getInputBatchingDims(), dim) &&
          !makeLocal(vectors, dim))
        return false;
    return true;
  }

  bool makeLocal(IndexVectors &vectors, unsigned dim) {
    const Held &update = updates[0].held;
    const std::optional<int64_t> window = windowDim(dim);
    const bool updateWhole = !window || update.isWhole(*window);
    if (result.isWhole(dim) && updateWhole)
      return true;
    const int64_t size = window ? update.global[*window] : 1;
    auto entry = llvm::find(scatter.getScatterDimsToOperandDims(), dim);
    const bool indexed = entry != scatter.getScatterDimsToOperandDims().end();
    if (!indexed && window && size == result.global[dim])
      return llvm::all_of(updates, [&](Operand &operand) {
        return e.fit(operand, *window, result, dim);
      });
    if (!indexed || !updateWhole)
      return false;
    Value &index =
        vectors.entries[entry - scatter.getScatterDimsToOperandDims().begin()];
    Value outside = isOutside(index, result.global[dim] - size);
    index = localIndex(e, index, result, dim, size);
    index = e.one("select", index.getType(),
                  {outside, numberLike(index, -1), index});
    borders[dim] = size;
    for (Operand &input : inputs)
      input.value = e.pad(input.value, dim, size, size, {});
    return true;
  }

  Value numberLike(Value index, int64_t number) {
    auto type = cast<RankedTensorType>(index.getType());
    return e.broadcast(e.number(type.getElementType(), number),
                       llvm::to_vector(type.getShape()));
  }

  Value isOutside(Value index, int64_t most) {
    using stablehlo::ComparisonDirection;
    return e.same(
        "or",
        {e.compare(ComparisonDirection::LT, index, numberLike(index, 0)),
         e.compare(ComparisonDirection::GT, index, numberLike(index, most))});
  }

  /// Index vectors that are padding go nowhere.
  void dropPadding(IndexVectors &vectors) {
    Value &first = vectors.entries[0];
    Held mine = indices.held;
    if (vectorDim == mine.rank()) {
      mine.global.push_back(1);
      mine.buffer.push_back(1);
      mine.ranges.emplace_back(e.devices, Interval{0, 1});
    }
    mine.buffer[vectorDim] = 1;
    mine.ranges[vectorDim].assign(e.devices, Interval{0, 1});
    Type element = cast<RankedTensorType>(first.getType()).getElementType();
    first = e.mask(first, mine, rows, e.number(element, -1));
  }

  /// Null where the combination has no StableHLO.
  Operation *emit(IndexVectors &vectors) {
    Values values;
    SmallVector<Type> types;
    for (Operand &input : inputs) {
      values.push_back(converted(input));
      types.push_back(values.back().getType());
    }
    values.push_back(vectors.joined());
    for (Operand &update : updates)
      values.push_back(converted(update));
    auto dims = stablehlo::ScatterDimensionNumbersAttr::get(
        e.b.getContext(), scatter.getUpdateWindowDims(),
        scatter.getInsertedWindowDims(), scatter.getInputBatchingDims(),
        scatter.getScatterIndicesBatchingDims(),
        scatter.getScatterDimsToOperandDims(), vectorDim);
    Operation *scattered =
        e.op("scatter", types, values,
             {e.attr("scatter_dimension_numbers", Attribute(dims)),
              e.attr("indices_are_sorted", Attribute(e.b.getBoolAttr(false))),
              e.attr("unique_indices",
                     Attribute(e.b.getBoolAttr(scatter.getUniqueIndices())))},
             1);
    return fillRegion(scattered->getRegion(0)) ? scattered : nullptr;
  }

  /// In the type that values are combined in.
  Value converted(const Operand &operand) {
    Type from = operand.held.element;
    std::optional<ReduceKind> kind = scatter.getKind();
    return e.convert(operand.value, kind ? e.combinedIn(*kind, from) : from);
  }

  bool fillRegion(mlir::Region &region) {
    if (std::optional<ReduceKind> kind = scatter.getKind()) {
      e.fillReducer(region, *kind, e.combinedIn(*kind, result.element));
      return true;
    }
    if (!scatter.getComputation().empty())
      return succeeded(e.copyScalars(scatter.getComputation(), region));
    OpBuilder::InsertionGuard guard(e.b);
    Block *block = e.b.createBlock(&region);
    for (unsigned pass = 0; pass < 2; ++pass)
      for (const Held &held : results)
        block->addArgument(RankedTensorType::get({}, held.element), e.loc);
    e.op("return", {}, block->getArguments().drop_front(results.size()));
    return true;
  }

  Values withoutBorders(Operation *scattered) {
    Values out;
    for (auto [value, held] :
         llvm::zip_equal(scattered->getResults(), results)) {
      Value inner = value;
      for (unsigned dim = 0; dim < result.rank(); ++dim)
        inner = e.slice(inner, dim, borders[dim],
                        borders[dim] + result.buffer[dim]);
      out.push_back(e.convert(inner, held.element));
    }
    return out;
  }

  Exporter &e;
  dtensor::ScatterOp scatter;
  ArrayRef<Held> results;
  const Held &result;
  MutableArrayRef<Operand> inputs;
  Operand &indices;
  MutableArrayRef<Operand> updates;
  unsigned vectorDim;
  SmallVector<int64_t> rows;    ///< of the indices, but for the vector's dim
  SmallVector<int64_t> borders; ///< by dim of the result
};
} // namespace

static Emitted emitScatter(Exporter &e, Operation *op,
                           MutableArrayRef<Operand> operands,
                           ArrayRef<Held> results) {
  return ScatterExport(e, op, operands, results).run();
}

void addIndexing(Handlers &handlers) {
  handlers["dtensor.dynamic_slice"] = emitDynamicSlice;
  handlers["dtensor.dynamic_update_slice"] = emitDynamicUpdateSlice;
  handlers["dtensor.gather"] = emitGather;
  handlers["dtensor.scatter"] = emitScatter;
}

} // namespace meshloom::exporting
