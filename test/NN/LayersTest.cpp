// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Layers: their variables, their values, and a small transformer that learns.
#include "../API/Testing.h"

#include <cmath>

namespace meshloom {
namespace {

std::vector<std::string> names(const std::vector<DVariable> &variables) {
  std::vector<std::string> all;
  for (const DVariable &variable : variables)
    all.push_back(variable.name());
  return all;
}

TEST(LayersTest, DenseAndEmbedding) {
  nn::Dense dense(3, 2, {.name = "first", .seed = {1, 2}});
  EXPECT_EQ(names(dense.variables()),
            (std::vector<std::string>{"first/kernel", "first/bias"}));
  dense.bias->assign(tensor({1.f, -1.f}));
  Tensor x = sample({4, 3});
  expectSame(dense(x), matmul(x, dense.kernel) + *dense.bias);
  expectSame(dense(x[1]), dense(x)[1]);
  EXPECT_LT(reduce_max(abs(dense.kernel)).item<float>(), std::sqrt(6.0 / 5));
  EXPECT_FALSE(nn::Dense(3, 2, {.bias = false}).bias);
  EXPECT_ERROR(dense(sample({4, 2})), HAS("[Dense]"), HAS("x [..., 3]"));

  Mesh mesh = mesh2x4();
  nn::Embedding table(10, 4, {.layout = specs("yu", mesh)});
  EXPECT_EQ(table.table.layout(), specs("yu", mesh));
  Tensor ids = tensor({{1, 9}, {0, 1}});
  expectSame(table(ids)(1, 1), table.table.read_value()(1));
  nn::Dense sharded(4, 8, {.layout = specs("uy", mesh)});
  EXPECT_EQ(sharded.bias->layout(), specs("y", mesh));
}

TEST(LayersTest, BatchNormKeepsAverages) {
  nn::BatchNorm norm(4, 0.9);
  EXPECT_EQ(norm.variables().size(), 4u);
  EXPECT_EQ(norm.trainable_variables().size(), 2u);
  Tensor x = sample({6, 2, 4}) * 3 + 1;
  nn::Moments own = nn::moments(x, {0, 1});
  Tensor y = norm(x, true);
  expectNear(reduce_mean(y, {0, 1}), {0, 0, 0, 0});
  expectSame(norm.moving_mean, 0.1f * own.mean);
  expectSame(norm.moving_variance, 0.9f + 0.1f * own.variance);
  expectSame(norm(x, false),
             (x - norm.moving_mean) / sqrt(norm.moving_variance + 1e-5), 1e-4);

  // The moments are those of the whole batch, however it is cut.
  Mesh mesh = mesh2x4();
  nn::BatchNorm cut(4, 0.9, 1e-5, {.layout = specs("u", mesh)});
  auto step = function([&](const Tensor &x) { return cut(x, true); });
  expectSame(step(distribute(x, specs("xyu", mesh))), y, 1e-4);
  expectSame(cut.moving_variance, norm.moving_variance);
}

TEST(LayersTest, OtherNormalizationsAndConvolutions) {
  Tensor x = sample({2, 6, 6, 4});
  expectSame(nn::LayerNorm(4)(x), nn::layer_norm(x));
  expectSame(nn::RMSNorm(4)(x), nn::rms_norm(x));
  expectSame(nn::GroupNorm(2, 4)(x), nn::group_norm(x, 2));
  nn::Conv conv({3, 3}, 4, 8, {.strides = {2, 2}, .padding = "SAME"}, {}, 2);
  EXPECT_EQ(conv.kernel.shape(), (Shape{3, 3, 2, 8}));
  EXPECT_EQ(conv(x).shape(), (Shape{2, 3, 3, 8}));
  conv.bias->assign(ones({8}));
  expectSame(conv(x),
             conv2d(x, conv.kernel, {.strides = {2, 2}, .padding = "SAME"}) +
                 1);
  EXPECT_ERROR(nn::Conv({}, 1, 1), HAS("[Conv]"), HAS("window sizes"));
}

TEST(LayersTest, DropoutDropsOthersAtEachCall) {
  Mesh mesh = mesh2x4();
  nn::Dropout drop(0.5, {.seed = {3, 4}}, mesh);
  Tensor x = distribute(ones({8, 8}), specs("xy", mesh));
  auto step = function([&](const Tensor &x) { return drop(x, true); });
  auto first = step(x).to_vector<float>(), second = step(x).to_vector<float>();
  EXPECT_NE(first, second);
  EXPECT_EQ(step.trace_count(), 1);
  EXPECT_EQ(drop.calls.item<int64_t>(), 2);
  expectSame(drop(x, false), x);
}

/// A block over sequences of tokens that tells the token before each one.
struct Reader : Module {
  nn::Embedding tokens, places;
  nn::LayerNorm norm;
  nn::MultiHeadAttention attend;
  nn::Dense out;

  explicit Reader(const Mesh &mesh)
      : tokens(5, 8,
               {.name = "tokens", .layout = specs("uu", mesh), .seed = {1, 1}}),
        places(6, 8,
               {.name = "places", .layout = specs("uu", mesh), .seed = {2, 2}}),
        norm(8, 1e-6, {.name = "norm", .layout = specs("u", mesh)}),
        attend(
            8, 2,
            {.name = "attend", .layout = specs("uxu", mesh), .seed = {3, 3}}),
        out(8, 5,
            {.name = "out", .layout = specs("uu", mesh), .seed = {4, 4}}) {
    track(this, tokens, places, norm, attend, out);
  }
  Tensor operator()(const Tensor &ids) const {
    Tensor x = tokens(ids) + places(range(ids.shape().back()));
    return out(x + attend(norm(x), {.causal = true}));
  }
};

TEST(LayersTest, ATransformerLearnsSharded) {
  Mesh mesh = mesh2x4();
  Reader reader(mesh);
  EXPECT_EQ(reader.attend.query.layout(), specs("uxu", mesh));
  EXPECT_EQ(reader.attend.out.layout(), specs("xuu", mesh));
  EXPECT_EQ(reader.variables().size(), 11u);
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
  EXPECT_ERROR(nn::MultiHeadAttention(8, 3), HAS("heads that divide"));
}

} // namespace
} // namespace meshloom
