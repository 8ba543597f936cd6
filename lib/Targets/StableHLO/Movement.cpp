// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Moving elements along one dim where every device may have to do something
// else: a table says for each device which local index every element comes
// from, and becomes the cheapest op that does it. Uneven shards, windows, pads
// and slices of sharded dims are all such tables.
#include "Exporter.h"

namespace meshloom::exporting {

Value Exporter::deviceId() {
  Value &id = ids[b.getInsertionBlock()];
  if (!id) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(b.getInsertionBlock());
    Value replica =
        one("replica_id",
            RankedTensorType::get({}, b.getIntegerType(32, /*isSigned=*/false)),
            {});
    id = convert(replica, b.getI32Type());
  }
  return id;
}

Value Exporter::lookup(ArrayRef<int64_t> perDevice) {
  Type i32 = b.getI32Type();
  if (llvm::all_equal(perDevice))
    return number(i32, perDevice.front());
  SmallVector<int32_t> entries(perDevice.begin(), perDevice.end());
  Value table = constant(DenseElementsAttr::get(
      RankedTensorType::get({devices}, i32), ArrayRef<int32_t>(entries)));
  Value entry = one("dynamic_slice", RankedTensorType::get({1}, i32),
                    {table, deviceId()}, list("slice_sizes", {1}));
  return reshape(entry, {});
}

Value Exporter::lookupRow(const Table &table, Type element) {
  int64_t size = table.front().size();
  bool same = llvm::all_equal(table), flags = element.isInteger(1);
  SmallVector<int32_t> numbers;
  SmallVector<bool> bits;
  for (int64_t device = 0; device < (same ? 1 : devices); ++device)
    for (int64_t entry : table[device]) {
      numbers.push_back(int32_t(entry));
      bits.push_back(entry != 0);
    }
  SmallVector<int64_t> shape{size};
  if (!same)
    shape.insert(shape.begin(), devices);
  auto type = RankedTensorType::get(shape, element);
  Value rows = constant(
      flags ? DenseElementsAttr::get(type, ArrayRef<bool>(bits))
            : DenseElementsAttr::get(type, ArrayRef<int32_t>(numbers)));
  if (same)
    return rows;
  Value row = one("dynamic_slice", RankedTensorType::get({1, size}, element),
                  {rows, deviceId(), number(b.getI32Type(), 0)},
                  list("slice_sizes", {1, size}));
  return reshape(row, {size});
}

std::vector<int64_t> Exporter::groupOf(int64_t device,
                                       ArrayRef<unsigned> axes) const {
  std::vector<int64_t> coords = mesh.coords(device);
  std::vector<int64_t> group;
  int64_t size = 1;
  for (unsigned axis : axes)
    size *= mesh.axis_size(axis);
  for (int64_t member = 0; member < size; ++member) {
    int64_t remaining = member;
    for (unsigned axis : llvm::reverse(axes)) {
      coords[axis] = remaining % mesh.axis_size(axis);
      remaining /= mesh.axis_size(axis);
    }
    group.push_back(mesh.device_at(coords));
  }
  return group;
}

namespace {
/// The requests of a table.
struct Pattern {
  bool fills = false;
  bool same = true;            ///< all devices want the same, padding aside
  bool contiguous = true;      ///< each device wants one run, at `starts`
  std::vector<int64_t> merged; ///< the rows in one, if `same`
  std::vector<int64_t> starts;

  explicit Pattern(const Table &table) : merged(table.front()) {
    std::vector<std::optional<int64_t>> found;
    for (const std::vector<int64_t> &row : table) {
      std::optional<int64_t> start;
      for (size_t i = 0; i < row.size(); ++i) {
        int64_t entry = row[i];
        fills |= entry == fillEntry;
        if (entry == anyEntry)
          continue;
        if (merged[i] == anyEntry)
          merged[i] = entry;
        same &= merged[i] == entry;
        if (entry == fillEntry)
          continue;
        if (!start)
          start = entry - int64_t(i);
        contiguous &= *start == entry - int64_t(i);
      }
      found.push_back(start);
    }
    std::optional<int64_t> least;
    for (auto start : found)
      if (start)
        least = std::min(least.value_or(*start), *start);
    for (auto start : found)
      starts.push_back(start.value_or(least.value_or(0)));
  }

  /// The step of one strided run that all devices want, or 0.
  int64_t stride() const {
    if (!same || fills || merged.size() < 2 || merged[0] < 0)
      return 0;
    int64_t step = merged[1] - merged[0];
    for (size_t i = 1; i < merged.size(); ++i)
      if (merged[i] < 0 || merged[i] - merged[i - 1] != step)
        return 0;
    return step;
  }
};
} // namespace

