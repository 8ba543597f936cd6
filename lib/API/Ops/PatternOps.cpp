// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Diagonals, progressions, grids and copies, made of iota, comparisons and
// broadcasts; see PatternOps.h.
#include "meshloom/API/PatternOps.h"

#include "Operands.h"
#include "meshloom/API/Create.h"
#include "meshloom/API/IndexOps.h"

#include <fmt/format.h>

#include <cmath>

namespace meshloom {
using namespace detail;

namespace {

/// column - row, i32 [rows, columns].
Tensor diagonals(int64_t rows, int64_t columns, std::string_view op,
                 Where loc) {
  if (rows < 0 || columns < 0 || rows > INT32_MAX || columns > INT32_MAX)
    fail(op,
         fmt::format("expected numbers of rows and columns of at least 0, got "
                     "{} and {}",
                     rows, columns),
         &loc);
  Shape shape{rows, columns};
  return subtract({iota(shape, 1, DType::I32, loc), loc},
                  {iota(shape, 0, DType::I32, loc), loc});
}

/// Beyond every diagonal of a matrix all are alike.
int64_t inRange(int64_t diagonal) {
  return std::clamp<int64_t>(diagonal, INT32_MIN, INT32_MAX);
}

Tensor triangle(const Tensor &x, int64_t k, bool isLower, std::string_view op,
                Where loc) {
  const Shape &shape = nodeOf(x, op, &loc).shape;
  if (shape.size() < 2)
    fail(op, fmt::format("expected matrices [..., m, n], got {}", typeText(x)),
         &loc);
  Tensor place = diagonals(shape[shape.size() - 2], shape.back(), op, loc);
  TensorLike diagonal(inRange(k), loc);
  Tensor keeps = isLower ? less_equal({place, loc}, diagonal)
                         : greater_equal({place, loc}, diagonal);
  TensorLike zero =
      x.dtype() == DType::I1 ? TensorLike(false, loc) : TensorLike(0, loc);
  return where({keeps, loc}, {x, loc}, zero);
}

} // namespace

Tensor eye(int64_t rows, std::optional<int64_t> columns, int64_t k, DType type,
           Where loc) {
  Tensor place = diagonals(rows, columns.value_or(rows), "eye", loc);
  return cast(equal({place, loc}, {inRange(k), loc}), type, loc);
}

Tensor tri(int64_t rows, std::optional<int64_t> columns, int64_t k, DType type,
           Where loc) {
  Tensor place = diagonals(rows, columns.value_or(rows), "tri", loc);
  return cast(less_equal({place, loc}, {inRange(k), loc}), type, loc);
}

Tensor tril(const Tensor &x, int64_t k, Where loc) {
  return triangle(x, k, true, "tril", loc);
}

Tensor triu(const Tensor &x, int64_t k, Where loc) {
  return triangle(x, k, false, "triu", loc);
}

Tensor arange(double start, double stop, double step, DType type, Where loc) {
  constexpr std::string_view op = "arange";
  const double count = std::ceil((stop - start) / step);
  // Also where one of them is nan.
  if (step == 0 || !(std::abs(count) < 0x1p40))
    fail(op,
         fmt::format("expected numbers and a step that reaches the end, got "
                     "from {} to {} by {}",
                     start, stop, step),
         &loc);
  if (type == DType::I1)
    fail(op, "expected a number type, got i1", &loc);
  Shape shape{std::max<int64_t>(int64_t(count), 0)};
  auto isInt = [](double x) { return x == std::floor(x); };
  if (isInteger(type)) {
    if (!isInt(start) || !isInt(step))
      fail(op,
           fmt::format("expected whole numbers for {}, got from {} by {}",
                       name(type), start, step),
           &loc);
    DType wide = byteWidth(type) == 8 ? DType::I64 : DType::I32;
    Tensor places = multiply({iota(shape, 0, wide, loc), loc}, {step, loc});
    return cast(add({places, loc}, {start, loc}), type, loc);
  }
  // Counted in a type that holds the counts.
  DType wide =
      type == DType::F64 || type == DType::C128 ? DType::F64 : DType::F32;
  Tensor places = cast(iota(shape, 0, DType::I64, loc), wide, loc);
  places = multiply({places, loc}, {step, loc});
  return cast(add({places, loc}, {start, loc}), type, loc);
}

Tensor arange(double stop, DType type, Where loc) {
  return arange(0, stop, 1, type, loc);
}

Tensor linspace(double start, double stop, int64_t count, DType type,
                Where loc) {
  constexpr std::string_view op = "linspace";
  if (count < 0 || !isFloat(type))
    fail(op,
         fmt::format("expected a count of at least 0 and a float type, got {} "
                     "and {}",
                     count, name(type)),
         &loc);
  // Each end counts by its share, so that both are exact.
  DType wide = type == DType::F64 ? DType::F64 : DType::F32;
  Tensor place = iota({count}, 0, DType::I64, loc);
  auto share = [&](const Tensor &steps) {
    return divide({cast(steps, wide, loc), loc},
                  {double(std::max<int64_t>(count - 1, 1)), loc});
  };
  Tensor up = multiply({share(place), loc}, {stop, loc});
  Tensor back = subtract({std::max<int64_t>(count - 1, 1), loc}, {place, loc});
  Tensor down = multiply({share(back), loc}, {start, loc});
  return cast(add({down, loc}, {up, loc}), type, loc);
}

Tensor diagonal(const Tensor &x, int64_t k, int64_t axis1, int64_t axis2,
                Where loc) {
  constexpr std::string_view op = "diagonal";
  const int64_t rank = int64_t(nodeOf(x, op, &loc).shape.size());
  k = inRange(k);
  if (rank < 2)
    fail(op,
         fmt::format("expected a tensor of two dims or more, got {}",
                     typeText(x)),
         &loc);
  axis1 = axisOf(axis1, rank, op, loc);
  axis2 = axisOf(axis2, rank, op, loc);
  if (axis1 == axis2)
    fail(op, fmt::format("expected two dims, got dim {} twice", axis1), &loc);
  const int64_t rows = x.shape()[size_t(axis1)],
                columns = x.shape()[size_t(axis2)];
  const int64_t row = k < 0 ? std::min(-k, rows) : 0,
                column = k < 0 ? 0 : std::min(k, columns);
  const int64_t count = std::min(rows - row, columns - column);
  std::vector<int64_t> sizes = x.shape(), offsets;
  sizes[size_t(axis1)] = sizes[size_t(axis2)] = 1;
  for (int64_t d = 0; d < rank - 2; ++d)
    offsets.push_back(d);
  if (count == 0) { // nothing that an index could be of
    Shape none;
    for (int64_t d = 0; d < rank; ++d)
      if (d != axis1 && d != axis2)
        none.push_back(x.shape()[size_t(d)]);
    none.push_back(0);
    return zeros(none, x.dtype(), loc);
  }
  OpCall call = callOf(op, {x}, loc);
  call.setBody(
      [](Emitter &e, ArrayRef<Value> operands, const auto &count,
         const auto &row, const auto &column, const auto &axis1,
         const auto &axis2, const auto &offsets, const auto &sizes) {
        Type integer = e.getI64Type();
        auto from = [&](int64_t first) {
          const int64_t shape[] = {count, 1};
          return e.add(e.iota(shape, 0, integer),
                       e.number(integer, first, shape));
        };
        Value places = e.concatenate({from(row), from(column)}, 1);
        const std::vector<int64_t> dims{std::min(axis1, axis2),
                                        std::max(axis1, axis2)};
        return one(e.create<dtensor::GatherOp>(
            e.getLoc(), operands[0], places, offsets, dims, ArrayRef<int64_t>(),
            ArrayRef<int64_t>(), ArrayRef<int64_t>{axis1, axis2}, 1, sizes));
      },
      count, row, column, axis1, axis2, offsets, sizes);
  return runOp(std::move(call));
}

Tensor diag(const Tensor &x, int64_t k, Where loc) {
  constexpr std::string_view op = "diag";
  const CallName name(op);
  const Shape &shape = nodeOf(x, op, &loc).shape;
  if (shape.size() == 2)
    return diagonal(x, k, 0, 1, loc);
  if (shape.size() != 1)
    fail(op, fmt::format("expected a vector or a matrix, got {}", typeText(x)),
         &loc);
  k = inRange(k);
  // Above the main one row i has element i, below it column j element j.
  const int64_t n = shape[0] + std::abs(k);
  Tensor elements = pad(x, {{0, std::abs(k)}}, 0, loc);
  Tensor lines =
      broadcast_to(expand_dims(elements, k >= 0 ? 1 : 0, loc), {n, n}, loc);
  Tensor onDiagonal =
      equal({add({iota({n, n}, 0, DType::I64, loc), loc}, {k, loc}), loc},
            {iota({n, n}, 1, DType::I64, loc), loc});
  return where({onDiagonal, loc}, {lines, loc},
               {zeros({}, x.dtype(), loc), loc});
}

Tensor kron(const Tensor &x, const Tensor &y, Where loc) {
  constexpr std::string_view op = "kron";
  const CallName name(op);
  Shape lhs = nodeOf(x, op, &loc).shape, rhs = nodeOf(y, op, &loc).shape;
  const size_t rank = std::max(lhs.size(), rhs.size());
  lhs.insert(lhs.begin(), rank - lhs.size(), 1);
  rhs.insert(rhs.begin(), rank - rhs.size(), 1);
  Shape outer, inner, joined;
  for (size_t d = 0; d < rank; ++d) {
    outer.insert(outer.end(), {lhs[d], 1});
    inner.insert(inner.end(), {1, rhs[d]});
    joined.push_back(lhs[d] * rhs[d]);
  }
  return reshape(
      multiply({reshape(x, outer, loc), loc}, {reshape(y, inner, loc), loc}),
      joined, loc);
}

std::vector<Tensor> meshgrid(const std::vector<Tensor> &vectors,
                             std::string_view indexing, Where loc) {
  constexpr std::string_view op = "meshgrid";
  if (indexing != "xy" && indexing != "ij")
    fail(
        op,
        fmt::format("expected indexing \"xy\" or \"ij\", got \"{}\"", indexing),
        &loc);
  Shape shape;
  for (const Tensor &vector : vectors) {
    if (nodeOf(vector, op, &loc).shape.size() != 1)
      fail(op, fmt::format("expected vectors [n], got {}", typeText(vector)),
           &loc);
    shape.push_back(vector.shape()[0]);
  }
  auto dimOf = [&](size_t i) {
    return indexing == "xy" && i < 2 && vectors.size() > 1 ? 1 - i : i;
  };
  if (dimOf(0) == 1)
    std::swap(shape[0], shape[1]);
  std::vector<Tensor> grids;
  for (size_t i = 0; i < vectors.size(); ++i) {
    Shape vectorShape(vectors.size(), 1);
    vectorShape[dimOf(i)] = vectors[i].shape()[0];
    grids.push_back(
        broadcast_to(reshape(vectors[i], vectorShape, loc), shape, loc));
  }
  return grids;
}

Tensor tile(const Tensor &x, const std::vector<int64_t> &counts, Where loc) {
  constexpr std::string_view op = "tile";
  Shape shape = nodeOf(x, op, &loc).shape;
  std::vector<int64_t> times(counts);
  for (int64_t count : counts)
    if (count < 0)
      fail(op, fmt::format("expected counts of at least 0, got {}", count),
           &loc);
  const size_t rank = std::max(shape.size(), times.size());
  shape.insert(shape.begin(), rank - shape.size(), 1);
  times.insert(times.begin(), rank - times.size(), 1);
  Shape apart, repeated, result;
  for (size_t d = 0; d < rank; ++d) {
    if (times[d] != 1) { // no dim where nothing is repeated
      apart.push_back(1);
      repeated.push_back(times[d]);
    }
    apart.push_back(shape[d]);
    repeated.push_back(shape[d]);
    result.push_back(times[d] * shape[d]);
  }
  return reshape(broadcast_to(reshape(x, apart, loc), repeated, loc), result,
                 loc);
}

Tensor repeat(const Tensor &x, int64_t count, int64_t axis, Where loc) {
  constexpr std::string_view op = "repeat";
  Shape result = nodeOf(x, op, &loc).shape;
  axis = axisOf(axis, x.rank(), op, loc);
  if (count < 0)
    fail(op, fmt::format("expected a count of at least 0, got {}", count),
         &loc);
  Shape apart(result);
  apart.insert(apart.begin() + axis + 1, 1);
  Shape repeated(apart);
  repeated[size_t(axis) + 1] = count;
  result[size_t(axis)] *= count;
  return reshape(broadcast_to(reshape(x, apart, loc), repeated, loc), result,
                 loc);
}

Tensor repeat(const Tensor &x, const std::vector<int64_t> &counts, int64_t axis,
              Where loc) {
  constexpr std::string_view op = "repeat";
  nodeOf(x, op, &loc);
  axis = axisOf(axis, x.rank(), op, loc);
  if (int64_t(counts.size()) != x.shape()[size_t(axis)])
    fail(op,
         fmt::format("expected a count for each of the {} elements along axis "
                     "{} of {}, got {}",
                     x.shape()[size_t(axis)], axis, typeText(x), counts.size()),
         &loc);
  std::vector<int32_t> from;
  for (size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] < 0)
      fail(op, fmt::format("expected counts of at least 0, got {}", counts[i]),
           &loc);
    from.insert(from.end(), size_t(counts[i]), int32_t(i));
  }
  if (from.empty()) {
    Shape end = x.shape();
    end[size_t(axis)] = 0;
    return strided_slice(x, Shape(end.size(), 0), end, Shape(end.size(), 1),
                         loc);
  }
  return gather(x, tensor(from, {int64_t(from.size())}, loc), axis, 0, loc);
}

} // namespace meshloom
