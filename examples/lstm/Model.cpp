// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A language model of LSTM layers; see Model.h.
#include "Model.h"

#include <cmath>

using namespace meshloom;

namespace lstm {
namespace {

initializers::Initializer normal(double deviation) {
  return initializers::RandomNormal({.stddev = deviation});
}

} // namespace

Sizes Sizes::named(const std::string &name) {
  if (name == "medium")
    return {};
  if (name == "tiny")
    return {.vocabulary = 100, .width = 32, .layers = 2};
  throw Error("--size: expected medium or tiny, got \"" + name + "\"");
}

WordModelImpl::WordModelImpl(const Sizes &sizes)
    : ModelImpl("WordModel"), encoder(sizes.vocabulary, sizes.width,
                                      {.embeddings_initializer = normal(0.1)}),
      decoder(sizes.vocabulary, {.kernel_initializer = normal(0.1)}) {
  track("encoder", encoder);
  const initializers::Initializer first =
      normal(1 / std::sqrt(double(sizes.width)));
  for (int64_t i = 0; i < sizes.layers; ++i) {
    layers.emplace_back(sizes.width,
                        layers::RecurrentOptions{.kernel_initializer = first,
                                                 .recurrent_initializer = first,
                                                 .unit_forget_bias = false,
                                                 .return_sequences = true});
    track("rnn_" + std::to_string(i), layers.back());
  }
  track("decoder", decoder);
}

Tensor WordModelImpl::call(const Tensor &words, const CallOptions &) {
  Tensor x = encoder(words);
  for (const layers::LSTM &layer : layers)
    x = layer(x);
  return decoder(x);
}

WordModel makeModel(const Sizes &sizes, const Mesh &mesh) {
  const DefaultMeshScope scope(mesh);
  set_random_seed(1);
  WordModel model(sizes);
  model.build_many({{{-1, 1}, DType::I32}});
  return model;
}

Tensor loss(const WordModel &model, const Tensor &words) {
  Tensor logits = model(words(all, range(0, -1)));
  return reduce_mean(nn::sparse_softmax_cross_entropy_with_logits(
      {.labels = words(all, range(1, {})), .logits = logits}));
}

WeightMap publishedWeights() {
  return WeightMap({
      {{"encoder.weight"}, {"encoder/embeddings"}},
      {{"rnn.weight_ih_l*"}, {"rnn_*/kernel"}, "i g -> g i"},
      {{"rnn.weight_hh_l*"}, {"rnn_*/recurrent_kernel"}, "i g -> g i"},
      {.names = {"rnn.bias_ih_l*", "rnn.bias_hh_l*"},
       .paths = {"rnn_*/bias"},
       .sum = true},
      {{"decoder.weight"}, {"decoder/kernel"}, "i o -> o i"},
      {{"decoder.bias"}, {"decoder/bias"}},
  });
}

} // namespace lstm