Value Exporter::take(Value value, unsigned dim, const Table &table,
                     int64_t size, Value fill) {
  auto type = cast<RankedTensorType>(value.getType());
  int64_t extent = type.getDimSize(dim);
  auto shape = llvm::to_vector(type.getShape());
  shape[dim] = size;
  Type element = type.getElementType();
  Pattern pattern(table);
  if (!fill && (pattern.fills || extent == 0))
    fill = zero(element);
  if (extent == 0 || size == 0)
    return broadcast(fill ? fill : zero(element), shape);

  if (pattern.contiguous) {
    auto [least, most] =
        std::minmax_element(pattern.starts.begin(), pattern.starts.end());
    int64_t low = std::max<int64_t>(0, -*least);
    int64_t high = std::max<int64_t>(0, *most + size - extent);
    value = pad(value, dim, low, high, fill);
    for (int64_t &start : pattern.starts)
      start += low;
    if (llvm::all_equal(pattern.starts)) {
      int64_t start = pattern.starts.front();
      value = slice(value, dim, start, start + size);
      // The padding is right wherever the edges are all that is filled.
      auto isEdge = [&](size_t i) {
        int64_t position = start - low + int64_t(i);
        return position < 0 || position >= extent;
      };
      bool done = true;
      for (const std::vector<int64_t> &row : table)
        for (size_t i = 0; i < row.size(); ++i)
          done &= row[i] != fillEntry || isEdge(i);
      if (done)
        return value;
    } else {
      Values operands{value};
      for (unsigned d = 0; d < shape.size(); ++d)
        operands.push_back(d == dim ? lookup(pattern.starts)
                                    : number(b.getI32Type(), 0));
      value = one("dynamic_slice", RankedTensorType::get(shape, element),
                  operands, list("slice_sizes", shape));
    }
  } else if (int64_t step = pattern.stride(); step > 1) {
    return slice(value, dim, pattern.merged.front(), pattern.merged.back() + 1,
                 step);
  } else {
    Table indices = pattern.same ? Table{pattern.merged} : table;
    for (std::vector<int64_t> &row : indices)
      for (int64_t &entry : row)
        entry = std::max<int64_t>(entry, 0);
    SmallVector<int64_t> offsets, sizes(type.getShape());
    for (int64_t d = 0; d < type.getRank(); ++d)
      if (d != dim)
        offsets.push_back(d);
    sizes[dim] = 1;
    int64_t along = dim;
    auto dims = stablehlo::GatherDimensionNumbersAttr::get(
        b.getContext(), offsets, along, {}, {}, along, 1);
    value = one("gather", RankedTensorType::get(shape, element),
                {value, lookupRow(indices, b.getI32Type())},
                {attr("dimension_numbers", Attribute(dims)),
                 list("slice_sizes", sizes),
                 attr("indices_are_sorted", Attribute(b.getBoolAttr(false)))});
  }
  if (!pattern.fills)
    return value;
  Table wanted = table;
  for (std::vector<int64_t> &row : wanted)
    for (int64_t &entry : row)
      entry = entry != fillEntry;
  Value flags = broadcast(lookupRow(wanted, b.getI1Type()), shape, {dim});
  return one("select", value.getType(), {flags, value, broadcast(fill, shape)});
}

Value Exporter::mask(Value value, const Held &held, ArrayRef<int64_t> dims,
                     Value fill) {
  for (int64_t dim : dims) {
    if (!held.isPadded(dim))
      continue;
    SmallVector<int64_t> extents;
    for (Interval range : held.ranges[dim])
      extents.push_back(range.size());
    int64_t size = held.buffer[dim];
    Value inside = compare(stablehlo::ComparisonDirection::LT,
                           iota({size}, 0, b.getI32Type()),
                           broadcast(lookup(extents), {size}));
    value = one("select", value.getType(),
                {broadcast(inside, held.buffer, {dim}), value,
                 broadcast(fill, held.buffer)});
  }
  return value;
}

bool Exporter::move(Operand &operand, unsigned dim, const Held &target,
                    unsigned targetDim,
                    llvm::function_ref<int64_t(int64_t)> source, Value fill) {
  int64_t size = target.buffer[targetDim];
  Table table(devices, std::vector<int64_t>(size, anyEntry));
  for (int64_t device = 0; device < devices; ++device) {
    Interval wanted = target.ranges[targetDim][device];
    Interval held = operand.held.ranges[dim][device];
    for (int64_t g = wanted.begin; g < wanted.end; ++g) {
      int64_t from = source(g);
      if (from != fillEntry && (from < held.begin || from >= held.end))
        return false;
      table[device][g - wanted.begin] =
          from == fillEntry ? fillEntry : from - held.begin;
    }
  }
  operand.value = take(operand.value, dim, table, size, fill);
  operand.held.setDim(dim, target, targetDim);
  return true;
}

bool Exporter::move(Operand &operand, unsigned dim, const Held &target,
                    const dtensor::SourceDim &map, Value fill) {
  int64_t extent = operand.held.global[dim];
  return move(
      operand, dim, target, unsigned(map.resultDim),
      [&](int64_t index) {
        int64_t from = map.source(index, extent);
        return from < 0 ? fillEntry : from;
      },
      fill);
}

bool Exporter::fit(Operand &operand, unsigned dim, const Held &target,
                   unsigned targetDim) {
  if (operand.held.agrees(dim, target, targetDim))
    return true;
  return move(operand, dim, target, targetDim,
              [](int64_t index) { return index; });
}

bool Exporter::fitAll(Operand &operand, const Held &target) {
  for (unsigned dim = 0; dim < target.rank(); ++dim)
    if (!fit(operand, dim, target, dim))
      return false;
  return true;
}

} // namespace meshloom::exporting
