// TensorFlow's guide "Use TPUs": a convolutional net learns digits, in a
// training loop of its own: metrics are updated in the replicas, read outside
// and reset each epoch, and one call of the compiled function makes many steps.
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
    --epochs N      how often --steps steps are made (5)
    --steps N       of an epoch (300)
    --per-call N    steps in one call of the compiled function (50)
    --digits N      drawn, to learn from (60000)
)";

using Batch = std::pair<Tensor, Tensor>;

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

void run(const StrategyOptions &options) {
  const bool small = options.has("--small");
  const Strategy strategy = options.makeStrategy();
  printMatmul(strategy);
  const int64_t epochs = options.number("--epochs", small ? 2 : 5);
  const int64_t steps = options.number("--steps", small ? 4 : 300);
  const int64_t perCall = options.number("--per-call", small ? 2 : 50);
  const int64_t digits = options.number("--digits", small ? 256 : 60000);
  const int64_t batchSize = small ? 24 : 200;

  const data::Digits drawn = data::make_digits(digits, 1);
  auto dataset =
      data::from_tensor_slices(tensor(drawn.images, {digits, 28, 28, 1}),
                               tensor(drawn.labels, {digits}))
          .shuffle(10000)
          .repeat()
          .batch(batchSize)
          .map([](const Tensor &images, const Tensor &labels) {
            return Batch(cast(images, DType::F32) / 255,
                         cast(labels, DType::I32));
          });
  if (options.isDTensor())
    dataset = dataset.prefetch(2, {*options.batchLayout(strategy, 4),
                                   *options.batchLayout(strategy, 1)});
  const auto distributed = strategy.experimental_distribute_dataset(dataset);

  auto scope = options.scope(strategy);
  set_random_seed(7);
  Sequential model = makeModel(small);
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
                                           {.global_batch_size = batchSize});
    Tensor penalty = tensor(0.f);
    for (const Tensor &each : model.losses())
      penalty = penalty + each;
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

  auto iterator = distributed.iterate();
  int64_t made = 0;
  for (int64_t epoch = 1; epoch <= epochs; ++epoch) {
    for (int64_t step = 0; step < steps; step += perCall) {
      const auto count = int32_t(std::min(perCall, steps - step));
      made += trainSteps(iterator, tensor(count)).item<int32_t>();
    }
    std::cout << "Epoch " << epoch << ", optimizer steps " << made
              << std::setprecision(7) << ", training loss "
              << trainingLoss.result().item<float>() << ", accuracy "
              << trainingAccuracy.result().item<float>() << std::endl;
    trainingLoss.reset_state();
    trainingAccuracy.reset_state();
  }
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
