// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// LSTMs of images; see ConvLSTM.h.
#include "meshloom/NN/Layers/ConvLSTM.h"
#include "RecurrentStep.h"
#include "Spatial.h"

#include "meshloom/NN/Convolution.h"

#include <fmt/format.h>

namespace meshloom::layers {
namespace {

using namespace detail;

class ConvLSTMImpl : public OverSteps<Spatial<ConvLSTMImpl, ConvLSTMOptions>> {
public:
  ConvLSTMImpl(int64_t rank, int64_t filters, const Sizes &window,
               ConvLSTMOptions options)
      : OverSteps("ConvLSTM", rank, std::move(options)), filters(filters),
        window(forEach(window, "kernel_size")),
        ofInput{.strides = forEach(settings.strides, "strides"),
                .dilations = forEach(settings.dilation_rate, "dilation_rate"),
                .padding = paddingOf(settings.padding)} {
    expectPositive("filters", filters);
    expectRate("a rate of dropout", settings.dropout);
    expectRate("a rate of recurrent_dropout", settings.recurrent_dropout);
    seedFrom(settings.seed);
    set_input_spec({.rank = rank + 3});
  }
  ConvLSTMImpl(int64_t rank, const nn::Config &config)
      : ConvLSTMImpl(rank, config.at("filters").as_int(),
                     config.at("kernel_size").as_ints(), read(config)) {}
  template <typename F> static void fields(F &field, ConvLSTMOptions &o) {
    field("strides", o.strides.values);
    field("padding", o.padding);
    field("data_format", o.data_format);
    field("dilation_rate", o.dilation_rate.values);
    field("recurrent_activation", o.recurrent_activation);
    kernelAndBiasFields(field, o);
    field("recurrent_initializer", o.recurrent_initializer);
    field("unit_forget_bias", o.unit_forget_bias);
    field("recurrent_regularizer", o.recurrent_regularizer);
    field("recurrent_constraint", o.recurrent_constraint);
    field("dropout", o.dropout);
    field("recurrent_dropout", o.recurrent_dropout);
    seedField(field, o.seed);
    sequenceFields(field, o);
  }
  nn::Config get_config() const override {
    nn::Config config = OverSteps::get_config();
    config["filters"] = filters;
    config["kernel_size"] = window;
    return config;
  }

  void build(const Shape &input) override {
    const size_t features = channelsFirst ? 2 : size_t(rank) + 2;
    if (int64_t(input.size()) != rank + 3 || input[features] < 0)
      refuse(fmt::format("expected an input [batch, steps, {}] of rank {} with "
                         "a known number of features, got {}",
                         channelsFirst ? "features, spatial..."
                                       : "spatial..., features",
                         rank + 3, sizesText(input)));
    auto shape = [&](int64_t in) {
      Shape kernelShape = window;
      kernelShape.insert(kernelShape.end(), {in, 4 * filters});
      return kernelShape;
    };
    kernel =
        add_weight("kernel", shape(input[features]), kernelOptions(settings));
    recurrent = add_weight("recurrent_kernel", shape(filters),
                           recurrentOptions(settings));
    if (settings.use_bias)
      bias = add_weight(
          "bias", {4 * filters},
          {.initializer =
               settings.unit_forget_bias
                   ? withOpenForgetGates(settings.bias_initializer, filters)
                   : settings.bias_initializer,
           .regularizer = settings.bias_regularizer,
           .constraint = settings.bias_constraint});
    if (settings.dropout > 0 || settings.recurrent_dropout > 0)
      add_seed();
    set_input_spec(
        {.rank = rank + 3, .sizes = {{int64_t(features), input[features]}}});
  }

  std::vector<Tensor> call_many(const std::vector<Tensor> &xs,
                                const CallOptions &options) override {
    std::vector<Tensor> inputs = xs;
    if (channelsFirst) {
      inputs[0] = moved(xs[0], 2, xs[0].rank() - 1);
      for (size_t i = 1; i < inputs.size(); ++i)
        inputs[i] = featuresLast(xs[i]);
    }
    Tensor x = inputs[0];
    if (*options.training && settings.dropout > 0) {
      Shape maskShape = x.shape();
      maskShape[1] = 1;
      x = x * dropping(maskShape, x.dtype(), settings.dropout);
    }
    // All steps' convolutions of x are one; the loop has those of h only.
    const int64_t batch = x.shape()[0], steps = x.shape()[1];
    Shape flat(x.shape().begin() + 1, x.shape().end());
    flat[0] = batch * steps;
    Tensor projected = convolution(reshape(x, flat), kernel, ofInput);
    if (bias.defined())
      projected = projected + bias;
    Shape apart = projected.shape(), ofState(apart.begin() + 1, apart.end());
    apart[0] = steps;
    apart.insert(apart.begin(), batch);
    ofState.back() = filters;
    const States states =
        firstStates(inputs, {{"state_h", ofState}, {"state_c", ofState}});
    Tensor maskedState; // what h's convolution is of: h times this
    if (*options.training && settings.recurrent_dropout > 0)
      maskedState =
          dropping(states[0].shape(), x.dtype(), settings.recurrent_dropout);
    const Tensor weights = recurrent;
    States results = goOver(
        reshape(projected, apart), maskOf(options.mask, x), states, 0, true,
        [&](const Tensor &projectedStep, const States &now) {
          const Tensor h =
              maskedState.defined() ? now[0] * maskedState : now[0];
          States next = lstmStates(
              projectedStep + convolution(h, weights, {.padding = "SAME"}),
              now[1], settings.recurrent_activation, settings.activation);
          return std::pair(next[0], next);
        });
    if (channelsFirst)
      for (size_t i = 0; i < results.size(); ++i)
        results[i] = i == 0 && settings.return_sequences
                         ? moved(results[0], results[0].rank() - 1, 2)
                         : featuresFirst(results[i]);
    return results;
  }

private:
  Tensor dropping(const Shape &shape, DType type, double rate) {
    return nn::dropout(ones(shape, type), rate, next_seed());
  }
  Tensor convolution(const Tensor &x, const Tensor &by,
                     const ConvOptions &options) const {
    return rank == 1   ? nn::conv1d(x, by, options)
           : rank == 2 ? nn::conv2d(x, by, options)
                       : nn::conv3d(x, by, options);
  }
  /// With dim `from` where `to` is.
  static Tensor moved(const Tensor &x, int64_t from, int64_t to) {
    std::vector<int64_t> order;
    for (int64_t d = 0; d < x.rank(); ++d)
      if (d != from)
        order.push_back(d);
    order.insert(order.begin() + to, from);
    return transpose(x, order);
  }

  const int64_t filters;
  const Shape window;
  const ConvOptions ofInput;
  DVariable kernel, recurrent, bias;
};

} // namespace

template <int Rank>
ConvLSTM<Rank>::ConvLSTM(int64_t filters, Sizes kernel_size,
                         ConvLSTMOptions options)
    : Recurrent(makeLayer<ConvLSTMImpl>(Rank, filters, kernel_size,
                                        std::move(options))) {}
template class ConvLSTM<1>;
template class ConvLSTM<2>;
template class ConvLSTM<3>;

} // namespace meshloom::layers

meshloom::detail::LayerList meshloom::detail::convLSTMs() {
  LayerList list;
  for (int64_t rank = 1; rank <= 3; ++rank)
    list.emplace_back(
        ranked("ConvLSTM", rank), [rank](const nn::Config &config) {
          return Layer(std::make_shared<layers::ConvLSTMImpl>(rank, config));
        });
  return list;
}
