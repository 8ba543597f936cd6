// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The vision transformer; see Model.h.
#include "Model.h"

using namespace meshloom;
using example::projectionPaths;

namespace vit {
namespace {

initializers::Initializer normal() {
  return initializers::RandomNormal({.stddev = 0.02});
}

} // namespace

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

ViTImpl::ViTImpl(const Config &config)
    : ModelImpl("ViT"), config(config),
      // A convolution whose windows do not overlap is a product.
      patches("bypxqc,pqcd->byxd", {config.side(), config.side(), config.width},
              {.bias_axes = "d", .kernel_initializer = normal()}),
      norm({.epsilon = 1e-6}),
      head(config.classes, {.kernel_initializer = normal()}) {
  track("patches", patches);
  for (int64_t i = 0; i < config.layers; ++i) {
    blocks.emplace_back(
        example::TransformerBlockOptions{.width = config.width,
                                         .heads = config.heads,
                                         .epsilon = 1e-6,
                                         .initializer = normal()});
    track("block_" + std::to_string(i), blocks.back());
  }
  track("norm", norm);
  track("head", head);
}

void ViTImpl::build(const Shape &) {
  const int64_t tokens = config.side() * config.side() + 1;
  classToken = add_weight("class_token", {1, 1, config.width},
                          {.initializer = normal()});
  positions = add_weight("positions", {1, tokens, config.width},
                         {.initializer = normal()});
}

Tensor ViTImpl::call(const Tensor &images, const CallOptions &) {
  const int64_t batch = images.shape()[0], side = config.side();
  Tensor x = patches(reshape(images, {batch, side, config.patch, side,
                                      config.patch, config.channels}));
  x = reshape(x, {batch, side * side, config.width});
  Tensor first = broadcast_to(classToken, {batch, 1, config.width});
  x = concat({first, x}, 1) + positions;
  for (const example::TransformerBlock &block : blocks)
    x = block(x);
  return head(norm(x(all, 0)));
}

ViT makeModel(const Config &config, const Mesh &mesh) {
  const DefaultMeshScope scope(mesh);
  set_random_seed(1);
  ViT model(config);
  model.build({-1, config.image, config.image, config.channels});
  example::cutBlocks(model, mesh);
  return model;
}

WeightMap publishedWeights() {
  return WeightMap({
      {{"cls_token"}, {"class_token"}},
      {{"pos_embed"}, {"positions"}},
      {{"patch_embed.proj.weight"}, {"patches/kernel"}, "p q c d -> d c p q"},
      {{"patch_embed.proj.bias"}, {"patches/bias"}},
      {{"blocks.*.norm1.weight"}, {"block_*/norm1/gamma"}},
      {{"blocks.*.norm1.bias"}, {"block_*/norm1/beta"}},
      {{"blocks.*.attn.qkv.weight"}, projectionPaths(""), "i h d -> (h d) i"},
      {{"blocks.*.attn.qkv.bias"}, projectionPaths("_bias"), "h d -> (h d)"},
      {{"blocks.*.attn.proj.weight"},
       {"block_*/attention/output"},
       "h d o -> o (h d)"},
      {{"blocks.*.attn.proj.bias"}, {"block_*/attention/output_bias"}},
      {{"blocks.*.norm2.weight"}, {"block_*/norm2/gamma"}},
      {{"blocks.*.norm2.bias"}, {"block_*/norm2/beta"}},
      {{"blocks.*.mlp.fc1.weight"}, {"block_*/up/kernel"}, "i o -> o i"},
      {{"blocks.*.mlp.fc1.bias"}, {"block_*/up/bias"}},
      {{"blocks.*.mlp.fc2.weight"}, {"block_*/down/kernel"}, "i o -> o i"},
      {{"blocks.*.mlp.fc2.bias"}, {"block_*/down/bias"}},
      {{"norm.weight"}, {"norm/gamma"}},
      {{"norm.bias"}, {"norm/beta"}},
      {{"head.weight"}, {"head/kernel"}, "i o -> o i"},
      {{"head.bias"}, {"head/bias"}},
  });
}

} // namespace vit
