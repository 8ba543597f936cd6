// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The vision transformer (Dosovitskiy et al., 2020), with the names and shapes
// of timm's weights: model.safetensors of timm/vit_small_patch16_224 loads as
// it is.
#pragma once

#include <meshloom/Meshloom.h>

#include <string>
#include <vector>

namespace vit {

struct Config {
  int64_t image = 224, patch = 16, channels = 3, width = 384, heads = 6,
          layers = 12, classes = 1000;
  /// Patches and the class token.
  int64_t tokens() const { return image / patch * (image / patch) + 1; }
  /// "small" (ViT-S/16, 22M parameters) or "tiny" (digits of 28 x 28). Throws
  /// meshloom::Error for another name.
  static Config named(const std::string &name);
};

/// x [..., in] -> x weight^T + bias.
struct Linear : meshloom::Module {
  meshloom::DVariable weight, bias;
  /// `layout`: of the weight [out, in]; the bias takes that of its rows.
  Linear(const std::string &name, int64_t in, int64_t out,
         const meshloom::Layout &layout);
  meshloom::Tensor operator()(const meshloom::Tensor &x) const;
};

struct Norm : meshloom::Module {
  meshloom::DVariable weight, bias;
  Norm(const std::string &name, int64_t width, const meshloom::Mesh &mesh);
  meshloom::Tensor operator()(const meshloom::Tensor &x) const;
};

struct Block : meshloom::Module {
  int64_t heads;
  Norm norm1, norm2;
  meshloom::DVariable attention,
      attentionBias; ///< [3, width, width], [3, width]
  Linear project, up, down;
  Block(const std::string &name, const Config &config,
        const meshloom::Mesh &mesh);
  meshloom::Tensor operator()(const meshloom::Tensor &x) const;
};

struct Model : meshloom::Module {
  Config config;
  meshloom::DVariable classToken, positions, patches, patchBias;
  std::vector<Block> blocks;
  Norm norm;
  Linear head;
  /// Weights are cut over the axis "model", where the mesh has it: the
  /// attention's by heads, the MLP's by hidden features.
  Model(const Config &config, const meshloom::Mesh &mesh);

  /// images [batch, image, image, channels] -> logits [batch, classes].
  meshloom::Tensor operator()(const meshloom::Tensor &images) const;
};

} // namespace vit
