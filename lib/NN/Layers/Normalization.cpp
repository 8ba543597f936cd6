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

/// What layers with gamma and beta share.
template <typename Impl, typename Options>
class Normalizing : public BuiltIn<Impl, Options> {
public:
  using BuiltIn<Impl, Options>::BuiltIn;
  template <typename F> static void affineFields(F &field, Options &o) {
    field("epsilon", o.epsilon);
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
    const Options &o = this->own;
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
  int64_t known(const Shape &input, int64_t axis) const {
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

class BatchNormalizationImpl
    : public Normalizing<BatchNormalizationImpl, BatchNormalizationOptions> {
public:
  explicit BatchNormalizationImpl(BatchNormalizationOptions options)
      : Normalizing("BatchNormalization", std::move(options)) {
    if (own.replicas == 0)
      own.replicas = get_strategy().num_replicas_in_sync();
    expectPositive("replicas", own.replicas);
  }
  explicit BatchNormalizationImpl(const Config &config)
      : BatchNormalizationImpl(read(config)) {}
  template <typename F>
  static void fields(F &field, BatchNormalizationOptions &o) {
    field("axis", o.axis);
    field("momentum", o.momentum);
    affineFields(field, o);
    field("moving_mean_initializer", o.moving_mean_initializer);
    field("moving_variance_initializer", o.moving_variance_initializer);
    field("synchronized", o.synchronized);
  }

  void build(const Shape &input) override {
    const int64_t features = known(input, own.axis);
    addAffine({features});
    movingMean = add_weight(
        "moving_mean", {features},
        {.initializer = own.moving_mean_initializer, .trainable = false});
    movingVariance = add_weight(
        "moving_variance", {features},
        {.initializer = own.moving_variance_initializer, .trainable = false});
    set_input_spec({.min_rank = 2, .sizes = {{own.axis, features}}});
  }

  Tensor call(const Tensor &x, const CallOptions &options) override {
    const int64_t axis = own.axis < 0 ? own.axis + x.rank() : own.axis;
    std::vector<int64_t> order(size_t(x.rank()));
    std::iota(order.begin(), order.end(), 0);
    if (axis != x.rank() - 1) { // features last
      order.erase(order.begin() + axis);
      order.push_back(axis);
      std::vector<int64_t> back(order.size());
      for (size_t d = 0; d < order.size(); ++d)
        back[size_t(order[d])] = int64_t(d);
      CallOptions given = options;
      given.mask = {}; // is of the first dims
      return transpose(normalized(transpose(x, order), given), back);
    }
    return normalized(x, options);
  }

private:
  Tensor normalized(const Tensor &x, const CallOptions &options) const {
    if (!*options.training || !trainable())
      return nn::batch_norm(x, {movingMean, movingVariance}, valueOf(gamma),
                            valueOf(beta), own.epsilon);
    if (!own.synchronized && own.replicas > 1 && !isMappedAxis(replicaAxis))
      return normalizedApart(x);
    std::vector<int64_t> axes(size_t(x.rank() - 1));
    std::iota(axes.begin(), axes.end(), 0);
    const bool isReplica = isMappedAxis(replicaAxis);
    const Tensor &mask = options.mask;
    const bool isMasked = mask.defined() && mask.rank() == x.rank() - 1;
    const nn::Moments now = isMasked || (isReplica && own.synchronized)
                                ? momentsOf(x, axes, isMasked ? mask : Tensor(),
                                            isReplica && own.synchronized)
                                : nn::moments(x, Axis(axes));
    Tensor y =
        nn::batch_norm(x, now, valueOf(gamma), valueOf(beta), own.epsilon);
    if (isReplica && !own.synchronized)
      keep(pmean(now.mean, replicaAxis), pmean(now.variance, replicaAxis));
    else
      keep(now.mean, now.variance);
    return y;
  }
  /// Of the positions that count, if there is a mask; in the code of one
  /// replica of what all replicas have, which may be of different sizes.
  static nn::Moments momentsOf(const Tensor &x,
                               const std::vector<int64_t> &axes,
                               const Tensor &mask, bool ofAllReplicas) {
    const bool isNarrow = x.dtype() == DType::BF16 || x.dtype() == DType::F16;
    const Tensor wide = isNarrow ? cast(x, DType::F32) : x;
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
            : ofAll(full({}, double(elements), wide.dtype()));
    const Tensor mean = sumOf(wide) / number;
    return {mean, sumOf(square(wide - mean)) / number};
  }
  /// Each replica's part of the batch by its own moments; the moving averages
  /// get the mean of these.
  Tensor normalizedApart(const Tensor &x) const {
    const int64_t replicas = own.replicas;
    if (x.shape()[0] % replicas != 0)
      refuse(fmt::format("expected a batch that {} replicas divide, got {}: "
                         "where it is not synchronized each has its part",
                         replicas, sizesText(x.shape())));
    Shape cut = x.shape();
    cut[0] /= replicas;
    cut.insert(cut.begin(), replicas);
    const Tensor parts = reshape(x, cut);
    std::vector<int64_t> axes(cut.size() - 2);
    std::iota(axes.begin(), axes.end(), 1);
    const nn::Moments now = nn::moments(parts, Axis(axes), true);
    Tensor y = (parts - now.mean) * rsqrt(now.variance + own.epsilon);
    if (gamma.defined())
      y = y * gamma;
    if (beta.defined())
      y = y + beta;
    axes.insert(axes.begin(), 0);
    keep(reduce_mean(now.mean, Axis(axes)),
         reduce_mean(now.variance, Axis(axes)));
    return reshape(y, x.shape());
  }
  void keep(const Tensor &mean, const Tensor &variance) const {
    auto average = [&](const DVariable &moving, const Tensor &now) {
      moving.assign(moving * own.momentum +
                    cast(now, moving.dtype()) * (1 - own.momentum));
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
  explicit LayerNormalizationImpl(const Config &config)
      : LayerNormalizationImpl(read(config)) {}
  template <typename F>
  static void fields(F &field, LayerNormalizationOptions &o) {
    field("axis", o.axis);
    affineFields(field, o);
  }
  void build(const Shape &input) override {
    const int64_t rank = int64_t(input.size());
    Shape axes = own.axis;
    for (int64_t &axis : axes)
      axis = axis < 0 ? axis + rank : axis;
    std::ranges::sort(axes);
    for (size_t i = 0; i < axes.size(); ++i)
      if (axes[i] != rank - int64_t(axes.size()) + int64_t(i) || axes[i] < 1)
        refuse(fmt::format("expected its last dims as axis, got {} of {}: "
                           "permute the input",
                           sizesText(own.axis), sizesText(input)));
    Shape shape;
    InputSpec spec{.min_rank = int64_t(axes.size()) + 1};
    for (int64_t axis : axes) {
      shape.push_back(known(input, axis));
      spec.sizes[axis - rank] = shape.back();
    }
    addAffine(shape);
    set_input_spec(std::move(spec));
  }
  Tensor call(const Tensor &x, const CallOptions &) override {
    if (own.axis.size() == 1)
      return nn::layer_norm(x, valueOf(gamma), valueOf(beta), own.epsilon);
    Shape merged(x.shape().begin(),
                 x.shape().end() - ptrdiff_t(own.axis.size()));
    merged.push_back(-1);
    auto flat = [](const DVariable &vector) {
      return vector.defined() ? reshape(vector, {-1}) : Tensor();
    };
    return reshape(nn::layer_norm(reshape(x, merged), flat(gamma), flat(beta),
                                  own.epsilon),
                   x.shape());
  }
};

class GroupNormalizationImpl
    : public Normalizing<GroupNormalizationImpl, GroupNormalizationOptions> {
public:
  explicit GroupNormalizationImpl(GroupNormalizationOptions options)
      : Normalizing("GroupNormalization", std::move(options)) {}
  explicit GroupNormalizationImpl(const Config &config)
      : GroupNormalizationImpl(read(config)) {}
  template <typename F>
  static void fields(F &field, GroupNormalizationOptions &o) {
    field("groups", o.groups);
    affineFields(field, o);
  }
  void build(const Shape &input) override {
    const int64_t features = known(input, -1);
    groups = own.groups == -1 ? features : own.groups;
    if (groups < 1 || features % groups != 0)
      refuse(fmt::format("expected groups that divide the features, got {} and "
                         "{}",
                         groups, features));
    addAffine({features});
    set_input_spec({.min_rank = 2, .sizes = {{-1, features}}});
  }
  Tensor call(const Tensor &x, const CallOptions &) override {
    return nn::group_norm(x, groups, valueOf(gamma), valueOf(beta),
                          own.epsilon);
  }

private:
  int64_t groups = 1;
};

class RMSNormalizationImpl
    : public BuiltIn<RMSNormalizationImpl, RMSNormalizationOptions> {
public:
  explicit RMSNormalizationImpl(RMSNormalizationOptions options)
      : BuiltIn("RMSNormalization", std::move(options)) {}
  explicit RMSNormalizationImpl(const Config &config)
      : RMSNormalizationImpl(read(config)) {}
  template <typename F>
  static void fields(F &field, RMSNormalizationOptions &o) {
    field("epsilon", o.epsilon);
  }
  void build(const Shape &input) override {
    if (input.empty() || input.back() < 0)
      refuse("expected an input [..., features], got " + sizesText(input));
    scale = add_weight("scale", {input.back()}, {.initializer = "ones"});
    set_input_spec({.min_rank = 1, .sizes = {{-1, input.back()}}});
  }
  Tensor call(const Tensor &x, const CallOptions &) override {
    return nn::rms_norm(x, scale, own.epsilon);
  }

private:
  DVariable scale;
};

} // namespace

BatchNormalization::BatchNormalization(BatchNormalizationOptions options)
    : Layer(std::make_shared<BatchNormalizationImpl>(std::move(options))) {}
LayerNormalization::LayerNormalization(LayerNormalizationOptions options)
    : Layer(std::make_shared<LayerNormalizationImpl>(std::move(options))) {}
GroupNormalization::GroupNormalization(GroupNormalizationOptions options)
    : Layer(std::make_shared<GroupNormalizationImpl>(std::move(options))) {}
RMSNormalization::RMSNormalization(RMSNormalizationOptions options)
    : Layer(std::make_shared<RMSNormalizationImpl>(std::move(options))) {}

} // namespace meshloom::layers

meshloom::detail::LayerList meshloom::detail::normalizationLayers() {
  using namespace layers;
  return {{"BatchNormalization", madeOf<BatchNormalizationImpl>},
          {"LayerNormalization", madeOf<LayerNormalizationImpl>},
          {"GroupNormalization", madeOf<GroupNormalizationImpl>},
          {"RMSNormalization", madeOf<RMSNormalizationImpl>}};
}
