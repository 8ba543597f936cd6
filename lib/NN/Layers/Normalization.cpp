// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Layers that normalize; see Layers/Normalization.h.
#include "meshloom/NN/Layers/Normalization.h"
#include "BuiltIn.h"

#include "meshloom/API/Create.h"
#include "meshloom/API/ShardMap.h"
#include "meshloom/Distribute/Strategy.h"
#include "meshloom/NN/Normalization.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace meshloom::layers {
namespace {

using namespace detail;

Tensor valueOf(const DVariable &variable) {
  return variable.defined() ? variable.read_value() : Tensor();
}

/// The common part of layers with gamma and beta.
template <typename Impl, typename Options>
class Normalizing : public BuiltIn<Impl, Options> {
public:
  using BuiltIn<Impl, Options>::BuiltIn;
  template <typename F> static void affineFields(F &field, Options &o) {
    field("epsilon", o.epsilon, Bound::NotNegative);
    field("center", o.center);
    field("scale", o.scale);
    field("beta_initializer", o.beta_initializer);
    field("gamma_initializer", o.gamma_initializer);
    field("beta_regularizer", o.beta_regularizer);
    field("gamma_regularizer", o.gamma_regularizer);
    field("beta_constraint", o.beta_constraint);
    field("gamma_constraint", o.gamma_constraint);
  }

protected:
  void addAffine(const Shape &shape) {
    const Options &o = this->settings;
    if (o.scale)
      gamma = this->add_weight("gamma", shape,
                               {.initializer = o.gamma_initializer,
                                .regularizer = o.gamma_regularizer,
                                .constraint = o.gamma_constraint});
    if (o.center)
      beta = this->add_weight("beta", shape,
                              {.initializer = o.beta_initializer,
                               .regularizer = o.beta_regularizer,
                               .constraint = o.beta_constraint});
  }
  /// The size of a dim, which must be known.
  int64_t staticSize(const Shape &input, int64_t axis) const {
    const int64_t rank = int64_t(input.size());
    if (axis < -rank || axis >= rank ||
        input[size_t(axis < 0 ? axis + rank : axis)] < 0)
      this->refuse(fmt::format("expected an input whose dim {} is there and "
                               "has a known size, got {}",
                               axis, sizesText(input)));
    return input[size_t(axis < 0 ? axis + rank : axis)];
  }

