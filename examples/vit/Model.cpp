// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The vision transformer; see Model.h.
#include "Model.h"

#include "../options/Options.h"
#include "../options/Weights.h"

using namespace meshloom;
using example::axisOrNone;
using example::constantWeight;
using example::normalWeight;

namespace vit {

Config Config::named(const std::string &name) {
  if (name == "small")
    return {};
  if (name == "tiny")
    return {.image = 28,
            .patch = 7,
            .channels = 1,
            .width = 32,
            .heads = 4,
            .layers = 2,
            .classes = 10};
  throw Error("--size: expected small or tiny, got \"" + name + "\"");
}

Linear::Linear(const std::string &name, int64_t in, int64_t out,
               const Layout &layout)
    : weight(normalWeight(name + ".weight", {out, in}, layout)),
      bias(constantWeight(name + ".bias", {out}, 0, layout.remove({1}))) {
  track(this, weight, bias);
}
Tensor Linear::operator()(const Tensor &x) const {
  return matmul(x, weight, {.transpose_b = true}) + bias;
}

Norm::Norm(const std::string &name, int64_t width, const Mesh &mesh)
    : weight(constantWeight(name + ".weight", {width}, 1,
                            Layout::replicated(mesh, 1))),
      bias(constantWeight(name + ".bias", {width}, 0,
                          Layout::replicated(mesh, 1))) {
  track(this, weight, bias);
}
Tensor Norm::operator()(const Tensor &x) const {
  return nn::layer_norm(x, weight, bias, 1e-6);
}

Block::Block(const std::string &name, const Config &config, const Mesh &mesh)
    : heads(config.heads), norm1(name + ".norm1", config.width, mesh),
      norm2(name + ".norm2", config.width, mesh),
      // The file has [3 * width, width]; queries, keys and values apart can
      // each be cut by heads.
      attention(normalWeight(
          name + ".attn.qkv.weight", {3, config.width, config.width},
          Layout({UNSHARDED, axisOrNone(mesh, "model"), UNSHARDED}, mesh))),
      attentionBias(
          constantWeight(name + ".attn.qkv.bias", {3, config.width}, 0,
                         Layout({UNSHARDED, axisOrNone(mesh, "model")}, mesh))),
      project(name + ".attn.proj", config.width, config.width,
              Layout({UNSHARDED, axisOrNone(mesh, "model")}, mesh)),
      up(name + ".mlp.fc1", config.width, 4 * config.width,
         Layout({axisOrNone(mesh, "model"), UNSHARDED}, mesh)),
      down(name + ".mlp.fc2", 4 * config.width, config.width,
           Layout({UNSHARDED, axisOrNone(mesh, "model")}, mesh)) {
  track(this, norm1, attention, attentionBias, project, norm2, up, down);
}

Tensor Block::operator()(const Tensor &x) const {
  const Shape shape = x.shape(); // [batch, t, width]
  Tensor qkv = einsum("btd,ced->btce", norm1(x), attention) + attentionBias;
  auto part = [&](int64_t i) {
    return reshape(qkv(all, all, i),
                   {shape[0], shape[1], heads, shape[2] / heads});
  };
  Tensor seen = nn::attention(part(0), part(1), part(2));
  Tensor y = x + project(reshape(seen, shape));
  return y + down(nn::gelu(up(norm2(y))));
}

Model::Model(const Config &config, const Mesh &mesh)
    : config(config), classToken(normalWeight("cls_token", {1, 1, config.width},
                                              Layout::replicated(mesh, 3))),
      positions(normalWeight("pos_embed", {1, config.tokens(), config.width},
                             Layout::replicated(mesh, 3))),
      patches(normalWeight(
          "patch_embed.proj.weight",
          {config.width, config.channels, config.patch, config.patch},
          Layout::replicated(mesh, 4))),
      patchBias(constantWeight("patch_embed.proj.bias", {config.width}, 0,
                               Layout::replicated(mesh, 1))),
      norm("norm", config.width, mesh),
      head("head", config.width, config.classes, Layout::replicated(mesh, 2)) {
  for (int64_t i = 0; i < config.layers; ++i)
    blocks.emplace_back("blocks." + std::to_string(i), config, mesh);
  track(this, classToken, positions, patches, patchBias, blocks, norm, head);
}

Tensor Model::operator()(const Tensor &images) const {
  const int64_t batch = images.shape()[0], side = config.image / config.patch;
  // A convolution whose windows do not overlap is a product.
  Tensor x = reshape(
      images, {batch, side, config.patch, side, config.patch, config.channels});
  x = reshape(einsum("bypxqc,dcpq->byxd", x, patches),
              {batch, side * side, config.width}) +
      patchBias;
  Tensor first = broadcast_to(classToken, {batch, 1, config.width});
  x = concat({first, x}, 1) + positions;
  for (const Block &block : blocks)
    x = block(x);
  return head(norm(x(all, 0)));
}

} // namespace vit
