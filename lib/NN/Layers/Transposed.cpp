// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Transposed, depthwise and separable convolutions; see Convolutional.h.
#include "Spatial.h"

#include "meshloom/NN/Convolution.h"
#include "meshloom/NN/Layers/Convolutional.h"

namespace meshloom::layers {
namespace {

using namespace detail;

int64_t featuresOf(const Shape &input, size_t dim) {
  return dim < input.size() ? input[dim] : -1;
}

class TransposedImpl : public Spatial<TransposedImpl, TransposedOptions> {
public:
  TransposedImpl(int64_t rank, int64_t filters, const Sizes &window,
                 TransposedOptions options)
      : Spatial("Conv", rank, std::move(options), "Transpose"),
        filters(filters), window(forEach(window, "kernel_size")),
        strides(forEach(settings.strides, "strides")) {
    expectPositive("filters", filters);
    paddingOf(settings.padding); // throws if it is unknown
    if (settings.output_padding) {
      more = countsFor(*settings.output_padding, "output_padding");
      for (size_t dim = 0; dim < more.size(); ++dim)
        if (more[dim] < 0 || more[dim] >= strides[dim])
          refuse(fmt::format("expected output_padding to be from 0 to one less "
                             "than the strides [{}], got [{}]",
                             fmt::join(strides, ", "), fmt::join(more, ", ")));
    }
  }
  TransposedImpl(int64_t rank, const nn::Config &config)
      : TransposedImpl(rank, config.at("filters").as_int(),
                       config.at("kernel_size").as_ints(), read(config)) {}
  template <typename F> static void fields(F &field, TransposedOptions &o) {
    field("strides", o.strides.values);
    field("padding", o.padding);
    std::optional<Shape> counts;
    if (o.output_padding)
      counts = o.output_padding->values;
    field("output_padding", counts);
    o.output_padding = counts ? std::optional<Sizes>(*counts) : std::nullopt;
    field("data_format", o.data_format);
    kernelAndBiasFields(field, o);
  }
  nn::Config get_config() const override {
    nn::Config config = BuiltIn::get_config();
    config["filters"] = filters;
    config["kernel_size"] = window;
    return config;
  }

  void build(const Shape &input) override {
    expectRank(input);
    const int64_t in = featuresOf(input, featureDim());
    if (in < 0)
      refuse(fmt::format("expected a known number of features, got {}",
                         sizesText(input)));
    Shape shape = window;
    shape.insert(shape.end(), {filters, in});
    kernel = add_weight("kernel", shape, kernelOptions(settings));
    if (settings.use_bias)
      bias = add_weight("bias", {filters}, biasOptions(settings));
    set_input_spec({.rank = rank + 2, .sizes = {{int64_t(featureDim()), in}}});
  }

  Tensor call(const Tensor &x, const CallOptions &) override {
    Tensor y = nn::conv_transpose(channelsFirst ? featuresLast(x) : x, kernel,
                                  {.strides = strides,
                                   .padding = paddingOfResult(),
                                   .transpose_filters = true});
    if (bias.defined())
      y = y + bias;
    if (settings.activation)
      y = settings.activation(y);
    return channelsFirst ? featuresFirst(y) : y;
  }

private:
  /// Returns the padding of a result that output_padding makes longer, by
  /// Keras's formula.
  Padding paddingOfResult() const {
    if (!settings.output_padding)
      return paddingOf(settings.padding);
    std::vector<std::pair<int64_t, int64_t>> counts;
    for (size_t dim = 0; dim < more.size(); ++dim) {
      const int64_t size = window[dim];
      if (settings.padding == "valid") {
        counts.emplace_back(size - 1, size - 1 + more[dim]);
        continue;
      }
      const int64_t total = size + size % 2 - 2 + more[dim];
      const int64_t before = std::min(total / 2 + total % 2, size - 1);
      counts.emplace_back(before, total - before);
    }
    return counts;
  }

  const int64_t filters;
  const Shape window, strides;
  Shape more; ///< output_padding of each spatial dim, if it is set
  DVariable kernel, bias;
};

/// With `filters` a separable one, else a depthwise one.
class DepthwiseImpl : public Spatial<DepthwiseImpl, DepthwiseOptions> {
public:
  DepthwiseImpl(int64_t rank, std::optional<int64_t> filters,
                const Sizes &window, DepthwiseOptions options)
      : Spatial(filters ? "SeparableConv" : "DepthwiseConv", rank,
                std::move(options)),
        filters(filters), window(forEach(window, "kernel_size")) {
    if (filters)
      expectPositive("filters", *filters);
    expectPositive("depth_multiplier", settings.depth_multiplier);
    convolution = {.strides = forEach(settings.strides, "strides"),
                   .dilations =
                       forEach(settings.dilation_rate, "dilation_rate"),
                   .padding = paddingOf(settings.padding)};
  }
  DepthwiseImpl(int64_t rank, bool isSeparable, const nn::Config &config)
      : DepthwiseImpl(rank,
                      isSeparable ? std::optional(config.at("filters").as_int())
                                  : std::nullopt,
                      config.at("kernel_size").as_ints(), read(config)) {}
  template <typename F> static void fields(F &field, DepthwiseOptions &o) {
    field("strides", o.strides.values);
    field("padding", o.padding);
    field("data_format", o.data_format);
    field("dilation_rate", o.dilation_rate.values);
    field("depth_multiplier", o.depth_multiplier);
    field("activation", o.activation);
    field("use_bias", o.use_bias);
    field("depthwise_initializer", o.depthwise_initializer);
    field("pointwise_initializer", o.pointwise_initializer);
    field("bias_initializer", o.bias_initializer);
    field("depthwise_regularizer", o.depthwise_regularizer);
    field("pointwise_regularizer", o.pointwise_regularizer);
    field("bias_regularizer", o.bias_regularizer);
    field("depthwise_constraint", o.depthwise_constraint);
    field("pointwise_constraint", o.pointwise_constraint);
    field("bias_constraint", o.bias_constraint);
  }
  nn::Config get_config() const override {
    nn::Config config = BuiltIn::get_config();
    if (filters)
      config["filters"] = *filters;
    config["kernel_size"] = window;
    return config;
  }

