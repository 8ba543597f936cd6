// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A selection is a running count of what is selected, and a scatter of places
// to where that says; see Selection.h.
#include "meshloom/API/Selection.h"

#include "IndexedElements.h"
#include "Operands.h"
#include "meshloom/API/Create.h"
#include "meshloom/API/Function.h"
#include "meshloom/API/IndexOps.h"
#include "meshloom/API/WindowOps.h"

#include <fmt/format.h>

namespace meshloom {
using namespace detail;

int64_t detail::sizeOr(std::optional<int64_t> size, std::string_view parameter,
                       std::string_view op, const std::source_location &where,
                       const std::function<int64_t()> &count) {
  if (!size && isTracing())
    fail(op,
         fmt::format("expected {} in a function, where the value that decides "
                     "it is not known while it is traced: give a number that "
                     "is large enough",
                     parameter),
         &where);
  if (size && *size < 0)
    fail(op, fmt::format("expected {} of at least 0, got {}", parameter, *size),
         &where);
  return size ? *size : count();
}

Tensor detail::placesOf(const Tensor &isTrue, int64_t size,
                        const std::source_location &where) {
  const int64_t n = isTrue.shape()[0];
  Tensor count = cumsum(isTrue, 0, {}, where);
  // Places behind the last one are out of range, which scatters leave out.
  Tensor place = meshloom::where({isTrue, where},
                                 {subtract({count, where}, {1, where}), where},
                                 {size, where});
  // The place is subtracted from n where something is written, and n stays
  // elsewhere.
  Tensor less = subtract({iota({n}, 0, DType::I64, where), where}, {n, where});
  return add({scatterBy("scatter_nd", zeros({size}, DType::I64, where), place,
                        less, ReduceKind::Sum, where),
              where},
             {n, where});
}

namespace {

Tensor isNotZero(const Tensor &x, Where loc) {
  return x.dtype() == DType::I1 ? x : not_equal({x, loc}, {0, loc});
}

int64_t countOf(const Tensor &isTrue, Where loc) {
  return reduce_sum(isTrue, Axis(), false, loc).item<int64_t>();
}

Tensor fullOf(Shape shape, double value, DType type, std::string_view op,
              Where loc) {
  const TensorLike number =
      type == DType::I1 ? TensorLike(value != 0, loc) : TensorLike(value, loc);
  return broadcast_to(operandLike(number, type, op), std::move(shape), loc);
}

} // namespace

Tensor nonzero(const Tensor &x, std::optional<int64_t> size, int64_t fill_value,
               Where loc) {
  constexpr std::string_view op = "nonzero";
  const CallName name(op);
  const Shape shape = nodeOf(x, op, &loc).shape;
  Tensor holds = reshape(isNotZero(x, loc), {-1}, loc);
  const int64_t count =
      sizeOr(size, "a size", op, loc, [&] { return countOf(holds, loc); });
  const int64_t n = holds.shape()[0];
  if (shape.empty() || n == 0)
    return fullOf({count, x.rank()}, double(fill_value), DType::I64, op, loc);
  Tensor place = placesOf(holds, count, loc);
  Tensor isThere = less({place, loc}, {n, loc});
  std::vector<Tensor> columns(shape.size());
  Tensor remaining = place;
  for (size_t d = shape.size(); d-- > 0;) {
    columns[d] = where({isThere, loc},
                       {remainder({remaining, loc}, {shape[d], loc}), loc},
                       {fill_value, loc});
    remaining = divide({remaining, loc}, {shape[d], loc});
  }
  return stack(columns, 1, loc);
}

Tensor boolean_mask(const Tensor &x, const Tensor &mask,
                    std::optional<int64_t> size, int64_t axis,
                    double fill_value, Where loc) {
  constexpr std::string_view op = "boolean_mask";
  const CallName name(op);
  nodeOf(x, op, &loc);
  nodeOf(mask, op, &loc);
  axis = axisOf(axis, x.rank(), op, loc);
  const bool fits = mask.dtype() == DType::I1 && mask.rank() >= 1 &&
                    axis + mask.rank() <= x.rank() &&
                    std::equal(mask.shape().begin(), mask.shape().end(),
                               x.shape().begin() + axis);
  if (!fits)
    fail(op,
         fmt::format("expected a mask of type i1 of the dims of {} from dim {} "
                     "on, got {}",
                     typeText(x), axis, typeText(mask)),
         &loc);
  Tensor holds = reshape(mask, {-1}, loc);
  const int64_t count =
      sizeOr(size, "a size", op, loc, [&] { return countOf(holds, loc); });
  const int64_t n = holds.shape()[0];
  Shape joined(x.shape().begin(), x.shape().begin() + axis);
  joined.push_back(n);
  joined.insert(joined.end(), x.shape().begin() + axis + mask.rank(),
                x.shape().end());
  Shape result = joined, column(joined.size(), 1);
  result[size_t(axis)] = column[size_t(axis)] = count;
  if (n == 0)
    return fullOf(result, fill_value, x.dtype(), op, loc);
  Tensor place = placesOf(holds, count, loc);
  Tensor isThere = reshape(less({place, loc}, {n, loc}), column, loc);
  Tensor picked = gatherClamped(reshape(x, joined, loc), place, axis, loc);
  return where({isThere, loc}, {picked, loc},
               {fullOf({}, fill_value, x.dtype(), op, loc), loc});
}

Unique unique(const Tensor &x, std::optional<int64_t> size,
              std::optional<double> fill_value, Where loc) {
  constexpr std::string_view op = "unique";
  const CallName name(op);
  const DType type = nodeOf(x, op, &loc).dtype;
  if (isComplex(type))
    fail(
        op,
        fmt::format("expected numbers that have an order, got {}", typeText(x)),
        &loc);
  const int64_t n = x.size();
  if (n == 0) {
    const int64_t none =
        sizeOr(size, "a size", op, loc, [] { return int64_t(0); });
    return {fullOf({none}, fill_value.value_or(0), type, op, loc),
            zeros(x.shape(), DType::I64, loc), zeros({none}, DType::I64, loc),
            zeros({}, DType::I64, loc)};
  }
  Tensor flat = reshape(x, {n}, loc);
  Tensor keys = type == DType::I1 ? cast(flat, DType::UI8, loc) : flat;
  Tensor order = argsort(keys, 0, false, DType::I64, loc);
  Tensor sorted = gatherClamped(flat, order, 0, loc);
  Tensor before = roll(sorted, 1, 0, loc);
  Tensor isFirst =
      logical_or({not_equal({sorted, loc}, {before, loc}), loc},
                 {equal({iota({n}, 0, DType::I64, loc), loc}, {0, loc}), loc});
  Tensor rank = subtract({cumsum(isFirst, 0, {}, loc), loc}, {1, loc});
  Tensor different = reduce_sum(isFirst, Axis(), false, loc);
  const int64_t count = sizeOr(size, "a size", op, loc,
                               [&] { return different.item<int64_t>(); });
  Tensor places = placesOf(isFirst, count, loc);
  Tensor values = gatherClamped(sorted, places, 0, loc);
  Tensor filler = fill_value ? fullOf({}, *fill_value, type, op, loc)
                             : reshape(slice(sorted, {0}, {1}, loc), {}, loc);
  values =
      where({less({places, loc}, {n, loc}), loc}, {values, loc}, {filler, loc});
  Tensor counts = scatterBy(op, zeros({count}, DType::I64, loc), rank,
                            ones({n}, DType::I64, loc), ReduceKind::Sum, loc);
  Tensor inverse =
      scatterBy(op, zeros({n}, DType::I64, loc), order,
                minimum({rank, loc}, {count, loc}), ReduceKind::Sum, loc);
  return {values, reshape(inverse, x.shape(), loc), counts, different};
}

} // namespace meshloom
