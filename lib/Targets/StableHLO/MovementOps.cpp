// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Slice, pad, concatenate, reverse and take: each result dim is a table of
// where its elements come from, in global indices, as the op's index map says.
#include "Exporter.h"

namespace meshloom::exporting {

static dtensor::IndexMap mapOf(Operation *op, unsigned source = 0) {
  return cast<dtensor::IndexMapOpInterface>(op).getIndexMap(source);
}

/// Every dim by a table.
static Emitted emitMoved(Exporter &e, Operation *op,
                         MutableArrayRef<Operand> operands,
                         ArrayRef<Held> results) {
  for (auto [dim, map] : llvm::enumerate(mapOf(op)))
    if (!e.move(operands[0], unsigned(dim), results[0], map))
      return std::nullopt;
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
  for (auto [dim, map] : llvm::enumerate(mapOf(op))) {
    if (operand.held.isWhole(dim) && result.isWhole(dim)) {
      low[dim] = pad.getEdgePaddingLow()[dim];
      high[dim] = pad.getEdgePaddingHigh()[dim];
      interior[dim] = pad.getInteriorPadding()[dim];
      shape[dim] = result.buffer[dim];
      any |= low[dim] || high[dim] || interior[dim];
      continue;
    }
    if (!e.move(operand, unsigned(dim), result, map, operands[1].value))
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
  int64_t offset = 0;
  for (auto [source, operand] : llvm::enumerate(operands)) {
    int64_t begin = -mapOf(op, unsigned(source))[along].offset;
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
        table[device][g - wanted.begin] = offset + g - begin - held.begin;
    }
    values.push_back(operand.value);
    offset += operand.held.buffer[along];
  }
  auto shape = llvm::to_vector(result.buffer);
  shape[along] = offset;
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
  for (auto [dim, map] : llvm::enumerate(mapOf(op))) {
    if (map.scale < 0 && operands[0].held.isWhole(dim) &&
        results[0].isWhole(dim))
      local.push_back(int64_t(dim));
    else if (!e.move(operands[0], unsigned(dim), results[0], map))
      return std::nullopt;
  }
  if (local.empty())
    return Values{operands[0].value};
  return Values{
      e.same("reverse", operands[0].value, e.list("dimensions", local))};
}

void addMovement(Handlers &handlers) {
  handlers["dtensor.slice"] = emitMoved;
  handlers["dtensor.pad"] = emitPad;
  handlers["dtensor.concatenate"] = emitConcatenate;
  handlers["dtensor.reverse"] = emitReverse;
  handlers["dtensor.take"] = emitMoved;
}

} // namespace meshloom::exporting
