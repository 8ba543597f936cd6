// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The block that gpt2, vit and transformer are made of: attention and an MLP,
// each behind a normalization and beside a residual (Xiong et al., 2020).
#pragma once

#include <meshloom/Meshloom.h>

#include <optional>

namespace example {

struct TransformerBlockOptions {
  int64_t width, heads;
  bool causal = false;
  double epsilon = 1e-3; ///< of the normalizations
  meshloom::activations::Activation activation = "gelu"; ///< of the MLP
  meshloom::initializers::Initializer initializer = "glorot_uniform";
  bool attention_bias = true; ///< whether the attention has biases
  /// Whether queries, keys and values are one product.
  bool fused_projections = false;
  double dropout = 0; ///< of what the MLP gives, in training
};

/// The keys and values that a block has seen, as variables that a function
/// updates in place.
struct Cache {
  meshloom::DVariable key, value;
};

struct TransformerBlockImpl : meshloom::LayerImpl {
  explicit TransformerBlockImpl(const TransformerBlockOptions &options);
  /// [batch, t, width] -> [batch, t, width].
  meshloom::Tensor call(const meshloom::Tensor &x,
                        const meshloom::CallOptions &options) override;
  /// x [batch, 1, width] at `position`, a scalar, sees what the cache has,
  /// which it joins.
  meshloom::Tensor next(const meshloom::Tensor &x, const Cache &cache,
                        const meshloom::Tensor &position) const;
  /// An empty cache; see MultiHeadAttention::make_cache.
  Cache
  makeCache(int64_t batch, int64_t length,
            const std::optional<meshloom::Layout> &layout = std::nullopt) const;

  meshloom::layers::LayerNormalization norm1, norm2;
  meshloom::layers::MultiHeadAttention attention;
  meshloom::layers::Dense up, down;
  meshloom::layers::Dropout drop;

private:
  meshloom::Tensor mlp(const meshloom::Tensor &x) const;
};
using TransformerBlock = meshloom::LayerOf<TransformerBlockImpl>;

/// Cuts the blocks of a built model over the axis "model", where the mesh has
/// it: attention by heads, the MLP by hidden features (Shoeybi et al., 2019).
void cutBlocks(const meshloom::Layer &model, const meshloom::Mesh &mesh);

} // namespace example
