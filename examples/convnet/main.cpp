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
      "    --steps N  of training (60)\n"
      "    --batch N  images a step, of all replicas together (48)\n"
      "    --small    with 8 filters, 20 steps of 24 images\n");
  const bool isSmall = options.has("--small");
  const int64_t steps = options.number("--steps", isSmall ? 20 : 60);
  const int64_t batch = options.number("--batch", isSmall ? 24 : 48);
  const Strategy strategy = options.makeStrategy();
  auto scope = options.scope(strategy);

  set_random_seed(1);
  Model model = makeModel(isSmall ? 8 : 16);
  std::cout << summary(model);
  optimizers::Adam adam(3e-3);
  auto step = function([&](const Tensor &images, const Tensor &labels) {
    GradientTape tape;
    Tensor logits = model(images, {.training = true});
    Tensor loss = reduce_mean(nn::sparse_softmax_cross_entropy_with_logits(
        {.labels = labels, .logits = logits}));
    for (const Tensor &weights : model.losses())
      loss += weights;
    adam.apply_gradients(tape.gradient(loss, model.trainable_variables()));
    return loss;
  });
  auto hits = function([&](const Tensor &images, const Tensor &labels) {
    return reduce_mean(
        cast(equal(argmax(model(images), -1, DType::I32), labels), DType::F32));
  });

  const data::Digits digits = data::make_digits(steps * batch, 1);
  auto part = [&](int64_t i, auto &&use) {
    std::vector<float> pixels;
    const int64_t size = data::Digits::side * data::Digits::side;
    for (int64_t k = i * batch * size; k < (i + 1) * batch * size; ++k)
      pixels.push_back(float(digits.images[size_t(k)]) / 255);
    const std::vector<int32_t> labels(digits.labels.begin() + i * batch,
                                      digits.labels.begin() + (i + 1) * batch);
    auto placed = [&](const Tensor &host) {
      const auto layout = options.batchLayout(strategy, host.rank());
      return layout ? relayout(host, *layout) : host;
    };
    return use(placed(tensor(pixels, {batch, 28, 28, 1})),
               placed(tensor(labels, {batch})));
  };
  for (int64_t i = 0; i < steps; ++i) {
    const float loss = part(i, step).template item<float>();
    if ((i + 1) % 10 == 0 || i == 0)
      std::printf("step %lld: loss %.6f\n", static_cast<long long>(i + 1),
                  double(loss));
  }
  std::printf("accuracy %.4f\n",
              double(part(steps - 1, hits).template item<float>()));
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
