// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See TransformerBlock.h.
#include "TransformerBlock.h"

#include <algorithm>

using namespace meshloom;

namespace example {

TransformerBlockImpl::TransformerBlockImpl(
    const TransformerBlockOptions &options)
    : LayerImpl("TransformerBlock"), norm1({.epsilon = options.epsilon}),
      norm2({.epsilon = options.epsilon}),
      attention(options.heads, options.width / options.heads,
                {.use_bias = options.attention_bias,
                 .fused_projections = options.fused_projections,
                 .causal = options.causal,
                 .kernel_initializer = options.initializer}),
      up(4 * options.width, {.activation = options.activation,
                             .kernel_initializer = options.initializer}),
      down(options.width, {.kernel_initializer = options.initializer}),
      drop(options.dropout) {
  track("norm1", norm1);
  track("attention", attention);
  track("norm2", norm2);
  track("up", up);
  track("down", down);
  track("drop", drop);
}

Tensor TransformerBlockImpl::mlp(const Tensor &x) const {
  return x + drop(down(up(norm2(x))));
}
Tensor TransformerBlockImpl::call(const Tensor &x, const CallOptions &) {
  return mlp(x + attention(norm1(x)));
}
Tensor TransformerBlockImpl::next(const Tensor &x, const Cache &cache,
                                  const Tensor &position) const {
  auto [seen, updated] =
      attention.call_with_cache(norm1(x), {cache.key, cache.value}, position);
  cache.key.assign(updated.key);
  cache.value.assign(updated.value);
  return mlp(x + seen);
}
Cache TransformerBlockImpl::makeCache(
    int64_t batch, int64_t length, const std::optional<Layout> &layout) const {
  const layers::AttentionCache empty =
      attention.make_cache(batch, length, layout);
  return {DVariable(empty.key), DVariable(empty.value)};
}

void cutBlocks(const Layer &model, const Mesh &mesh) {
  if (std::ranges::find(mesh.axes(), "model", &MeshAxis::name) ==
      mesh.axes().end())
    return;
  const std::vector<std::pair<std::string, std::vector<DimSpec>>> cuts{
      {"attention/query", {UNSHARDED, "model", UNSHARDED}},
      {"attention/key", {UNSHARDED, "model", UNSHARDED}},
      {"attention/value", {UNSHARDED, "model", UNSHARDED}},
      {"attention/query_key_value", {UNSHARDED, UNSHARDED, "model", UNSHARDED}},
      {"attention/query_key_value_bias", {UNSHARDED, "model", UNSHARDED}},
      {"attention/output", {"model", UNSHARDED, UNSHARDED}},
      {"up/kernel", {UNSHARDED, "model"}},
      {"up/bias", {"model"}},
      {"down/kernel", {"model", UNSHARDED}}};
  set_layouts(model, [&](const std::string &path, const DVariable &) {
    std::optional<Layout> layout;
    for (const auto &[suffix, specs] : cuts)
      if (path.ends_with("/" + suffix))
        layout = Layout(specs, mesh);
    return layout;
  });
}

} // namespace example