  void build(const Shape &input) override {
    expectRank(input);
    const int64_t in = featuresOf(input, featureDim());
    if (in < 0)
      refuse(fmt::format("expected a known number of features, got {}",
                         sizesText(input)));
    Shape shape = window;
    shape.insert(shape.end(), {in, settings.depth_multiplier});
    kernel = add_weight(filters ? "depthwise_kernel" : "kernel", shape,
                        {.initializer = settings.depthwise_initializer,
                         .regularizer = settings.depthwise_regularizer,
                         .constraint = settings.depthwise_constraint});
    const int64_t between = in * settings.depth_multiplier;
    if (filters) {
      Shape points(size_t(rank), 1);
      points.insert(points.end(), {between, *filters});
      pointwise = add_weight("pointwise_kernel", points,
                             {.initializer = settings.pointwise_initializer,
                              .regularizer = settings.pointwise_regularizer,
                              .constraint = settings.pointwise_constraint});
    }
    if (settings.use_bias)
      bias = add_weight("bias", {filters.value_or(between)},
                        biasOptions(settings));
    set_input_spec({.rank = rank + 2, .sizes = {{int64_t(featureDim()), in}}});
  }

  Tensor call(const Tensor &x, const CallOptions &) override {
    // Here there are as many groups as features.
    const Tensor weights = kernel;
    Shape shape = window;
    shape.insert(shape.end(), {1, -1});
    Tensor y = convolved(channelsFirst ? featuresLast(x) : x,
                         reshape(weights, shape), convolution);
    if (pointwise.defined())
      y = convolved(y, pointwise, {});
    if (bias.defined())
      y = y + bias;
    if (settings.activation)
      y = settings.activation(y);
    return channelsFirst ? featuresFirst(y) : y;
  }

private:
  Tensor convolved(const Tensor &x, const Tensor &filters,
                   const ConvOptions &options) const {
    return rank == 1 ? nn::conv1d(x, filters, options)
                     : nn::conv2d(x, filters, options);
  }

  const std::optional<int64_t> filters;
  const Shape window;
  ConvOptions convolution;
  DVariable kernel, pointwise, bias;
};

} // namespace

template <int Rank>
ConvTranspose<Rank>::ConvTranspose(int64_t filters, Sizes kernel_size,
                                   TransposedOptions options)
    : Layer(makeLayer<TransposedImpl>(Rank, filters, kernel_size,
                                      std::move(options))) {}
template <int Rank>
DepthwiseConv<Rank>::DepthwiseConv(Sizes kernel_size, DepthwiseOptions options)
    : Layer(makeLayer<DepthwiseImpl>(Rank, std::nullopt, kernel_size,
                                     std::move(options))) {}
template <int Rank>
SeparableConv<Rank>::SeparableConv(int64_t filters, Sizes kernel_size,
                                   DepthwiseOptions options)
    : Layer(makeLayer<DepthwiseImpl>(Rank, filters, kernel_size,
                                     std::move(options))) {}
template class ConvTranspose<1>;
template class ConvTranspose<2>;
template class ConvTranspose<3>;
template class DepthwiseConv<1>;
template class DepthwiseConv<2>;
template class SeparableConv<1>;
template class SeparableConv<2>;

} // namespace meshloom::layers

meshloom::detail::LayerList meshloom::detail::transposedLayers() {
  using namespace layers;
  LayerList list;
  for (int64_t rank = 1; rank <= 3; ++rank)
    list.emplace_back(ranked("Conv", rank) + "Transpose",
                      [rank](const nn::Config &config) {
                        return Layer(makeLayer<TransposedImpl>(rank, config));
                      });
  for (int64_t rank = 1; rank <= 2; ++rank)
    for (bool isSeparable : {false, true})
      list.emplace_back(
          ranked(isSeparable ? "SeparableConv" : "DepthwiseConv", rank),
          [=](const nn::Config &config) {
            return Layer(makeLayer<DepthwiseImpl>(rank, isSeparable, config));
          });
  return list;
}
