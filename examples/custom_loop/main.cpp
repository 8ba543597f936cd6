// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// TensorFlow's guide "Distributed training with TensorFlow", its own training
// loop: a model of one unit learns that 1 is 1, each replica on its part of a
// batch, with gradients summed over the replicas. Prints 20 losses over a
// dataset and 10 more by an iterator, then 3 of examples that differ: these
// tell whether a step takes the right ones, which equal examples cannot. All
// are those of one device under every strategy, on any number of processes.
#include "../options/StrategyOptions.h"

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <iostream>
#include <iterator>

using namespace meshloom;
using namespace example;

namespace {

const char *const Usage = R"(usage: custom_loop [options]
    --check         fails if a loss is not the expected one
)";

using Batch = std::pair<Tensor, Tensor>;

/// The first loss that the guide prints.
constexpr double firstLoss = 0.18686396;

/// z of the first loss: -log(sigmoid(z)) = L.
double firstLogit() {
  return -std::log(std::expm1(firstLoss));
}

/// The strategy outside of scopes and in one, and a variable of it.
void printStrategies(const StrategyOptions &options) {
  std::cout << "outside of scopes: " << get_strategy().name()
            << " strategy, reduce(SUM, 1.0) = "
            << get_strategy().reduce(ReduceOp::SUM, 1.0) << "\n";
  const Strategy strategy = options.makeStrategy();
  auto scope = options.scope(strategy);
  std::cout << "in the scope: " << get_strategy().name() << " strategy with "
            << get_strategy().num_replicas_in_sync() << " replica(s)\n"
            << DVariable(tensor(1.f), {.name = "v"}) << "\n";
}

/// Examples that differ: x, and whether x is above 0.3. The last batch is not
/// a whole one.
constexpr int64_t differentExamples = 12, differentBatch = 5;
double featureOf(int64_t example) {
  return double((example * 7) % 12) / 6 - 1;
}
double labelOf(int64_t example) {
  return featureOf(example) > 0.3;
}
data::Dataset<Batch> differentBatches() {
  std::vector<Tensor> features, labels;
  for (int64_t i = 0; i < differentExamples; ++i) {
    features.push_back(tensor({float(featureOf(i))}));
    labels.push_back(tensor({float(labelOf(i))}));
  }
  return data::from_tensor_slices(stack(features), stack(labels))
      .batch(differentBatch);
}

/// Their losses from weight and bias on, computed one example after the other.
std::vector<double> lossesOfDifferent(double weight, double bias, double rate) {
  std::vector<double> losses;
  for (int64_t begin = 0; begin < differentExamples; begin += differentBatch) {
    double loss = 0, weightGradient = 0, biasGradient = 0;
    const int64_t end = std::min(differentExamples, begin + differentBatch);
    for (int64_t i = begin; i < end; ++i) {
      const double logit = weight * featureOf(i) + bias;
      loss += std::log1p(std::exp(logit)) - labelOf(i) * logit;
      const double error = 1 / (1 + std::exp(-logit)) - labelOf(i);
      weightGradient += error * featureOf(i);
      biasGradient += error;
    }
    losses.push_back(loss / differentBatch);
    weight -= rate * weightGradient / differentBatch;
    bias -= rate * biasGradient / differentBatch;
  }
  return losses;
}

void run(const StrategyOptions &options) {
  printStrategies(options);
  const Strategy strategy = options.makeStrategy();
  int64_t globalBatch = 5 * options.replicas;

  auto dataset = data::from_tensors(tensor({1.f}), tensor({1.f}))
                     .repeat(20 * globalBatch)
                     .batch(globalBatch);
  auto different = differentBatches();
  if (options.isDTensor()) {
    const Layout rows = *options.batchLayout(strategy, 2);
    dataset = dataset.prefetch(2, {rows, rows});
    different = different.prefetch(2, {rows, rows});
  }
  const auto distributed = strategy.experimental_distribute_dataset(dataset);

  auto scope = options.scope(strategy);
  Sequential model({Input({1}), layers::Dense(1)});
  const std::vector<DVariable> weights = model.trainable_variables();
  weights[0].assign(0.25);
  weights[1].assign(firstLogit() - 0.25);
  optimizers::SGD optimizer({.learning_rate = 0.01});
  const auto crossentropy =
      losses::BinaryCrossentropy({.from_logits = true, .reduction = "none"});

  auto trainStep = [&](const Batch &inputs) {
    const auto &[features, labels] = inputs;
    GradientTape tape;
    const Tensor predictions = model(features, {.training = true});
    const Tensor loss = nn::compute_average_loss(
        crossentropy(labels, predictions), {.global_batch_size = globalBatch});
    optimizer.apply_gradients(tape.gradient(loss, weights));
    return loss;
  };
  auto distributedTrainStep = function([&](const PerReplica<Batch> &batch) {
    const PerReplica<Tensor> losses = strategy.run(trainStep, batch);
    return strategy.reduce(ReduceOp::SUM, losses);
  });

  std::vector<double> expected;
  for (double logit = firstLogit(); expected.size() < 30;
       logit += 0.02 / (1 + std::exp(logit)))
    expected.push_back(std::log1p(std::exp(-logit)));
  std::ranges::copy(lossesOfDifferent(0.5, -0.25, 0.01),
                    std::back_inserter(expected));
  size_t reported = 0;
  double furthest = 0;
  auto report = [&](const Tensor &loss) {
    const double wanted = reported < expected.size() ? expected[reported] : 0;
    ++reported;
    furthest = std::max(furthest, std::abs(loss.item<float>() - wanted));
    std::cout << std::setprecision(8) << loss.item<float>() << "\n";
  };
  for (const auto &batch : distributed)
    report(distributedTrainStep(batch));
  auto iterator = distributed.iterate();
  for (int64_t step = 0; step < 10; ++step)
    report(distributedTrainStep(iterator.get_next()));

  weights[0].assign(0.5);
  weights[1].assign(-0.25);
  globalBatch = differentBatch;
  auto otherTrainStep = function([&](const PerReplica<Batch> &batch) {
    const PerReplica<Tensor> losses = strategy.run(trainStep, batch);
    return strategy.reduce(ReduceOp::SUM, losses);
  });
  for (const auto &batch : strategy.experimental_distribute_dataset(different))
    report(otherTrainStep(batch));

  std::cout << "furthest from what is expected: " << furthest << "\n";
  if (options.has("--check") &&
      (!(furthest < 1e-7) || reported != expected.size()))
    throw Error("a loss is not the expected one");
}

} // namespace

int main(int argc, char **argv) {
  try {
    run(parseStrategyOptions(argc, argv, Usage));
  } catch (const Error &error) {
    std::cerr << "custom_loop: " << error.what() << "\n";
    return 1;
  }
}
