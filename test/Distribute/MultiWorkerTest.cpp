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

TEST(MultiWorkerTest, OptionsAreChecked) {
  EXPECT_THAT(errorOf([] {
                MultiWorkerMirroredStrategy strategy({.bytes_per_pack = -1});
              }),
              HasSubstr("bytes_per_pack of at least 0"));
  EXPECT_THAT(errorOf([] {
                MultiWorkerMirroredStrategy strategy(
                    {.implementation = CommunicationImplementation::NCCL});
              }),
              HasSubstr("expected GPUs"));
}

TEST(MultiWorkerTest, DevicesOfOtherProcessesAreRefused) {
  EXPECT_THAT(errorOf([] {
                MirroredStrategy strategy({"/job:worker/task:1/device:CPU:0"});
              }),
              HasSubstr("expected a device of this process"));
}

} // namespace
} // namespace meshloom
