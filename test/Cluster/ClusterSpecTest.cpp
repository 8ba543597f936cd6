// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ClusterSpec, and who does what in a cluster (91, 92 of tf.distribute's
// facts).
#include "meshloom/Cluster/ClusterSpec.h"

using namespace meshloom;
using testing::HasSubstr;
using testing::StartsWith;

namespace {

template <typename Function> std::string messageOf(Function function) {
  try {
    function();
  } catch (const Error &error) {
    return error.message();
  }
  return "";
}

const ClusterSpec wholeCluster({{"chief", {"a:1"}},
                                {"worker", {"b:1", "c:1"}},
                                {"ps", {"d:1"}},
                                {"evaluator", {"e:1"}}});

TEST(ClusterSpecTest, SaysItsTasks) {
  EXPECT_EQ(wholeCluster.jobs(),
            (std::vector<std::string>{"chief", "evaluator", "ps", "worker"}));
  EXPECT_EQ(wholeCluster.num_tasks("worker"), 2);
  EXPECT_EQ(wholeCluster.task_address("worker", 1), "c:1");
  EXPECT_EQ(wholeCluster.job_tasks("worker"),
            (std::vector<std::string>{"b:1", "c:1"}));
  EXPECT_EQ(wholeCluster.total_tasks(), 5);
  EXPECT_TRUE(ClusterSpec().empty());
  const ClusterSpec gaps =
      ClusterSpec::numbered({{"worker", {{1, "b:1"}, {4, "c:1"}}}});
  EXPECT_EQ(gaps.task_indices("worker"), (std::vector<int64_t>{1, 4}));
  EXPECT_THAT(messageOf([&] { (void)gaps.task_address("worker", 0); }),
              StartsWith("[ClusterSpec] job \"worker\" has no task 0: it has "
                         "tasks 1, 4 (at "));
  EXPECT_THAT(messageOf([] { (void)wholeCluster.num_tasks("master"); }),
              StartsWith("[ClusterSpec] there is no job \"master\": the "
                         "cluster has \"chief\", \"evaluator\", \"ps\", "
                         "\"worker\" (at "));
  EXPECT_THAT(
      messageOf([] { ClusterSpec::numbered({{"worker", {{-1, "b:1"}}}}); }),
      StartsWith("[ClusterSpec] expected task numbers from 0, got -1 in job "
                 "\"worker\" (at "));
  EXPECT_EQ(str(TaskId{"worker", 2}), "/job:worker/task:2");
}

TEST(ClusterSpecTest, RolesAreValidated) {
  EXPECT_TRUE(validate(wholeCluster, TaskId{"ps", 0}));
  EXPECT_EQ(validate(ClusterSpec({{"master", {"a:1"}}})).error().message(),
            "expected jobs chief, worker, ps and evaluator, got \"master\": a "
            "cluster is such as {\"chief\": [\"a:2222\"], \"worker\": "
            "[\"b:2222\", \"c:2222\"], \"ps\": [\"d:2222\"]}");
  EXPECT_EQ(
      validate(ClusterSpec({{"chief", {"a:1", "b:1"}}})).error().message(),
      "a cluster has at most one chief, got 2");
  EXPECT_EQ(
      validate(ClusterSpec({{"evaluator", {"a:1", "b:1"}}})).error().message(),
      "a cluster has at most one evaluator, got 2");
  EXPECT_THAT(validate(wholeCluster, TaskId{"boss", 0}).error().message(),
              HasSubstr("got \"boss\""));
  EXPECT_EQ(
      validate(wholeCluster, TaskId{"worker", 2}).error().message(),
      "this task is /job:worker/task:2, but the cluster has 2 tasks of that "
      "job: expected an index in 0..1");
  const ClusterSpec workers({{"worker", {"b:1", "c:1"}}});
  EXPECT_EQ(
      validate(workers, TaskId{"ps", 0}).error().message(),
      "this task is /job:ps/task:0, but the cluster has no job \"ps\": its "
      "jobs are \"worker\"");
  // The others need not know an evaluator.
  EXPECT_TRUE(validate(workers, TaskId{"evaluator", 0}));
}

TEST(ClusterSpecTest, TheChiefIsTheChiefElseWorkerZero) {
  const ClusterSpec workers({{"worker", {"b:1", "c:1"}}});
  EXPECT_TRUE(is_chief(wholeCluster, {"chief", 0}));
  EXPECT_FALSE(is_chief(wholeCluster, {"worker", 0}));
  EXPECT_TRUE(is_chief(workers, {"worker", 0}));
  EXPECT_FALSE(is_chief(workers, {"worker", 1}));
  EXPECT_TRUE(is_chief(workers, {"evaluator", 0}));
  EXPECT_TRUE(is_chief(ClusterSpec(), {"worker", 0}));
  EXPECT_EQ(chief_of(workers), (TaskId{"worker", 0}));
  EXPECT_EQ(chief_of(wholeCluster), (TaskId{"chief", 0}));
}

TEST(ClusterSpecTest, ComputingTasksAreNumberedFromTheChief) {
  EXPECT_EQ(id_in_cluster(wholeCluster, {"chief", 0}), 0);
  EXPECT_EQ(id_in_cluster(wholeCluster, {"worker", 1}), 2);
  const ClusterSpec workers({{"worker", {"b:1", "c:1"}}});
  EXPECT_EQ(id_in_cluster(workers, {"worker", 1}), 1);
  EXPECT_THAT(messageOf([] { (void)id_in_cluster(wholeCluster, {"ps", 0}); }),
              HasSubstr("/job:ps/task:0 does not compute"));
  EXPECT_EQ(worker_count(wholeCluster, {"worker", 0}), 3);
  EXPECT_EQ(worker_count(wholeCluster, {"evaluator", 0}), 1);
  EXPECT_THAT(messageOf([] { (void)worker_count(wholeCluster, {"ps", 0}); }),
              HasSubstr("a ps does not compute"));
}

} // namespace
