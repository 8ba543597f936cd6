// Moments, norms, medians and segments, made of reductions, a sort and a
// scatter; see StatisticsOps.h.
#include "meshloom/API/StatisticsOps.h"

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

Tensor segments(std::string_view op, const Tensor &data, const Tensor &ids,
                int64_t count, Where loc) {
  nodeOf(data, op, &loc);
  nodeOf(ids, op, &loc);
  if (!isInteger(ids.dtype()) || ids.rank() != 1 || data.rank() < 1 ||
      data.shape()[0] != ids.shape()[0] || count < 0)
    fail(op,
         fmt::format("expected data [n, ...], integers [n] and a number of "
                     "segments of at least 0, got {}, {} and {}",
                     typeText(data), typeText(ids), count),
         &loc);
  Shape shape = data.shape();
  shape[0] = count;
  return scatter_nd(expand_dims(ids, 1, loc), data, shape, loc);
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
  Shape kept = x.shape();
  for (size_t d = 0; d < kept.size(); ++d)
    if (axis.all || int64_t(d) == dim)
      kept[d] = 1;
  if (keepdims)
    return reshape(middle, kept, loc);
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
  for (const Tensor &each : tensors) {
    expectFloatOrComplex(each, op, loc);
    if (wideType(each.dtype()) == DType::F64)
      type = DType::F64;
  }
  Tensor sum;
  for (const Tensor &each : tensors) {
    Tensor wide = isComplex(each.dtype()) ? squared(each, loc)
                                          : squared(cast(each, type, loc), loc);
    Tensor own = reduce_sum(cast(wide, type, loc), Axis(), false, loc);
    sum = sum.internal() ? add({sum, loc}, {own, loc}) : own;
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
    // Of a negative one gradients would point the other way.
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
  for (const Tensor &each : tensors)
    clipped.push_back(
        multiply({each, loc}, {cast(factor, each.dtype(), loc), loc}));
  return {std::move(clipped), length};
}

std::pair<Gradients, Tensor> clip_by_global_norm(const Gradients &gradients,
                                                 const TensorLike &clip_norm,
                                                 Where loc) {
  std::vector<Tensor> tensors;
  tensors.reserve(gradients.size());
  for (const VariableGradient &each : gradients)
    tensors.push_back(each.gradient);
  auto [clipped, length] = clip_by_global_norm(tensors, clip_norm, loc);
  Gradients result = gradients;
  for (size_t i = 0; i < result.size(); ++i)
    result[i].gradient = clipped[i];
  return {std::move(result), length};
}

Tensor segment_sum(const Tensor &data, const Tensor &segment_ids,
                   int64_t num_segments, Where loc) {
  return segments("segment_sum", data, segment_ids, num_segments, loc);
}

Tensor segment_mean(const Tensor &data, const Tensor &segment_ids,
                    int64_t num_segments, Where loc) {
  constexpr std::string_view op = "segment_mean";
  expectFloatOrComplex(data, op, loc);
  Tensor sum = segments(op, data, segment_ids, num_segments, loc);
  Tensor ones =
      full({data.shape().empty() ? 0 : data.shape()[0]}, 1, DType::F32, loc);
  Tensor count = segments(op, ones, segment_ids, num_segments, loc);
  Shape column(sum.shape().size(), 1);
  column[0] = num_segments;
  return divide({sum, loc},
                {cast(reshape(count, column, loc), sum.dtype(), loc), loc});
}

} // namespace meshloom
