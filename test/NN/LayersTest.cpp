// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Layers in a module: their layouts, and a small transformer that learns.
#include "../API/Testing.h"

namespace meshloom {
namespace {

// Moments are those of the whole batch, however it is cut.
TEST(LayersTest, BatchNormalizationOfACutBatch) {
  const layers::BatchNormalizationOptions options{.momentum = 0.9,
                                                  .epsilon = 1e-5};
  layers::BatchNormalization norm(options);
  const Tensor x = sample({6, 2, 4}) * 3 + 1;
  const nn::Moments moments = nn::moments(x, {0, 1});
  const Tensor y = norm(x, {.training = true});
  expectNear(reduce_mean(y, {0, 1}), {0, 0, 0, 0});
  expectSame(norm.variable("moving_mean"), 0.1f * moments.mean);
  expectSame(norm.variable("moving_variance"), 0.9f + 0.1f * moments.variance);

  const Mesh mesh = mesh2x4();
  auto scope = default_mesh(mesh);
  layers::BatchNormalization cut(options);
  auto step =
      function([&](const Tensor &x) { return cut(x, {.training = true}); });
  expectSame(step(distribute(x, specs("xyu", mesh))), y, 1e-4);
  expectSame(cut.variable("moving_variance"), norm.variable("moving_variance"));
}

/// A block over sequences of tokens that tells the token before each one.
struct Reader : Module {
  layers::Embedding tokens, places;
  layers::LayerNormalization norm;
  layers::MultiHeadAttention attend;
  layers::Dense out;

  explicit Reader(const Mesh &mesh)
      : tokens(5, 8, {.name = "tokens"}), places(6, 8, {.name = "places"}),
        norm({.name = "norm"}),
        attend(2, 4,
               {.use_bias = false,
                .causal = true,
                .name = "attend",
                .common = {.layouts = {{"query", specs("uxu", mesh)},
                                       {"key", specs("uxu", mesh)},
                                       {"value", specs("uxu", mesh)},
                                       {"output", specs("xuu", mesh)}}}}),
        out(5, {.name = "out"}) {
    tokens.build({-1, 6});
    places.build({6});
    for (const Layer &layer : {Layer(norm), Layer(attend), Layer(out)})
      layer.build({-1, 6, 8});
    track(this, tokens, places, norm, attend, out);
  }
  Tensor operator()(const Tensor &ids) const {
    const Tensor x = tokens(ids) + places(range(ids.shape().back()));
    return out(x + attend(norm(x)));
  }
};

// A misspelt name once left the weight whole on every device.
TEST(LayersTest, ALayoutOfNoWeightIsAnError) {
  const layers::Dense dense(
      4, {.common = {.layouts = {{"kernal", specs("ux", mesh2x4())}}}});
  EXPECT_ERROR(dense(ones({2, 3})), HAS("no weight 'kernal'"),
               HAS("'kernel', 'bias'"));
  EXPECT_FALSE(dense.built());
}

TEST(LayersTest, ATransformerLearnsSharded) {
  Mesh mesh = mesh2x4();
  auto scope = default_mesh(mesh);
  set_random_seed(7);
  Reader reader(mesh);
  EXPECT_EQ(reader.attend.variable("query").layout(), specs("uxu", mesh));
  EXPECT_EQ(reader.attend.variable("output").layout(), specs("xuu", mesh));
  EXPECT_EQ(reader.trainable_variables().size(), 10u);
  optimizers::Adam adam(0.03);
  auto step = function([&](const Tensor &ids) {
    GradientTape tape;
    Tensor before = ids(all, range(0, -1));
    Tensor loss = reduce_mean(nn::sparse_softmax_cross_entropy_with_logits(
        {.labels = before, .logits = reader(ids)(all, range(1, {}))}));
    auto [clipped, length] = clip_by_global_norm(
        tape.gradient(loss, reader.trainable_variables()), 1);
    adam.apply_gradients(clipped);
    return loss;
  });
  Tensor ids = distribute(
      random::stateless_uniform({16, 6}, Seed{5, 6}, 0, 5, DType::I32),
      specs("yu", mesh));
  float first = step(ids).item<float>(), last = first;
  for (int i = 0; i < 60; ++i)
    last = step(ids).item<float>();
  EXPECT_GT(first, 1);
  EXPECT_LT(last, 0.4);
}

} // namespace
} // namespace meshloom
