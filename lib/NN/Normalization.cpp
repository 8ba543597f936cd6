// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Normalizations, made of ops; see Normalization.h.
#include "meshloom/NN/Normalization.h"

#include "Errors.h"

namespace meshloom::nn {
namespace {

Tensor widened(const Tensor &x, Where loc) {
  bool isNarrow = x.dtype() == DType::BF16 || x.dtype() == DType::F16;
  return isNarrow ? cast(x, DType::F32, loc) : x;
}

/// Throws unless `parameter` is [features], or empty.
void expectVector(const Tensor &parameter, std::string_view name,
                  int64_t features, std::string_view op, Where loc) {
  if (isPresent(parameter) && parameter.shape() != Shape{features})
    fail(op,
         "expected " + std::string(name) + " [" + std::to_string(features) +
             "], one for each feature, got " + text(parameter),
         loc);
}

void expectFeatures(const Tensor &x, std::string_view op, Where loc) {
  expectFloat(x, op, loc);
  if (x.rank() < 1)
    fail(op, "expected a tensor [..., features], got " + text(x), loc);
}

/// (x - mean) / sqrt(variance + epsilon) * scale + offset, as type `type`.
Tensor normalized(const Tensor &x, const Moments &moments, const Tensor &scale,
                  const Tensor &offset, double epsilon, DType type, Where loc) {
  Tensor factor = rsqrt(add({moments.variance, loc}, {epsilon, loc}), loc);
  if (isPresent(scale))
    factor = multiply({factor, loc}, {cast(scale, x.dtype(), loc), loc});
  Tensor y =
      multiply({subtract({x, loc}, {moments.mean, loc}), loc}, {factor, loc});
  if (isPresent(offset))
    y = add({y, loc}, {cast(offset, x.dtype(), loc), loc});
  return cast(y, type, loc);
}

} // namespace

Moments moments(const Tensor &x, const Axis &axis, bool keepdims, Where loc) {
  expectFloat(x, "moments", loc);
  Tensor wide = widened(x, loc);
  Tensor mean = reduce_mean(wide, axis, true, loc);
  Tensor off = square(subtract({wide, loc}, {mean, loc}), loc);
  return {keepdims ? mean : reduce_mean(wide, axis, false, loc),
          reduce_mean(off, axis, keepdims, loc)};
}

Tensor layer_norm(const Tensor &x, const Tensor &scale, const Tensor &offset,
                  double epsilon, Where loc) {
  constexpr std::string_view op = "layer_norm";
  expectFeatures(x, op, loc);
  expectVector(scale, "a scale", x.shape().back(), op, loc);
  expectVector(offset, "an offset", x.shape().back(), op, loc);
  return normalized(widened(x, loc), moments(x, -1, true, loc), scale, offset,
                    epsilon, x.dtype(), loc);
}

Tensor rms_norm(const Tensor &x, const Tensor &scale, double epsilon,
                Where loc) {
  constexpr std::string_view op = "rms_norm";
  expectFeatures(x, op, loc);
  expectVector(scale, "a scale", x.shape().back(), op, loc);
  Tensor wide = widened(x, loc);
  Tensor power = reduce_mean(square(wide, loc), -1, true, loc);
  Tensor y = multiply({wide, loc},
                      {rsqrt(add({power, loc}, {epsilon, loc}), loc), loc});
  if (isPresent(scale))
    y = multiply({y, loc}, {cast(scale, y.dtype(), loc), loc});
  return cast(y, x.dtype(), loc);
}

Tensor group_norm(const Tensor &x, int64_t groups, const Tensor &scale,
                  const Tensor &offset, double epsilon, int64_t axis,
                  Where loc) {
  constexpr std::string_view op = "group_norm";
  expectFeatures(x, op, loc);
  const auto dim = size_t(dimOf(x, axis, op, loc));
  const int64_t features = x.shape()[dim];
  if (x.rank() < 2 || dim == 0 || groups < 1 || features % groups != 0)
    fail(op,
         "expected x [batch, ..., features], with features behind the batch, "
         "and a number of groups that divides the features, got " +
             text(x) + ", axis " + std::to_string(axis) + " and " +
             std::to_string(groups) + " groups",
         loc);
  expectVector(scale, "a scale", features, op, loc);
  expectVector(offset, "an offset", features, op, loc);
  Shape split = x.shape(), ofFeatures(x.shape().size() + 1, 1);
  split[dim] = groups;
  split.insert(split.begin() + ptrdiff_t(dim) + 1, features / groups);
  ofFeatures[dim] = groups;
  ofFeatures[dim + 1] = features / groups;
  Tensor parts = reshape(widened(x, loc), split, loc);
  std::vector<int64_t> axes;
  for (int64_t d = 1; d < parts.rank(); ++d)
    if (d != int64_t(dim))
      axes.push_back(d);
  auto fitting = [&](const Tensor &vector) {
    return isPresent(vector) ? reshape(vector, ofFeatures, loc) : vector;
  };
  Tensor y =
      normalized(parts, moments(parts, Axis(axes), true, loc), fitting(scale),
                 fitting(offset), epsilon, x.dtype(), loc);
  return reshape(y, x.shape(), loc);
}

Tensor batch_norm(const Tensor &x, const Moments &moments, const Tensor &scale,
                  const Tensor &offset, double epsilon, Where loc) {
  constexpr std::string_view op = "batch_norm";
  expectFeatures(x, op, loc);
  const int64_t features = x.shape().back();
  expectVector(moments.mean, "a mean", features, op, loc);
  expectVector(moments.variance, "a variance", features, op, loc);
  expectVector(scale, "a scale", features, op, loc);
  expectVector(offset, "an offset", features, op, loc);
  Tensor wide = widened(x, loc);
  return normalized(wide,
                    {cast(moments.mean, wide.dtype(), loc),
                     cast(moments.variance, wide.dtype(), loc)},
                    scale, offset, epsilon, x.dtype(), loc);
}

} // namespace meshloom::nn
