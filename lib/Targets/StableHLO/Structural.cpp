// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Constants, iota, random bits, broadcasts, reshapes and transposes: what says
// where an element lies in the global tensor.
#include "Exporter.h"

namespace meshloom::exporting {

static Emitted emitConstant(Exporter &e, Operation *op,
                            MutableArrayRef<Operand>, ArrayRef<Held> results) {
  const Held &result = results[0];
  auto value =
      dyn_cast<DenseElementsAttr>(cast<dtensor::ConstantOp>(op).getValue());
  if (!value)
    return std::nullopt;
  if (value.isSplat())
    return Values{e.constant(value.resizeSplat(result.type()))};
  auto plain = RankedTensorType::get(result.global, result.element);
  Operand whole{
      e.constant(value.getType() == plain ? value : value.reshape(plain)),
      Held::whole(result.global, result.element, e.devices)};
  if (!e.fitAll(whole, result))
    return std::nullopt;
  return Values{whole.value};
}

/// The global index of each element along `dim`.
static Value globalIndex(Exporter &e, const Held &held, unsigned dim,
                         Type element) {
  SmallVector<int64_t> offsets;
  for (Interval range : held.ranges[dim])
    offsets.push_back(range.begin);
  Value index = e.iota(held.buffer, dim, element);
  if (llvm::all_of(offsets, [](int64_t offset) { return offset == 0; }))
    return index;
  Value offset = e.convert(e.lookup(offsets), element);
  return e.same("add", {index, e.broadcast(offset, held.buffer)});
}

static Emitted emitIota(Exporter &e, Operation *op, MutableArrayRef<Operand>,
                        ArrayRef<Held> results) {
  return Values{globalIndex(e, results[0],
                            cast<dtensor::IotaOp>(op).getIotaDimension(),
                            results[0].element)};
}

/// Philox4x32-10 on the global row-major index of each element, as dtensor.rng
/// defines it; 32-bit products are taken in 64 bits.
static Emitted emitRng(Exporter &e, Operation *,
                       MutableArrayRef<Operand> operands,
                       ArrayRef<Held> results) {
  const Held &held = results[0];
  if (!operands[0].held.isWhole())
    return std::nullopt;
  Type wide = e.b.getIntegerType(64, false), word = held.element;
  ArrayRef<int64_t> shape = held.buffer;
  auto filled = [&](Type type, uint64_t value) {
    return e.broadcast(e.number(type, int64_t(value)), shape);
  };
  Value index = filled(wide, 0);
  int64_t stride = 1;
  for (unsigned dim = held.rank(); dim-- > 0; stride *= held.global[dim])
    index = e.same("add",
                   {index, e.same("multiply", {globalIndex(e, held, dim, wide),
                                               filled(wide, stride)})});
  Value half = filled(wide, 32);
  auto high = [&](Value v) {
    return e.convert(e.same("shift_right_logical", {v, half}), word);
  };
  Value block = e.same("shift_right_logical", {index, filled(wide, 2)});
  Value lane = e.same("and", {index, filled(wide, 3)});
  auto low = [&](Value v) {
    return e.convert(e.same("and", {v, filled(wide, 0xFFFFFFFF)}), word);
  };
  std::array<Value, 4> counter{low(block), high(block), filled(word, 0),
                               filled(word, 0)};
  std::array<Value, 2> key;
  for (unsigned i = 0; i < 2; ++i)
    key[i] = e.broadcast(e.reshape(e.slice(operands[0].value, 0, i, i + 1), {}),
                         shape);
  for (int round = 0; round < 10; ++round) {
    Value first = e.same(
        "multiply", {e.convert(counter[0], wide), filled(wide, 0xD2511F53)});
    Value second = e.same(
        "multiply", {e.convert(counter[2], wide), filled(wide, 0xCD9E8D57)});
    auto mix = [&](Value product, Value word, Value part) {
      return e.same("xor", {e.same("xor", {high(product), word}), part});
    };
    counter = {mix(second, counter[1], key[0]), low(second),
               mix(first, counter[3], key[1]), low(first)};
    key = {e.same("add", {key[0], filled(word, 0x9E3779B9)}),
           e.same("add", {key[1], filled(word, 0xBB67AE85)})};
  }
  Value result = counter[0];
  for (unsigned i = 1; i < 4; ++i)
    result = e.one(
        "select", held.type(),
        {e.compare(stablehlo::ComparisonDirection::EQ, lane, filled(wide, i)),
         counter[i], result});
  return Values{result};
}

static Emitted emitBroadcast(Exporter &e, Operation *op,
                             MutableArrayRef<Operand> operands,
                             ArrayRef<Held> results) {
  Operand &operand = operands[0];
  const Held &result = results[0];
  auto dims = cast<dtensor::BroadcastInDimOp>(op).getBroadcastDimensions();
  for (unsigned dim = 0; dim < operand.held.rank(); ++dim) {
    if (operand.held.global[dim] == 1 && result.global[dims[dim]] != 1) {
      if (!operand.held.isWhole(dim))
        return std::nullopt;
    } else if (!e.fit(operand, dim, result, dims[dim])) {
      return std::nullopt;
    }
  }
  return Values{e.one("broadcast_in_dim", result.type(), operand.value,
                      e.list("broadcast_dimensions", dims))};
}

static Emitted emitTranspose(Exporter &e, Operation *op,
                             MutableArrayRef<Operand> operands,
                             ArrayRef<Held> results) {
  auto permutation = cast<dtensor::TransposeOp>(op).getPermutation();
  for (unsigned dim = 0; dim < results[0].rank(); ++dim)
    if (!e.fit(operands[0], permutation[dim], results[0], dim))
      return std::nullopt;
  return Values{e.transpose(operands[0].value, permutation)};
}

/// The elements of dims [begin, end) that a device has, counted row-major in
/// these dims, where they are one run at the start of its buffer.
static std::optional<Interval> runOf(const Held &held, unsigned begin,
                                     unsigned end, int64_t device) {
  Interval run{0, 1};
  bool cut = false; ///< whether an earlier dim has more than one element
  for (unsigned dim = begin; dim < end; ++dim) {
    Interval range = held.ranges[dim][device];
    if (range.empty())
      return Interval{0, 0};
    if (cut &&
        (range.size() != held.global[dim] || range.size() != held.buffer[dim]))
      return std::nullopt;
    run = {run.begin * held.global[dim] + range.begin,
           (run.end - 1) * held.global[dim] + range.end};
    cut |= range.size() > 1;
  }
  return run;
}

/// Reshapes group dims that merge into, or split from, the same elements. A
/// group is reshaped locally where a device's elements are one run of the
/// group on both sides.
static Emitted emitReshape(Exporter &e, Operation *,
                           MutableArrayRef<Operand> operands,
                           ArrayRef<Held> results) {
  const Held &from = operands[0].held, &to = results[0];
  if (from.isWhole() && to.isWhole())
    return Values{e.reshape(operands[0].value, to.buffer)};
  struct Group {
    unsigned fromBegin, fromEnd, toBegin, toEnd;
    int64_t fromSize, toSize;
  };
  SmallVector<Group> groups;
  unsigned i = 0, j = 0;
  while (i < from.rank() || j < to.rank()) {
    Group group{i, i, j, j, 1, 1};
    int64_t fromCount = 1, toCount = 1;
    do {
      // A one on either side joins the group that is being made.
      bool takeLeft =
          i < from.rank() && (fromCount <= toCount || j == to.rank());
      if (takeLeft) {
        fromCount *= from.global[i];
        group.fromSize *= from.buffer[i++];
      } else {
        toCount *= to.global[j];
        group.toSize *= to.buffer[j++];
      }
    } while (fromCount != toCount && (i < from.rank() || j < to.rank()));
    while (i < from.rank() && from.global[i] == 1 && j == to.rank())
      group.fromSize *= from.buffer[i++];
    while (j < to.rank() && to.global[j] == 1 && i == from.rank())
      group.toSize *= to.buffer[j++];
    group.fromEnd = i;
    group.toEnd = j;
    if (fromCount != toCount)
      return std::nullopt;
    for (int64_t device = 0; device < e.devices; ++device) {
      auto has = runOf(from, group.fromBegin, group.fromEnd, device);
      auto wants = runOf(to, group.toBegin, group.toEnd, device);
      if (!has || !wants || (!wants->empty() && !(*has == *wants)))
        return std::nullopt;
    }
    groups.push_back(group);
  }
  SmallVector<int64_t> flat;
  for (const Group &group : groups)
    flat.push_back(group.fromSize);
  Value value = operands[0].value;
  bool fits = llvm::all_of(
      groups, [](const Group &g) { return g.fromSize == g.toSize; });
  if (!fits) {
    value = e.reshape(value, flat);
    for (auto [dim, group] : llvm::enumerate(groups)) {
      value = e.pad(value, dim, 0,
                    std::max<int64_t>(0, group.toSize - group.fromSize), {});
      value = e.slice(value, dim, 0, group.toSize);
    }
  }
  return Values{e.reshape(value, to.buffer)};
}

void addStructural(Handlers &handlers) {
  handlers["dtensor.constant"] = emitConstant;
  handlers["dtensor.iota"] = emitIota;
  handlers["dtensor.rng"] = emitRng;
  handlers["dtensor.broadcast_in_dim"] = emitBroadcast;
  handlers["dtensor.transpose"] = emitTranspose;
  handlers["dtensor.reshape"] = emitReshape;
}

} // namespace meshloom::exporting
