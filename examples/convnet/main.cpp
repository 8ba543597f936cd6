// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A convolutional network with batch normalization and a shortcut, trained on
// drawn digits under any strategy: losses do not depend on the replicas.
#include "../options/StrategyOptions.h"

#include <meshloom/Data/Digits.h>

#include <cstdio>
#include <iostream>

using namespace meshloom;

static Model makeModel(int64_t width) {
  auto convolution = [](int64_t filters, int64_t strides) {
    return layers::Conv2D(filters, 3,
                          {.strides = strides,
                           .padding = "same",
                           .use_bias = false,
                           .kernel_initializer = "he_normal",
                           .kernel_regularizer = {"l2", {{"l2", 1e-5}}}});
  };
  // Few steps: averages of moments that follow fast.
  auto normalize = [](const SymbolicTensor &x) {
    return layers::BatchNormalization({.momentum = 0.8})(x);
  };
  SymbolicTensor images = Input({28, 28, 1}, {.name = "images"});
  SymbolicTensor x = normalize(convolution(width, 2)(images));
  x = layers::ReLU()(x);
  SymbolicTensor y = normalize(convolution(width, 1)(x));
  x = layers::ReLU()(layers::Add()({x, y}));
  x = layers::MaxPooling2D(2)(x);
  x = normalize(convolution(2 * width, 1)(x));
  x = layers::GlobalAveragePooling2D()(layers::ReLU()(x));
  x = layers::Dense(10, {.name = "logits"})(x);
  return Model(images, x, "convnet");
}

static int run(int argc, char **argv) {
  const auto options = example::parseStrategyOptions(
      argc, argv,
      "usage: convnet [options]\n"
      "Trains a convolutional network on drawn digits.\n"
      "    --epochs N  of training (4)\n"
      "    --images N  in an epoch (1000)\n"
      "    --batch N   images a step, of all replicas together (48)\n"
      "    --small     with 8 filters, 2 epochs of 229 images, 24 a step\n");
  const bool isSmall = options.has("--small");
  const int64_t epochs = options.number("--epochs", isSmall ? 2 : 4);
  const int64_t images = options.number("--images", isSmall ? 229 : 1000);
  const int64_t batch = options.number("--batch", isSmall ? 24 : 48);
  const Strategy strategy = options.makeStrategy();
  auto scope = options.scope(strategy);

  set_random_seed(1);
  Model model = makeModel(isSmall ? 8 : 16);
  std::cout << summary(model);
  model.compile(
      {.optimizer = optimizers::Adam(3e-3),
       .loss = losses::SparseCategoricalCrossentropy({.from_logits = true}),
       .metrics = {"accuracy"}});

  // The last batch of an epoch has fewer images; replicas then have different
  // numbers of them, and weigh them as one device does.
  const data::Digits digits = data::make_digits(images, 1);
  const auto dataset =
      data::from_tensor_slices(tensor(digits.images, {images, 28, 28, 1}),
                               tensor(digits.labels, {images}))
          .batch(batch)
          .map([](const Tensor &pixels, const Tensor &labels) {
            return std::pair(cast(pixels, DType::F32) / 255,
                             cast(labels, DType::I32));
          });
  const History history = model.fit(dataset, {.epochs = epochs, .verbose = 0});
  for (size_t epoch = 0; epoch < history.epoch.size(); ++epoch)
    std::printf("epoch %zu: loss %#.7g, accuracy %.4f\n", epoch + 1,
                history["loss"][epoch], history["accuracy"][epoch]);
  const Logs result = model.evaluate(dataset, {.verbose = 0});
  std::printf("evaluate: loss %#.7g, accuracy %.4f\n", result.at("loss"),
              result.at("accuracy"));
  return 0;
}

int main(int argc, char **argv) {
  try {
    return run(argc, argv);
  } catch (const Error &error) {
    std::cerr << "convnet: " << error.what() << "\n";
    return 1;
  }
}
