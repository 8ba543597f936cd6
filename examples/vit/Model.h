// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The vision transformer (Dosovitskiy et al., 2020) as layers, and the names
// and shapes of timm's weights: model.safetensors of
// timm/vit_small_patch16_224 loads as it is.
#pragma once

#include "../options/TransformerBlock.h"

#include <meshloom/Meshloom.h>

#include <string>
#include <vector>

namespace vit {

struct Sizes {
  int64_t image = 224, patch = 16, channels = 3, width = 384, heads = 6,
          layers = 12, classes = 1000;
  /// Patches in a row of an image.
  int64_t side() const { return image / patch; }
  /// "small" (ViT-S/16, 22M parameters) or "tiny" (digits of 28 x 28). Throws
  /// meshloom::Error for another name.
  static Sizes named(const std::string &name);
};

struct ViTImpl : meshloom::ModelImpl {
  explicit ViTImpl(const Sizes &sizes);
  void build(const meshloom::Shape &input) override;
  /// images [batch, image, image, channels] -> logits [batch, classes].
  meshloom::Tensor call(const meshloom::Tensor &images,
                        const meshloom::CallOptions &options) override;

  const Sizes sizes;
  meshloom::DVariable classToken, positions;
  meshloom::layers::EinsumDense patches;
  std::vector<example::TransformerBlock> blocks;
  meshloom::layers::LayerNormalization norm;
  meshloom::layers::Dense head;
};
using ViT = meshloom::ModelOf<ViTImpl>;

/// A built model on the mesh, whose blocks are cut over the axis "model" where
/// the mesh has it.
ViT makeModel(const Sizes &sizes, const meshloom::Mesh &mesh);

/// The names and shapes of timm's file.
meshloom::WeightMap publishedWeights();

} // namespace vit
