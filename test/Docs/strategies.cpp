// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The program of docs/Strategies.md.
#include <meshloom/Meshloom.h>

#include <iostream>

using namespace meshloom;

struct Plain : CrossDeviceOps {
  std::string name() const override { return "Plain"; }
  Tensor reduce(ReduceOp op, const PerReplica<Tensor> &value,
                const ReduceDestinations &) const override {
    return op == ReduceOp::SUM ? reduce_sum(value.stacked, {0})
                               : reduce_mean(value.stacked, {0});
  }
};

int main() {
  set_logical_device_configuration(list_physical_devices("CPU")[0],
                                   std::vector<LogicalDeviceConfiguration>(2));
  MirroredStrategy strategy; // CPU:0 and CPU:1
  auto scope = strategy.scope();
  DVariable w(ones({1, 1}), {.name = "w"});
  optimizers::SGD optimizer({.learning_rate = 0.1});

  const int64_t globalBatch = 5 * strategy.num_replicas_in_sync();
  auto dataset = data::from_tensors(tensor({1.f}), tensor({1.f}))
                     .repeat(100)
                     .batch(globalBatch);
  auto distributed = strategy.experimental_distribute_dataset(dataset);

  using Batch = std::pair<Tensor, Tensor>;
  auto trainStep = [&](const Batch &batch) {
    GradientTape tape;
    Tensor error = matmul(batch.first, w) - batch.second;
    Tensor loss = nn::compute_average_loss(reduce_mean(error * error, {-1}),
                                           {.global_batch_size = globalBatch});
    optimizer.apply_gradients(tape.gradient(loss, {w}));
    return loss;
  };
  auto step = function([&](const PerReplica<Batch> &batch) {
    return strategy.reduce(ReduceOp::SUM, strategy.run(trainStep, batch));
  });
  for (const auto &batch : distributed)
    step(batch);

  PerReplica<Tensor> ids = strategy.run([] {
    ReplicaContext context = *get_replica_context();
    Tensor id = context.replica_id_in_sync_group();
    return context.all_reduce(ReduceOp::SUM, id) + id;
  });
  std::cout << ids << "\n"; // 1 and 2
  return strategy.experimental_local_results(ids).size() == 2 ? 0 : 1;
}
