// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Layers: how their variables are made, and calls of functions with them.
#include "meshloom/NN/Layers.h"

#include "Errors.h"
#include "Numbers.h"
#include "meshloom/API/Create.h"
#include "meshloom/API/Distribute.h"
#include "meshloom/API/Einsum.h"

#include <fmt/format.h>

#include <cmath>
#include <numeric>

namespace meshloom::nn {
namespace {

std::string named(const LayerOptions &options, const std::string &name) {
  return options.name.empty() ? name : options.name + "/" + name;
}

template <typename F>
DVariable make(const LayerOptions &options, const std::string &name,
               const std::optional<Layout> &layout, F &&fill,
               bool trainable = true) {
  return init_scope([&] {
    return DVariable(call_with_layout(fill, layout),
                     {.name = named(options, name),
                      .trainable = trainable,
                      .layout = std::nullopt});
  });
}

/// Uniform in +-sqrt(6 / (in + out)). `part` tells a layer's kernels apart.
DVariable glorot(const LayerOptions &options, const std::string &name,
                 const Shape &shape, const std::optional<Layout> &layout,
                 double in, double out, uint32_t part = 0) {
  const double limit = std::sqrt(6 / std::max(in + out, 1.0));
  const Seed seed{options.seed.first, options.seed.second + part};
  return make(options, name, layout, [&] {
    return random::stateless_uniform(shape, seed, -limit, limit, options.type);
  });
}

/// [n], of ones or zeros.
DVariable vector(const LayerOptions &options, const std::string &name,
                 int64_t count, double value, bool trainable = true) {
  std::optional<Layout> layout = options.layout;
  if (layout) // of its last dim
    for (unsigned d = layout->rank(); d > 1; --d)
      layout = layout->remove({0});
  return make(
      options, name, layout, [&] { return full({count}, value, options.type); },
      trainable);
}

std::optional<DVariable> biasOf(const LayerOptions &options,
                                const std::string &name, int64_t count) {
  if (!options.bias)
    return std::nullopt;
  return vector(options, name, count, 0);
}

Tensor valueOf(const std::optional<DVariable> &variable) {
  return variable ? variable->read_value() : Tensor();
}

/// Of [width, heads, size]: that of [heads, size, width].
std::optional<Layout> turned(const std::optional<Layout> &layout) {
  if (!layout)
    return layout;
  std::vector<DimSpec> dims = layout->sharding_specs();
  return Layout({dims.at(1), dims.at(2), dims.at(0)}, layout->mesh());
}

/// `size`, which must be one.
int64_t sizeOf(const char *layer, const char *what, int64_t size) {
  if (size < 1)
    throw Error(fmt::format("[{}] expected {} of 1 or more, got {}", layer,
                            what, size));
  return size;
}

void expectHeads(int64_t width, int64_t heads) {
  if (heads < 1 || width < 1 || width % heads != 0)
    throw Error("[MultiHeadAttention] expected heads that divide the width, "
                "got " +
                std::to_string(heads) + " and " + std::to_string(width));
}

} // namespace

Dense::Dense(int64_t in, int64_t out, LayerOptions options)
    : kernel(glorot(options, "kernel",
                    {sizeOf("Dense", "in", in), sizeOf("Dense", "out", out)},
                    options.layout, double(in), double(out))),
      bias(biasOf(options, "bias", out)) {
  track(this, kernel, bias);
}

Tensor Dense::operator()(const Tensor &x, Where loc) const {
  if (x.rank() < 1 || x.shape().back() != kernel.shape()[0])
    fail("Dense",
         "expected x [..., " + std::to_string(kernel.shape()[0]) + "], got " +
             text(x),
         loc);
  Tensor y =
      x.rank() == 1
          ? squeeze(matmul(expand_dims(x, 0, loc), kernel, {}, loc), 0, loc)
          : matmul(x, kernel, {}, loc);
  return bias ? add({y, loc}, {*bias, loc}) : y;
}

Embedding::Embedding(int64_t count, int64_t features, LayerOptions options)
    : table(make(options, "table", options.layout, [&] {
        return random::stateless_normal(
            {sizeOf("Embedding", "count", count),
             sizeOf("Embedding", "features", features)},
            options.seed, 0, 1 / std::sqrt(std::max(double(features), 1.0)),
            options.type);
      })) {
  track(this, table);
}

Tensor Embedding::operator()(const Tensor &ids, Where loc) const {
  return embedding(table, ids, loc);
}

static Shape kernelShape(const std::vector<int64_t> &window, int64_t in,
                         int64_t out, int64_t groups) {
  if (window.empty() || window.size() > 3 || groups < 1 || in % groups != 0)
    throw Error("[Conv] expected 1 to 3 window sizes and groups that divide "
                "the input features, got " +
                std::to_string(window.size()) + " sizes and " +
                std::to_string(groups) + " groups of " + std::to_string(in));
  Shape shape(window);
  shape.insert(shape.end(),
               {sizeOf("Conv", "in", in) / groups, sizeOf("Conv", "out", out)});
  for (int64_t size : window)
    sizeOf("Conv", "window sizes", size);
  return shape;
}

static double productOf(const std::vector<int64_t> &sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), 1.0,
                         std::multiplies<double>());
}

