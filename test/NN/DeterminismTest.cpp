// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Training in the deterministic mode: losses and weights have the same bits
// whatever the strategy and the number of replicas.
#include "Samples.h"

#include <cstring>

namespace meshloom {
namespace {

/// While it lives, what is compiled is deterministic.
struct Deterministic {
  Deterministic() { enable_op_determinism(true); }
  ~Deterministic() { enable_op_determinism(false); }
};

/// Convolutions, moments over images and places, pooling, a momentum.
Model convolutions() {
  Sequential model(
      {Input({8, 8, 3}),
       layers::Conv2D(5, 3, {.strides = 2, .kernel_initializer = "he_normal"}),
       layers::BatchNormalization(), layers::ReLU(), layers::MaxPooling2D(2),
       layers::Flatten(), layers::Dense(4)});
  model.compile({.optimizer = optimizers::Adam(0.01), .loss = "mse"});
  return model;
}

/// Attention between 6 places, and a normalization of each.
Model attention() {
  Sequential model({Input({6, 32}), layers::Dense(8),
                    layers::MultiHeadAttention(2, 4), layers::ReLU(),
                    layers::LayerNormalization(), layers::Flatten(),
                    layers::Dense(4)});
  model.compile({.optimizer = optimizers::SGD(0.01, 0.9), .loss = "mse"});
  return model;
}

/// Losses of 20 steps, then all weights.
std::vector<std::vector<float>> trained(Model (*make)(), const Shape &shape) {
  set_random_seed(3);
  Model model = make();
  int64_t count = 1;
  for (int64_t extent : shape)
    count *= extent;
  const Tensor numbers = cast(iota({count}, 0), DType::F32);
  const Tensor features = reshape(sin(numbers), shape);
  const Tensor label =
      reshape(cos(cast(iota({13 * 4}, 0), DType::F32)), {13, 4});
  std::vector<std::vector<float>> results;
  for (int step = 0; step < 20; ++step)
    results.push_back(
        {float(model.train_on_batch(features, label, {}).at("loss"))});
  for (const Tensor &weight : model.get_weights())
    results.push_back(weight.to_vector<float>());
  return results;
}

/// `shape`: of a batch of 13, which no number of replicas divides.
void expectSameBits(Model (*make)(), const Shape &shape) {
  Deterministic mode;
  const std::vector<std::vector<float>> alone = trained(make, shape);
  auto compare = [&](const std::string &where) {
    const std::vector<std::vector<float>> got = trained(make, shape);
    ASSERT_EQ(got.size(), alone.size());
    for (size_t i = 0; i < got.size(); ++i) {
      ASSERT_EQ(got[i].size(), alone[i].size());
      EXPECT_EQ(std::memcmp(got[i].data(), alone[i].data(),
                            got[i].size() * sizeof(float)),
                0)
          << where << ", " << (i < 20 ? "loss of step " : "weight ") << i % 20;
    }
  };
  for (int64_t replicas : {2, 8}) {
    const std::vector<DeviceSpec> devices = virtual_cpus(replicas);
    const MirroredStrategy strategy(devices);
    auto scope = strategy.scope();
    compare("mirrored " + std::to_string(replicas));
  }
  auto scope = default_mesh(create_mesh({{"batch", 3}}, virtual_cpus(3)));
  compare("DTensor");
}

TEST(DeterminismTest, AConvolutionalNetHasTheSameBitsOnAnyDevices) {
  expectSameBits(convolutions, {13, 8, 8, 3});
}

TEST(DeterminismTest, AttentionHasTheSameBitsOnAnyDevices) {
  expectSameBits(attention, {13, 6, 32});
}

// One function alone is deterministic; its surroundings add up as they like.
TEST(DeterminismTest, AFunctionMayBeDeterministicAlone) {
  const Tensor x = waves({13, 700}, 0.3), w = waves({700, 5}, 0.1);
  auto product = [](const FunctionOptions &options, const Mesh &mesh,
                    const Tensor &x, const Tensor &w) {
    auto multiply = function(
        [](const Tensor &x, const Tensor &w) { return matmul(x, w); }, options);
    return multiply(relayout(x, {{UNSHARDED, "x"}, mesh}),
                    relayout(w, {{"x", UNSHARDED}, mesh}))
        .to_vector<float>();
  };
  const Mesh one = create_mesh({{"x", 1}}, virtual_cpus(1)),
             seven = create_mesh({{"x", 7}}, virtual_cpus(7));
  EXPECT_EQ(product({.deterministic = true}, seven, x, w),
            product({.deterministic = true}, one, x, w));
}

} // namespace
} // namespace meshloom
