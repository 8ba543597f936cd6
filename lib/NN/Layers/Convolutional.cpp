// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Convolutions and pooling; see Convolutional.h.
#include "meshloom/NN/Layers/Convolutional.h"
#include "Spatial.h"

#include "meshloom/NN/Convolution.h"

#include <fmt/format.h>

#include <numeric>

namespace meshloom::layers {
namespace {

using namespace detail;

class ConvImpl : public Spatial<ConvImpl, ConvolutionOptions> {
public:
  ConvImpl(int64_t rank, int64_t filters, const Sizes &window,
           ConvolutionOptions options)
      : Spatial("Conv", rank, std::move(options)), filters(filters),
        window(forEach(window, "kernel_size")),
        strides(forEach(settings.strides, "strides")),
        dilations(forEach(settings.dilation_rate, "dilation_rate")) {
    expectPositive("filters", filters);
    expectPositive("groups", settings.groups);
    if (filters % settings.groups != 0)
      refuse(fmt::format("expected groups that divide the filters, got {} and "
                         "{}",
                         settings.groups, filters));
    if (settings.padding != "causal" || rank != 1)
      paddingOf(settings.padding); // throws if it is unknown
  }
  ConvImpl(int64_t rank, const nn::Config &config)
      : ConvImpl(rank, config.at("filters").as_int(),
                 config.at("kernel_size").as_ints(), read(config)) {}
  template <typename F> static void fields(F &field, ConvolutionOptions &o) {
    field("strides", o.strides.values);
    field("padding", o.padding);
    field("data_format", o.data_format);
    field("dilation_rate", o.dilation_rate.values);
    field("groups", o.groups);
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
    const int64_t in = input[featureDim()];
    if (in < 0 || in % settings.groups != 0)
      refuse(fmt::format("expected a known number of features that {} groups "
                         "divide, got {}",
                         settings.groups, sizesText(input)));
    Shape shape = window;
    shape.insert(shape.end(), {in / settings.groups, filters});
    kernel = add_weight("kernel", shape, kernelOptions(settings));
    if (settings.use_bias)
      bias = add_weight("bias", {filters}, biasOptions(settings));
    set_input_spec({.rank = rank + 2, .sizes = {{int64_t(featureDim()), in}}});
  }