Conv::Conv(std::vector<int64_t> window, int64_t in, int64_t out,
           ConvOptions convolution, LayerOptions options, int64_t groups)
    : kernel(glorot(options, "kernel", kernelShape(window, in, out, groups),
                    options.layout,
                    productOf(window) * double(in) / double(groups),
                    productOf(window) * double(out) / double(groups))),
      bias(biasOf(options, "bias", out)), convolution(std::move(convolution)) {
  track(this, kernel, bias);
}

Tensor Conv::operator()(const Tensor &x, Where loc) const {
  const int64_t rank = kernel.rank();
  Tensor y = rank == 3   ? conv1d(x, kernel, convolution, loc)
             : rank == 4 ? conv2d(x, kernel, convolution, loc)
                         : conv3d(x, kernel, convolution, loc);
  if (!bias)
    return y;
  Shape features(size_t(rank), 1);
  features[convolution.channels_first ? 1 : size_t(rank - 1)] =
      bias->shape()[0];
  return add({y, loc}, {reshape(*bias, features, loc), loc});
}

LayerNorm::LayerNorm(int64_t features, double epsilon, LayerOptions options)
    : scale(vector(options, "scale", sizeOf("LayerNorm", "features", features),
                   1)),
      offset(biasOf(options, "offset", features)), epsilon(epsilon) {
  detail::expectBound("LayerNorm", "epsilon", epsilon,
                      detail::Bound::NotNegative);
  track(this, scale, offset);
}

Tensor LayerNorm::operator()(const Tensor &x, Where loc) const {
  return layer_norm(x, scale, valueOf(offset), epsilon, loc);
}

RMSNorm::RMSNorm(int64_t features, double epsilon, LayerOptions options)
    : scale(
          vector(options, "scale", sizeOf("RMSNorm", "features", features), 1)),
      epsilon(epsilon) {
  detail::expectBound("RMSNorm", "epsilon", epsilon,
                      detail::Bound::NotNegative);
  track(this, scale);
}

Tensor RMSNorm::operator()(const Tensor &x, Where loc) const {
  return rms_norm(x, scale, epsilon, loc);
}

GroupNorm::GroupNorm(int64_t groups, int64_t features, double epsilon,
                     LayerOptions options)
    : scale(vector(options, "scale", sizeOf("GroupNorm", "features", features),
                   1)),
      offset(biasOf(options, "offset", features)), groups(groups),
      epsilon(epsilon) {
  if (groups < 1 || features % groups != 0)
    throw Error(fmt::format("[GroupNorm] expected groups that divide the "
                            "features, got {} and {}",
                            groups, features));
  detail::expectBound("GroupNorm", "epsilon", epsilon,
                      detail::Bound::NotNegative);
  track(this, scale, offset);
}

Tensor GroupNorm::operator()(const Tensor &x, Where loc) const {
  return group_norm(x, groups, scale, valueOf(offset), epsilon, -1, loc);
}

