// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Moments, norms, medians and quantiles, made of reductions and a sort; see
// StatisticsOps.h.
#include "meshloom/API/StatisticsOps.h"

#include "IndexedElements.h"
#include "Operands.h"
#include "meshloom/API/Create.h"
#include "meshloom/API/IndexOps.h"

#include <fmt/format.h>

namespace meshloom {
using namespace detail;

namespace {

/// |x|^2, a float.
Tensor squared(const Tensor &x, Where loc) {
  if (!isComplex(x.dtype()))
    return square(x, loc);
  return add({square(real(x, loc), loc), loc},
             {square(imag(x, loc), loc), loc});
}

void expectFloatOrComplex(const Tensor &x, std::string_view op, Where loc) {
  if (!isComplex(nodeOf(x, op, &loc).dtype))
    expectFloat(x, op, loc);
}

/// sqrt(x) with the gradient 0 at 0.
Tensor root(const Tensor &x, Where loc) {
  Tensor isZero = equal({x, loc}, {0, loc});
  Tensor safe = where({isZero, loc}, {1, loc}, {x, loc});
  return where({isZero, loc}, {0, loc}, {sqrt(safe, loc), loc});
}

/// A float as it is, of narrow ones and their sums f32.
DType wideType(DType type) {
  return type == DType::F64 || type == DType::C128 ? DType::F64 : DType::F32;
}

} // namespace

Tensor reduce_variance(const Tensor &x, const Axis &axis, bool keepdims,
                       int64_t ddof, Where loc) {
  constexpr std::string_view op = "reduce_variance";
  expectFloatOrComplex(x, op, loc);
  int64_t count = 1;
  for (int64_t d : axesOf(axis.dims, axis.all, x.rank(), op, loc))
    count *= x.shape()[size_t(d)];
  Tensor mean = reduce_mean(x, axis, true, loc);
  Tensor off = squared(subtract({x, loc}, {mean, loc}), loc);
  if (ddof == 0)
    return reduce_mean(off, axis, keepdims, loc);
  return divide({reduce_sum(off, axis, keepdims, loc), loc},
                {double(std::max<int64_t>(count - ddof, 0)), loc});
}

Tensor reduce_std(const Tensor &x, const Axis &axis, bool keepdims,
                  int64_t ddof, Where loc) {
  expectFloatOrComplex(x, "reduce_std", loc);
  return root(reduce_variance(x, axis, keepdims, ddof, loc), loc);
}

Tensor median(const Tensor &x, const Axis &axis, bool keepdims, Where loc) {
  constexpr std::string_view op = "median";
  DType type = nodeOf(x, op, &loc).dtype;
  if (isComplex(type) || type == DType::I1)
    fail(op, fmt::format("expected numbers with an order, got {}", typeText(x)),
         &loc);
  if (!axis.all && axis.dims.size() != 1)
    fail(op, "expected one axis, or none for all elements", &loc);
  Tensor floats = isFloat(type) ? x : cast(x, DType::F32, loc);
  int64_t dim = axis.all ? 0 : axisOf(axis.dims[0], x.rank(), op, loc);
  if (axis.all)
    floats = reshape(floats, {x.size()}, loc);
  const int64_t count = floats.shape()[size_t(dim)];
  if (count == 0)
    fail(op, fmt::format("expected elements, got {}", typeText(x)), &loc);
  Tensor sorted = sort(floats, dim, false, loc);
  auto element = [&](int64_t i) {
    Shape begin(sorted.shape().size(), 0), size = sorted.shape();
    begin[size_t(dim)] = i;
    size[size_t(dim)] = 1;
    return slice(sorted, begin, size, loc);
  };
  Tensor middle = element(count / 2);
  if (count % 2 == 0) {
    Tensor before = element(count / 2 - 1);
    middle = multiply({add({before, loc}, {middle, loc}), loc}, {0.5, loc});
  }
  // Not a number comes last in the order, and makes the median one.
  Tensor last = element(count - 1);
  middle = where({not_equal({last, loc}, {last, loc}), loc}, {last, loc},
                 {middle, loc});
  Shape keepDimsShape = x.shape();
  for (size_t d = 0; d < keepDimsShape.size(); ++d)
    if (axis.all || int64_t(d) == dim)
      keepDimsShape[d] = 1;
  if (keepdims)
    return reshape(middle, keepDimsShape, loc);
  return axis.all ? reshape(middle, {}, loc) : squeeze(middle, dim, loc);
}

Tensor norm(const Tensor &x, const Axis &axis, bool keepdims, Where loc) {
  const CallName name("norm");
  expectFloatOrComplex(x, "norm", loc);
  return root(reduce_sum(squared(x, loc), axis, keepdims, loc), loc);
}

Tensor global_norm(const std::vector<Tensor> &tensors, Where loc) {
  constexpr std::string_view op = "global_norm";
  if (tensors.empty())
    fail(op, "expected at least one tensor, got none", &loc);
  DType type = DType::F32;
  for (const Tensor &tensor : tensors) {
    expectFloatOrComplex(tensor, op, loc);
    if (wideType(tensor.dtype()) == DType::F64)
      type = DType::F64;
  }
  Tensor sum;
  for (const Tensor &tensor : tensors) {
    Tensor wide = isComplex(tensor.dtype())
                      ? squared(tensor, loc)
                      : squared(cast(tensor, type, loc), loc);
    Tensor squares = reduce_sum(cast(wide, type, loc), Axis(), false, loc);
    sum = sum.internal() ? add({sum, loc}, {squares, loc}) : squares;
  }
  return root(sum, loc);
}

std::pair<std::vector<Tensor>, Tensor>
clip_by_global_norm(const std::vector<Tensor> &tensors,
                    const TensorLike &clip_norm, Where loc) {
  constexpr std::string_view op = "clip_by_global_norm";
  const CallName name(op);
  if (clip_norm.kind != TensorLike::Kind::Tensor) {
    const double number = clip_norm.kind == TensorLike::Kind::Float
                              ? clip_norm.real
                              : double(clip_norm.integer);
    // With a negative one, gradients would point the other way.
    if (!(number >= 0))
      fail(op, fmt::format("expected a norm of 0 or more, got {}", number),
           &loc);
  }
  Tensor length = global_norm(tensors, loc);
  Tensor most = operandLike(clip_norm, length.dtype(), op, &length);
  if (most.rank() != 0)
    fail(op,
         fmt::format("expected a norm that is a number or a scalar, got {}",
                     typeText(most)),
         &loc);
  most = cast(most, length.dtype(), loc);
  // most / infinity is 0, and must not look like clipped.
  Tensor factor =
      where({is_finite(length, loc), loc},
            {divide({most, loc}, maximum({length, loc}, {most, loc})), loc},
            {std::numeric_limits<double>::quiet_NaN(), loc});
  std::vector<Tensor> clipped;
  for (const Tensor &tensor : tensors)
    clipped.push_back(
        multiply({tensor, loc}, {cast(factor, tensor.dtype(), loc), loc}));
  return {std::move(clipped), length};
}

std::pair<Gradients, Tensor> clip_by_global_norm(const Gradients &gradients,
                                                 const TensorLike &clip_norm,
                                                 Where loc) {
  std::vector<Tensor> tensors;
  tensors.reserve(gradients.size());
  for (const VariableGradient &entry : gradients)
    tensors.push_back(entry.gradient);
  auto [clipped, length] = clip_by_global_norm(tensors, clip_norm, loc);
  Gradients result = gradients;
  for (size_t i = 0; i < result.size(); ++i)
    result[i].gradient = clipped[i];
  return {std::move(result), length};
}

Tensor count_nonzero(const Tensor &x, const Axis &axis, bool keepdims,
                     Where loc) {
  constexpr std::string_view op = "count_nonzero";
  const CallName name(op);
  const bool isBool = nodeOf(x, op, &loc).dtype == DType::I1;
  return reduce_sum(isBool ? x : not_equal({x, loc}, {0, loc}), axis, keepdims,
                    loc);
}

namespace {

/// Which part of the elements lies below, f64.
Tensor quantilePart(std::string_view op, const TensorLike &q, double unit,
                    Where loc) {
  if (q.kind != TensorLike::Kind::Tensor) {
    const double part =
        (q.kind == TensorLike::Kind::Float ? q.real : double(q.integer)) / unit;
    if (!(part >= 0 && part <= 1))
      fail(op,
           fmt::format("expected a number from 0 to {}, got {}", unit,
                       part * unit),
           &loc);
    return full({}, part, DType::F64, loc);
  }
  const DType type = nodeOf(q.tensor, op, &loc).dtype;
  if (type != DType::F32 && type != DType::F64)
    fail(op,
         fmt::format("expected a number, or a tensor of type f32 or f64, got "
                     "{}",
                     typeText(q.tensor)),
         &loc);
  Tensor parts = divide({cast(q.tensor, DType::F64, loc), loc}, {unit, loc});
  return stop_gradient(clip_by_value({parts, loc}, {0, loc}, {1, loc}), loc);
}

Tensor quantileOf(std::string_view op, const Tensor &x, const TensorLike &q,
                  double unit, const Axis &axis, bool keepdims,
                  Interpolation method, Where loc) {
  const CallName name(op);
  const DType type = nodeOf(x, op, &loc).dtype;
  if (isComplex(type) || type == DType::I1)
    fail(op, fmt::format("expected numbers with an order, got {}", typeText(x)),
         &loc);
  if (!axis.all && axis.dims.size() != 1)
    fail(op, "expected one axis, or none for all elements", &loc);
  Tensor part = quantilePart(op, q, unit, loc);
  Tensor floats = isFloat(type) ? x : cast(x, DType::F32, loc);
  const int64_t dim = axis.all ? 0 : axisOf(axis.dims[0], x.rank(), op, loc);
  floats = axis.all ? reshape(floats, {x.size()}, loc)
                    : moveaxis(floats, dim, 0, loc);
  const int64_t count = floats.shape()[0];
  if (count == 0)
    fail(op, fmt::format("expected elements, got {}", typeText(x)), &loc);
  Tensor sorted = sort(floats, 0, false, loc);
  Tensor place = multiply({part, loc}, {double(count - 1), loc});
  if (method == Interpolation::Nearest)
    place = round(place, loc);
  Tensor below = floor(place, loc), above = ceil(place, loc);
  auto elements = [&](const Tensor &places) {
    return gatherClamped(sorted, cast(places, DType::I64, loc), 0, loc);
  };
  Tensor result;
  if (method == Interpolation::Lower || method == Interpolation::Nearest) {
    result = elements(below);
  } else if (method == Interpolation::Higher) {
    result = elements(above);
  } else {
    Shape column = place.shape();
    column.resize(column.size() + floats.shape().size() - 1, 1);
    Tensor share = subtract({place, loc}, {below, loc});
    Tensor isBetween = greater({share, loc}, {0, loc});
    if (method == Interpolation::Midpoint)
      share = where({isBetween, loc}, {0.5, loc}, {share, loc});
    isBetween = reshape(isBetween, column, loc);
    share = reshape(cast(share, floats.dtype(), loc), column, loc);
    Tensor low = elements(below), high = elements(above);
    Tensor mixed = add(
        {multiply({low, loc}, {subtract({1, loc}, {share, loc}), loc}), loc},
        {multiply({high, loc}, {share, loc}), loc});
    // An infinity times 0 would be nan.
    result = where({isBetween, loc}, {mixed, loc}, {low, loc});
  }
  // Not a number comes last in the order, and makes every quantile one.
  const Shape others(sorted.shape().begin() + 1, sorted.shape().end());
  Shape begin(sorted.shape().size(), 0), size = sorted.shape();
  begin[0] = count - 1;
  size[0] = 1;
  Tensor last = reshape(slice(sorted, begin, size, loc), others, loc);
  result = where({is_nan(last, loc), loc}, {last, loc}, {result, loc});
  if (!keepdims)
    return result;
  Shape keepDimsShape = part.shape();
  for (int64_t d = 0; d < x.rank(); ++d)
    keepDimsShape.push_back(axis.all || d == dim ? 1 : x.shape()[size_t(d)]);
  return reshape(result, keepDimsShape, loc);
}

} // namespace

Tensor quantile(const Tensor &x, const TensorLike &q, const Axis &axis,
                bool keepdims, Interpolation method, Where loc) {
  return quantileOf("quantile", x, q, 1, axis, keepdims, method, loc);
}

Tensor percentile(const Tensor &x, const TensorLike &q, const Axis &axis,
                  bool keepdims, Interpolation method, Where loc) {
  return quantileOf("percentile", x, q, 100, axis, keepdims, method, loc);
}

} // namespace meshloom