  DVariable gamma, beta;
};

Tensor inWideType(const Tensor &x) {
  const bool isNarrow = x.dtype() == DType::BF16 || x.dtype() == DType::F16;
  return isNarrow ? cast(x, DType::F32) : x;
}

/// The dims that are normalized over, counted from 0 and in order.
Shape normalizedDims(const LayerImpl &layer, const Shape &axes,
                     const Shape &input) {
  const int64_t rank = int64_t(input.size());
  Shape dims = axes;
  for (int64_t &dim : dims)
    dim = dim < 0 ? dim + rank : dim;
  std::ranges::sort(dims);
  const bool areDims = !dims.empty() && dims.front() >= 1 &&
                       dims.back() < rank &&
                       std::ranges::adjacent_find(dims) == dims.end();
  if (!areDims)
    Error(fmt::format("[{}] layer '{}': expected as axis dims of the input "
                      "behind the batch, "
                      "each once, got {} of an input {}",
                      layer.class_name(), layer.name(), sizesText(axes),
                      sizesText(input)))
        .raise();
  for (int64_t dim : dims)
    if (input[size_t(dim)] < 0)
      Error(fmt::format("[{}] layer '{}': expected an input whose dim {} "
                        "has a known size, got {}",
                        layer.class_name(), layer.name(), dim,
                        sizesText(input)))
          .raise();
  return dims;
}
Shape sizesOf(const Shape &input, const Shape &dims) {
  Shape sizes;
  for (int64_t dim : dims)
    sizes.push_back(input[size_t(dim)]);
  return sizes;
}
/// Where all are last dims another rank will do.
InputSpec specOf(const Shape &input, const Shape &dims) {
  const int64_t rank = int64_t(input.size());
  const bool areLast = dims.front() == rank - int64_t(dims.size());
  InputSpec spec;
  if (areLast)
    spec.min_rank = int64_t(dims.size()) + 1;
  else
    spec.rank = rank;
  for (int64_t dim : dims)
    spec.sizes[areLast ? dim - rank : dim] = input[size_t(dim)];
  return spec;
}
/// A weight of the sizes of `dims`, so that it broadcasts to x, in its type.
Tensor alongDims(const DVariable &weight, const Tensor &x, const Shape &dims) {
  Shape shape(size_t(x.rank()), 1);
  for (size_t i = 0; i < dims.size(); ++i)
    shape[size_t(dims[i])] = weight.shape()[i];
  return cast(reshape(weight, shape), x.dtype());
}

class BatchNormalizationImpl
    : public Normalizing<BatchNormalizationImpl, BatchNormalizationOptions> {
public:
  explicit BatchNormalizationImpl(BatchNormalizationOptions options)
      : Normalizing("BatchNormalization", std::move(options)) {
    if (settings.replicas == 0)
      settings.replicas = get_strategy().num_replicas_in_sync();
    expectPositive("replicas", settings.replicas);
  }
  explicit BatchNormalizationImpl(const nn::Config &config)
      : BatchNormalizationImpl(read(config)) {}
  template <typename F>
  static void fields(F &field, BatchNormalizationOptions &o) {
    field("axis", o.axis);
    field("momentum", o.momentum, Bound::Share);
    affineFields(field, o);
    field("moving_mean_initializer", o.moving_mean_initializer);
    field("moving_variance_initializer", o.moving_variance_initializer);
    field("synchronized", o.synchronized);
  }

  void build(const Shape &input) override {
    const int64_t features = staticSize(input, settings.axis);
    addAffine({features});
    movingMean = add_weight(
        "moving_mean", {features},
        {.initializer = settings.moving_mean_initializer, .trainable = false});
    movingVariance =
        add_weight("moving_variance", {features},
                   {.initializer = settings.moving_variance_initializer,
                    .trainable = false});
    set_input_spec({.min_rank = 2, .sizes = {{settings.axis, features}}});
  }

  Tensor call(const Tensor &x, const CallOptions &options) override {
    const int64_t axis =
        settings.axis < 0 ? settings.axis + x.rank() : settings.axis;
    std::vector<int64_t> order(size_t(x.rank()));
    std::iota(order.begin(), order.end(), 0);
    if (axis != x.rank() - 1) { // features last
      order.erase(order.begin() + axis);
      order.push_back(axis);
      std::vector<int64_t> back(order.size());
      for (size_t d = 0; d < order.size(); ++d)
        back[size_t(order[d])] = int64_t(d);
      CallOptions forwarded = options;
      forwarded.mask = {}; // is of the first dims
      return transpose(normalized(transpose(x, order), forwarded), back);
    }
    return normalized(x, options);
  }

private:
  Tensor normalized(const Tensor &x, const CallOptions &options) const {
    if (!*options.training || !trainable())
      return nn::batch_norm(x, {movingMean, movingVariance}, valueOf(gamma),
                            valueOf(beta), settings.epsilon);
    if (!settings.synchronized && settings.replicas > 1 &&
        !isMappedAxis(replicaAxis))
      return normalizedApart(x);
    std::vector<int64_t> axes(size_t(x.rank() - 1));
    std::iota(axes.begin(), axes.end(), 0);
    const bool isReplica = isMappedAxis(replicaAxis);
    const Tensor &mask = options.mask;
    const bool isMasked = mask.defined() && mask.rank() == x.rank() - 1;
    // A replica without rows has no moments; those of all have others' part.
    const bool isEmpty = isReplica && !settings.synchronized && x.size() == 0;
    const nn::Moments now =
        isMasked || isEmpty || (isReplica && settings.synchronized)
            ? momentsOf(x, axes, isMasked ? mask : Tensor(),
                        isReplica && settings.synchronized)
            : nn::moments(x, Axis(axes));
    Tensor y =
        nn::batch_norm(x, now, valueOf(gamma), valueOf(beta), settings.epsilon);
    if (isReplica && !settings.synchronized) {
      const Tensor number =
          psum(full({}, isEmpty ? 0 : 1, now.mean.dtype()), replicaAxis);
      keep(psum(now.mean, replicaAxis) / number,
           psum(now.variance, replicaAxis) / number);
    } else {
      keep(now.mean, now.variance);
    }
    return y;
  }
  /// Returns the moments of the positions that count, if there is a mask; in
  /// the code of one replica the moments over all replicas, which may be of
  /// different sizes.
  static nn::Moments momentsOf(const Tensor &x,
                               const std::vector<int64_t> &axes,
                               const Tensor &mask, bool ofAllReplicas) {
    const Tensor wide = inWideType(x);
    const Tensor counts = mask.defined() ? expand_dims(mask, -1) : Tensor();
    int64_t elements = 1;
    for (int64_t axis : axes)
      elements *= x.shape()[size_t(axis)];
    auto ofAll = [&](const Tensor &sum) {
      return ofAllReplicas ? psum(sum, replicaAxis) : sum;
    };
    auto sumOf = [&](const Tensor &values) {
      return ofAll(reduce_sum(
          counts.defined() ? where(counts, values, 0) : values, Axis(axes)));
    };
    const Tensor number =
        counts.defined()
            ? maximum(ofAll(reduce_sum(cast(mask, wide.dtype()))), 1)
            : ofAll(full(
                  {},
                  double(std::max<int64_t>(elements, ofAllReplicas ? 0 : 1)),
                  wide.dtype()));
    const Tensor mean = sumOf(wide) / number;
    return {mean, sumOf(square(wide - mean)) / number};
  }
  /// Each replica's part of the batch by its own moments; the moving averages
  /// get the mean of these.
  Tensor normalizedApart(const Tensor &x) const {
    const int64_t replicas = settings.replicas;
    if (x.shape()[0] % replicas != 0)
      return normalizedUnevenly(x);
    Shape cut = x.shape();
    cut[0] /= replicas;
    cut.insert(cut.begin(), replicas);
    const Tensor parts = reshape(x, cut);
    std::vector<int64_t> axes(cut.size() - 2);
    std::iota(axes.begin(), axes.end(), 1);
    const nn::Moments now = nn::moments(parts, Axis(axes), true);
    Tensor y = (parts - now.mean) * rsqrt(now.variance + settings.epsilon);
    if (gamma.defined())
      y = y * gamma;
    if (beta.defined())
      y = y + beta;
    axes.insert(axes.begin(), 0);
    keep(reduce_mean(now.mean, Axis(axes)),
         reduce_mean(now.variance, Axis(axes)));
    return reshape(y, x.shape());
  }
  /// The same of parts with a row more or less, as replicas have them: they are
  /// filled up with rows that do not count.
  Tensor normalizedUnevenly(const Tensor &x) const {
    const int64_t replicas = settings.replicas, all = x.shape()[0];
    const int64_t least = all / replicas, most = least + 1;
    std::vector<int64_t> taken, places;
    std::vector<float> counts;
    std::vector<bool> isRow;
    for (int64_t replica = 0; replica < replicas; ++replica) {
      const int64_t rows = least + (replica < all % replicas);
      counts.push_back(float(std::max<int64_t>(rows, 1)));
      for (int64_t row = 0; row < most; ++row) {
        isRow.push_back(row < rows);
        if (row < rows)
          places.push_back(replica * most + row);
        taken.push_back(std::max<int64_t>(int64_t(places.size()) - 1, 0));
      }
    }
    Shape cut = x.shape(), ofRows(cut.size() + 1, 1);
    cut[0] = most;
    cut.insert(cut.begin(), replicas);
    ofRows[0] = replicas;
    const Tensor parts =
        inWideType(reshape(take(x, tensor(taken, {replicas * most}), 0), cut));
    int64_t rowSize = 1; // elements of a row
    for (size_t d = 2; d + 1 < cut.size(); ++d)
      rowSize *= cut[d];
    const Tensor number =
        cast(tensor(counts, ofRows), parts.dtype()) * double(rowSize);
    ofRows[1] = most;
    const Tensor counted = tensor(isRow, ofRows);
    std::vector<int64_t> axes(cut.size() - 2);
    std::iota(axes.begin(), axes.end(), 1);
    auto meanOf = [&](const Tensor &values) {
      return reduce_sum(where(counted, values, 0), Axis(axes), true) / number;
    };
    const Tensor mean = meanOf(parts);
    const Tensor variance = meanOf(square(parts - mean));
    Tensor y =
        cast((parts - mean) * rsqrt(variance + settings.epsilon), x.dtype());
    if (gamma.defined())
      y = y * valueOf(gamma);
    if (beta.defined())
      y = y + valueOf(beta);
    axes.insert(axes.begin(), 0);
    // The sums of a replica without rows are 0.
    const auto some = double(std::min(all, replicas));
    keep(reduce_sum(mean, Axis(axes)) / some,
         reduce_sum(variance, Axis(axes)) / some);
    Shape flat = x.shape();
    flat[0] = replicas * most;
    return take(reshape(y, flat), tensor(places, {all}), 0);
  }
  void keep(const Tensor &mean, const Tensor &variance) const {
    auto average = [&](const DVariable &moving, const Tensor &now) {
      moving.assign(moving * settings.momentum +
                    cast(now, moving.dtype()) * (1 - settings.momentum));
    };
    average(movingMean, mean);
    average(movingVariance, variance);
  }

  DVariable movingMean, movingVariance;
};

class LayerNormalizationImpl
    : public Normalizing<LayerNormalizationImpl, LayerNormalizationOptions> {
public:
  explicit LayerNormalizationImpl(LayerNormalizationOptions options)
      : Normalizing("LayerNormalization", std::move(options)) {}
  explicit LayerNormalizationImpl(const nn::Config &config)
      : LayerNormalizationImpl(read(config)) {}
  template <typename F>
  static void fields(F &field, LayerNormalizationOptions &o) {
    field("axis", o.axis);
    affineFields(field, o);
  }
  void build(const Shape &input) override {
    dims = normalizedDims(*this, settings.axis, input);
    addAffine(sizesOf(input, dims));
    set_input_spec(specOf(input, dims));
  }
  Tensor call(const Tensor &x, const CallOptions &) override {
    if (dims == Shape{x.rank() - 1})
      return nn::layer_norm(x, valueOf(gamma), valueOf(beta), settings.epsilon);
    const Tensor wide = inWideType(x);
    const nn::Moments moments = nn::moments(wide, Axis(dims), true);
    Tensor factor = rsqrt(moments.variance + settings.epsilon);
    if (gamma.defined())
      factor = factor * alongDims(gamma, wide, dims);
    Tensor y = (wide - moments.mean) * factor;
    if (beta.defined())
      y = y + alongDims(beta, wide, dims);
    return cast(y, x.dtype());
  }

private:
  Shape dims; ///< counted from 0, in order
};

class GroupNormalizationImpl
    : public Normalizing<GroupNormalizationImpl, GroupNormalizationOptions> {
public:
  explicit GroupNormalizationImpl(GroupNormalizationOptions options)
      : Normalizing("GroupNormalization", std::move(options)) {
    if (settings.groups != -1)
      expectPositive("groups", settings.groups);
  }
  explicit GroupNormalizationImpl(const nn::Config &config)
      : GroupNormalizationImpl(read(config)) {}
  template <typename F>
  static void fields(F &field, GroupNormalizationOptions &o) {
    field("groups", o.groups);
    field("axis", o.axis);
    affineFields(field, o);
  }
  void build(const Shape &input) override {
    const Shape dims = normalizedDims(*this, {settings.axis}, input);
    const int64_t features = input[size_t(dims[0])];
    groups = settings.groups == -1 ? features : settings.groups;
    if (groups < 1 || features % groups != 0)
      refuse(fmt::format("expected groups that divide the features, got {} and "
                         "{}",
                         groups, features));
    addAffine({features});
    set_input_spec(specOf(input, dims));
  }
  Tensor call(const Tensor &x, const CallOptions &) override {
    return nn::group_norm(x, groups, valueOf(gamma), valueOf(beta),
                          settings.epsilon, settings.axis);
  }

private:
  int64_t groups = 1;
};

class RMSNormalizationImpl
    : public BuiltIn<RMSNormalizationImpl, RMSNormalizationOptions> {
public:
  explicit RMSNormalizationImpl(RMSNormalizationOptions options)
      : BuiltIn("RMSNormalization", std::move(options)) {}
  explicit RMSNormalizationImpl(const nn::Config &config)
      : RMSNormalizationImpl(read(config)) {}
  template <typename F>
  static void fields(F &field, RMSNormalizationOptions &o) {
    field("axis", o.axis);
    field("epsilon", o.epsilon, Bound::NotNegative);
  }
  void build(const Shape &input) override {
    dims = normalizedDims(*this, settings.axis, input);
    scale = add_weight("scale", sizesOf(input, dims), {.initializer = "ones"});
    set_input_spec(specOf(input, dims));
  }
  Tensor call(const Tensor &x, const CallOptions &) override {
    if (dims == Shape{x.rank() - 1})
      return nn::rms_norm(x, scale, settings.epsilon);
    const Tensor wide = inWideType(x);
    const Tensor power = reduce_mean(square(wide), Axis(dims), true);
    return cast(wide * rsqrt(power + settings.epsilon) *
                    alongDims(scale, wide, dims),
                x.dtype());
  }

private:
  Shape dims; ///< counted from 0, in order
  DVariable scale;
};

class UnitNormalizationImpl
    : public BuiltIn<UnitNormalizationImpl, UnitNormalizationOptions> {
public:
  explicit UnitNormalizationImpl(UnitNormalizationOptions options)
      : BuiltIn("UnitNormalization", std::move(options)) {}
  explicit UnitNormalizationImpl(const nn::Config &config)
      : UnitNormalizationImpl(read(config)) {}
  template <typename F>
  static void fields(F &field, UnitNormalizationOptions &o) {
    field("axis", o.axis);
  }
  void build(const Shape &input) override {
    (void)normalizedDims(*this, settings.axis, input);
  }
  Tensor call(const Tensor &x, const CallOptions &) override {
    const Tensor wide = inWideType(x);
    const Tensor squares = reduce_sum(square(wide), Axis(settings.axis), true);
    return cast(wide * rsqrt(maximum(squares, 1e-24)), x.dtype());
  }
};

} // namespace

