// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// TensorFlow's guide "Use TPUs": a convolutional net learns digits, by fit with
// one step and with many a call, and in a training loop of its own: metrics are
// updated in the replicas, read outside and reset each epoch, and one call of
// the compiled function makes many steps. All three see the same batches.
// Without a TPU --strategy=tpu tries it on virtual CPUs.
#include "../options/StrategyOptions.h"

#include <meshloom/Data/Digits.h>

#include <iomanip>
#include <iostream>

using namespace meshloom;
using namespace example;

namespace {

const char *const Usage = R"(usage: tpu_mnist [options]
    --small         a net and data that take seconds
    --epochs N      how often to take --steps steps (5)
    --steps N       of an epoch (300)
    --per-call N    steps in one call of the compiled function (50)
    --digits N      drawn, to learn from (60000)
)";

using Batch = std::pair<Tensor, Tensor>;

struct Sizes {
  bool small;
  int64_t epochs, steps, perCall, digits, batch;

  explicit Sizes(const StrategyOptions &options)
      : small(options.has("--small")),
        epochs(options.number("--epochs", small ? 2 : 5)),
        steps(options.number("--steps", small ? 4 : 300)),
        perCall(options.number("--per-call", small ? 2 : 50)),
        digits(options.number("--digits", small ? 256 : 60000)),
        batch(small ? 24 : 200) {}
};

/// Drawn digits to train and to validate.
class Datasets {
public:
  explicit Datasets(const Sizes &sizes)
      : batch(sizes.batch), drawn(draw(sizes.digits, 1)),
        others(draw(std::max<int64_t>(sizes.digits / 6, 1), 2)) {}

  /// Without an end, in an order that is the same for each of these datasets.
  data::Dataset<Batch> training() const {
    return data::from_tensor_slices(drawn.first, drawn.second)
        .shuffle(10000)
        .repeat()
        .batch(batch)
        .map(scaled);
  }
  data::Dataset<Batch> validation() const {
    return data::from_tensor_slices(others.first, others.second)
        .batch(batch)
        .map(scaled);
  }

private:
  static Batch draw(int64_t digits, uint64_t seed) {
    const data::Digits drawn = data::make_digits(digits, seed);
    return {tensor(drawn.images, {digits, 28, 28, 1}),
            tensor(drawn.labels, {digits})};
  }
  static Batch scaled(const Tensor &images, const Tensor &labels) {
    return {cast(images, DType::F32) / 255, cast(labels, DType::I32)};
  }

  int64_t batch;
  Batch drawn, others;
};

Sequential makeModel(bool small) {
  const int64_t filters = small ? 4 : 256, wide = small ? 16 : 256;
  const auto l2 = regularizers::L2(1e-5);
  return Sequential(
      {Input({28, 28, 1}),
       layers::Conv2D(filters, 3,
                      {.activation = "relu", .kernel_regularizer = l2}),
       layers::Conv2D(filters, 3,
                      {.activation = "relu", .kernel_regularizer = l2}),
       layers::Flatten(),
       layers::Dense(wide, {.activation = "relu", .kernel_regularizer = l2}),
       layers::Dense(wide / 2,
                     {.activation = "relu", .kernel_regularizer = l2}),
       layers::Dense(10, {.kernel_regularizer = l2})});
}

/// The guide's: on one device all replicas get the whole of plain tensors.
void printMatmul(const Strategy &strategy) {
  const Tensor a = tensor({{1.f, 2.f, 3.f}, {4.f, 5.f, 6.f}});
  const Tensor b = tensor({{1.f, 2.f}, {3.f, 4.f}, {5.f, 6.f}});
  std::cout << strategy.run([](const Tensor &x,
                               const Tensor &y) { return matmul(x, y); },
                            a, b)
            << "\n";
}

