// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// MultiWorkerMirroredStrategy in one process; test/Processes has it in several.
#include "Testing.h"

namespace meshloom {
namespace {

using testing::HasSubstr;

TEST(MultiWorkerTest, WithoutAClusterItIsTheOnlyWorker) {
  virtual_cpus(2);
  const MultiWorkerMirroredStrategy strategy;
  EXPECT_EQ(strategy.name(), "MultiWorkerMirroredStrategy");
  EXPECT_EQ(strategy.num_replicas_in_sync(), std::ssize(list_devices()));
  EXPECT_TRUE(strategy.cluster_resolver().cluster_spec().empty());
  const MultiWorkerMirroredStrategy alone(
      SimpleClusterResolver(ClusterSpec({{"worker", {"localhost:1"}}}),
                            {.task_type = "worker", .task_id = 0}));
  EXPECT_EQ(num_clients(), 1);
  EXPECT_EQ(alone.cluster_resolver().cluster_spec().total_tasks(), 1);
}

TEST(MultiWorkerTest, AClusterNeedsATask) {
  EXPECT_THAT(errorOf([] {
                MultiWorkerMirroredStrategy strategy(SimpleClusterResolver(
                    ClusterSpec({{"worker", {"localhost:1", "localhost:2"}}})));
              }),
              HasSubstr("which task of the cluster this process is"));
}

TEST(MultiWorkerTest, AParameterServerIsRefused) {
  EXPECT_THAT(
      errorOf([] {
        MultiWorkerMirroredStrategy strategy(SimpleClusterResolver(
            ClusterSpec({{"worker", {"localhost:1"}}, {"ps", {"localhost:2"}}}),
            {.task_type = "ps", .task_id = 0}));
      }),
      HasSubstr("ParameterServerStrategy"));
}

TEST(MultiWorkerTest, OptionsAreChecked) {
  EXPECT_THAT(errorOf([] {
                MultiWorkerMirroredStrategy strategy({.bytes_per_pack = -1});
              }),
              HasSubstr("bytes_per_pack of at least 0"));
  EXPECT_THAT(errorOf([] {
                MultiWorkerMirroredStrategy strategy({.timeout_seconds = -1});
              }),
              HasSubstr("timeout_seconds above 0, got -1"));
  EXPECT_THAT(errorOf([] {
                MultiWorkerMirroredStrategy strategy(
                    {.implementation = CommunicationImplementation::NCCL});
              }),
              HasSubstr("expected GPUs"));
}

// Number 63: packs begin with the last value; results are in their order.
TEST(MultiWorkerTest, ValuesOfACallArePackedFromTheLastOneOn) {
  virtual_cpus(2);
  const MultiWorkerMirroredStrategy strategy;
  const auto numbers = strategy.experimental_distribute_values_from_function(
      [](const ValueContext &context) {
        return tensor(float(context.replica_id_in_sync_group + 1));
      });
  auto step = function([&](const PerReplica<Tensor> &numbers) {
    return strategy.run(
        [](const Tensor &number) {
          std::vector<Tensor> values;
          for (const int64_t size : {1, 1, 1, 1, 5})
            values.push_back(number * (iota({size}, 0, DType::F32) +
                                       double(10 * values.size())));
          return get_replica_context()->all_reduce(ReduceOp::SUM, values,
                                                   {.bytes_per_pack = 8});
        },
        numbers);
  });
  const PerReplica<std::vector<Tensor>> sums = step(numbers);
  const auto replicas = float(strategy.num_replicas_in_sync());
  const float factor = replicas * (replicas + 1) / 2;
  for (size_t i = 0; i < 5; ++i)
    EXPECT_EQ(strategy.experimental_local_results(sums)[0][i]
                  .to_vector<float>()
                  .front(),
              float(10 * i) * factor);
}

TEST(MultiWorkerTest, DevicesOfOtherProcessesAreRefused) {
  EXPECT_THAT(errorOf([] {
                MirroredStrategy strategy({"/job:worker/task:1/device:CPU:0"});
              }),
              HasSubstr("expected a device of this process"));
}

} // namespace
} // namespace meshloom
