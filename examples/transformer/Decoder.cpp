// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The transformer's layers; see Decoder.h.
#include "Decoder.h"

using namespace meshloom;

namespace transformer {

void AttentionImpl::build(const Shape &input) {
  const int64_t width = input.back(), size = width / heads;
  query = add_weight("query", {width, heads, size});
  key = add_weight("key", {width, heads, size});
  value = add_weight("value", {width, heads, size});
  output = add_weight("output", {heads, size, width});
}

Tensor AttentionImpl::call(const Tensor &x, const CallOptions &) {
  auto project = [&](const DVariable &by) {
    return einsum("btw,whd->bthd", x, by);
  };
  Tensor seen = nn::attention(project(query), project(key), project(value),
                              {.causal = true});
  return einsum("bthd,hdw->btw", seen, output);
}

Tensor AttentionImpl::next(const Tensor &x, const Cache &cache,
                           const Tensor &position) const {
  auto project = [&](const DVariable &by) {
    return einsum("btw,whd->bthd", x, by);
  };
  cache.key.assign(
      dynamic_update_slice(cache.key, project(key), {0, position, 0, 0}));
  cache.value.assign(
      dynamic_update_slice(cache.value, project(value), {0, position, 0, 0}));
  Tensor seen =
      nn::attention(project(query), cache.key, cache.value,
                    {.mask = range(cache.key.shape()[1]) <= position});
  return einsum("bthd,hdw->btw", seen, output);
}

BlockImpl::BlockImpl(int64_t width, int64_t heads, double dropout)
    : LayerImpl("Block"), attention(heads),
      up(4 * width, {.activation = "gelu"}), down(width), drop(dropout) {
  track("norm1", norm1);
  track("attention", attention);
  track("norm2", norm2);
  track("up", up);
  track("down", down);
  track("drop", drop);
}
Tensor BlockImpl::call(const Tensor &x, const CallOptions &) {
  Tensor y = x + attention(norm1(x));
  return y + drop(down(up(norm2(y))));
}
Tensor BlockImpl::next(const Tensor &x, const Cache &cache,
                       const Tensor &position) const {
  Tensor y = x + attention->next(norm1(x), cache, position);
  return y + down(up(norm2(y)));
}

DecoderImpl::DecoderImpl(const Sizes &sizes, double dropout)
    : ModelImpl("Decoder"), sizes(sizes), tokens(sizes.vocabulary, sizes.width),
      positions(sizes.positions, sizes.width), logits(sizes.vocabulary) {
  track("tokens", tokens);
  track("positions", positions);
  for (int64_t i = 0; i < sizes.blocks; ++i) {
    blocks.emplace_back(sizes.width, sizes.heads, dropout);
    track("block_" + std::to_string(i), blocks.back());
  }
  track("norm", norm);
  track("logits", logits);
}
Tensor DecoderImpl::call(const Tensor &ids, const CallOptions &) {
  Tensor x = tokens(ids) + positions(range(ids.shape()[1]));
  for (const LayerOf<BlockImpl> &block : blocks)
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
  const Shape shape{batch, sizes.positions, sizes.heads,
                    sizes.width / sizes.heads};
  std::vector<Cache> caches;
  for (int64_t i = 0; i < sizes.blocks; ++i)
    caches.push_back({DVariable(zeros(shape)), DVariable(zeros(shape))});
  return caches;
}

LayoutPatterns megatron(const Mesh &mesh) {
  const Layout columns({UNSHARDED, "model"}, mesh),
      rows({"model", UNSHARDED}, mesh),
      heads({UNSHARDED, "model", UNSHARDED}, mesh);
  return {{"*/attention/query", heads},
          {"*/attention/key", heads},
          {"*/attention/value", heads},
          {"*/attention/output", Layout({"model", UNSHARDED, UNSHARDED}, mesh)},
          {"*/up/kernel", columns},
          {"*/up/bias", Layout({"model"}, mesh)},
          {"*/down/kernel", rows}};
}

} // namespace transformer
