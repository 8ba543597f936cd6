// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The program of docs/Strategies.md's parameter servers.
#include <meshloom/Meshloom.h>

using namespace meshloom;

const auto numbers = register_dataset("numbers", [](int64_t worker) {
  return data::range(100).shuffle(100, {.seed = uint64_t(worker)}).repeat();
});

int main() {
  auto local = [] { return "localhost:" + std::to_string(pick_unused_port()); };
  ClusterSpec cluster({{"worker", {local(), local()}}, {"ps", {local()}}});
  std::vector<Server> servers;
  for (const char *job : {"worker", "ps"})
    for (int64_t task : cluster.task_indices(job))
      servers.emplace_back(cluster, job, task);

  ParameterServerStrategy strategy(SimpleClusterResolver(cluster),
                                   FixedShardsPartitioner(2));
  ClusterCoordinator coordinator(strategy);
  auto scope = strategy.scope();
  DVariable w(zeros({2, 1}), {.name = "w"}); // "w/part_0" and "w/part_1"
  optimizers::Adagrad optimizer({.learning_rate = 0.05});
  auto step = function([&](const std::pair<Tensor, Tensor> &batch) {
    GradientTape tape;
    Tensor error = matmul(batch.first, w) - batch.second;
    Tensor loss = reduce_mean(error * error);
    optimizer.apply_gradients(tape.gradient(loss, {w}));
    return loss;
  });

  auto batches = coordinator.create_per_worker_dataset([] {
    return data::from_tensor_slices(tensor({{1.f, 1.5f}, {2.f, 2.5f}}),
                                    tensor({{0.3f}, {0.5f}}))
        .shuffle(10)
        .repeat()
        .batch(2);
  });
  auto iterator = batches.iterate();
  RemoteValue<Tensor> first = coordinator.schedule(step, iterator);
  for (int i = 0; i < 10; ++i)
    coordinator.schedule(step, iterator);
  coordinator.join();

  auto more = coordinator.create_per_worker_dataset(numbers).iterate();
  auto square = function([](const Tensor &x) { return x * x; });
  const Tensor result = coordinator.schedule(square, more).fetch();
  if (result.item<int64_t>() > 99 * 99)
    return 1;

  const float last = coordinator.schedule(step, iterator).fetch().item<float>();
  return last < first.fetch().item<float>() ? 0 : 1;
}
