// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Attention with a cache of keys and values gives what it gives for the whole
// sequence.
#include "../API/Testing.h"
#include "Samples.h"
#include "meshloom/Meshloom.h"

using namespace meshloom;

namespace {

layers::MultiHeadAttention
causal(layers::MultiHeadAttentionOptions options = {}) {
  options.causal = true;
  layers::MultiHeadAttention attention(4, 3, std::move(options));
  attention.build({-1, 6, 8});
  for (const NamedVariable &weight : attention.named_variables())
    weight.variable.assign(waves(weight.variable.shape(), 1));
  return attention;
}
Tensor steps(const Tensor &x, int64_t begin, int64_t end) {
  return x(all, range(begin, end));
}
/// The results of the parts of x that end at these steps, with one cache.
Tensor decoded(const layers::MultiHeadAttention &attention, const Tensor &x,
               const std::vector<int64_t> &ends) {
  layers::AttentionCache cache =
      attention.make_cache(x.shape()[0], x.shape()[1]);
  std::vector<Tensor> results;
  int64_t begin = 0;
  for (int64_t end : ends) {
    auto [y, next] = attention.call_with_cache(steps(x, begin, end), cache,
                                               tensor(int32_t(begin)));
    results.push_back(y);
    cache = next;
    begin = end;
  }
  return concat(results, 1);
}

// Token by token, and a prompt at once with tokens behind it; with fewer heads
// of keys than of queries, and values of another size.
TEST(AttentionCacheTest, GivesWhatTheWholeSequenceGives) {
  const Tensor x = waves({2, 6, 8}, 0);
  for (const layers::MultiHeadAttention &attention :
       {causal(), causal({.value_dim = 5, .num_key_value_heads = 2})}) {
    const Tensor whole = attention(x);
    expectSame(decoded(attention, x, {1, 2, 3, 4, 5, 6}), whole, 1e-6);
    expectSame(decoded(attention, x, {4, 5, 6}), whole, 1e-6);
  }
}

// Heads of a cache are cut as those of the weights, and a function updates the
// variables that keep it.
TEST(AttentionCacheTest, IsCutByHeadsAndUpdatedInPlace) {
  const Mesh mesh = create_mesh({{"model", 2}}, virtual_cpus(2));
  const layers::MultiHeadAttention attention = causal();
  const Tensor x = waves({1, 6, 8}, 0), whole = attention(x);
  const Layout heads({UNSHARDED, "model", UNSHARDED}, mesh);
  set_layouts(attention, [&](const std::string &path, const DVariable &weight) {
    return std::optional(
        path == "query" || path == "key" || path == "value"
            ? heads
            : Layout::replicated(mesh, unsigned(weight.rank())));
  });
  const layers::AttentionCache empty = attention.make_cache(1, 6);
  EXPECT_EQ(empty.key.layout(),
            Layout({UNSHARDED, UNSHARDED, "model", UNSHARDED}, mesh));
  const DVariable keys(empty.key), values(empty.value);
  auto next = function([&](const Tensor &token, const Tensor &position) {
    auto [y, cache] =
        attention.call_with_cache(token, {keys, values}, position);
    keys.assign(cache.key);
    values.assign(cache.value);
    return y;
  });
  for (int64_t i = 0; i < 6; ++i)
    expectSame(next(copy_to_mesh(steps(x, i, i + 1), mesh), tensor(int32_t(i))),
               steps(whole, i, i + 1), 1e-6);
}

// Without causal order the positions of one call see each other, and a mask
// leaves out more.
TEST(AttentionCacheTest, SeesWhatTheMaskLeaves) {
  layers::MultiHeadAttention attention(2, 4);
  attention.build({-1, 3, 8});
  const Tensor x = waves({1, 3, 8}, 0);
  expectSame(decoded(attention, x, {3}), attention(x), 1e-6);
  const Tensor mask = tensor({1, 0, 1}, {1, 1, 3}) > 0;
  expectSame(attention
                 .call_with_cache(x, attention.make_cache(1, 3), tensor(0),
                                  {.mask = mask})
                 .first,
             attention(x, {.mask = mask}), 1e-6);
}

// One product with the weights of three, with and without a cache.
TEST(AttentionCacheTest, FusedProjectionsGiveWhatThreeGive) {
  const layers::MultiHeadAttention three = causal(),
                                   fused = causal({.fused_projections = true});
  auto stacked = [&](const std::string &suffix, int64_t axis) {
    std::vector<Tensor> parts;
    for (const char *path : {"query", "key", "value"})
      parts.push_back(expand_dims(three.variable(path + suffix), axis));
    return concat(parts, axis);
  };
  fused.variable("query_key_value").assign(stacked("", 1));
  fused.variable("query_key_value_bias").assign(stacked("_bias", 0));
  for (const char *path : {"output", "output_bias"})
    fused.variable(path).assign(three.variable(path));
  const Tensor x = waves({2, 6, 8}, 0), whole = three(x);
  expectSame(fused(x), whole, 1e-6);
  expectSame(decoded(fused, x, {4, 5, 6}), whole, 1e-6);
  EXPECT_ERROR(fused({x, x}),
               HAS("expected one input, as its projections are"));
  EXPECT_ERROR(layers::MultiHeadAttention(
                   4, 3, {.num_key_value_heads = 2, .fused_projections = true}),
               HAS("expected fused_projections to as many heads"));
}

TEST(AttentionCacheTest, ACacheThatDoesNotFitIsAnError) {
  const layers::MultiHeadAttention attention = causal();
  const Tensor x = waves({2, 1, 8}, 0);
  const layers::AttentionCache cache = attention.make_cache(2, 6);
  EXPECT_ERROR(
      attention.call_with_cache(x, attention.make_cache(3, 6), tensor(0)),
      HAS("expected a cache with keys of f32 [2, 6, 4, 3]"),
      HAS("got f32 [3, 6, 4, 3]"));
  EXPECT_ERROR(attention.call_with_cache(waves({2, 7, 8}, 0), cache, tensor(0)),
               HAS("of at least 7 positions"));
  EXPECT_ERROR(attention.call_with_cache(x, cache, tensor(0.f)),
               HAS("expected a position that is an integer scalar, got f32"));
  EXPECT_ERROR(attention.make_cache(0, 6), HAS("positive sequences, got 0"));
  EXPECT_ERROR(layers::MultiHeadAttention(2, 4).make_cache(1, 6),
               HAS("expected a layer that is built"));
  EXPECT_ERROR(attention.call_many({x, x, x, x}),
               HAS("expected query, value and key, got 4 inputs"));
  layers::MultiHeadAttention spatial(2, 4, {.attention_axes = {2}});
  const Tensor image = waves({1, 2, 2, 8}, 0);
  (void)spatial(image);
  EXPECT_ERROR(
      spatial.call_with_cache(image, spatial.make_cache(1, 2), tensor(0)),
      HAS("attention_axes"));
}

} // namespace
