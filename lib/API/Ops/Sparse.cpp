// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sparse tensors: products, sums and conversions as gathers and scatters of
// their entries; see Sparse.h.
#include "meshloom/API/Sparse.h"

#include "IndexedElements.h"
#include "Operands.h"
#include "meshloom/API/Create.h"
#include "meshloom/API/IndexOps.h"
#include "meshloom/API/Ragged.h"
#include "meshloom/API/Segments.h"
#include "meshloom/API/Selection.h"
#include "meshloom/API/WindowOps.h"

#include <fmt/format.h>

#include <ostream>

namespace meshloom {
using namespace detail;

namespace sparse {
namespace {

void expectSparse(const SparseTensor &x, std::string_view op, Where loc) {
  nodeOf(x.indices, op, &loc);
  nodeOf(x.values, op, &loc);
  checkShape(x.dense_shape, op, loc);
  if (x.values.rank() != 1 || !isInteger(x.indices.dtype()) ||
      x.indices.shape() != Shape{x.values.shape()[0], x.rank()})
    fail(op,
         fmt::format("expected a sparse tensor of integer indices [entries, "
                     "{}], values [entries] and the shape {}, got {} and {}",
                     x.rank(), shapeText(x.dense_shape), typeText(x.indices),
                     typeText(x.values)),
         &loc);
}

void expectMatrix(const SparseTensor &x, std::string_view op, Where loc) {
  expectSparse(x, op, loc);
  if (x.rank() != 2)
    fail(op,
         fmt::format("expected a sparse matrix, got the shape {}",
                     shapeText(x.dense_shape)),
         &loc);
}

void expectRows(const CSRMatrix &x, std::string_view op, Where loc) {
  nodeOf(x.values, op, &loc);
  nodeOf(x.column_indices, op, &loc);
  nodeOf(x.row_splits, op, &loc);
  checkShape(x.dense_shape, op, loc);
  if (x.dense_shape.size() != 2 || x.values.rank() != 1 ||
      !isInteger(x.column_indices.dtype()) ||
      x.column_indices.shape() != x.values.shape() ||
      x.row_splits.dtype() != DType::I64 ||
      x.row_splits.shape() != Shape{x.dense_shape[0] + 1})
    fail(op,
         fmt::format("expected values [entries], integer columns [entries] and "
                     "i64 splits [rows + 1] of a matrix {}, got {}, {} and {}",
                     shapeText(x.dense_shape), typeText(x.values),
                     typeText(x.column_indices), typeText(x.row_splits)),
         &loc);
}

/// i64 [entries]: dim `d` of the indices.
Tensor indexOf(const SparseTensor &x, int64_t d, Where loc) {
  Tensor column = slice(x.indices, {0, d}, {x.values.shape()[0], 1}, loc);
  return cast(reshape(column, {-1}, loc), DType::I64, loc);
}

/// i1 [entries]: false for padding.
Tensor isEntry(const SparseTensor &x, Where loc) {
  Tensor isInside = broadcast_to(tensor(true, loc), {x.values.shape()[0]}, loc);
  for (int64_t d = 0; d < x.rank(); ++d) {
    Tensor index = indexOf(x, d, loc);
    Tensor isIn =
        logical_and({greater_equal({index, loc}, {0, loc}), loc},
                    {less({index, loc}, {x.dense_shape[size_t(d)], loc}), loc});
    isInside = logical_and({isInside, loc}, {isIn, loc});
  }
  return isInside;
}

/// i64 [entries]: the place in a row-major array over `dims`; their number of
/// elements for padding.
Tensor flatIndex(const SparseTensor &x, std::span<const int64_t> dims,
                 Where loc) {
  int64_t count = 1;
  Tensor place = zeros({x.values.shape()[0]}, DType::I64, loc);
  for (int64_t d : dims) {
    const int64_t extent = x.dense_shape[size_t(d)];
    place =
        meshloom::add({meshloom::multiply({place, loc}, {extent, loc}), loc},
                      {indexOf(x, d, loc), loc});
    count *= extent;
  }
  return where({isEntry(x, loc), loc}, {place, loc}, {count, loc});
}

/// [entries, rank] of places in a row-major array of `shape`; behind its end:
/// indices out of range.
Tensor indicesOf(const Tensor &places, const Shape &shape, Where loc) {
  if (shape.empty())
    return zeros({places.shape()[0], 0}, DType::I64, loc);
  const int64_t count = elementCount(shape);
  Tensor isThere = less({places, loc}, {count, loc}), rest = places;
  std::vector<Tensor> columns(shape.size());
  for (size_t d = shape.size(); d-- > 0;) {
    const int64_t extent = std::max<int64_t>(shape[d], 1);
    columns[d] =
        where({isThere, loc}, {remainder({rest, loc}, {extent, loc}), loc},
              {shape[d], loc});
    rest = divide({rest, loc}, {extent, loc});
  }
  return stack(columns, 1, loc);
}

std::vector<int64_t> allDims(const SparseTensor &x) {
  std::vector<int64_t> dims;
  for (int64_t d = 0; d < x.rank(); ++d)
    dims.push_back(d);
  return dims;
}

/// Entries of which some became padding.
SparseTensor withPadding(const SparseTensor &x, const Tensor &keep, Where loc) {
  if (x.rank() == 0)
    return {
        x.indices,
        where({keep, loc}, {x.values, loc}, {zeros({}, x.dtype(), loc), loc}),
        x.dense_shape};
  Tensor outside = tensor(x.dense_shape, {1, x.rank()}, loc);
  return {where({expand_dims(keep, 1, loc), loc},
                {cast(x.indices, DType::I64, loc), loc}, {outside, loc}),
          x.values, x.dense_shape};
}

} // namespace

SparseTensor from_dense(const Tensor &x, std::optional<int64_t> size,
                        Where loc) {
  constexpr std::string_view op = "from_dense";
  const CallName name(op);
  const Shape shape = nodeOf(x, op, &loc).shape;
  const int64_t n = x.size();
  Tensor flat = meshloom::reshape(x, {n}, loc);
  Tensor holds =
      x.dtype() == DType::I1 ? flat : not_equal({flat, loc}, {0, loc});
  const int64_t count = sizeOr(size, "a size", op, loc, [&] {
    return meshloom::reduce_sum(holds, Axis(), false, loc).item<int64_t>();
  });
  if (n == 0)
    return {broadcast_to(tensor(shape, {1, int64_t(shape.size())}, loc),
                         {count, int64_t(shape.size())}, loc),
            zeros({count}, x.dtype(), loc), shape};
  Tensor places = placesOf(holds, count, loc);
  Tensor values = where({less({places, loc}, {n, loc}), loc},
                        {gatherClamped(flat, places, 0, loc), loc},
                        {zeros({}, x.dtype(), loc), loc});
  return {indicesOf(places, shape, loc), values, shape};
}

Tensor to_dense(const SparseTensor &x, Where loc) {
  constexpr std::string_view op = "to_dense";
  const CallName name(op);
  expectSparse(x, op, loc);
  const bool isBool = x.dtype() == DType::I1;
  Tensor values = isBool ? cast(x.values, DType::I32, loc) : x.values;
  Tensor dense = scatter_nd(x.indices, values, x.dense_shape, loc);
  return isBool ? not_equal({dense, loc}, {0, loc}) : dense;
}

Tensor to_dense(const CSRMatrix &x, Where loc) {
  return to_dense(to_coo(x, loc), loc);
}

SparseTensor to_coo(const CSRMatrix &x, Where loc) {
  constexpr std::string_view op = "to_coo";
  const CallName name(op);
  expectRows(x, op, loc);
  Tensor rows = RaggedTensor{x.values, x.row_splits}.value_rowids(loc);
  return {stack({rows, cast(x.column_indices, DType::I64, loc)}, 1, loc),
          x.values, x.dense_shape};
}

CSRMatrix to_csr(const SparseTensor &x, Where loc) {
  constexpr std::string_view op = "to_csr";
  const CallName name(op);
  expectMatrix(x, op, loc);
  Tensor row = where({isEntry(x, loc), loc}, {indexOf(x, 0, loc), loc},
                     {x.dense_shape[0], loc});
  Tensor order = argsort(row, 0, false, DType::I64, loc);
  Tensor lengths = segment_sum(ones(row.shape(), DType::I64, loc), row,
                               x.dense_shape[0], loc);
  auto sorted = [&](const Tensor &of) {
    return of.size() == 0 ? of : gatherClamped(of, order, 0, loc);
  };
  Tensor values = sorted(x.values);
  Tensor splits = pad(cumsum(lengths, 0, {}, loc), {{1, 0}}, 0, loc);
  return {values, sorted(indexOf(x, 1, loc)), splits, x.dense_shape};
}

SparseTensor reorder(const SparseTensor &x, Where loc) {
  constexpr std::string_view op = "reorder";
  const CallName name(op);
  expectSparse(x, op, loc);
  if (x.values.size() == 0)
    return x;
  Tensor order =
      argsort(flatIndex(x, allDims(x), loc), 0, false, DType::I64, loc);
  return {gatherClamped(cast(x.indices, DType::I64, loc), order, 0, loc),
          gatherClamped(x.values, order, 0, loc), x.dense_shape};
}

SparseTensor transpose(const SparseTensor &x, std::vector<int64_t> perm,
                       Where loc) {
  constexpr std::string_view op = "transpose";
  const CallName name(op);
  expectSparse(x, op, loc);
  if (perm.empty())
    for (int64_t d = x.rank(); d-- > 0;)
      perm.push_back(d);
  if (int64_t(perm.size()) != x.rank())
    fail(op,
         fmt::format("expected {} dims, one for each of {}, got {}", x.rank(),
                     shapeText(x.dense_shape), perm.size()),
         &loc);
  axesOf(perm, false, x.rank(), op, loc); // throws on repeated ones
  std::vector<Tensor> columns;
  Shape shape;
  for (int64_t &d : perm) {
    d = axisOf(d, x.rank(), op, loc);
    columns.push_back(indexOf(x, d, loc));
    shape.push_back(x.dense_shape[size_t(d)]);
  }
  return {columns.empty() ? x.indices : stack(columns, 1, loc), x.values,
          shape};
}

SparseTensor reshape(const SparseTensor &x, Shape shape, Where loc) {
  constexpr std::string_view op = "reshape";
  const CallName name(op);
  expectSparse(x, op, loc);
  const int64_t count = elementCount(x.dense_shape);
  int64_t product = 1;
  auto open = shape.end();
  for (auto extent = shape.begin(); extent != shape.end(); ++extent)
    if (*extent == -1 && open == shape.end())
      open = extent;
    else
      product *= std::max<int64_t>(*extent, -1);
  if (open != shape.end() && product > 0 && count % product == 0)
    *open = count / product;
  if (llvm::any_of(shape, [](int64_t extent) { return extent < 0; }) ||
      elementCount(shape) != count)
    fail(op,
         fmt::format("expected a shape of {} elements, as {} has, got {}",
                     count, shapeText(x.dense_shape), shapeText(shape)),
         &loc);
  return {indicesOf(flatIndex(x, allDims(x), loc), shape, loc), x.values,
          shape};
}

SparseTensor map_values(const SparseTensor &x,
                        const std::function<Tensor(const Tensor &)> &f,
                        Where loc) {
  constexpr std::string_view op = "map_values";
  expectSparse(x, op, loc);
  SparseTensor result{x.indices, f(x.values), x.dense_shape};
  nodeOf(result.values, op, &loc);
  if (result.values.shape() != x.values.shape())
    fail(op,
         fmt::format("expected a function that keeps the values' shape {}, got "
                     "{}",
                     shapeText(x.values.shape()), typeText(result.values)),
         &loc);
  return result;
}

SparseTensor retain(const SparseTensor &x, const Tensor &keep, Where loc) {
  constexpr std::string_view op = "retain";
  const CallName name(op);
  expectSparse(x, op, loc);
  nodeOf(keep, op, &loc);
  if (keep.dtype() != DType::I1 || keep.shape() != x.values.shape())
    fail(op,
         fmt::format("expected i1 {}, one for each entry, got {}",
                     shapeText(x.values.shape()), typeText(keep)),
         &loc);
  return withPadding(x, keep, loc);
}

SparseTensor add(const SparseTensor &x, const SparseTensor &y, Where loc) {
  constexpr std::string_view op = "add";
  const CallName name(op);
  expectSparse(x, op, loc);
  expectSparse(y, op, loc);
  if (x.dense_shape != y.dense_shape)
    fail(op,
         fmt::format("expected sparse tensors of one shape, got {} and {}",
                     shapeText(x.dense_shape), shapeText(y.dense_shape)),
         &loc);
  return {meshloom::concat({cast(x.indices, DType::I64, loc),
                            cast(y.indices, DType::I64, loc)},
                           0, loc),
          meshloom::concat({x.values, y.values}, 0, loc), x.dense_shape};
}

/// Throws where `x` is not a sparse tensor, or `y` is not of its shape.
static void expectOneShape(const SparseTensor &x, const Tensor &y,
                           std::string_view op, const Where &loc) {
  expectSparse(x, op, loc);
  nodeOf(y, op, &loc);
  if (y.shape() != x.dense_shape)
    fail(op,
         fmt::format("expected tensors of one shape, got {} and {}",
                     shapeText(x.dense_shape), typeText(y)),
         &loc);
}

Tensor add(const SparseTensor &x, const Tensor &y, Where loc) {
  constexpr std::string_view op = "add";
  const CallName name(op);
  expectOneShape(x, y, op, loc);
  return tensor_scatter_nd_add(y, x.indices, x.values, loc);
}

SparseTensor multiply(const SparseTensor &x, const Tensor &y, Where loc) {
  constexpr std::string_view op = "multiply";
  const CallName name(op);
  expectOneShape(x, y, op, loc);
  if (y.size() == 0)
    return x;
  Tensor flat = meshloom::reshape(y, {-1}, loc);
  Tensor elements = gatherClamped(flat, flatIndex(x, allDims(x), loc), 0, loc);
  return {x.indices, meshloom::multiply({x.values, loc}, {elements, loc}),
          x.dense_shape};
}

SparseTensor concat(const std::vector<SparseTensor> &parts, int64_t axis,
                    Where loc) {
  constexpr std::string_view op = "concat";
  const CallName name(op);
  if (parts.empty())
    fail(op, "expected sparse tensors, got none", &loc);
  axis = axisOf(axis, parts.front().rank(), op, loc);
  Shape shape = parts.front().dense_shape;
  shape[size_t(axis)] = 0;
  for (const SparseTensor &part : parts) {
    expectSparse(part, op, loc);
    Shape others = part.dense_shape;
    if (part.rank() == parts.front().rank())
      others[size_t(axis)] = shape[size_t(axis)];
    if (others != shape)
      fail(op,
           fmt::format("expected shapes that differ in dim {} only, got {} and "
                       "{}",
                       axis, shapeText(parts.front().dense_shape),
                       shapeText(part.dense_shape)),
           &loc);
    shape[size_t(axis)] += part.dense_shape[size_t(axis)];
  }
  Shape offset(shape.size(), 0);
  std::vector<Tensor> indices, values;
  for (const SparseTensor &part : parts) {
    Tensor moved = meshloom::add({cast(part.indices, DType::I64, loc), loc},
                                 {tensor(offset, {1, part.rank()}, loc), loc});
    // Padding of one part is no place of the next one.
    Tensor outside = tensor(shape, {1, part.rank()}, loc);
    indices.push_back(where({expand_dims(isEntry(part, loc), 1, loc), loc},
                            {moved, loc}, {outside, loc}));
    values.push_back(part.values);
    offset[size_t(axis)] += part.dense_shape[size_t(axis)];
  }
  return {meshloom::concat(indices, 0, loc), meshloom::concat(values, 0, loc),
          shape};
}

Tensor sparse_dense_matmul(const SparseTensor &a, const Tensor &b,
                           MatMulOptions options, Where loc) {
  constexpr std::string_view op = "sparse_dense_matmul";
  const CallName name(op);
  expectMatrix(a, op, loc);
  nodeOf(b, op, &loc);
  const size_t rowDim = options.adjoint_a ? 1 : 0;
  const int64_t rows = a.dense_shape[rowDim], inner = a.dense_shape[1 - rowDim];
  if (b.rank() == 1 && !options.adjoint_b)
    return meshloom::reshape(
        sparse_dense_matmul(a, expand_dims(b, 1, loc), options, loc), {rows},
        loc);
  Tensor right = b;
  if (options.adjoint_b && b.rank() == 2)
    right = conj(meshloom::transpose(b, {1, 0}, loc), loc);
  if (right.rank() != 2 || right.shape()[0] != inner)
    fail(op,
         fmt::format("expected b [{}, n] for a {}, got {}{}", inner,
                     shapeText({rows, inner}), typeText(b),
                     options.adjoint_b ? ", which is adjoint" : ""),
         &loc);
  operandPair({a.values, loc}, {right, loc}, op); // one type
  Tensor isThere = isEntry(a, loc);
  Tensor row = where({isThere, loc}, {indexOf(a, int64_t(rowDim), loc), loc},
                     {rows, loc});
  if (inner == 0 || a.values.size() == 0)
    return zeros({rows, right.shape()[1]}, a.dtype(), loc);
  Tensor values = options.adjoint_a && isComplex(a.dtype())
                      ? conj(a.values, loc)
                      : a.values;
  Tensor picked =
      gatherClamped(right, indexOf(a, 1 - int64_t(rowDim), loc), 0, loc);
  Tensor terms =
      meshloom::multiply({expand_dims(values, 1, loc), loc}, {picked, loc});
  return segment_sum(terms, row, rows, loc);
}

Tensor sparse_dense_matmul(const CSRMatrix &a, const Tensor &b,
                           MatMulOptions options, Where loc) {
  return sparse_dense_matmul(to_coo(a, loc), b, options, loc);
}

/// The dims that stay, the number of their elements, and the result's shape.
static std::tuple<std::vector<int64_t>, int64_t, Shape>
remaining(const SparseTensor &x, const Axis &axis, bool keepdims,
          std::string_view op, Where loc) {
  expectSparse(x, op, loc);
  const std::vector<int64_t> gone =
      axesOf(axis.dims, axis.all, x.rank(), op, loc);
  std::vector<int64_t> stay;
  int64_t count = 1;
  Shape shape;
  for (int64_t d = 0; d < x.rank(); ++d) {
    if (llvm::is_contained(gone, d)) {
      if (keepdims)
        shape.push_back(1);
      continue;
    }
    stay.push_back(d);
    shape.push_back(x.dense_shape[size_t(d)]);
    count *= shape.back();
  }
  return {stay, count, shape};
}

Tensor reduce_sum(const SparseTensor &x, const Axis &axis, bool keepdims,
                  Where loc) {
  constexpr std::string_view op = "reduce_sum";
  const CallName name(op);
  auto [stay, count, shape] = remaining(x, axis, keepdims, op, loc);
  return meshloom::reshape(
      segment_sum(x.values, flatIndex(x, stay, loc), count, loc), shape, loc);
}

Tensor reduce_max(const SparseTensor &x, const Axis &axis, bool keepdims,
                  Where loc) {
  constexpr std::string_view op = "reduce_max";
  const CallName name(op);
  auto [stay, count, shape] = remaining(x, axis, keepdims, op, loc);
  Tensor place = flatIndex(x, stay, loc);
  Tensor entries =
      segment_sum(ones(place.shape(), DType::I64, loc), place, count, loc);
  Tensor most = segment_max(x.values, place, count, loc);
  return meshloom::reshape(
      where({greater({entries, loc}, {0, loc}), loc}, {most, loc}, {0, loc}),
      shape, loc);
}

SparseTensor softmax(const SparseTensor &x, Where loc) {
  constexpr std::string_view op = "softmax";
  const CallName name(op);
  expectSparse(x, op, loc);
  auto [stay, count, shape] = remaining(x, Axis(int64_t(-1)), false, op, loc);
  return {x.indices,
          segment_softmax(x.values, flatIndex(x, stay, loc), count, loc),
          x.dense_shape};
}

} // namespace sparse

std::ostream &operator<<(std::ostream &stream, const SparseTensor &x) {
  stream << "SparseTensor(indices=" << x.indices << ",\n values=" << x.values
         << ",\n dense_shape=[";
  for (size_t d = 0; d < x.dense_shape.size(); ++d)
    stream << (d ? ", " : "") << x.dense_shape[d];
  return stream << "])";
}

} // namespace meshloom
