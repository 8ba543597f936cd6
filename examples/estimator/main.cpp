// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The first program of TensorFlow's guide to migrating training on several
// workers: an estimator that is trained and evaluated, here twice, so that the
// second call goes on from the folder of the first one. Started once for each
// task of TF_CONFIG (chief, worker, ps, evaluator), the processes train one
// model together, and the evaluator shows its numbers.
#include "../options/OutputFolder.h"
#include "../options/StrategyOptions.h"

#include <meshloom/Meshloom.h>

#include <cstdio>
#include <filesystem>
#include <iostream>
#include <optional>

using namespace meshloom;

namespace {

data::AnyDataset inputFunction() {
  return data::from_tensor_slices(
             tensor({{1.f, 1.5f},
                     {2.f, -1.f},
                     {-.5f, 2.5f},
                     {3.f, .5f},
                     {-1.f, -2.f},
                     {.5f, 3.f}}),
             tensor({{.3f}, {.5f}, {-.7f}, {1.1f}, {-.4f}, {.2f}}))
      .batch(2);
}

data::AnyDataset evalInputFunction() {
  return data::from_tensor_slices(
             tensor({{4.f, 4.5f}, {5.f, -5.5f}, {-6.f, 6.5f}}),
             tensor({{.8f}, {.9f}, {1.f}}))
      .batch(1);
}

/// Begins with known weights, so that the numbers are the same in every run.
estimator::EstimatorSpec modelFunction(const Tensor &features,
                                       const Tensor &labels,
                                       estimator::ModeKeys mode) {
  const layers::Dense layer(1, {.kernel_initializer = initializers::Initializer(
                                    [](const Shape &, DType, const SeedLike &) {
                                      return tensor({{-.4f}, {.9f}});
                                    })});
  const Tensor logits = layer(features);
  const Tensor loss = losses::MeanSquaredError()(labels, logits);
  return {.mode = mode,
          .loss = loss,
          .optimizer = optimizers::Adagrad({.learning_rate = 0.05})};
}

} // namespace

int main(int argc, char **argv) {
  try {
    const example::StrategyOptions options = example::parseStrategyOptions(
        argc, argv,
        "usage: estimator [options]\n"
        "    --output DIR  where checkpoints are written; what is there goes "
        "(estimator)\n");
    const TFConfigClusterResolver cluster;
    const bool isAlone = cluster.cluster_spec().empty();
    // The processes of a cluster have a strategy of theirs.
    std::optional<Strategy> strategy;
    std::optional<example::StrategyOptions::Scope> scope;
    if (isAlone) {
      strategy = options.makeStrategy();
      scope.emplace(options, *strategy);
    }
    const std::filesystem::path folder = options.text("--output", "estimator");
    // The chief of several processes begins the folder.
    if (isAlone || cluster.task_type() == "chief")
      example::clearFolder(folder / "model");
    const estimator::Estimator classifier(modelFunction,
                                          {.model_dir = folder / "model"});
    for (int call = 0; call < 2; ++call) {
      const auto numbers =
          estimator::train_and_evaluate(classifier, {.input_fn = inputFunction},
                                        {.input_fn = evalInputFunction});
      if (numbers.empty())
        continue; // the evaluator has them
      std::printf("loss: %.7g, global_step: %d\n", numbers.at("loss"),
                  int(numbers.at("global_step")));
      std::fflush(stdout);
    }
  } catch (const std::exception &error) {
    std::cerr << "estimator: " << error.what() << '\n';
    return 1;
  }
}
