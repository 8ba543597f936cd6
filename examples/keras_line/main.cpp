// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The first program of TensorFlow's guide "Distributed training": Keras's fit
// on a line. All examples are x = 1, y = 1, so a step of SGD multiplies the
// loss by 0.96^2, whatever the strategy, and the numbers that are printed are
// the guide's, to all digits.
#include "../options/StrategyOptions.h"

#include <meshloom/Meshloom.h>

#include <cmath>
#include <cstdio>
#include <iostream>

using namespace meshloom;

int main(int argc, char **argv) {
  try {
    const example::StrategyOptions options = example::parseStrategyOptions(
        argc, argv, "usage: keras_line [options]\n");
    const Strategy strategy = options.makeStrategy();
    auto scope = options.scope(strategy);

    Sequential model({Input({1}), layers::Dense(1)});
    model.compile({.optimizer = optimizers::SGD(0.01), .loss = "mse"});
    // The guide's first loss, 3.1686627, is the square of w + b - 1.
    const float distance = float(std::sqrt(3.1686627));
    model.set_weights({tensor({{distance}}), tensor({1.f})});

    auto dataset =
        data::from_tensors(tensor({1.f}), tensor({1.f})).repeat(100).batch(10);
    auto print = [](const History &history) {
      for (double loss : history["loss"])
        std::printf("loss: %#.7g\n", loss);
    };
    print(model.fit(dataset, {.epochs = 2, .verbose = 0}));
    std::printf("evaluate: %#.7g\n",
                model.evaluate(dataset, {.verbose = 0}).at("loss"));

    const Tensor inputs = ones({100, 1}), targets = ones({100, 1});
    print(model.fit(inputs, targets,
                    {.batch_size = 10, .epochs = 2, .verbose = 0}));
  } catch (const std::exception &error) {
    std::cerr << "keras_line: " << error.what() << '\n';
    return 1;
  }
}
