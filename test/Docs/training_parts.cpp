// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The code of docs/TrainingParts.md.
#include <meshloom/Meshloom.h>

#include <iostream>

using namespace meshloom;

int main() {
  Tensor x = random::stateless_normal({8, 6}, Seed{1, 2});
  Tensor labels = tensor({0, 1, 2, 3, 3, 2, 1, 0});
  {
    layers::Dense hidden(16, {.activation = "relu",
                              .kernel_initializer = "he_normal",
                              .kernel_regularizer = regularizers::L2(1e-4)});
    auto crossentropy =
        losses::SparseCategoricalCrossentropy({.from_logits = true});
    metrics::Metric accuracy = metrics::SparseCategoricalAccuracy();
    metrics::Mean mean_loss("loss");
    optimizers::Adam adam(
        {.learning_rate = schedules::CosineDecay({.initial_learning_rate = 1e-3,
                                                  .decay_steps = 1000,
                                                  .warmup_target = 1e-2,
                                                  .warmup_steps = 100})});
    layers::Dense out(4);
    auto variables = [&] {
      return std::vector{hidden.kernel(), hidden.bias(), out.kernel(),
                         out.bias()};
    };
    auto step = function([&](const Tensor &x, const Tensor &labels) {
      GradientTape tape;
      Tensor logits = out(hidden(x));
      Tensor loss = crossentropy(labels, logits);
      adam.apply_gradients(tape.gradient(loss, variables()));
      accuracy.update_state(labels, logits);
      mean_loss.update_state(loss);
    });
    for (int i = 0; i < 3; ++i)
      step(x, labels);
    std::cout << mean_loss.result() << accuracy.result() << "\n";
    accuracy.reset_state();
  }
  {
    losses::Loss within = [](const Tensor &y_true, const Tensor &y_pred) {
      return reduce_mean(nn::relu(abs(y_true - y_pred) - 0.1f), -1);
    };
    activations::Activation::add("steep", [](const nn::Config &) {
      return [](const Tensor &x) { return sigmoid(x * 5); };
    });
    activations::Activation steep = "steep";
    std::cout << within(ones({2, 3}), steep(zeros({2, 3}))) << "\n";
  }
  {
    mixed_precision::PolicyScope scope("mixed_float16");
    layers::Dense narrow(4);
    optimizers::LossScaleOptimizer scaled(optimizers::Adam(1e-3));
    GradientTape tape;
    Tensor loss = losses::Loss("mse")(zeros({8, 4}), narrow(x));
    Tensor larger = scaled.scale_loss(loss);
    scaled.apply_gradients(tape.gradient(larger, {narrow.kernel()}));
  }
}
