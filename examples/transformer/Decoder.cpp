// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The transformer's layers; see Decoder.h.
#include "Decoder.h"

using namespace meshloom;
using example::Cache;

namespace transformer {

DecoderImpl::DecoderImpl(const Sizes &sizes, double dropout)
    : ModelImpl("Decoder"), sizes(sizes), tokens(sizes.vocabulary, sizes.width),
      positions(sizes.positions, sizes.width), logits(sizes.vocabulary) {
  track("tokens", tokens);
  track("positions", positions);
  for (int64_t i = 0; i < sizes.blocks; ++i) {
    blocks.emplace_back(
        example::TransformerBlockOptions{.width = sizes.width,
                                         .heads = sizes.heads,
                                         .causal = true,
                                         .attention_bias = false,
                                         .dropout = dropout});
    track("block_" + std::to_string(i), blocks.back());
  }
  track("norm", norm);
  track("logits", logits);
}
Tensor DecoderImpl::call(const Tensor &ids, const CallOptions &) {
  Tensor x = tokens(ids) + positions(range(ids.shape()[1]));
  for (const example::TransformerBlock &block : blocks)
    x = block(x);
  return logits(norm(x));
}
Tensor DecoderImpl::next(const Tensor &token, const std::vector<Cache> &caches,
                         const Tensor &position) const {
  Tensor x = tokens(expand_dims(token, 1)) + positions(position);
  for (size_t i = 0; i < blocks.size(); ++i)
    x = blocks[i]->next(x, caches[i], position);
  return squeeze(logits(norm(x)), 1);
}
std::vector<Cache> DecoderImpl::makeCaches(int64_t batch) const {
  std::vector<Cache> caches;
  for (const example::TransformerBlock &block : blocks)
    caches.push_back(block->makeCache(batch, sizes.positions));
  return caches;
}

} // namespace transformer
