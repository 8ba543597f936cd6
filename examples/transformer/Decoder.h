// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A decoder-only transformer as layers: a model of code whose attention keeps
// keys and values while it writes.
#pragma once

#include <meshloom/Meshloom.h>

#include <vector>

namespace transformer {

struct Sizes {
  int64_t vocabulary, positions, width, heads, blocks;
};

/// Keys and values of one block, [batch, positions, heads, width / heads].
struct Cache {
  meshloom::DVariable key, value;
};

/// Causal self-attention.
struct AttentionImpl : meshloom::LayerImpl {
  explicit AttentionImpl(int64_t heads)
      : LayerImpl("Attention"), heads(heads) {}
  void build(const meshloom::Shape &input) override;
  meshloom::Tensor call(const meshloom::Tensor &x,
                        const meshloom::CallOptions &options) override;
  /// x [batch, 1, width] at `position` sees what the cache has, which it joins.
  meshloom::Tensor next(const meshloom::Tensor &x, const Cache &cache,
                        const meshloom::Tensor &position) const;

  const int64_t heads;
  meshloom::DVariable query, key, value, output;
};

struct BlockImpl : meshloom::LayerImpl {
  BlockImpl(int64_t width, int64_t heads, double dropout);
  meshloom::Tensor call(const meshloom::Tensor &x,
                        const meshloom::CallOptions &options) override;
  meshloom::Tensor next(const meshloom::Tensor &x, const Cache &cache,
                        const meshloom::Tensor &position) const;

  meshloom::layers::LayerNormalization norm1, norm2;
  meshloom::LayerOf<AttentionImpl> attention;
  meshloom::layers::Dense up, down;
  meshloom::layers::Dropout drop;
};

struct DecoderImpl : meshloom::ModelImpl {
  DecoderImpl(const Sizes &sizes, double dropout);
  /// tokens [batch, t] -> logits [batch, t, vocabulary].
  meshloom::Tensor call(const meshloom::Tensor &tokens,
                        const meshloom::CallOptions &options) override;
  /// token [batch] at `position` -> logits [batch, vocabulary].
  meshloom::Tensor next(const meshloom::Tensor &token,
                        const std::vector<Cache> &caches,
                        const meshloom::Tensor &position) const;
  /// Empty ones.
  std::vector<Cache> makeCaches(int64_t batch) const;

  const Sizes sizes;
  meshloom::layers::Embedding tokens, positions;
  std::vector<meshloom::LayerOf<BlockImpl>> blocks;
  meshloom::layers::LayerNormalization norm;
  meshloom::layers::Dense logits;
};
using Decoder = meshloom::ModelOf<DecoderImpl>;

/// Heads and hidden features over the axis "model" (Shoeybi et al., 2019).
meshloom::LayoutPatterns megatron(const meshloom::Mesh &mesh);

} // namespace transformer
