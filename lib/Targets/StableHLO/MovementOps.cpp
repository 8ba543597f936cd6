// Slice, pad, concatenate, reverse and take: each result dim is a table of
// where its elements come from, in global indices.
#include "Exporter.h"

namespace meshloom::exporting {

static Emitted emitSlice(Exporter &e, Operation *op,
                         MutableArrayRef<Operand> operands,
                         ArrayRef<Held> results) {
  auto slice = cast<dtensor::SliceOp>(op);
  for (unsigned dim = 0; dim < results[0].rank(); ++dim) {
    int64_t start = slice.getStartIndices()[dim];
    int64_t stride = slice.getStrides()[dim];
    if (!e.move(operands[0], dim, results[0], dim,
                [&](int64_t g) { return start + stride * g; }))
      return std::nullopt;
  }
  return Values{operands[0].value};
}

static Emitted emitPad(Exporter &e, Operation *op,
                       MutableArrayRef<Operand> operands,
                       ArrayRef<Held> results) {
  auto pad = cast<dtensor::PadOp>(op);
  const Held &result = results[0];
  Operand &operand = operands[0];
  unsigned rank = result.rank();
  // Whole dims by one pad, the others by tables.
  SmallVector<int64_t> low(rank), high(rank), interior(rank),
      shape(operand.held.buffer);
  bool any = false;
  for (unsigned dim = 0; dim < rank; ++dim) {
    int64_t before = pad.getEdgePaddingLow()[dim];
    int64_t step = pad.getInteriorPadding()[dim] + 1;
    if (operand.held.isWhole(dim) && result.isWhole(dim)) {
      low[dim] = before;
      high[dim] = pad.getEdgePaddingHigh()[dim];
      interior[dim] = step - 1;
      shape[dim] = result.buffer[dim];
      any |= before || high[dim] || step > 1;
      continue;
    }
    int64_t extent = operand.held.global[dim];
    auto source = [&](int64_t g) {
      int64_t at = g - before;
      return at < 0 || at % step || at / step >= extent ? fillEntry : at / step;
    };
    if (!e.move(operand, dim, result, dim, source, operands[1].value))
      return std::nullopt;
    shape[dim] = result.buffer[dim];
  }
  if (!any)
    return Values{operand.value};
  return Values{
      e.one("pad", RankedTensorType::get(shape, result.element),
            {operand.value, operands[1].value},
            {e.list("edge_padding_low", low), e.list("edge_padding_high", high),
             e.list("interior_padding", interior)})};
}

/// The buffers of all operands one after the other, then one table.
static Emitted emitConcatenate(Exporter &e, Operation *op,
                               MutableArrayRef<Operand> operands,
                               ArrayRef<Held> results) {
  auto join = cast<dtensor::ConcatenateOp>(op);
  const Held &result = results[0];
  unsigned along = join.getDimension();
  int64_t size = result.buffer[along];
  Table table(e.devices, std::vector<int64_t>(size, anyEntry));
  Values values;
  int64_t at = 0, begin = 0;
  for (Operand &operand : operands) {
    for (unsigned dim = 0; dim < result.rank(); ++dim)
      if (dim != along && !e.fit(operand, dim, result, dim))
        return std::nullopt;
    int64_t extent = operand.held.global[along];
    for (int64_t device = 0; device < e.devices; ++device) {
      Interval wanted = result.ranges[along][device];
      Interval held = operand.held.ranges[along][device];
      Interval part = wanted.intersect({begin, begin + extent});
      if (!part.empty() &&
          !held.contains({part.begin - begin, part.end - begin}))
        return std::nullopt;
      for (int64_t g = part.begin; g < part.end; ++g)
        table[device][g - wanted.begin] = at + g - begin - held.begin;
    }
    values.push_back(operand.value);
    at += operand.held.buffer[along];
    begin += extent;
  }
  auto shape = llvm::to_vector(result.buffer);
  shape[along] = at;
  Value joined = values[0];
  if (values.size() > 1)
    joined = e.one("concatenate", RankedTensorType::get(shape, result.element),
                   values, e.attr("dimension", int64_t(along)));
  return Values{e.take(joined, along, table, size)};
}

static Emitted emitReverse(Exporter &e, Operation *op,
                           MutableArrayRef<Operand> operands,
                           ArrayRef<Held> results) {
  SmallVector<int64_t> local;
  for (unsigned dim = 0; dim < results[0].rank(); ++dim) {
    bool reversed =
        llvm::is_contained(cast<dtensor::ReverseOp>(op).getDimensions(), dim);
    int64_t last = results[0].global[dim] - 1;
    if (reversed && operands[0].held.isWhole(dim) && results[0].isWhole(dim))
      local.push_back(dim);
    else if (!e.move(operands[0], dim, results[0], dim,
                     [&](int64_t g) { return reversed ? last - g : g; }))
      return std::nullopt;
  }
  if (local.empty())
    return Values{operands[0].value};
  return Values{
      e.same("reverse", operands[0].value, e.list("dimensions", local))};
}

static Emitted emitTake(Exporter &e, Operation *op,
                        MutableArrayRef<Operand> operands,
                        ArrayRef<Held> results) {
  auto take = cast<dtensor::TakeOp>(op);
  ArrayRef<int64_t> indices = take.getIndices();
  for (unsigned dim = 0; dim < results[0].rank(); ++dim) {
    bool along = dim == take.getDimension();
    auto source = [&](int64_t g) {
      return !along ? g : indices[g] < 0 ? fillEntry : indices[g];
    };
    if (!e.move(operands[0], dim, results[0], dim, source))
      return std::nullopt;
  }
  return Values{operands[0].value};
}

void addMovement(Handlers &handlers) {
  handlers["dtensor.slice"] = emitSlice;
  handlers["dtensor.pad"] = emitPad;
  handlers["dtensor.concatenate"] = emitConcatenate;
  handlers["dtensor.reverse"] = emitReverse;
  handlers["dtensor.take"] = emitTake;
}

} // namespace meshloom::exporting
