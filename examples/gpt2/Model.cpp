// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// GPT-2, its loss and its decoding of one token; see Model.h.
#include "Model.h"

#include "../options/Options.h"

using namespace meshloom;
using example::axisOrNone;
using example::Cache;

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

Sizes Sizes::named(const std::string &name) {
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

GPT2Impl::GPT2Impl(const Sizes &sizes)
    : ModelImpl("GPT2"), sizes(sizes), norm({.epsilon = 1e-5}) {
  for (int64_t i = 0; i < sizes.layers; ++i) {
    blocks.emplace_back(
        example::TransformerBlockOptions{.width = sizes.width,
                                         .heads = sizes.heads,
                                         .causal = true,
                                         .epsilon = 1e-5,
                                         .activation = gelu,
                                         .initializer = normal(),
                                         .fused_projections = true});
    track("block_" + std::to_string(i), blocks.back());
  }
  track("norm", norm);
}

void GPT2Impl::build(const Shape &) {
  tokens = add_weight("tokens", {sizes.vocabulary, sizes.width},
                      {.initializer = normal()});
  positions = add_weight("positions", {sizes.positions, sizes.width},
                         {.initializer = normal()});
}

Tensor GPT2Impl::logits(const Tensor &x) const {
  return matmul(norm(x), tokens, {.transpose_b = true});
}
Tensor GPT2Impl::call(const Tensor &ids, const CallOptions &) {
  Tensor x = nn::embedding(tokens, ids) +
             slice(positions, {0, 0}, {ids.shape()[1], sizes.width});
  for (const example::TransformerBlock &block : blocks)
    x = block(x);
  return logits(x);
}
Tensor GPT2Impl::next(const Tensor &token, const Tensor &position,
                      const std::vector<Cache> &caches) const {
  Tensor x = nn::embedding(tokens, expand_dims(token, 1)) +
             dynamic_slice(positions, {position, 0}, {1, sizes.width});
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

GPT2 makeModel(const Sizes &sizes, const Mesh &mesh) {
  const DefaultMeshScope scope(mesh);
  set_random_seed(1);
  GPT2 model(sizes);
  model.build_many({{{-1, sizes.positions}, DType::I32}});
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
      {{"wte.weight"}, {"tokens"}},
      {{"wpe.weight"}, {"positions"}},
      {{"h.*.ln_1.weight"}, {"block_*/norm1/gamma"}},
      {{"h.*.ln_1.bias"}, {"block_*/norm1/beta"}},
      {{"h.*.attn.bias"}}, // the mask of the attention, which is no weight
      {{"h.*.attn.c_attn.weight"},
       {"block_*/attention/query_key_value"},
       "i part h d -> i (part h d)"},
      {{"h.*.attn.c_attn.bias"},
       {"block_*/attention/query_key_value_bias"},
       "part h d -> (part h d)"},
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
