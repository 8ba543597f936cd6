// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Padding, gathers, scatters, sorts: dtensor ops with NumPy's and TensorFlow's
// conventions.
#include "meshloom/API/IndexOps.h"

#include "Elementwise.h"
#include "IndexedElements.h"
#include "meshloom/API/Create.h"

#include <fmt/format.h>

#include <limits>

namespace meshloom {
using namespace detail;
using dtensor::ComparisonDirection;

namespace {

using List = std::vector<int64_t>;

List rangeOf(int64_t first, int64_t end) {
  List list;
  for (int64_t i = first; i < end; ++i)
    list.push_back(i);
  return list;
}

void expectIndices(const Tensor &indices, std::string_view op,
                   const std::source_location &where) {
  nodeOf(indices, op, &where);
  if (!isInteger(indices.dtype()))
    fail(op, fmt::format("expected integer indices, got {}", typeText(indices)),
         &where);
}

//===----------------------------------------------------------------------===//
// Padding
//===----------------------------------------------------------------------===//

void expectPadding(const Tensor &x, const std::vector<PadDim> &padding,
                   const std::source_location &where) {
  if (padding.size() != nodeOf(x, "pad", &where).shape.size())
    fail("pad",
         fmt::format("expected padding for each of the {} dims of {}, got {}",
                     x.rank(), typeText(x), padding.size()),
         &where);
}

/// The elements of a dim of `extent` that `mode` puts where.
List padIndices(PadMode mode, const PadDim &padding, int64_t extent) {
  List indices;
  const int64_t skipped = mode == PadMode::Symmetric ? 1 : 0;
  for (int64_t i = -padding.low; i < extent + padding.high; ++i) {
    int64_t from = i;
    if (mode == PadMode::Edge)
      from = std::clamp<int64_t>(i, 0, extent - 1);
    else if (i < 0)
      from = -i - skipped;
    else if (i >= extent)
      from = 2 * (extent - 1) - i + skipped;
    indices.push_back(from);
  }
  return indices;
}

//===----------------------------------------------------------------------===//
// Gathers and scatters
//===----------------------------------------------------------------------===//

/// Where indices are negative, `extent` more.
Value fromTheEnd(Emitter &e, Value indices, int64_t extent) {
  Type type = e.elementType(indices);
  if (type.isUnsignedInteger())
    return indices;
  if (unsigned width = type.getIntOrFloatBitWidth();
      width < 32 && extent > (int64_t(1) << (width - 1)) - 1)
    indices = e.convert(indices, type = e.getI32Type());
  Value zero = e.number(type, 0, e.shape(indices)),
        all = e.number(type, extent, e.shape(indices));
  return e.select(e.compare(ComparisonDirection::LT, indices, zero),
                  e.add(indices, all), indices);
}

/// Outside of traces: throws where an index is out of range. `extents`: one, or
/// one for each number of the last dim. Negative ones count `fromTheEnd`.
void expectInRange(std::string_view op, const Tensor &indices,
                   const List &extents, bool fromTheEnd, const Tensor &x,
                   const std::source_location &where) {
  if (threadState().trace() || indices.size() == 0)
    return;
  std::vector<int64_t> values;
  if (indices.dtype() == DType::UI64)
    for (uint64_t value : indices.to_vector<uint64_t>())
      values.push_back(int64_t(std::min<uint64_t>(
          value, uint64_t(std::numeric_limits<int64_t>::max()))));
  else
    values = indices.to_vector<int64_t>();
  for (size_t i = 0; i < values.size(); ++i) {
    const int64_t extent = extents[i % extents.size()];
    if (values[i] < extent && values[i] >= (fromTheEnd ? -extent : 0))
      continue;
    fail(op,
         fmt::format("expected indices in [{}, {}) into {}, got {}: clip them "
                     "first where the nearest element is meant (in a function, "
                     "where values are not known while it is traced, they "
                     "count as the nearest in range)",
                     fromTheEnd ? -extent : 0, extent, typeText(x), values[i]),
         &where);
  }
}

Tensor gatherSlices(std::string_view op, const Tensor &x, const Tensor &indices,
                    int64_t axis, int64_t batch, bool wrap, bool isChecked,
                    const std::source_location &where) {
  nodeOf(x, op, &where);
  expectIndices(indices, op, where);
  axis = axisOf(axis, x.rank(), op, where);
  if (batch < 0 || batch > axis || batch > indices.rank())
    fail(op,
         fmt::format("expected batch dims in front of axis {} of {}, and of "
                     "{}, got {}",
                     axis, typeText(x), typeText(indices), batch),
         &where);
  for (int64_t d = 0; d < batch; ++d)
    if (x.shape()[size_t(d)] != indices.shape()[size_t(d)])
      fail(op,
           fmt::format("expected the same first {} dims, got {} and indices {}",
                       batch, typeText(x), typeText(indices)),
           &where);
  const int64_t extent = x.shape()[size_t(axis)];
  if (extent == 0)
    fail(op,
         fmt::format("expected elements to pick from along axis {}, got {}",
                     axis, typeText(x)),
         &where);
  if (isChecked)
    expectInRange(op, indices, {extent}, wrap, x, where);
  List sizes = x.shape(), offsets, batches = rangeOf(0, batch);
  sizes[size_t(axis)] = 1;
  for (int64_t d = 0; d < batch; ++d)
    sizes[size_t(d)] = 1;
  const int64_t added = indices.rank() - batch - 1;
  for (int64_t d = batch; d < x.rank(); ++d)
    if (d != axis)
      offsets.push_back(d < axis ? d : d + added);
  const int64_t vectorDim = indices.rank();
  OpCall call = callOf(op, {x, indices}, where);
  call.setBody(
      [](Emitter &e, ArrayRef<Value> operands, const auto &wrap,
         const auto &extent, const auto &offsets, const auto &axis,
         const auto &batches, const auto &vectorDim, const auto &sizes) {
        Value indices = wrap ? fromTheEnd(e, operands[1], extent) : operands[1];
        return one(e.create<dtensor::GatherOp>(
            e.getLoc(), operands[0], indices, offsets, List{axis}, batches,
            batches, List{axis}, vectorDim, sizes));
      },
      wrap, extent, offsets, axis, batches, vectorDim, sizes);
  return runOp(std::move(call));
}

/// How many of x's first dims an index is for.
int64_t indexDepth(std::string_view op, const Shape &shape,
                   const Tensor &indices, const std::source_location &where) {
  expectIndices(indices, op, where);
  if (indices.rank() == 0 || indices.shape().back() > int64_t(shape.size()))
    fail(op,
         fmt::format("expected indices [..., k] with one number for each of "
                     "the first k dims of {}, got {}",
                     shapeText(shape), typeText(indices)),
         &where);
  return indices.shape().back();
}

Tensor scatterInto(std::string_view op, const Tensor &x, const Tensor &indices,
                   const Tensor &updates, std::optional<ReduceKind> kind,
                   const std::source_location &where) {
  nodeOf(x, op, &where);
  const int64_t depth = indexDepth(op, x.shape(), indices, where);
  const int64_t batch = indices.rank() - 1;
  Shape expected(indices.shape().begin(), indices.shape().end() - 1);
  expected.insert(expected.end(), x.shape().begin() + depth, x.shape().end());
  nodeOf(updates, op, &where);
  if (updates.dtype() != x.dtype() || updates.shape() != expected)
    fail(op,
         fmt::format("expected updates {} for indices {} into {}, got {}",
                     typeText(x.dtype(), expected), typeText(indices),
                     typeText(x), typeText(updates)),
         &where);
  const bool ordered = kind == ReduceKind::Max || kind == ReduceKind::Min;
  if ((kind && x.dtype() == DType::I1) || (ordered && isComplex(x.dtype())))
    fail(op,
         fmt::format("expected {}, got {}",
                     ordered ? "real numbers" : "numbers", typeText(x)),
         &where);
  OpCall call = callOf(op, {x, indices, updates}, where);
  call.setBody(
      [](Emitter &e, ArrayRef<Value> operands, const auto &windows,
         const auto &indexed, const auto &batch, const auto &kind) {
        return one(e.create<dtensor::ScatterOp>(
                        e.getLoc(), ValueRange{operands[0]}, operands[1],
                        ValueRange{operands[2]}, windows, indexed, List{},
                        List{}, indexed, batch, kind)
                       .getResult(0));
      },
      rangeOf(batch, updates.rank()), rangeOf(0, depth), batch, kind);
  return runOp(std::move(call));
}

/// Start indices as scalars of one integer type, that of the first tensor.
std::vector<Tensor> startsOf(std::string_view op, const Tensor &x,
                             const std::vector<TensorLike> &starts,
                             const std::source_location &where) {
  if (int64_t(starts.size()) != x.rank())
    fail(op,
         fmt::format("expected a start for each of the {} dims of {}, got {}",
                     x.rank(), typeText(x), starts.size()),
         &where);
  DType type = DType::I32;
  for (const TensorLike &start : llvm::reverse(starts))
    if (start.kind == TensorLike::Kind::Tensor)
      type = nodeOf(start.tensor, op, &where).dtype;
  std::vector<Tensor> scalars;
  for (const TensorLike &start : starts) {
    Tensor scalar = operandLike(start, type, op, &x);
    if (!isInteger(scalar.dtype()) || scalar.dtype() != type ||
        scalar.rank() != 0)
      fail(op,
           fmt::format("expected starts that are integer scalars of one type, "
                       "got {}{}",
                       typeText(scalar),
                       scalar.dtype() != type
                           ? fmt::format(" beside {}", name(type))
                           : std::string()),
           &where);
    scalars.push_back(std::move(scalar));
  }
  return scalars;
}

//===----------------------------------------------------------------------===//
// Order
//===----------------------------------------------------------------------===//

void expectOrdered(const Tensor &x, std::string_view op,
                   const std::source_location &where) {
  nodeOf(x, op, &where);
  if (x.dtype() == DType::I1 || isComplex(x.dtype()))
    fail(
        op,
        fmt::format("expected numbers that have an order, got {}", typeText(x)),
        &where);
}

/// Sorts `keys`, and with them the others.
SmallVector<Value> sorted(Emitter &e, ArrayRef<Value> values, int64_t axis,
                          bool descending) {
  auto sort = e.create<dtensor::SortOp>(e.getLoc(), values, axis);
  OpBuilder::InsertionGuard guard(e);
  Block *block = e.createBlock(&sort.getComparator());
  for (Value value : values)
    for (int i = 0; i < 2; ++i)
      block->addArgument(RankedTensorType::get({}, e.elementType(value)),
                         e.getLoc());
  Value a = block->getArgument(0), b = block->getArgument(1);
  Value before = e.compare(
      descending ? ComparisonDirection::GT : ComparisonDirection::LT, a, b);
  if (isa<FloatType>(e.elementType(a))) {
    Value isLast = e.compare(ComparisonDirection::NE, b, b);
    Value isNumber = e.compare(ComparisonDirection::EQ, a, a);
    before = e.apply<dtensor::OrOp>(before,
                                    e.apply<dtensor::AndOp>(isNumber, isLast));
  }
  e.create<dtensor::YieldOp>(e.getLoc(), ValueRange{before});
  return SmallVector<Value>(sort.getResults());
}

} // namespace

Tensor pad(const Tensor &x, const std::vector<PadDim> &padding,
           const TensorLike &value, Where loc) {
  constexpr std::string_view op = "pad";
  expectPadding(x, padding, loc);
  // 0 is what is given where nothing is; beside bools it is false.
  TensorLike number = value;
  if (x.dtype() == DType::I1 && number.kind == TensorLike::Kind::Integer &&
      number.integer == 0)
    number.kind = TensorLike::Kind::Bool;
  Tensor filler = operandLike(number, x.dtype(), op, &x);
  if (filler.rank() != 0 || filler.dtype() != x.dtype())
    fail(op,
         fmt::format("expected a scalar of type {} to pad with, got {}",
                     name(x.dtype()), typeText(filler)),
         &loc);
  List low, high, interior;
  Shape padded = x.shape();
  for (auto [d, dim] : llvm::enumerate(padding)) {
    const int64_t extent = x.shape()[d];
    constexpr int64_t most = std::numeric_limits<int32_t>::max();
    if (std::min(dim.low, dim.high) < -most ||
        std::max({dim.low, dim.high, dim.interior}) > most)
      fail(op,
           fmt::format("expected padding of at most {} elements, got {}, {} "
                       "and {} at dim {}",
                       most, dim.low, dim.high, dim.interior, d),
           &loc);
    if (dim.interior < 0)
      fail(op,
           fmt::format("expected no negative padding between elements, got {} "
                       "at dim {}",
                       dim.interior, d),
           &loc);
    if (dim.low + dim.high + extent +
            std::max<int64_t>(extent - 1, 0) * dim.interior <
        0)
      fail(op,
           fmt::format("padding of {} and {} takes more away than dim {} of {} "
                       "has",
                       dim.low, dim.high, d, typeText(x)),
           &loc);
    low.push_back(dim.low);
    high.push_back(dim.high);
    interior.push_back(dim.interior);
    padded[d] = dim.low + dim.high + extent +
                std::max<int64_t>(extent - 1, 0) * dim.interior;
  }
  checkShape(padded, op, loc);
  OpCall call = callOf(op, {x, filler}, loc);
  call.setBody(
      [](Emitter &e, ArrayRef<Value> operands, const auto &low,
         const auto &high, const auto &interior) {
        return one(e.create<dtensor::PadOp>(e.getLoc(), operands[0],
                                            operands[1], low, high, interior));
      },
      low, high, interior);
  return runOp(std::move(call));
}

Tensor pad(const Tensor &x, const std::vector<PadDim> &padding, PadMode mode,
           Where loc) {
  constexpr std::string_view op = "pad";
  expectPadding(x, padding, loc);
  for (auto [d, dim] : llvm::enumerate(padding)) {
    const int64_t extent = x.shape()[d];
    // Each element that is added is a number in the program.
    constexpr int64_t mostAdded = 1 << 24;
    const int64_t most = std::max(dim.low, dim.high);
    if (most > mostAdded)
      fail(op,
           fmt::format("expected at most {} elements to be added, got {} and "
                       "{} at dim {}",
                       mostAdded, dim.low, dim.high, d),
           &loc);
    const bool fits = mode == PadMode::Edge      ? extent > 0 || most == 0
                      : mode == PadMode::Reflect ? most == 0 || most < extent
                                                 : most <= extent;
    if (dim.low < 0 || dim.high < 0 || dim.interior != 0 || !fits)
      fail(op,
           fmt::format("expected counts of at least 0 that dim {} of {} has "
                       "enough elements for, and none between, got {}, {} and "
                       "{}",
                       d, typeText(x), dim.low, dim.high, dim.interior),
           &loc);
  }
  OpCall call = callOf("pad by elements", {x}, loc);
  call.setBody(
      [](Emitter &e, ArrayRef<Value> operands, const auto &mode,
         const auto &padding) {
        Value value = operands[0];
        for (auto [d, dim] : llvm::enumerate(padding))
          if (std::max(dim.low, dim.high) > 0)
            value = e.create<dtensor::TakeOp>(
                e.getLoc(), value, int64_t(d),
                padIndices(mode, dim, e.shape(value)[d]));
        return one(value);
      },
      mode, padding);
  return runOp(std::move(call));
}

Tensor roll(const Tensor &x, int64_t shift, int64_t axis, Where loc) {
  constexpr std::string_view op = "roll";
  nodeOf(x, op, &loc);
  axis = axisOf(axis, x.rank(), op, loc);
  const int64_t extent = x.shape()[size_t(axis)];
  shift = extent ? (shift % extent + extent) % extent : 0;
  if (shift == 0)
    return x;
  OpCall call = callOf(op, {x}, loc);
  // Moved to both places where its elements go: so devices fetch what they need
  // straight from x, and not first for two pieces and then for what is joined.
  call.setBody(
      [](Emitter &e, ArrayRef<Value> operands, const auto &axis,
         const auto &shift, const auto &extent) {
        Value value = operands[0];
        const SmallVector<int64_t> shape(e.shape(value));
        const List none(shape.size(), 0);
        Value zero = e.number(e.elementType(value), 0);
        auto moved = [&](int64_t by) -> Value {
          List low = none, high = none;
          low[size_t(axis)] = by;
          high[size_t(axis)] = -by;
          return e.create<dtensor::PadOp>(e.getLoc(), value, zero, low, high,
                                          none);
        };
        Type integer = e.getI64Type();
        Value isWrapped = e.compare(dtensor::ComparisonDirection::LT,
                                    e.iota(shape, axis, integer),
                                    e.number(integer, shift, shape));
        return one(e.select(isWrapped, moved(shift - extent), moved(shift)));
      },
      axis, shift, extent);
  return runOp(std::move(call));
}

Tensor gather(const Tensor &x, const Tensor &indices, int64_t axis,
              int64_t batch_dims, Where loc) {
  return gatherSlices("gather", x, indices, axis, batch_dims, false, true, loc);
}
Tensor take(const Tensor &x, const Tensor &indices, int64_t axis, Where loc) {
  return gatherSlices("take", x, indices, axis, 0, true, true, loc);
}
Tensor detail::gatherClamped(const Tensor &x, const Tensor &indices,
                             int64_t axis, const std::source_location &where) {
  return gatherSlices("gather", x, indices, axis, 0, false, false, where);
}
Tensor detail::scatterBy(std::string_view op, const Tensor &x,
                         const Tensor &indices, const Tensor &updates,
                         ReduceKind kind, const std::source_location &where) {
  return scatterInto(op, x, expand_dims(indices, -1, where), updates, kind,
                     where);
}

Tensor take_along_axis(const Tensor &x, const Tensor &indices, int64_t axis,
                       Where loc) {
  constexpr std::string_view op = "take_along_axis";
  nodeOf(x, op, &loc);
  expectIndices(indices, op, loc);
  axis = axisOf(axis, x.rank(), op, loc);
  if (indices.rank() != x.rank())
    fail(op,
         fmt::format("expected indices of rank {} for {}, got {}", x.rank(),
                     typeText(x), typeText(indices)),
         &loc);
  Shape from = x.shape(), at = indices.shape();
  const int64_t extent = from[size_t(axis)];
  from[size_t(axis)] = at[size_t(axis)];
  Shape result = broadcastShape(from, at, op, loc);
  result[size_t(axis)] = at[size_t(axis)];
  at = from = result;
  from[size_t(axis)] = extent;
  if (extent == 0)
    fail(op,
         fmt::format("expected elements to pick from along axis {}, got {}",
                     axis, typeText(x)),
         &loc);
  expectInRange(op, indices, {extent}, true, x, loc);
  List others = rangeOf(0, x.rank());
  others.erase(others.begin() + axis);
  OpCall call = callOf(op, {x, indices}, loc);
  call.setBody(
      [](Emitter &e, ArrayRef<Value> operands, const auto &from,
         const auto &extent, const auto &place, const auto &axis,
         const auto &others) {
        return one(e.create<dtensor::GatherOp>(
            e.getLoc(), e.broadcastTo(operands[0], from),
            e.broadcastTo(fromTheEnd(e, operands[1], extent), place), List{},
            List{axis}, others, others, List{axis}, int64_t(place.size()),
            List(place.size(), 1)));
      },
      from, extent, at, axis, others);
  return runOp(std::move(call));
}

Tensor gather_nd(const Tensor &x, const Tensor &indices, Where loc) {
  constexpr std::string_view op = "gather_nd";
  nodeOf(x, op, &loc);
  const int64_t depth = indexDepth(op, x.shape(), indices, loc);
  List sizes = x.shape();
  for (int64_t d = 0; d < depth; ++d) {
    if (sizes[size_t(d)] == 0)
      fail(op,
           fmt::format("expected elements to pick from along dim {}, got {}", d,
                       typeText(x)),
           &loc);
    sizes[size_t(d)] = 1;
  }
  if (depth > 0)
    expectInRange(op, indices,
                  List(x.shape().begin(), x.shape().begin() + depth), false, x,
                  loc);
  const int64_t batch = indices.rank() - 1;
  List indexed = rangeOf(0, depth),
       offsets = rangeOf(batch, batch + x.rank() - depth);
  OpCall call = callOf(op, {x, indices}, loc);
  call.setBody(
      [](Emitter &e, ArrayRef<Value> operands, const auto &offsets,
         const auto &indexed, const auto &batch, const auto &sizes) {
        return one(e.create<dtensor::GatherOp>(
            e.getLoc(), operands[0], operands[1], offsets, indexed, List{},
            List{}, indexed, batch, sizes));
      },
      offsets, indexed, batch, sizes);
  return runOp(std::move(call));
}

Tensor tensor_scatter_nd_update(const Tensor &x, const Tensor &indices,
                                const Tensor &updates, Where loc) {
  return scatterInto("tensor_scatter_nd_update", x, indices, updates, {}, loc);
}
Tensor tensor_scatter_nd_add(const Tensor &x, const Tensor &indices,
                             const Tensor &updates, Where loc) {
  return scatterInto("tensor_scatter_nd_add", x, indices, updates,
                     ReduceKind::Sum, loc);
}
Tensor tensor_scatter_nd_sub(const Tensor &x, const Tensor &indices,
                             const Tensor &updates, Where loc) {
  constexpr std::string_view op = "tensor_scatter_nd_sub";
  nodeOf(updates, op, &loc);
  if (updates.dtype() == DType::I1)
    fail(op, fmt::format("expected numbers, got {}", typeText(updates)), &loc);
  return scatterInto(op, x, indices, negative(updates, loc), ReduceKind::Sum,
                     loc);
}
Tensor tensor_scatter_nd_max(const Tensor &x, const Tensor &indices,
                             const Tensor &updates, Where loc) {
  return scatterInto("tensor_scatter_nd_max", x, indices, updates,
                     ReduceKind::Max, loc);
}
Tensor tensor_scatter_nd_min(const Tensor &x, const Tensor &indices,
                             const Tensor &updates, Where loc) {
  return scatterInto("tensor_scatter_nd_min", x, indices, updates,
                     ReduceKind::Min, loc);
}

Tensor scatter_nd(const Tensor &indices, const Tensor &updates, Shape shape,
                  Where loc) {
  constexpr std::string_view op = "scatter_nd";
  nodeOf(updates, op, &loc);
  for (int64_t extent : shape)
    if (extent < 0)
      fail(op,
           fmt::format("expected extents of at least 0, got {}",
                       shapeText(shape)),
           &loc);
  return scatterInto(op, zeros(std::move(shape), updates.dtype(), loc), indices,
                     updates, ReduceKind::Sum, loc);
}

Tensor dynamic_slice(const Tensor &x, const std::vector<TensorLike> &starts,
                     Shape sizes, Where loc) {
  constexpr std::string_view op = "dynamic_slice";
  nodeOf(x, op, &loc);
  std::vector<Tensor> operands = startsOf(op, x, starts, loc);
  bool fits = sizes.size() == x.shape().size();
  for (size_t d = 0; fits && d < sizes.size(); ++d)
    fits = sizes[d] >= 0 && sizes[d] <= x.shape()[d];
  if (!fits)
    fail(op,
         fmt::format("expected a size for each dim of {}, at most its extent, "
                     "got {}",
                     typeText(x), shapeText(sizes)),
         &loc);
  operands.insert(operands.begin(), x);
  OpCall call = callOf(op, std::move(operands), loc);
  call.setBody(
      [](Emitter &e, ArrayRef<Value> operands, const auto &sizes) {
        return one(e.create<dtensor::DynamicSliceOp>(
            e.getLoc(), operands[0], operands.drop_front(), sizes));
      },
      sizes);
  return runOp(std::move(call));
}

Tensor dynamic_update_slice(const Tensor &x, const Tensor &update,
                            const std::vector<TensorLike> &starts, Where loc) {
  constexpr std::string_view op = "dynamic_update_slice";
  nodeOf(x, op, &loc);
  nodeOf(update, op, &loc);
  bool fits = update.dtype() == x.dtype() && update.rank() == x.rank();
  for (size_t d = 0; fits && d < x.shape().size(); ++d)
    fits = update.shape()[d] <= x.shape()[d];
  if (!fits)
    fail(op,
         fmt::format("expected an update that fits into {}, got {}",
                     typeText(x), typeText(update)),
         &loc);
  std::vector<Tensor> operands = startsOf(op, x, starts, loc);
  operands.insert(operands.begin(), {x, update});
  OpCall call = callOf(op, std::move(operands), loc);
  call.setBody([](Emitter &e, ArrayRef<Value> operands) {
    return one(e.create<dtensor::DynamicUpdateSliceOp>(
        e.getLoc(), operands[0], operands[1], operands.drop_front(2)));
  });
  return runOp(std::move(call));
}

Tensor sort(const Tensor &x, int64_t axis, bool descending, Where loc) {
  expectOrdered(x, "sort", loc);
  axis = axisOf(axis, x.rank(), "sort", loc);
  OpCall call = callOf("sort", {x}, loc);
  call.setBody(
      [](Emitter &e, ArrayRef<Value> operands, const auto &axis,
         const auto &descending) {
        return sorted(e, operands, axis, descending);
      },
      axis, descending);
  return runOp(std::move(call));
}

Tensor argsort(const Tensor &x, int64_t axis, bool descending, DType type,
               Where loc) {
  constexpr std::string_view op = "argsort";
  expectOrdered(x, op, loc);
  axis = axisOf(axis, x.rank(), op, loc);
  if (type != DType::I32 && type != DType::I64)
    fail(op,
         fmt::format("expected indices of type i32 or i64, got {}", name(type)),
         &loc);
  OpCall call = callOf(op, {x}, loc);
  call.setBody(
      [](Emitter &e, ArrayRef<Value> operands, const auto &axis,
         const auto &type, const auto &descending) {
        Value places = e.iota(e.shape(operands[0]), axis,
                              dtensor::typeOf(e.getContext(), type));
        return one(sorted(e, {operands[0], places}, axis, descending)[1]);
      },
      axis, type, descending);
  return runOp(std::move(call));
}

TopK top_k(const Tensor &x, int64_t k, Where loc) {
  constexpr std::string_view op = "top_k";
  expectOrdered(x, op, loc);
  if (k < 0)
    fail(op, fmt::format("expected a k of 0 or more, got {}", k), &loc);
  if (x.rank() == 0 || k > x.shape().back())
    fail(op,
         fmt::format("expected at least {} elements along the last dim, got {}",
                     k, typeText(x)),
         &loc);
  OpCall call = callOf(op, {x}, loc);
  call.setBody(
      [](Emitter &e, ArrayRef<Value> operands, const auto &k) {
        auto top = e.create<dtensor::TopKOp>(e.getLoc(), operands[0], k);
        return SmallVector<Value>{top.getValues(), top.getIndices()};
      },
      k);
  std::vector<Tensor> results = runOps(std::move(call));
  return {results[0], results[1]};
}

} // namespace meshloom
