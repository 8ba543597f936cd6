// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// GPT-2 (Radford et al., 2019) as layers, and the names and shapes of its
// published weights: model.safetensors of openai-community/gpt2 loads as it is.
#pragma once

#include "../options/TransformerBlock.h"

#include <meshloom/Meshloom.h>

#include <string>
#include <vector>

namespace gpt2 {

struct Sizes {
  int64_t vocabulary = 50257, positions = 1024, width = 768, heads = 12,
          layers = 12;
  /// "small" (124M parameters) or "tiny" (bytes as tokens). Throws
  /// meshloom::Error for another name.
  static Sizes named(const std::string &name);
};

struct GPT2Impl : meshloom::ModelImpl {
  explicit GPT2Impl(const Sizes &sizes);
  void build(const meshloom::Shape &input) override;
  /// tokens [batch, t] -> logits [batch, t, vocabulary].
  meshloom::Tensor call(const meshloom::Tensor &ids,
                        const meshloom::CallOptions &options) override;
  /// token [batch] at `position`, a scalar -> logits [batch, vocabulary] of the
  /// next one.
  meshloom::Tensor next(const meshloom::Tensor &token,
                        const meshloom::Tensor &position,
                        const std::vector<example::Cache> &caches) const;
  /// Empty caches of `length` tokens for `batch` sequences, which the axis
  /// "batch" cuts.
  std::vector<example::Cache> makeCaches(int64_t batch, int64_t length,
                                         const meshloom::Mesh &mesh) const;

  const Sizes sizes;
  meshloom::DVariable tokens, ///< [vocabulary, width], of the output too
      positions;              ///< [positions, width]
  std::vector<example::TransformerBlock> blocks;
  meshloom::layers::LayerNormalization norm;

private:
  /// [batch, t, width] -> [batch, t, vocabulary].
  meshloom::Tensor logits(const meshloom::Tensor &x) const;
};
using GPT2 = meshloom::ModelOf<GPT2Impl>;

/// A built model on the mesh, whose blocks are cut over the axis "model" where
/// the mesh has it.
GPT2 makeModel(const Sizes &sizes, const meshloom::Mesh &mesh);
/// The mean loss of each token [batch, t + 1] but the first, from those before
/// it.
meshloom::Tensor loss(const GPT2 &model, const meshloom::Tensor &ids);

/// The names and shapes of the published file.
meshloom::WeightMap publishedWeights();

} // namespace gpt2
