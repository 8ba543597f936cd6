// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// GPT-2's blocks, its loss and its decoding of one token; see Model.h.
#include "Model.h"

#include "../options/Options.h"
#include "../options/Weights.h"

#include <cmath>
#include <numbers>

using namespace meshloom;
using example::axisOrNone;
using example::constantWeight;
using example::normalWeight;

namespace gpt2 {
namespace {

/// The approximation of gelu that GPT-2 was trained with.
Tensor gelu(const Tensor &x) {
  const double scale = std::sqrt(2 / std::numbers::pi);
  return 0.5 * x * (1 + tanh(scale * (x + 0.044715 * x * x * x)));
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

Linear::Linear(const std::string &name, int64_t in, int64_t out,
               const Layout &layout)
    : weight(normalWeight(name + ".weight", {in, out}, layout)),
      bias(constantWeight(name + ".bias", {out}, 0, layout.remove({0}))) {
  track(this, weight, bias);
}
Tensor Linear::operator()(const Tensor &x) const {
  return matmul(x, weight) + bias;
}

Norm::Norm(const std::string &name, int64_t width, const Mesh &mesh)
    : weight(constantWeight(name + ".weight", {width}, 1,
                            Layout::replicated(mesh, 1))),
      bias(constantWeight(name + ".bias", {width}, 0,
                          Layout::replicated(mesh, 1))) {
  track(this, weight, bias);
}
Tensor Norm::operator()(const Tensor &x) const {
  return nn::layer_norm(x, weight, bias, 1e-5);
}

Block::Block(const std::string &name, const Config &config, const Mesh &mesh)
    : heads(config.heads), ln_1(name + ".ln_1", config.width, mesh),
      ln_2(name + ".ln_2", config.width, mesh),
      // The file has [width, 3 * width]; queries, keys and values apart can
      // each be cut by heads.
      attention(normalWeight(
          name + ".attn.c_attn.weight", {config.width, 3, config.width},
          Layout({UNSHARDED, UNSHARDED, axisOrNone(mesh, "model")}, mesh))),
      attentionBias(
          constantWeight(name + ".attn.c_attn.bias", {3, config.width}, 0,
                         Layout({UNSHARDED, axisOrNone(mesh, "model")}, mesh))),
      project(name + ".attn.c_proj", config.width, config.width,
              Layout({axisOrNone(mesh, "model"), UNSHARDED}, mesh)),
      up(name + ".mlp.c_fc", config.width, 4 * config.width,
         Layout({UNSHARDED, axisOrNone(mesh, "model")}, mesh)),
      down(name + ".mlp.c_proj", 4 * config.width, config.width,
           Layout({axisOrNone(mesh, "model"), UNSHARDED}, mesh)) {
  track(this, ln_1, attention, attentionBias, project, ln_2, up, down);
}

Tensor Block::operator()(const Tensor &x, const Cache *cache,
                         const Tensor &position) const {
  const Shape shape = x.shape(); // [batch, t, width]
  Tensor qkv = einsum("btd,dce->btce", ln_1(x), attention) + attentionBias;
  auto part = [&](int64_t i) {
    return reshape(qkv(all, all, i),
                   {shape[0], shape[1], heads, shape[2] / heads});
  };
  Tensor query = part(0), key = part(1), value = part(2);
  nn::AttentionOptions options{.causal = true};
  if (cache) {
    cache->key.assign(
        dynamic_update_slice(cache->key, key, {0, position, 0, 0}));
    cache->value.assign(
        dynamic_update_slice(cache->value, value, {0, position, 0, 0}));
    key = cache->key;
    value = cache->value;
    options = {.mask = range(key.shape()[1]) <= position};
  }
  Tensor seen = nn::attention(query, key, value, options);
  Tensor y = x + project(reshape(seen, shape));
  return y + down(gelu(up(ln_2(y))));
}

Model::Model(const Config &config, const Mesh &mesh)
    : config(config),
      wte(normalWeight("wte.weight", {config.vocabulary, config.width},
                       Layout::replicated(mesh, 2))),
      wpe(normalWeight("wpe.weight", {config.positions, config.width},
                       Layout::replicated(mesh, 2))),
      ln_f("ln_f", config.width, mesh) {
  for (int64_t i = 0; i < config.layers; ++i)
    blocks.emplace_back("h." + std::to_string(i), config, mesh);
  track(this, wte, wpe, blocks, ln_f);
}

Tensor Model::operator()(const Tensor &tokens) const {
  const int64_t length = tokens.shape()[1];
  Tensor x =
      nn::embedding(wte, tokens) + slice(wpe, {0, 0}, {length, config.width});
  for (const Block &block : blocks)
    x = block(x);
  return matmul(ln_f(x), wte, {.transpose_b = true});
}

Tensor Model::loss(const Tensor &tokens) const {
  Tensor logits = (*this)(tokens(all, range(0, -1)));
  return reduce_mean(nn::sparse_softmax_cross_entropy_with_logits(
      {.labels = tokens(all, range(1, {})), .logits = logits}));
}

std::vector<Cache> Model::makeCaches(int64_t batch, int64_t length) const {
  const Mesh mesh = wte.layout().mesh();
  Layout layout({axisOrNone(mesh, "batch"), UNSHARDED,
                 axisOrNone(mesh, "model"), UNSHARDED},
                mesh);
  Shape shape{batch, length, config.heads, config.width / config.heads};
  auto empty = [&] {
    return DVariable(call_with_layout([&] { return zeros(shape); }, layout));
  };
  std::vector<Cache> caches;
  for (int64_t i = 0; i < config.layers; ++i)
    caches.push_back({empty(), empty()});
  return caches;
}

Tensor Model::next(const Tensor &token, const Tensor &position,
                   const std::vector<Cache> &caches) const {
  Tensor x = nn::embedding(wte, expand_dims(token, 1)) +
             dynamic_slice(wpe, {position, 0}, {1, config.width});
  for (size_t i = 0; i < blocks.size(); ++i)
    x = blocks[i](x, &caches[i], position);
  return squeeze(matmul(ln_f(x), wte, {.transpose_b = true}), 1);
}

} // namespace gpt2
