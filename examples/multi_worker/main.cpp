// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The program of TensorFlow's guide to migrating training on several workers,
// with MultiWorkerMirroredStrategy: start it once for each worker,
//
//   TF_CONFIG='{"cluster": {"worker": ["localhost:2222", "localhost:2223"]},
//               "task": {"type": "worker", "index": 0}}' multi_worker
//   TF_CONFIG='{... "task": {"type": "worker", "index": 1}}' multi_worker
//
// or by mesh-launch -n 2 multi_worker. Without either there is one worker. The
// losses are the same for every number of workers, within rounding.
#include <meshloom/Meshloom.h>

#include <cstdio>
#include <iostream>

using namespace meshloom;

namespace {

data::Dataset<std::pair<Tensor, Tensor>> trainingData() {
  return data::from_tensor_slices(
             tensor({{1.f, 1.5f}, {2.f, 2.5f}, {3.f, 3.5f}}),
             tensor({{.3f}, {.5f}, {.7f}}))
      .shuffle(10, {.seed = 1})
      .repeat()
      .batch(64);
}

data::Dataset<std::pair<Tensor, Tensor>> evaluationData() {
  return data::from_tensor_slices(
             tensor({{4.f, 4.5f}, {5.f, 5.5f}, {6.f, 6.5f}}),
             tensor({{.8f}, {.9f}, {1.f}}))
      .repeat()
      .batch(64);
}

} // namespace

int main() {
  try {
    const MultiWorkerMirroredStrategy strategy;
    auto scope = strategy.scope();
    Sequential model({layers::Dense(1, {.kernel_initializer = "ones"})});
    model.compile({.optimizer = optimizers::Adagrad({.learning_rate = 0.05}),
                   .loss = "mse"});
    const History history = model.fit(
        trainingData(), {.epochs = 5, .verbose = 0, .steps_per_epoch = 10});
    const double evaluated =
        model.evaluate(evaluationData(), {.verbose = 0, .steps = 10})
            .at("loss");
    // All have the same numbers; the chief says them.
    if (client_id() != 0)
      return 0;
    for (double loss : history["loss"])
      std::printf("loss: %.7g\n", loss);
    std::printf("evaluate: %.7g\n", evaluated);
  } catch (const std::exception &error) {
    std::cerr << "multi_worker: " << error.what() << '\n';
    return 1;
  }
}
