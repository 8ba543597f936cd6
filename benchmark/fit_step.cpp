// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The cost of fit beside the step that it runs: the same step as a compiled
// function that is called by hand, in fit, in fit with many steps a call, and,
// on several devices, under MirroredStrategy and in a loop of strategy.run. In
// turns in one process, from the same inputs and losses as
// peers/keras_bench.py.
//
//   fit_step --case=line|mlp|convnet [--devices=8] [--batch=32] [--steps=200]
//            [--rounds=5]
//     prints a JSON line for each of them
//
// line: the guide's Dense(1), SGD. mlp: 784, 256, 256, 10 with Adam (the guide
// to several GPUs). convnet: that of the TPU guide.
#include "CommandLine.h"
#include "PeerInputs.h"

#include "meshloom/Meshloom.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <functional>

using namespace meshloom;

namespace {

struct Case {
  std::string name = "mlp";
  int64_t devices = 8, batch = 32, steps = 200, rounds = 5;
};

using Batch = std::pair<Tensor, Tensor>;

/// The examples of a batch, on the host.
Batch batchOf(const Case &options) {
  const int64_t batch = options.batch;
  if (options.name == "line")
    return {ones({batch, 1}), ones({batch, 1})};
  const peers::Batch data = peers::learnableBatch(batch, 784, 1);
  const Shape shape =
      options.name == "convnet" ? Shape{batch, 28, 28, 1} : Shape{batch, 784};
  return {tensor(data.x, shape), tensor(data.y, {batch})};
}

Sequential makeModel(const Case &options) {
  if (options.name == "line")
    return {Input({1}), layers::Dense(1)};
  if (options.name == "mlp")
    return {Input({784}), layers::Dense(256, {.activation = "relu"}),
            layers::Dense(256, {.activation = "relu"}), layers::Dense(10)};
  const auto l2 = regularizers::L2(1e-5);
  auto dense = [&](int64_t units, const char *activation) {
    return layers::Dense(units,
                         {.activation = activation, .kernel_regularizer = l2});
  };
  auto convolution = [&] {
    return layers::Conv2D(256, 3,
                          {.activation = "relu", .kernel_regularizer = l2});
  };
  return {Input({28, 28, 1}), convolution(),      convolution(),
          layers::Flatten(),  dense(256, "relu"), dense(128, "relu"),
          dense(10, "linear")};
}

/// Kernels by Glorot, with seeds from 10; biases are 0.
void assignPeerWeights(const Model &model) {
  uint32_t seed = 10;
  std::vector<Tensor> values;
  for (const DVariable &weight : model.weights()) {
    const Shape shape = weight.shape();
    if (shape.size() < 2) {
      values.push_back(zeros(shape));
      continue;
    }
    int64_t places = 1;
    for (size_t d = 0; d + 2 < shape.size(); ++d)
      places *= shape[d];
    const int64_t in = places * shape[shape.size() - 2],
                  out = places * shape.back();
    const float limit = std::sqrt(6.0f / float(in + out));
    values.push_back(tensor(
        peers::uniform(elementCount(shape), seed++, -limit, limit), shape));
  }
  model.set_weights(values);
}

losses::Loss lossOf(const Case &options, const char *reduction) {
  if (options.name == "line")
    return losses::MeanSquaredError({.reduction = reduction});
  return losses::SparseCategoricalCrossentropy(
      {.from_logits = true, .reduction = reduction});
}

optimizers::Optimizer optimizerOf(const Case &options) {
  if (options.name == "line")
    return optimizers::SGD(0.01);
  // Keras adds epsilon before it corrects the moments: where it is next to
  // nothing both are the same.
  return optimizers::Adam({.learning_rate = 1e-3, .epsilon = 1e-12});
}

metrics::Metric metricOf(const Case &options) {
  return options.name == "line" ? "mae" : "sparse_categorical_accuracy";
}

/// One of the ways to train; `run` makes steps and waits for the last one.
struct Way {
  std::string name;
  std::function<void(int64_t steps)> run;
  std::vector<double> losses;
  std::vector<double> milliseconds, processor; ///< a step, by round
};

/// A call of a compiled function on a batch that is on the devices.
Way byHand(const Case &options) {
  Sequential model = makeModel(options);
  assignPeerWeights(model);
  const losses::Loss loss = lossOf(options, "sum_over_batch_size");
  const optimizers::Optimizer optimizer = optimizerOf(options);
  const metrics::Mean mean("loss");
  const metrics::Metric metric = metricOf(options);
  auto step = function([=](const Tensor &x, const Tensor &y) {
    GradientTape tape;
    const Tensor prediction = model(x, {.training = true});
    Tensor value = loss(y, prediction);
    metric.update_state(y, prediction);
    for (const Tensor &added : model.losses())
      value = value + added;
    mean.update_state(value, double(x.shape().front()));
    optimizer.apply_gradients(
        tape.gradient(value, model.trainable_variables()));
    return value;
  });
  Batch batch = batchOf(options);
  if (const std::optional<Mesh> mesh = get_default_mesh()) {
    const std::string axis = mesh->axes().front().name;
    for (Tensor *tensor : {&batch.first, &batch.second})
      *tensor = distribute(*tensor, Layout::batch_sharded(
                                        *mesh, axis, unsigned(tensor->rank())));
  }
  Way way{"step", {}, {}, {}, {}};
  for (int i = 0; i < 10; ++i)
    way.losses.push_back(step(batch.first, batch.second).item<float>());
  way.run = [=](int64_t steps) {
    Tensor last;
    for (int64_t i = 0; i < steps; ++i)
      last = step(batch.first, batch.second);
    (void)last.item<float>();
  };
  return way;
}

/// Model::fit on a dataset of batches.
Way byFit(const Case &options, std::string name, int64_t stepsPerExecution) {
  Sequential model = makeModel(options);
  assignPeerWeights(model);
  model.compile({.optimizer = optimizerOf(options),
                 .loss = lossOf(options, "sum_over_batch_size"),
                 .metrics = {metricOf(options)},
                 .steps_per_execution = stepsPerExecution});
  const Batch batch = batchOf(options);
  Way way{std::move(name), {}, {}, {}, {}};
  for (int i = 0; i < 10; ++i)
    way.losses.push_back(
        model.train_on_batch(batch.first, batch.second).at("loss"));
  const auto dataset = data::from_tensors(batch.first, batch.second).repeat();
  way.run = [=](int64_t steps) {
    (void)model.fit(dataset, {.verbose = 0, .steps_per_epoch = steps});
  };
  return way;
}

/// A loop of one's own over a distributed dataset.
Way byRun(const Case &options, const MirroredStrategy &strategy) {
  Sequential model = makeModel(options);
  assignPeerWeights(model);
  const losses::Loss loss = lossOf(options, "none");
  const optimizers::Optimizer optimizer = optimizerOf(options);
  const metrics::Metric metric = metricOf(options);
  auto step = function([=](const PerReplica<Batch> &batch) {
    return strategy.reduce(
        ReduceOp::SUM,
        strategy.run(
            [=](const Batch &batch) {
              GradientTape tape;
              const Tensor prediction = model(batch.first, {.training = true});
              Tensor value = nn::compute_average_loss(
                  loss(batch.second, prediction),
                  {.global_batch_size = options.batch});
              for (const Tensor &added : model.losses())
                value = value + nn::scale_regularization_loss(added);
              metric.update_state(batch.second, prediction);
              optimizer.apply_gradients(
                  tape.gradient(value, model.trainable_variables()));
              return value;
            },
            batch));
  });
  const Batch whole = batchOf(options);
  const PerReplica<Batch> batch =
      *strategy
           .experimental_distribute_dataset(
               data::from_tensors(whole.first, whole.second)
                   .map([](const Tensor &x, const Tensor &y) {
                     return Batch(x, y);
                   })
                   .unbatch()
                   .batch(options.batch))
           .iterate()
           .next();
  Way way{"MirroredStrategy, a loop of run", {}, {}, {}, {}};
  for (int i = 0; i < 10; ++i)
    way.losses.push_back(step(batch).item<float>());
  way.run = [=](int64_t steps) {
    Tensor last;
    for (int64_t i = 0; i < steps; ++i)
      last = step(batch);
    (void)last.item<float>();
  };
  return way;
}

void measure(Way &way, int64_t steps) {
  const std::clock_t before = std::clock();
  const auto begin = std::chrono::steady_clock::now();
  way.run(steps);
  const double wall = std::chrono::duration<double, std::milli>(
                          std::chrono::steady_clock::now() - begin)
                          .count();
  way.milliseconds.push_back(wall / double(steps));
  way.processor.push_back(double(std::clock() - before) * 1e3 /
                          double(CLOCKS_PER_SEC) / double(steps));
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

int run(const Case &options) {
  const std::vector<DeviceSpec> devices = virtual_cpus(options.devices);
  const Mesh mesh =
      create_mesh({{"batch", options.devices}}, virtual_cpus(options.devices));
  std::vector<Way> ways;
  {
    auto scope = default_mesh(mesh);
    ways.push_back(byHand(options));
    ways.push_back(byFit(options, "fit", 1));
    ways.push_back(byFit(options, "fit, 50 steps a call", 50));
  }
  if (options.devices > 1) {
    const MirroredStrategy strategy(devices);
    auto scope = strategy.scope();
    ways.push_back(byFit(options, "MirroredStrategy, fit", 1));
    ways.push_back(byRun(options, strategy));
  }
  for (int64_t round = 0; round <= options.rounds; ++round)
    for (Way &way : ways)
      measure(way, options.steps);
  for (Way &way : ways) {
    // The first round compiles, and fills caches.
    way.milliseconds.erase(way.milliseconds.begin());
    way.processor.erase(way.processor.begin());
    std::printf(
        "{\"peer\": \"meshloom\", \"case\": \"%s\", \"devices\": %lld, "
        "\"batch\": %lld, \"step_ms_best\": %.5f, \"step_ms_median\": %.5f, "
        "\"cpu_ms_median\": %.5f, \"loss_1\": %.7f, \"loss_10\": %.7f}\n",
        way.name.c_str(), static_cast<long long>(options.devices),
        static_cast<long long>(options.batch),
        *std::min_element(way.milliseconds.begin(), way.milliseconds.end()),
        median(way.milliseconds), median(way.processor), way.losses.front(),
        way.losses.back());
  }
  return 0;
}

} // namespace

int main(int argc, char **argv) try {
  Case options;
  set_log_level(LogLevel::WARNING);
  peers::CommandLine line(argc, argv);
  line.read("--case", options.name);
  line.read("--devices", options.devices);
  line.read("--batch", options.batch);
  line.read("--steps", options.steps);
  line.read("--rounds", options.rounds);
  line.end();
  if (options.name != "line" && options.name != "mlp" &&
      options.name != "convnet") {
    std::fprintf(stderr, "fit_step: --case is line, mlp or convnet\n");
    return 1;
  }
  return run(options);
} catch (const Error &error) {
  std::fprintf(stderr, "fit_step: %s\n", error.what());
  return 1;
}
