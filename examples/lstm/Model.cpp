// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// LSTM layers as a scan over time; see Model.h.
#include "Model.h"

#include "../options/Options.h"
#include "../options/Weights.h"

#include <cmath>

using namespace meshloom;
using example::constantWeight;
using example::normalWeight;

namespace lstm {

Config Config::named(const std::string &name) {
  if (name == "medium")
    return {};
  if (name == "tiny")
    return {.vocabulary = 100, .width = 32, .layers = 2};
  throw Error("--size: expected medium or tiny, got \"" + name + "\"");
}

Layer::Layer(int64_t index, int64_t width, const Mesh &mesh)
    : input(normalWeight("rnn.weight_ih_l" + std::to_string(index),
                         {4 * width, width}, Layout::replicated(mesh, 2),
                         1 / std::sqrt(double(width)))),
      hidden(normalWeight("rnn.weight_hh_l" + std::to_string(index),
                          {4 * width, width}, Layout::replicated(mesh, 2),
                          1 / std::sqrt(double(width)))),
      inputBias(constantWeight("rnn.bias_ih_l" + std::to_string(index),
                               {4 * width}, 0, Layout::replicated(mesh, 1))),
      hiddenBias(constantWeight("rnn.bias_hh_l" + std::to_string(index),
                                {4 * width}, 0, Layout::replicated(mesh, 1))) {
  track(this, input, hidden, inputBias, hiddenBias);
}

Tensor Layer::operator()(const Tensor &x) const {
  // The part that does not depend on the state is one product for all steps.
  Tensor inputs =
      matmul(x, input, {.transpose_b = true}) + inputBias + hiddenBias;
  Tensor zero = zeros({x.shape()[1], x.shape()[2]});
  auto step = [&](const Carry &state, const Tensor &now) {
    Tensor gates = now + matmul(state.first, hidden, {.transpose_b = true});
    std::vector<Tensor> part = split(gates, 4, 1);
    Tensor cell =
        sigmoid(part[1]) * state.second + sigmoid(part[0]) * tanh(part[2]);
    Tensor seen = sigmoid(part[3]) * tanh(cell);
    return std::pair{Carry{seen, cell}, seen};
  };
  return scan(step, Carry{zero, zero}, inputs).second;
}

Model::Model(const Config &config, const Mesh &mesh)
    : config(config),
      encoder(normalWeight("encoder.weight", {config.vocabulary, config.width},
                           Layout::replicated(mesh, 2), 0.1)),
      decoder(normalWeight("decoder.weight", {config.vocabulary, config.width},
                           Layout::replicated(mesh, 2), 0.1)),
      decoderBias(constantWeight("decoder.bias", {config.vocabulary}, 0,
                                 Layout::replicated(mesh, 1))) {
  for (int64_t i = 0; i < config.layers; ++i)
    layers.emplace_back(i, config.width, mesh);
  track(this, encoder, layers, decoder, decoderBias);
}

Tensor Model::operator()(const Tensor &words) const {
  Tensor x = nn::embedding(encoder, words);
  for (const Layer &layer : layers)
    x = layer(x);
  return matmul(x, decoder, {.transpose_b = true}) + decoderBias;
}

Tensor Model::loss(const Tensor &words) const {
  Tensor logits = (*this)(words(range(0, -1)));
  return reduce_mean(nn::sparse_softmax_cross_entropy_with_logits(
      {.labels = words(range(1, {})), .logits = logits}));
}

} // namespace lstm
