// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Ragged tensors: rows found by running counts and scatters; see Ragged.h.
#include "meshloom/API/Ragged.h"

#include "IndexedElements.h"
#include "Operands.h"
#include "meshloom/API/Function.h"
#include "meshloom/API/IndexOps.h"
#include "meshloom/API/Segments.h"
#include "meshloom/API/Selection.h"
#include "meshloom/API/WindowOps.h"

#include <fmt/format.h>

#include <ostream>

namespace meshloom {
using namespace detail;

namespace {

/// Throws where the two tensors do not fit each other.
void expectRagged(const RaggedTensor &x, std::string_view op, Where loc) {
  nodeOf(x.values, op, &loc);
  nodeOf(x.row_splits, op, &loc);
  if (x.values.rank() < 1 || x.row_splits.rank() != 1 ||
      x.row_splits.shape()[0] < 1 || x.row_splits.dtype() != DType::I64)
    fail(op,
         fmt::format("expected a ragged tensor of values [n, ...] and i64 "
                     "splits [rows + 1], got {} and {}: make it with "
                     "RaggedTensor::from_row_splits",
                     typeText(x.values), typeText(x.row_splits)),
         &loc);
}

void expectVector(const Tensor &values, const Tensor &vector,
                  std::string_view wanted, std::string_view op, Where loc) {
  nodeOf(values, op, &loc);
  nodeOf(vector, op, &loc);
  if (values.rank() < 1 || vector.rank() != 1 || !isInteger(vector.dtype()))
    fail(op,
         fmt::format("expected values [n, ...] and integers {}, got {} and {}",
                     wanted, typeText(values), typeText(vector)),
         &loc);
}

/// Outside of functions: throws where splits are none.
void checkSplits(const Tensor &splits, int64_t capacity, std::string_view op,
                 Where loc) {
  if (isTracing())
    return;
  const std::vector<int64_t> ends = splits.to_vector<int64_t>();
  for (size_t i = 0; i < ends.size(); ++i)
    if (ends[i] < (i ? ends[i - 1] : 0) || ends[i] > capacity ||
        (i == 0 && ends[i] != 0))
      fail(op,
           fmt::format("expected splits from 0 on that never fall, up to the "
                       "number of values, {}, got {} as split {}{}",
                       capacity, ends[i], i,
                       i ? fmt::format(" behind {}", ends[i - 1])
                         : std::string()),
           &loc);
}

/// i64 [rows + 1] of lengths.
Tensor splitsOf(const Tensor &lengths, Where loc) {
  Tensor ends = cumsum(cast(lengths, DType::I64, loc), 0, {}, loc);
  return pad(ends, {{1, 0}}, 0, loc);
}

Tensor pieceOf(const Tensor &vector, int64_t begin, int64_t size, Where loc) {
  return slice(vector, {begin}, {size}, loc);
}

/// [n] as [n, 1...] of `rank` dims.
Tensor besideValues(const Tensor &vector, int64_t rank, Where loc) {
  Shape shape(size_t(std::max<int64_t>(rank, 1)), 1);
  shape[0] = vector.shape()[0];
  return reshape(vector, shape, loc);
}

/// The scalar, in the type of `like`.
Tensor scalarLike(double number, DType type, std::string_view op, Where loc) {
  const TensorLike value = type == DType::I1 ? TensorLike(number != 0, loc)
                                             : TensorLike(number, loc);
  return operandLike(value, type, op);
}

int64_t longestRow(const RaggedTensor &x, Where loc) {
  return x.nrows() == 0 ? 0
                        : reduce_max(x.row_lengths(loc), Axis(), false, loc)
                              .item<int64_t>();
}

} // namespace

RaggedTensor RaggedTensor::from_row_splits(const Tensor &values,
                                           const Tensor &row_splits,
                                           Where loc) {
  constexpr std::string_view op = "from_row_splits";
  const CallName name(op);
  expectVector(values, row_splits, "[rows + 1]", op, loc);
  RaggedTensor result{values, cast(row_splits, DType::I64, loc)};
  expectRagged(result, op, loc);
  checkSplits(result.row_splits, values.shape()[0], op, loc);
  return result;
}

RaggedTensor RaggedTensor::from_row_lengths(const Tensor &values,
                                            const Tensor &row_lengths,
                                            Where loc) {
  constexpr std::string_view op = "from_row_lengths";
  const CallName name(op);
  expectVector(values, row_lengths, "[rows]", op, loc);
  RaggedTensor result{values, splitsOf(row_lengths, loc)};
  checkSplits(result.row_splits, values.shape()[0], op, loc);
  return result;
}

RaggedTensor RaggedTensor::from_value_rowids(const Tensor &values,
                                             const Tensor &value_rowids,
                                             std::optional<int64_t> nrows,
                                             Where loc) {
  constexpr std::string_view op = "from_value_rowids";
  const CallName name(op);
  expectVector(values, value_rowids, "[n]", op, loc);
  if (value_rowids.shape()[0] != values.shape()[0])
    fail(op,
         fmt::format("expected a row for each value, got {} and {}",
                     typeText(values), typeText(value_rowids)),
         &loc);
  Tensor ids = cast(value_rowids, DType::I64, loc);
  const int64_t count = ids.shape()[0];
  const int64_t rows = sizeOr(nrows, "nrows", op, loc, [&] {
    return count == 0 ? int64_t(0)
                      : pieceOf(ids, count - 1, 1, loc).item<int64_t>() + 1;
  });
  if (!isTracing()) {
    const std::vector<int64_t> rowIds = ids.to_vector<int64_t>();
    for (size_t i = 0; i < rowIds.size(); ++i)
      if (rowIds[i] < (i ? rowIds[i - 1] : 0) || rowIds[i] > rows)
        fail(op,
             fmt::format("expected rows from 0 to {} in rising order, and {} "
                         "for padding, got {} as row id {}",
                         rows - 1, rows, rowIds[i], i),
             &loc);
  }
  Tensor lengths = segment_sum(ones({count}, DType::I64, loc), ids, rows, loc);
  return {values, splitsOf(lengths, loc)};
}

RaggedTensor RaggedTensor::from_tensor(const Tensor &x, const Tensor &lengths,
                                       std::optional<int64_t> capacity,
                                       Where loc) {
  constexpr std::string_view op = "from_tensor";
  const CallName name(op);
  if (nodeOf(x, op, &loc).shape.size() < 2)
    fail(op,
         fmt::format("expected a tensor [rows, length, ...], got {}",
                     typeText(x)),
         &loc);
  const int64_t rows = x.shape()[0], length = x.shape()[1];
  Shape flat(x.shape().begin() + 1, x.shape().end());
  flat[0] = rows * length;
  Tensor values = reshape(x, flat, loc);
  if (!lengths.defined()) {
    Tensor splits =
        multiply({iota({rows + 1}, 0, DType::I64, loc), loc}, {length, loc});
    RaggedTensor ragged{values, splits};
    if (!capacity || *capacity == flat[0])
      return ragged;
    return ragged.gather(iota({rows}, 0, DType::I64, loc), capacity, loc);
  }
  nodeOf(lengths, op, &loc);
  if (lengths.shape() != Shape{rows} || !isInteger(lengths.dtype()))
    fail(op,
         fmt::format("expected a length for each of {} rows, got {}", rows,
                     typeText(lengths)),
         &loc);
  const int64_t room =
      sizeOr(capacity, "a capacity", op, loc, [&] { return flat[0]; });
  Tensor inside = clip_by_value({cast(lengths, DType::I64, loc), loc}, {0, loc},
                                {length, loc});
  Tensor isValue = less({iota({rows, length}, 1, DType::I64, loc), loc},
                        {expand_dims(inside, 1, loc), loc});
  Tensor elements =
      boolean_mask(values, reshape(isValue, {-1}, loc), room, 0, 0, loc);
  Tensor splits = minimum({splitsOf(inside, loc), loc}, {room, loc});
  return {elements, splits};
}

int64_t RaggedTensor::nrows() const {
  expectRagged(*this, "nrows", Where::current());
  return row_splits.shape()[0] - 1;
}

Tensor RaggedTensor::row_starts(Where loc) const {
  expectRagged(*this, "row_starts", loc);
  return pieceOf(row_splits, 0, nrows(), loc);
}
Tensor RaggedTensor::row_limits(Where loc) const {
  expectRagged(*this, "row_limits", loc);
  return pieceOf(row_splits, 1, nrows(), loc);
}
Tensor RaggedTensor::row_lengths(Where loc) const {
  return subtract({row_limits(loc), loc}, {row_starts(loc), loc});
}

Tensor RaggedTensor::value_rowids(Where loc) const {
  const CallName name("value_rowids");
  expectRagged(*this, "value_rowids", loc);
  const int64_t capacity = values.shape()[0];
  // At each place where rows end, so many begin: a running count tells the row.
  Tensor ended = segment_sum(ones({nrows()}, DType::I64, loc), row_limits(loc),
                             capacity, loc);
  return cumsum(ended, 0, {}, loc);
}

Tensor RaggedTensor::is_value(Where loc) const {
  const CallName name("is_value");
  expectRagged(*this, "is_value", loc);
  Tensor end = reshape(pieceOf(row_splits, nrows(), 1, loc), {}, loc);
  return less({iota({values.shape()[0]}, 0, DType::I64, loc), loc}, {end, loc});
}

Tensor RaggedTensor::mask(std::optional<int64_t> length, Where loc) const {
  const CallName name("mask");
  expectRagged(*this, "mask", loc);
  const int64_t columns = sizeOr(length, "a length", "mask", loc,
                                 [&] { return longestRow(*this, loc); });
  return less({iota({nrows(), columns}, 1, DType::I64, loc), loc},
              {expand_dims(row_lengths(loc), 1, loc), loc});
}

Tensor RaggedTensor::to_tensor(double default_value,
                               std::optional<int64_t> length, Where loc) const {
  constexpr std::string_view op = "to_tensor";
  const CallName name(op);
  expectRagged(*this, op, loc);
  const int64_t columns = sizeOr(length, "a length", op, loc,
                                 [&] { return longestRow(*this, loc); });
  Shape shape = values.shape();
  shape[0] = columns;
  shape.insert(shape.begin(), nrows());
  Tensor filler = scalarLike(default_value, values.dtype(), op, loc);
  if (values.shape()[0] == 0 || nrows() == 0 || columns == 0)
    return broadcast_to(filler, shape, loc);
  Tensor place = add({expand_dims(row_starts(loc), 1, loc), loc},
                     {iota({nrows(), columns}, 1, DType::I64, loc), loc});
  Shape maskShape(shape.size(), 1);
  maskShape[0] = nrows();
  maskShape[1] = columns;
  return where({reshape(mask(columns, loc), maskShape, loc), loc},
               {gatherClamped(values, place, 0, loc), loc}, {filler, loc});
}

RaggedTensor RaggedTensor::with_values(const Tensor &flat_values,
                                       Where loc) const {
  constexpr std::string_view op = "with_values";
  expectRagged(*this, op, loc);
  nodeOf(flat_values, op, &loc);
  if (flat_values.rank() < 1 || flat_values.shape()[0] != values.shape()[0])
    fail(op,
         fmt::format("expected {} values as before, got {}", values.shape()[0],
                     typeText(flat_values)),
         &loc);
  return {flat_values, row_splits};
}

Tensor RaggedTensor::row(int64_t i, Where loc) const {
  constexpr std::string_view op = "row";
  expectRagged(*this, op, loc);
  if (isTracing())
    fail(op,
         "expected to be called outside of a function, where the length of the "
         "row is known: use to_tensor, or gather with a capacity",
         &loc);
  if (i < -nrows() || i >= nrows())
    fail(
        op,
        fmt::format("expected a row in [{}, {}), got {}", -nrows(), nrows(), i),
        &loc);
  const int64_t row = i < 0 ? i + nrows() : i;
  const std::vector<int64_t> ends =
      pieceOf(row_splits, row, 2, loc).to_vector<int64_t>();
  Shape begin(values.shape().size(), 0), size = values.shape();
  begin[0] = ends[0];
  size[0] = ends[1] - ends[0];
  return slice(values, begin, size, loc);
}

RaggedTensor RaggedTensor::gather(const Tensor &rows,
                                  std::optional<int64_t> capacity,
                                  Where loc) const {
  constexpr std::string_view op = "gather";
  const CallName name(op);
  expectRagged(*this, op, loc);
  expectVector(values, rows, "[rows]", op, loc);
  if (nrows() == 0)
    fail(op, "expected a ragged tensor that has rows", &loc);
  Tensor lengths = meshloom::gather(row_lengths(loc), rows, 0, 0, loc);
  Tensor splits = splitsOf(lengths, loc);
  const int64_t count = rows.shape()[0];
  const int64_t room = sizeOr(capacity, "a capacity", op, loc, [&] {
    return pieceOf(splits, count, 1, loc).item<int64_t>();
  });
  Shape shape = values.shape();
  shape[0] = room;
  splits = minimum({splits, loc}, {room, loc});
  RaggedTensor result{zeros(shape, values.dtype(), loc), splits};
  if (room == 0 || count == 0 || values.shape()[0] == 0)
    return result;
  // Value k of the result is as far into its row as it was before.
  Tensor row = result.value_rowids(loc);
  Tensor start =
      gatherClamped(row_starts(loc), gatherClamped(rows, row, 0, loc), 0, loc);
  Tensor into =
      subtract({iota({room}, 0, DType::I64, loc), loc},
               {gatherClamped(result.row_starts(loc), row, 0, loc), loc});
  Tensor picked = gatherClamped(values, add({start, loc}, {into, loc}), 0, loc);
  result.values =
      where({besideValues(result.is_value(loc), values.rank(), loc), loc},
            {picked, loc}, {scalarLike(0, values.dtype(), op, loc), loc});
  return result;
}

RaggedTensor
ragged::map_flat_values(const RaggedTensor &x,
                        const std::function<Tensor(const Tensor &)> &f,
                        Where loc) {
  expectRagged(x, "map_flat_values", loc);
  return x.with_values(f(x.values), loc);
}

RaggedTensor ragged::concat(const std::vector<RaggedTensor> &parts, Where loc) {
  constexpr std::string_view op = "concat";
  const CallName name(op);
  if (parts.empty())
    fail(op, "expected ragged tensors, got none", &loc);
  std::vector<Tensor> values, lengths, areValues;
  for (const RaggedTensor &part : parts) {
    expectRagged(part, op, loc);
    values.push_back(part.values);
    lengths.push_back(part.row_lengths(loc));
    areValues.push_back(part.is_value(loc));
  }
  Tensor joined = meshloom::concat(values, 0, loc);
  // Padding of parts lies between values of others: it goes behind them.
  Tensor elements = boolean_mask(joined, meshloom::concat(areValues, 0, loc),
                                 joined.shape()[0], 0, 0, loc);
  return {elements, splitsOf(meshloom::concat(lengths, 0, loc), loc)};
}

RaggedTensor ragged::softmax(const RaggedTensor &x, Where loc) {
  const CallName name("softmax");
  expectRagged(x, "softmax", loc);
  return x.with_values(
      segment_softmax(x.values, x.value_rowids(loc), x.nrows(), loc), loc);
}

/// `reduces` of the values of each row.
static Tensor reduceRows(std::string_view op, const RaggedTensor &x,
                         int64_t axis,
                         Tensor (*reduces)(const Tensor &, const Tensor &,
                                           std::optional<int64_t>, Where),
                         Where loc) {
  const CallName name(op);
  expectRagged(x, op, loc);
  if (axis != 1)
    fail(op,
         fmt::format("expected axis 1, along the rows of the ragged tensor, "
                     "got {}: to_tensor returns a tensor with all axes",
                     axis),
         &loc);
  return reduces(x.values, x.value_rowids(loc), x.nrows(), loc);
}

Tensor reduce_sum(const RaggedTensor &x, int64_t axis, Where loc) {
  return reduceRows("reduce_sum", x, axis, segment_sum, loc);
}
Tensor reduce_mean(const RaggedTensor &x, int64_t axis, Where loc) {
  return reduceRows("reduce_mean", x, axis, segment_mean, loc);
}
Tensor reduce_max(const RaggedTensor &x, int64_t axis, Where loc) {
  return reduceRows("reduce_max", x, axis, segment_max, loc);
}
Tensor reduce_min(const RaggedTensor &x, int64_t axis, Where loc) {
  return reduceRows("reduce_min", x, axis, segment_min, loc);
}
Tensor reduce_prod(const RaggedTensor &x, int64_t axis, Where loc) {
  return reduceRows("reduce_prod", x, axis, segment_prod, loc);
}

std::ostream &operator<<(std::ostream &stream, const RaggedTensor &x) {
  const bool hasValues = x.values.defined() && x.row_splits.defined() &&
                         !x.values.is_traced() && !x.row_splits.is_traced();
  if (!hasValues)
    return stream << "RaggedTensor(values=" << x.values
                  << ", row_splits=" << x.row_splits << ")";
  stream << "RaggedTensor[";
  for (int64_t i = 0; i < x.nrows(); ++i)
    stream << (i ? ",\n " : "\n ") << x.row(i);
  return stream << "]";
}

} // namespace meshloom
