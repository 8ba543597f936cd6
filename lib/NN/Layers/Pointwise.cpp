// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Layers that keep x's shape: masks, losses of activities, PReLU; see Core.h.
#include "BuiltIn.h"

#include "meshloom/NN/Functions.h"
#include "meshloom/NN/Layers/Core.h"

#include <fmt/format.h>

namespace meshloom::layers {
namespace {

using namespace detail;

class MaskingImpl : public BuiltIn<MaskingImpl, PlainOptions> {
public:
  MaskingImpl(double value, PlainOptions options)
      : BuiltIn("Masking", std::move(options)), value(value) {
    set_input_spec({.min_rank = 2});
  }
  explicit MaskingImpl(const nn::Config &config)
      : MaskingImpl(config.at("mask_value").as_double(), read(config)) {}
  template <typename F> static void fields(F &, PlainOptions &) {}
  nn::Config get_config() const override {
    nn::Config config = BuiltIn::get_config();
    config["mask_value"] = value;
    return config;
  }
  Tensor call(const Tensor &x, const CallOptions &) override {
    return x * cast(expand_dims(maskOf(x), -1), x.dtype());
  }
  std::vector<Tensor> compute_mask(const std::vector<Tensor> &xs,
                                   const std::vector<Tensor> &) override {
    return {maskOf(xs[0])};
  }

private:
  Tensor maskOf(const Tensor &x) const {
    return reduce_any(not_equal(x, value), -1);
  }
  const double value;
};

class IdentityImpl : public BuiltIn<IdentityImpl, PlainOptions> {
public:
  explicit IdentityImpl(PlainOptions options)
      : BuiltIn("Identity", std::move(options)) {}
  explicit IdentityImpl(const nn::Config &config)
      : IdentityImpl(read(config)) {}
  template <typename F> static void fields(F &, PlainOptions &) {}
  Tensor call(const Tensor &x, const CallOptions &) override { return x; }
};

class ActivityImpl : public BuiltIn<ActivityImpl, ActivityOptions> {
public:
  explicit ActivityImpl(ActivityOptions options)
      : BuiltIn("ActivityRegularization", std::move(options)) {}
  explicit ActivityImpl(const nn::Config &config)
      : ActivityImpl(read(config)) {}
  template <typename F> static void fields(F &field, ActivityOptions &o) {
    field("l1", o.l1, Bound::NotNegative);
    field("l2", o.l2, Bound::NotNegative);
  }
  Tensor call(const Tensor &x, const CallOptions &) override {
    const auto examples = double(x.rank() ? x.shape()[0] : 1);
    if (settings.l1 != 0)
      add_loss(reduce_sum(abs(x)) * (settings.l1 / examples));
    if (settings.l2 != 0)
      add_loss(reduce_sum(square(x)) * (settings.l2 / examples));
    return x;
  }
};

class PReLUImpl : public BuiltIn<PReLUImpl, PReLUOptions> {
public:
  explicit PReLUImpl(PReLUOptions options)
      : BuiltIn("PReLU", std::move(options)) {}
  explicit PReLUImpl(const nn::Config &config) : PReLUImpl(read(config)) {}
  template <typename F> static void fields(F &field, PReLUOptions &o) {
    field("alpha_initializer", o.alpha_initializer);
    field("alpha_regularizer", o.alpha_regularizer);
    field("alpha_constraint", o.alpha_constraint);
    if constexpr (std::same_as<F, ReadFields>) { // Keras: nothing
      std::optional<Shape> axes = o.shared_axes;
      field("shared_axes", axes);
      o.shared_axes = axes.value_or(Shape{});
    } else {
      field("shared_axes", o.shared_axes);
    }
  }
  void build(const Shape &input) override {
    Shape shape(input.begin() + (input.empty() ? 0 : 1), input.end());
    for (int64_t axis : settings.shared_axes) {
      if (axis < 1 || axis >= int64_t(input.size()))
        refuse(fmt::format("expected shared_axes in [1, {}], got {}",
                           input.size() - 1, axis));
      shape[size_t(axis) - 1] = 1;
    }
    if (std::ranges::find(shape, -1) != shape.end())
      refuse(fmt::format("expected known sizes of the dims that are not "
                         "shared, got {}",
                         sizesText(input)));
    alpha = add_weight("alpha", shape,
                       {.initializer = settings.alpha_initializer,
                        .regularizer = settings.alpha_regularizer,
                        .constraint = settings.alpha_constraint});
    set_input_spec({.rank = int64_t(input.size())});
  }
  Tensor call(const Tensor &x, const CallOptions &) override {
    return nn::relu(x) - alpha * nn::relu(-x);
  }

private:
  DVariable alpha;
};

} // namespace

Masking::Masking(double mask_value, PlainOptions options)
    : Layer(makeLayer<MaskingImpl>(mask_value, std::move(options))) {}
Identity::Identity(PlainOptions options)
    : Layer(makeLayer<IdentityImpl>(std::move(options))) {}
ActivityRegularization::ActivityRegularization(ActivityOptions options)
    : Layer(makeLayer<ActivityImpl>(std::move(options))) {}
PReLU::PReLU(PReLUOptions options)
    : Layer(makeLayer<PReLUImpl>(std::move(options))) {}

} // namespace meshloom::layers

meshloom::detail::LayerList meshloom::detail::pointwiseLayers() {
  using namespace layers;
  return {{"Masking", createLayer<MaskingImpl>},
          {"Identity", createLayer<IdentityImpl>},
          {"ActivityRegularization", createLayer<ActivityImpl>},
          {"PReLU", createLayer<PReLUImpl>}};
}
