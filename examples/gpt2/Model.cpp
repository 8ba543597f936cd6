// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// GPT-2, its loss and its decoding of one token; see Model.h.
#include "Model.h"

#include "../options/Options.h"

using namespace meshloom;
using example::axisOrNone;
using example::Cache;
using example::projectionPaths;

namespace gpt2 {
namespace {

initializers::Initializer normal() {
  return initializers::RandomNormal({.stddev = 0.02});
}
/// The approximation of gelu that GPT-2 was trained with.
Tensor gelu(const Tensor &x) {
  return activations::gelu(x, true);
}

} // namespace

Config Config::named(const std::string &name) {
  if (name == "small")
    return {};
  if (name == "tiny")
    return {.vocabulary = 256,
            .positions = 64,
            .width = 32,
            .heads = 4,
            .layers = 2};
  throw Error("--size: expected small or tiny, got \"" + name + "\"");
}

GPT2Impl::GPT2Impl(const Config &config)
    : ModelImpl("GPT2"), config(config),
      tokens(config.vocabulary, config.width,
             {.embeddings_initializer = normal()}),
      positions(config.positions, config.width,
                {.embeddings_initializer = normal()}),
      norm({.epsilon = 1e-5}) {
  track("tokens", tokens);
  track("positions", positions);
  for (int64_t i = 0; i < config.layers; ++i) {
    blocks.emplace_back(
        example::TransformerBlockOptions{.width = config.width,
                                         .heads = config.heads,
                                         .causal = true,
                                         .epsilon = 1e-5,
                                         .activation = gelu,
                                         .initializer = normal()});
    track("block_" + std::to_string(i), blocks.back());
  }
  track("norm", norm);
}

Tensor GPT2Impl::logits(const Tensor &x) const {
  return matmul(norm(x), tokens.variable("embeddings"), {.transpose_b = true});
}
Tensor GPT2Impl::call(const Tensor &ids, const CallOptions &) {
  Tensor x = tokens(ids) + positions(range(ids.shape()[1]));
  for (const example::TransformerBlock &block : blocks)
    x = block(x);
  return logits(x);
}
Tensor GPT2Impl::next(const Tensor &token, const Tensor &position,
                      const std::vector<Cache> &caches) const {
  Tensor x = tokens(expand_dims(token, 1)) + positions(position);
  for (size_t i = 0; i < blocks.size(); ++i)
    x = blocks[i]->next(x, caches[i], position);
  return squeeze(logits(x), 1);
}
std::vector<Cache> GPT2Impl::makeCaches(int64_t batch, int64_t length,
                                        const Mesh &mesh) const {
  const Layout layout({axisOrNone(mesh, "batch"), UNSHARDED,
                       axisOrNone(mesh, "model"), UNSHARDED},
                      mesh);
  std::vector<Cache> caches;
  for (const example::TransformerBlock &block : blocks)
    caches.push_back(block->makeCache(batch, length, layout));
  return caches;
}

GPT2 makeModel(const Config &config, const Mesh &mesh) {
  const DefaultMeshScope scope(mesh);
  set_random_seed(1);
  GPT2 model(config);
  model.build_many({{{-1, config.positions}, DType::I32}});
  example::cutBlocks(model, mesh);
  return model;
}

Tensor loss(const GPT2 &model, const Tensor &ids) {
  Tensor logits = model(ids(all, range(0, -1)));
  return reduce_mean(nn::sparse_softmax_cross_entropy_with_logits(
      {.labels = ids(all, range(1, {})), .logits = logits}));
}

WeightMap publishedWeights() {
  return WeightMap({
      {{"wte.weight"}, {"tokens/embeddings"}},
      {{"wpe.weight"}, {"positions/embeddings"}},
      {{"h.*.ln_1.weight"}, {"block_*/norm1/gamma"}},
      {{"h.*.ln_1.bias"}, {"block_*/norm1/beta"}},
      {{"h.*.attn.bias"}}, // the mask of the attention, which is no weight
      {{"h.*.attn.c_attn.weight"}, projectionPaths(""), "i h d -> i (h d)", 1},
      {{"h.*.attn.c_attn.bias"}, projectionPaths("_bias"), "h d -> (h d)"},
      {{"h.*.attn.c_proj.weight"},
       {"block_*/attention/output"},
       "h d o -> (h d) o"},
      {{"h.*.attn.c_proj.bias"}, {"block_*/attention/output_bias"}},
      {{"h.*.ln_2.weight"}, {"block_*/norm2/gamma"}},
      {{"h.*.ln_2.bias"}, {"block_*/norm2/beta"}},
      {{"h.*.mlp.c_fc.weight"}, {"block_*/up/kernel"}},
      {{"h.*.mlp.c_fc.bias"}, {"block_*/up/bias"}},
      {{"h.*.mlp.c_proj.weight"}, {"block_*/down/kernel"}},
      {{"h.*.mlp.c_proj.bias"}, {"block_*/down/bias"}},
      {{"ln_f.weight"}, {"norm/gamma"}},
      {{"ln_f.bias"}, {"norm/beta"}},
  });
}

} // namespace gpt2
