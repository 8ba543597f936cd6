// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The vision transformer; see Model.h.
#include "Model.h"

using namespace meshloom;

namespace vit {
namespace {

initializers::Initializer normal() {
  return initializers::RandomNormal({.stddev = 0.02});
}

} // namespace

Sizes Sizes::named(const std::string &name) {
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

ViTImpl::ViTImpl(const Sizes &sizes)
    : ModelImpl("ViT", "vit"), sizes(sizes),
      // A convolution whose windows do not overlap is a product.
      patches("bypxqc,pqcd->byxd", {sizes.side(), sizes.side(), sizes.width},
              {.bias_axes = "d", .kernel_initializer = normal()}),
      norm({.epsilon = 1e-6}),
      head(sizes.classes, {.kernel_initializer = normal()}) {
  track("patches", patches);
  for (int64_t i = 0; i < sizes.layers; ++i) {
    blocks.emplace_back(
        example::TransformerBlockOptions{.width = sizes.width,
                                         .heads = sizes.heads,
                                         .epsilon = 1e-6,
                                         .initializer = normal(),
                                         .fused_projections = true});
    track("block_" + std::to_string(i), blocks.back());
  }
  track("norm", norm);
  track("head", head);
}

void ViTImpl::build(const Shape &) {
  const int64_t tokens = sizes.side() * sizes.side() + 1;
  classToken =
      add_weight("class_token", {1, 1, sizes.width}, {.initializer = normal()});
  positions = add_weight("positions", {1, tokens, sizes.width},
                         {.initializer = normal()});
}

Tensor ViTImpl::call(const Tensor &images, const CallOptions &) {
  const int64_t batch = images.shape()[0], side = sizes.side();
  Tensor x = patches(reshape(
      images, {batch, side, sizes.patch, side, sizes.patch, sizes.channels}));
  x = reshape(x, {batch, side * side, sizes.width});
  Tensor first = broadcast_to(classToken, {batch, 1, sizes.width});
  x = concat({first, x}, 1) + positions;
  for (const example::TransformerBlock &block : blocks)
    x = block(x);
  return head(norm(x(all, 0)));
}

ViT makeModel(const Sizes &sizes, const Mesh &mesh) {
  const DefaultMeshScope scope(mesh);
  set_random_seed(1);
  ViT model(sizes);
  model.build({-1, sizes.image, sizes.image, sizes.channels});
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
      {{"blocks.*.attn.qkv.weight"},
       {"block_*/attention/query_key_value"},
       "i part h d -> (part h d) i"},
      {{"blocks.*.attn.qkv.bias"},
       {"block_*/attention/query_key_value_bias"},
       "part h d -> (part h d)"},
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