BatchNorm::BatchNorm(int64_t features, double momentum, double epsilon,
                     LayerOptions options)
    : scale(vector(options, "scale", sizeOf("BatchNorm", "features", features),
                   1)),
      offset(biasOf(options, "offset", features)),
      moving_mean(vector(options, "moving_mean", features, 0, false)),
      moving_variance(vector(options, "moving_variance", features, 1, false)),
      momentum(momentum), epsilon(epsilon) {
  detail::expectBound("BatchNorm", "momentum", momentum, detail::Bound::Share);
  detail::expectBound("BatchNorm", "epsilon", epsilon,
                      detail::Bound::NotNegative);
  track(this, scale, offset, moving_mean, moving_variance);
}

Tensor BatchNorm::operator()(const Tensor &x, bool training, Where loc) const {
  if (!training)
    return batch_norm(x, {moving_mean, moving_variance}, scale, valueOf(offset),
                      epsilon, loc);
  std::vector<int64_t> axes(size_t(std::max<int64_t>(x.rank() - 1, 0)));
  std::iota(axes.begin(), axes.end(), 0);
  Moments now = moments(x, Axis(axes), false, loc);
  auto average = [&](const DVariable &moving, const Tensor &value) {
    Tensor own = cast(value, moving.dtype(), loc);
    Tensor change = subtract({own, loc}, {moving, loc});
    moving.assign_add({multiply({change, loc}, {1 - momentum, loc}), loc});
  };
  Tensor y = batch_norm(x, now, scale, valueOf(offset), epsilon, loc);
  average(moving_mean, now.mean);
  average(moving_variance, now.variance);
  return y;
}

MultiHeadAttention::MultiHeadAttention(int64_t width, int64_t heads,
                                       LayerOptions options)
    : query((expectHeads(width, heads),
             glorot(options, "query", {width, heads, width / heads},
                    options.layout, double(width), double(width), 0))),
      key(glorot(options, "key", {width, heads, width / heads}, options.layout,
                 double(width), double(width), 1)),
      value(glorot(options, "value", {width, heads, width / heads},
                   options.layout, double(width), double(width), 2)),
      out(glorot(options, "out", {heads, width / heads, width},
                 turned(options.layout), double(width), double(width), 3)) {
  if (options.bias) {
    LayerOptions own = options;
    own.layout = turned(options.layout); // its last dim is the width
    bias = vector(own, "bias", width, 0);
  }
  track(this, query, key, value, out, bias);
}

Tensor MultiHeadAttention::operator()(const Tensor &x, const Tensor &memory,
                                      const AttentionOptions &options,
                                      Where loc) const {
  for (const Tensor *each : {&x, &memory})
    if (each->rank() < 2 || each->shape().back() != query.shape()[0])
      fail("MultiHeadAttention",
           "expected tensors [..., t, " + std::to_string(query.shape()[0]) +
               "], got " + text(*each),
           loc);
  auto heads = [&](const Tensor &of, const DVariable &kernel) {
    return einsum("...tw,whd->...thd", std::vector<Tensor>{of, kernel}, loc);
  };
  Tensor mixed = attention(heads(x, query), heads(memory, key),
                           heads(memory, value), options, loc);
  Tensor y = einsum("...thd,hdw->...tw", std::vector<Tensor>{mixed, out}, loc);
  return bias ? add({y, loc}, {*bias, loc}) : y;
}

Dropout::Dropout(double rate, LayerOptions options, std::optional<Mesh> mesh)
    : calls(make(
          options, "calls",
          mesh ? std::optional(Layout::replicated(*mesh, 0)) : std::nullopt,
          [] { return zeros({}, DType::I64); }, false)),
      rate(rate), seed(options.seed) {
  if (!(rate >= 0 && rate < 1))
    throw Error(
        fmt::format("[Dropout] expected a rate in [0, 1), got {}", rate));
  track(this, calls);
}

Tensor Dropout::operator()(const Tensor &x, bool training, Where loc) const {
  if (!training || rate == 0)
    return x;
  Tensor y = dropout(x, rate, random::fold_in(seed, {calls, loc}), loc);
  calls.assign_add({1, loc});
  return y;
}

} // namespace meshloom::nn