  Tensor call(const Tensor &x, const CallOptions &) override {
    ConvOptions options{.strides = strides,
                        .dilations = dilations,
                        .channels_first = channelsFirst};
    options.padding = settings.padding == "causal"
                          ? Padding{{(window[0] - 1) * dilations[0], 0}}
                          : paddingOf(settings.padding);
    Tensor y = rank == 1   ? nn::conv1d(x, kernel, options)
               : rank == 2 ? nn::conv2d(x, kernel, options)
                           : nn::conv3d(x, kernel, options);
    if (bias.defined()) {
      Shape shape(size_t(rank) + 2, 1);
      shape[featureDim()] = filters;
      y = y + (channelsFirst ? reshape(bias, shape) : Tensor(bias));
    }
    return settings.activation ? settings.activation(y) : y;
  }

private:
  const int64_t filters;
  const Shape window, strides, dilations;
  DVariable kernel, bias;
};

class PoolingImpl : public Spatial<PoolingImpl, PoolingOptions> {
public:
  PoolingImpl(bool isMax, int64_t rank, const Sizes &size,
              PoolingOptions options)
      : Spatial(isMax ? "MaxPooling" : "AveragePooling", rank,
                std::move(options)),
        isMax(isMax), window(forEach(size, "pool_size")) {
    pooling = {.strides = settings.strides
                              ? forEach(*settings.strides, "strides")
                              : window,
               .padding = paddingOf(settings.padding),
               .channels_first = channelsFirst};
  }
  PoolingImpl(bool isMax, int64_t rank, const nn::Config &config)
      : PoolingImpl(isMax, rank, config.at("pool_size").as_ints(),
                    read(config)) {}
  template <typename F> static void fields(F &field, PoolingOptions &o) {
    std::optional<Shape> strides;
    if (o.strides)
      strides = o.strides->values;
    field("strides", strides);
    if (strides)
      o.strides = Sizes(*strides);
    field("padding", o.padding);
    field("data_format", o.data_format);
  }
  nn::Config get_config() const override {
    nn::Config config = BuiltIn::get_config();
    config["pool_size"] = window;
    return config;
  }
  void build(const Shape &input) override { expectRank(input); }
  Tensor call(const Tensor &x, const CallOptions &) override {
    return isMax ? nn::max_pool(x, window, pooling)
                 : nn::avg_pool(x, window, pooling);
  }

private:
  const bool isMax;
  const Shape window;
  PoolOptions pooling;
};

class GlobalPoolingImpl
    : public Spatial<GlobalPoolingImpl, GlobalPoolingOptions> {
public:
  GlobalPoolingImpl(bool isMax, int64_t rank, GlobalPoolingOptions options)
      : Spatial(isMax ? "GlobalMaxPooling" : "GlobalAveragePooling", rank,
                std::move(options)),
        isMax(isMax) {}
  GlobalPoolingImpl(bool isMax, int64_t rank, const nn::Config &config)
      : GlobalPoolingImpl(isMax, rank, read(config)) {}
  template <typename F> static void fields(F &field, GlobalPoolingOptions &o) {
    field("keepdims", o.keepdims);
    field("data_format", o.data_format);
  }
  void build(const Shape &input) override { expectRank(input); }
  Tensor call(const Tensor &x, const CallOptions &options) override {
    std::vector<int64_t> dims(static_cast<size_t>(rank));
    std::iota(dims.begin(), dims.end(), channelsFirst ? 2 : 1);
    if (isMax)
      return reduce_max(x, Axis(dims), settings.keepdims);
    if (!options.mask.defined() || options.mask.rank() != rank + 1)
      return reduce_mean(x, Axis(dims), settings.keepdims);
    // The mean of the positions that count.
    const Tensor counts = expand_dims(options.mask, channelsFirst ? 1 : -1);
    const Tensor number =
        reduce_sum(cast(counts, x.dtype()), Axis(dims), settings.keepdims);
    return reduce_sum(where(counts, x, 0), Axis(dims), settings.keepdims) /
           maximum(number, 1);
  }
  std::vector<Tensor> compute_mask(const std::vector<Tensor> &,
                                   const std::vector<Tensor> &) override {
    return {};
  }

private:
  const bool isMax;
};

} // namespace

template <int Rank>
Conv<Rank>::Conv(int64_t filters, Sizes kernel_size, ConvolutionOptions options)
    : Layer(makeLayer<ConvImpl>(Rank, filters, kernel_size,
                                std::move(options))) {}
template <int Rank>
MaxPooling<Rank>::MaxPooling(Sizes pool_size, PoolingOptions options)
    : Layer(makeLayer<PoolingImpl>(true, Rank, pool_size, std::move(options))) {
}
template <int Rank>
AveragePooling<Rank>::AveragePooling(Sizes pool_size, PoolingOptions options)
    : Layer(
          makeLayer<PoolingImpl>(false, Rank, pool_size, std::move(options))) {}
template <int Rank>
GlobalMaxPooling<Rank>::GlobalMaxPooling(GlobalPoolingOptions options)
    : Layer(makeLayer<GlobalPoolingImpl>(true, Rank, std::move(options))) {}
template <int Rank>
GlobalAveragePooling<Rank>::GlobalAveragePooling(GlobalPoolingOptions options)
    : Layer(makeLayer<GlobalPoolingImpl>(false, Rank, std::move(options))) {}
template class Conv<1>;
template class Conv<2>;
template class Conv<3>;
template class MaxPooling<1>;
template class MaxPooling<2>;
template class MaxPooling<3>;
template class AveragePooling<1>;
template class AveragePooling<2>;
template class AveragePooling<3>;
template class GlobalMaxPooling<1>;
template class GlobalMaxPooling<2>;
template class GlobalMaxPooling<3>;
template class GlobalAveragePooling<1>;
template class GlobalAveragePooling<2>;
template class GlobalAveragePooling<3>;

} // namespace meshloom::layers

meshloom::detail::LayerList meshloom::detail::convolutionalLayers() {
  using namespace layers;
  LayerList list;
  for (int64_t rank = 1; rank <= 3; ++rank) {
    list.emplace_back(ranked("Conv", rank), [rank](const nn::Config &config) {
      return Layer(makeLayer<ConvImpl>(rank, config));
    });
    for (bool isMax : {false, true}) {
      const std::string kind = isMax ? "MaxPooling" : "AveragePooling";
      list.emplace_back(
          ranked(kind.c_str(), rank), [=](const nn::Config &config) {
            return Layer(makeLayer<PoolingImpl>(isMax, rank, config));
          });
      list.emplace_back(
          ranked(("Global" + kind).c_str(), rank),
          [=](const nn::Config &config) {
            return Layer(makeLayer<GlobalPoolingImpl>(isMax, rank, config));
          });
    }
  }
  for (auto &pooling : adaptivePoolings())
    list.push_back(std::move(pooling));
  return list;
}