/// The guide's first half: compile and fit.
void fit(const StrategyOptions &options, const Strategy &strategy,
         const Sizes &sizes, const Datasets &datasets, int64_t perExecution) {
  auto scope = options.scope(strategy);
  set_random_seed(7);
  Sequential model = makeModel(sizes.small);
  model.compile(
      {.optimizer = "adam",
       .loss = losses::SparseCategoricalCrossentropy({.from_logits = true}),
       .metrics = {"sparse_categorical_accuracy"},
       .steps_per_execution = perExecution});
  const History history =
      model.fit(datasets.training(),
                {.epochs = sizes.epochs,
                 .verbose = 0,
                 .validation_data = datasets.validation(),
                 .steps_per_epoch = sizes.steps,
                 .validation_steps = std::max<int64_t>(sizes.steps / 6, 1)});
  std::cout << "fit, " << perExecution << " step(s) a call\n";
  for (size_t i = 0; i < history.epoch.size(); ++i)
    std::cout << "Epoch " << i + 1 << std::setprecision(7) << ", training loss "
              << history["loss"][i] << ", accuracy "
              << history["sparse_categorical_accuracy"][i]
              << ", validation loss " << history["val_loss"][i] << std::endl;
}

/// The guide's second half: a loop of one's own.
void loop(const StrategyOptions &options, const Strategy &strategy,
          const Sizes &sizes, data::Dataset<Batch> dataset) {
  if (options.isDTensor())
    dataset = dataset.prefetch(2, {*options.batchLayout(strategy, 4),
                                   *options.batchLayout(strategy, 1)});
  const auto distributed = strategy.experimental_distribute_dataset(dataset);

  auto scope = options.scope(strategy);
  set_random_seed(7);
  Sequential model = makeModel(sizes.small);
  optimizers::Adam optimizer({.learning_rate = 1e-3});
  const auto crossentropy = losses::SparseCategoricalCrossentropy(
      {.from_logits = true, .reduction = "none"});
  metrics::Mean trainingLoss("training_loss");
  const auto trainingAccuracy =
      metrics::SparseCategoricalAccuracy({.name = "training_accuracy"});

  auto trainStep = [&](const Batch &inputs) {
    const auto &[images, labels] = inputs;
    GradientTape tape;
    const Tensor logits = model(images, {.training = true});
    Tensor loss = nn::compute_average_loss(crossentropy(labels, logits),
                                           {.global_batch_size = sizes.batch});
    Tensor penalty = tensor(0.f);
    for (const Tensor &term : model.losses())
      penalty = penalty + term;
    loss = loss + nn::scale_regularization_loss(penalty);
    optimizer.apply_gradients(tape.gradient(loss, model.trainable_variables()));
    trainingLoss.update_state(loss * float(strategy.num_replicas_in_sync()));
    trainingAccuracy.update_state(labels, logits);
  };
  auto trainSteps = function(
      [&](data::Iterator<PerReplica<Batch>> iterator, const Tensor &count) {
        return while_loop([&](const Tensor &step) { return less(step, count); },
                          [&](const Tensor &step) {
                            strategy.run(trainStep, iterator.get_next());
                            return step + 1;
                          },
                          tensor(0));
      });

  std::cout << "a loop of one's own, " << sizes.perCall << " step(s) a call\n";
  auto iterator = distributed.iterate();
  int64_t stepCount = 0;
  for (int64_t epoch = 1; epoch <= sizes.epochs; ++epoch) {
    for (int64_t step = 0; step < sizes.steps; step += sizes.perCall) {
      const auto count = int32_t(std::min(sizes.perCall, sizes.steps - step));
      stepCount += trainSteps(iterator, tensor(count)).item<int32_t>();
    }
    std::cout << "Epoch " << epoch << ", optimizer steps " << stepCount
              << std::setprecision(7) << ", training loss "
              << trainingLoss.result().item<float>() << ", accuracy "
              << trainingAccuracy.result().item<float>() << std::endl;
    trainingLoss.reset_state();
    trainingAccuracy.reset_state();
  }
}

void run(const StrategyOptions &options) {
  const Sizes sizes(options);
  const Strategy strategy = options.makeStrategy();
  printMatmul(strategy);
  const Datasets datasets(sizes);
  fit(options, strategy, sizes, datasets, 1);
  fit(options, strategy, sizes, datasets, sizes.perCall);
  loop(options, strategy, sizes, datasets.training());
}

} // namespace

int main(int argc, char **argv) {
  try {
    run(parseStrategyOptions(argc, argv, Usage));
  } catch (const Error &error) {
    std::cerr << "tpu_mnist: " << error.what() << "\n";
    return 1;
  }
}
