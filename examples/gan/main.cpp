// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A generative adversarial network (Goodfellow et al., 2014): two models, two
// optimizers and two tapes in one compiled step. The generator learns to make
// points on a circle of eight clouds from noise, the discriminator to tell them
// from true ones. Prints both losses, and how far points are from the circle.
#include "../options/StrategyOptions.h"

#include <cmath>
#include <cstdio>
#include <iostream>
#include <numbers>

using namespace meshloom;

namespace {

constexpr int64_t noiseSize = 8, batchSize = 128;
constexpr float radius = 2;

Model makeGenerator() {
  return Sequential(
      {Input({noiseSize}), layers::Dense(32, {.activation = "relu"}),
       layers::Dense(32, {.activation = "relu"}), layers::Dense(2)},
      "generator");
}

Model makeDiscriminator() {
  return Sequential(
      {Input({2}), layers::Dense(32, {.activation = "leaky_relu"}),
       layers::Dense(32, {.activation = "leaky_relu"}), layers::Dense(1)},
      "discriminator");
}

/// Points of eight clouds on a circle.
Tensor truePoints(const SeedLike &seed) {
  Tensor cloud = random::stateless_uniform(
      {batchSize}, random::fold_in(seed, 1), 0, 8, DType::I32);
  Tensor angle = cast(cloud, DType::F32) * float(std::numbers::pi / 4);
  Tensor around = random::stateless_normal({batchSize, 2},
                                           random::fold_in(seed, 2), 0, 0.05);
  return stack({cos(angle), sin(angle)}, 1) * radius + around;
}

struct Losses {
  Tensor generator, discriminator, distance;
};

class GAN {
public:
  /// `layout`: how a batch [batch, n] is cut; none: not at all.
  explicit GAN(std::optional<Layout> layout) : layout(std::move(layout)) {}

  Losses step(const Tensor &seed) const {
    Tensor noise = cut(random::stateless_normal({batchSize, noiseSize},
                                                random::fold_in(seed, 3)));
    Tensor points = cut(truePoints(seed));

    GradientTape generatorTape, discriminatorTape;
    CallOptions training{.training = true};
    Tensor fakes = generator(noise, training);
    Tensor isTrue = discriminator(points, training);
    Tensor scoreOfFakes = discriminator(fakes, training);
    Tensor generatorLoss = crossentropy(ones_like(scoreOfFakes), scoreOfFakes);
    Tensor discriminatorLoss =
        crossentropy(ones_like(isTrue), isTrue) +
        crossentropy(zeros_like(scoreOfFakes), scoreOfFakes);

    generatorOptimizer.apply_gradients(
        generatorTape.gradient(generatorLoss, generator.trainable_variables()));
    discriminatorOptimizer.apply_gradients(discriminatorTape.gradient(
        discriminatorLoss, discriminator.trainable_variables()));
    Tensor distance = abs(norm(fakes, -1) - radius);
    return {generatorLoss, discriminatorLoss, reduce_mean(distance)};
  }

private:
  Tensor cut(const Tensor &batch) const {
    return layout ? relayout(batch, *layout) : batch;
  }

  std::optional<Layout> layout;
  Model generator = makeGenerator(), discriminator = makeDiscriminator();
  optimizers::Adam generatorOptimizer{1e-3, 0.5},
      discriminatorOptimizer{1e-3, 0.5};
  losses::Loss crossentropy = losses::BinaryCrossentropy({.from_logits = true});
};

int run(int argc, char **argv) {
  const example::StrategyOptions options = example::parseStrategyOptions(
      argc, argv,
      "usage: gan [options]\n"
      "    --steps N  how many steps are taken (2000)\n"
      "    --small    20 steps\n");
  const Strategy strategy = options.makeStrategy();
  auto scope = options.scope(strategy);
  const int64_t steps =
      options.number("--steps", options.has("--small") ? 20 : 2000);

  set_random_seed(1);
  const GAN gan(options.batchLayout(strategy, 2));
  auto step = function([&](const Tensor &seed) { return gan.step(seed); });
  for (int64_t i = 1; i <= steps; ++i) {
    Losses losses = step(random::fold_in(Seed{1, 2}, i));
    if (i % std::max<int64_t>(steps / 10, 1) == 0)
      std::printf("step %4d: generator %.6f, discriminator %.6f, off the "
                  "circle %.4f\n",
                  int(i), losses.generator.item<float>(),
                  losses.discriminator.item<float>(),
                  losses.distance.item<float>());
  }
  return 0;
}

} // namespace

int main(int argc, char **argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception &error) {
    std::cerr << "gan: " << error.what() << "\n";
    return 1;
  }
}