BatchNormalization::BatchNormalization(BatchNormalizationOptions options)
    : Layer(makeLayer<BatchNormalizationImpl>(std::move(options))) {}
LayerNormalization::LayerNormalization(LayerNormalizationOptions options)
    : Layer(makeLayer<LayerNormalizationImpl>(std::move(options))) {}
GroupNormalization::GroupNormalization(GroupNormalizationOptions options)
    : Layer(makeLayer<GroupNormalizationImpl>(std::move(options))) {}
RMSNormalization::RMSNormalization(RMSNormalizationOptions options)
    : Layer(makeLayer<RMSNormalizationImpl>(std::move(options))) {}
UnitNormalization::UnitNormalization(UnitNormalizationOptions options)
    : Layer(makeLayer<UnitNormalizationImpl>(std::move(options))) {}

} // namespace meshloom::layers

meshloom::detail::LayerList meshloom::detail::normalizationLayers() {
  using namespace layers;
  return {{"BatchNormalization", createLayer<BatchNormalizationImpl>},
          {"LayerNormalization", createLayer<LayerNormalizationImpl>},
          {"GroupNormalization", createLayer<GroupNormalizationImpl>},
          {"RMSNormalization", createLayer<RMSNormalizationImpl>},
          {"UnitNormalization", createLayer<UnitNormalizationImpl>}};
}
