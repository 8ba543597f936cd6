// The program of docs/Strategies.md's parameter servers.
#include <meshloom/Meshloom.h>

using namespace meshloom;

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

  const float last = coordinator.schedule(step, iterator).fetch().item<float>();
  return last < first.fetch().item<float>() ? 0 : 1;
}
