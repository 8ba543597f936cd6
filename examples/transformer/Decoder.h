// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A decoder-only transformer as layers, which keeps keys and values while it
// writes.
#pragma once

#include "../options/TransformerBlock.h"

#include <meshloom/Meshloom.h>

#include <vector>

namespace transformer {

struct Sizes {
  int64_t vocabulary, positions, width, heads, blocks;
};

struct DecoderImpl : meshloom::ModelImpl {
  DecoderImpl(const Sizes &sizes, double dropout);
  /// tokens [batch, t] -> logits [batch, t, vocabulary].
  meshloom::Tensor call(const meshloom::Tensor &tokens,
                        const meshloom::CallOptions &options) override;
  /// token [batch] at `position` -> logits [batch, vocabulary].
  meshloom::Tensor next(const meshloom::Tensor &token,
                        const std::vector<example::Cache> &caches,
                        const meshloom::Tensor &position) const;
  /// Empty caches of all positions.
  std::vector<example::Cache> makeCaches(int64_t batch) const;

  const Sizes sizes;
  meshloom::layers::Embedding tokens, positions;
  std::vector<example::TransformerBlock> blocks;
  meshloom::layers::LayerNormalization norm;
  meshloom::layers::Dense logits;
};
using Decoder = meshloom::ModelOf<DecoderImpl>;

} // namespace transformer
