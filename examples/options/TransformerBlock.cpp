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
  const Layout cut({"model"}, mesh), rows({"model", UNSHARDED}, mesh),
      columns({UNSHARDED, "model"}, mesh),
      heads({UNSHARDED, "model", UNSHARDED}, mesh);
  LayoutPatterns patterns{
      {"*/attention/query", heads},
      {"*/attention/key", heads},
      {"*/attention/value", heads},
      {"*/attention/output", Layout({"model", UNSHARDED, UNSHARDED}, mesh)},
      {"*/up/kernel", columns},
      {"*/up/bias", cut},
      {"*/down/kernel", rows}};
  for (const NamedVariable &weight : model.named_variables())
    if (weight.path.ends_with("query_bias") ||
        weight.path.ends_with("key_bias") ||
        weight.path.ends_with("value_bias"))
      patterns.emplace_back(weight.path, rows);
  set_layouts(model, patterns);
}

std::vector<std::string> projectionPaths(const std::string &suffix) {
  const std::string attention = "block_*/attention/";
  return {attention + "query" + suffix, attention + "key" + suffix,
          attention + "value" + suffix};
}

} // namespace example
