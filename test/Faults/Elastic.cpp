// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Trains under mesh-launch --max-restarts, and ends a process of the first
// starts itself:
//
//   elastic FOLDER HOSTS SIGNAL SIZE...
//
// Backups go to FOLDER. In start k one process gets SIGNAL after its third
// batch (the file HOSTS then has as many slots as the next SIZE); the last
// start trains to the end and prints how many steps were done in all, how often
// each example was seen, and the weights.
#include "meshloom/API/Processes.h"
#include "meshloom/Meshloom.h"

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>

using namespace meshloom;

namespace {

constexpr int64_t examples = 480, epochs = 3, startsBatches = 3;

/// Takes the last column, the number of an example, away, and counts how often
/// each one was trained on.
class CountImpl : public LayerImpl {
public:
  CountImpl() : LayerImpl("Count") {}
  void build(const Shape &) override {
    seen = add_state("seen", zeros({examples}));
  }
  Tensor call(const Tensor &x, const CallOptions &options) override {
    const int64_t rows = x.shape().front();
    if (options.training.value_or(false)) {
      const Tensor number = cast(slice(x, {0, 2}, {rows, 1}), DType::I32);
      seen.assign_add(
          reduce_sum(one_hot(reshape(number, {rows}), examples), {0}));
    }
    return slice(x, {0, 0}, {rows, 2});
  }

private:
  DVariable seen;
};
using Count = LayerOf<CountImpl>;

/// The state of the run.
struct Start {
  size_t number;
  std::vector<std::string> sizes;
  std::string hosts;
  int signal;
};

/// Gives one process the signal, and says how many there are next.
void hit(const Start &start) {
  if (start.number + 1 >= start.sizes.size() ||
      client_id() != num_clients() - 1)
    return;
  std::ofstream(start.hosts)
      << "localhost " << start.sizes[start.number + 1] << std::endl;
  (void)kill(getpid(), start.signal);
}

void train(const std::string &folder, const Start &start) {
  const MultiWorkerMirroredStrategy strategy;
  auto scope = strategy.scope();
  set_random_seed(5);
  Sequential model({Input({3}), Count(),
                    layers::Dense(8, {.activation = "tanh"}),
                    layers::Dropout(0.25), layers::Dense(1)});
  model.compile(
      {.optimizer = optimizers::Adam({.learning_rate = 0.05}), .loss = "mse"});
  const Tensor x = concat({random::stateless_normal({examples, 2}, Seed{1, 2}),
                           iota({examples, 1}, 0, DType::F32)},
                          1);
  const Tensor y = random::stateless_normal({examples, 1}, Seed{3, 4});
  auto data = data::from_tensor_slices(x, y)
                  .shuffle(examples, {.seed = 1})
                  .batch(examples / 4);
  int64_t batches = 0;
  callbacks::LambdaCallback crash(
      {.on_train_batch_end = [&](int64_t, const Logs &) {
        if (++batches == startsBatches)
          hit(start);
      }});
  model.fit(data, {.epochs = epochs,
                   .verbose = 0,
                   .callbacks = {crash, callbacks::BackupAndRestore(
                                            folder + "/backup",
                                            {.save_freq = 1,
                                             .save_before_preemption =
                                                 start.signal == SIGTERM})}});
  if (client_id() != 0)
    return;
  std::printf(
      "steps %g\n",
      double(model.optimizer().iterations().read_value().item<int64_t>()));
  for (const DVariable &variable : model.variables()) {
    const Tensor value = variable.read_value();
    if (value.dtype() != DType::F32)
      continue;
    const std::vector<float> values = value.to_vector<float>();
    if (value.shape() == Shape{examples}) {
      const auto [least, most] = std::ranges::minmax(values);
      std::printf("seen %g\nseen %g\n", double(least), double(most));
      continue;
    }
    for (const float number : values)
      std::printf("weight %.7g\n", double(number));
  }
}

} // namespace

int main(int argc, char **argv) {
  try {
    const char *number = std::getenv("MESHLOOM_RESTARTS");
    train(argv[1], {number ? size_t(std::stoul(number)) : 0,
                    {argv + 4, argv + argc},
                    argv[2],
                    std::stoi(argv[3])});
  } catch (const std::exception &error) {
    std::cerr << error.what() << std::endl;
    return 1;
  }
}
