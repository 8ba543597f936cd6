// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Cluster resolvers: 90, 93, 94 and 95 of tf.distribute's facts, and what they
// say of malformed input.
#include "../TemporaryFolder.h"
#include "Variables.h"

#include <filesystem>
#include <fstream>
#include <random>

using namespace meshloom;
using namespace meshloom::test;
using testing::AllOf;
using testing::HasSubstr;

namespace {

using Addresses = std::vector<std::string>;

TFConfigClusterResolver tfConfig(const std::string &text,
                                 TFConfigOptions options = {}) {
  return TFConfigClusterResolver(std::move(options),
                                 variables({{"TF_CONFIG", text}}));
}

TEST(TFConfigTest, SaysClusterAndTask) {
  const TFConfigClusterResolver resolver = tfConfig(
      R"({"cluster": {"chief": ["a:1"], "worker": ["b:1", "c:1"],
                      "ps": ["d:1"]},
          "task": {"type": "worker", "index": 1}})");
  EXPECT_EQ(resolver.cluster_spec().job_tasks("worker"),
            (Addresses{"b:1", "c:1"}));
  EXPECT_EQ(resolver.task(), (TaskId{"worker", 1}));
  EXPECT_EQ(resolver.rpc_layer(), "grpc");
  EXPECT_EQ(resolver.master(), "grpc://c:1");
  EXPECT_EQ(resolver.master(TaskId{"ps", 0}, "https"), "https://d:1");
  EXPECT_EQ(resolver.master(TaskId{"ps", 0}, ""), "d:1");
  EXPECT_THAT(messageOf([&] { return resolver.master(TaskId{"ps", 1}); }),
              HasSubstr("job \"ps\" has no task 1"));
}

TEST(TFConfigTest, AbsentIsAnEmptyCluster) {
  const TFConfigClusterResolver resolver({}, variables({}));
  EXPECT_TRUE(resolver.cluster_spec().empty());
  EXPECT_FALSE(resolver.task());
  EXPECT_EQ(resolver.master(), "");
  EXPECT_TRUE(tfConfig("  ").cluster_spec().empty());
  EXPECT_TRUE(tfConfig("{}").cluster_spec().empty());
}

TEST(TFConfigTest, OptionsTakeThePlaceOfWhatItSays) {
  const std::string text =
      R"({"cluster": {"worker": ["b:1", "c:1"], "evaluator": ["e:1"]},
          "task": {"type": "worker", "index": "1"}, "rpc_layer": "http",
          "session_master": "http://s:1", "environment": "cloud"})";
  EXPECT_EQ(tfConfig(text).master(), "http://s:1");
  EXPECT_EQ(tfConfig(text).rpc_layer(), "http");
  EXPECT_EQ(tfConfig(text).environment(), "cloud");
  EXPECT_EQ(tfConfig(text).task_id(), 1);
  TFConfigOptions options;
  options.task_type = "evaluator";
  options.task_id = 0;
  options.rpc_layer = "grpc";
  const TFConfigClusterResolver other = tfConfig(text, options);
  EXPECT_EQ(other.task(), (TaskId{"evaluator", 0}));
  EXPECT_EQ(other.master(TaskId{"worker", 0}), "grpc://b:1");
}

TEST(TFConfigTest, MalformedOnesAreSaidWithARightOne) {
  const std::string right =
      R"(; a right one is {"cluster": {"chief": ["a:2222"], "worker": )"
      R"(["b:2222", "c:2222"]}, "task": {"type": "worker", "index": 0}})";
  const auto problem = [&](const std::string &text) {
    const std::string message = messageOf([&] { return tfConfig(text); });
    const std::string_view begin = "[TFConfigClusterResolver] TF_CONFIG: ";
    EXPECT_TRUE(message.starts_with(begin)) << message;
    const size_t end = message.find(right + " (at ");
    EXPECT_NE(end, std::string::npos) << message;
    return message.substr(begin.size(), end - begin.size());
  };
  EXPECT_THAT(problem("{"), HasSubstr("it is not JSON (parse error at line 1"));
  EXPECT_EQ(problem("[]"), "expected an object, got [] (array)");
  EXPECT_EQ(problem(R"({"cluster": ["a:1"]})"),
            "expected an object of jobs as \"cluster\", got [\"a:1\"] (array)");
  EXPECT_EQ(problem(R"({"cluster": {"worker": "a:1"}})"),
            "expected a list of addresses as \"cluster\": \"worker\", got "
            "\"a:1\" (string)");
  EXPECT_EQ(
      problem(R"({"cluster": {"worker": [1]}})"),
      "expected an address \"host:port\" in \"cluster\": \"worker\", got 1 "
      "(number)");
  EXPECT_EQ(problem(R"({"cluster": {"worker": [""]}})"),
            "an address in \"cluster\": \"worker\" is empty");
  EXPECT_EQ(problem(R"({"cluster": {"worker": {"x": "a:1"}}})"),
            "expected a number from 0 as a task's number in \"cluster\": "
            "\"worker\", got \"x\" (string)");
  EXPECT_EQ(problem(R"({"task": 3})"),
            "expected {\"type\": ..., \"index\": ...} as \"task\", got 3 "
            "(number)");
  EXPECT_EQ(problem(R"({"task": {"type": 3}})"),
            "expected a text as \"type\", got 3 (number)");
  EXPECT_EQ(problem(R"({"task": {"index": -1}})"),
            "expected a number from 0 as \"task\": \"index\", got -1 (number)");
  EXPECT_EQ(problem(R"({"cluster": {"worker": ["a:1"]},
                        "task": {"type": "worker"}})"),
            "\"task\" has no \"index\"");
  EXPECT_THAT(problem(R"({"cluster": {"master": ["a:1"]}})"),
              HasSubstr("expected jobs chief, worker, ps and evaluator, got "
                        "\"master\""));
  EXPECT_THAT(problem(R"({"cluster": {"worker": ["a:1"]},
                          "task": {"type": "worker", "index": 1}})"),
              HasSubstr("the cluster has 1 task of that job: expected an index "
                        "in 0..0"));
}

TEST(TFConfigTest, AnyTextIsReadOrRefused) {
  const std::string good =
      R"({"cluster": {"chief": ["a:1"], "worker": {"0": "b:1"}}, )"
      R"("task": {"type": "worker", "index": 0}, "rpc_layer": "grpc"})";
  std::mt19937 random(1);
  int read = 0;
  for (int i = 0; i < 3000; ++i) {
    std::string text = good;
    for (int edits = int(random() % 3); edits >= 0 && !text.empty(); --edits) {
      const size_t position = random() % text.size();
      switch (random() % 4) {
      case 0:
        text[position] = char(random());
        break;
      case 1:
        text.erase(position, 1 + random() % 9);
        break;
      case 2:
        text.insert(position,
                    text.substr(random() % text.size(), random() % 20));
        break;
      case 3:
        text[position] = "{}[]\",:0-"[random() % 9];
        break;
      }
    }
    const std::string message = messageOf([&] { return tfConfig(text); });
    EXPECT_TRUE(message.empty() ||
                message.find("a right one is") != std::string::npos)
        << text;
    read += message.empty() ? 1 : 0;
  }
  EXPECT_GT(read, 100);
}

Environment slurm(const std::string &rank, const std::string &total,
                  const std::string &hosts, const std::string &counts) {
  return variables({{"SLURM_PROCID", rank},
                    {"SLURM_STEP_NUM_TASKS", total},
                    {"SLURM_STEP_NODELIST", hosts},
                    {"SLURM_STEP_TASKS_PER_NODE", counts}});
}

TEST(SlurmTest, HostsAndCountsAreWrittenOut) {
  EXPECT_EQ(*expandHostList("n[1-2],m5"), (Addresses{"n1", "n2", "m5"}));
  EXPECT_EQ(*expandHostList("n[008-010,3]x"),
            (Addresses{"n008x", "n009x", "n010x", "n3x"}));
  EXPECT_EQ(*expandHostList("r[1-2]n[1,3]"),
            (Addresses{"r1n1", "r1n3", "r2n1", "r2n3"}));
  EXPECT_EQ(*expandTaskCounts("3(x2),2"), (std::vector<int64_t>{3, 3, 2}));
  for (const char *bad : {"", "n[1-", "n]1[", "n[2-1]", "n[a]", "n[[1]]",
                          "a,,b", "n[1-99999999]", "n[]"})
    EXPECT_THAT(expandHostList(bad).error().message(),
                HasSubstr("expected hosts such as \"n[1-2,7],m5\""))
        << bad;
  for (const char *bad :
       {"", "x", "3(x", "3(x0)", "3(y2)", "-1", "0", "3,,2", "3(x99999999)"})
    EXPECT_THAT(expandTaskCounts(bad).error().message(),
                HasSubstr("expected numbers of tasks such as \"3(x2),2\""))
        << bad;
}

TEST(SlurmTest, TasksAreWorkersOnSortedHosts) {
  const SlurmClusterResolver resolver({},
                                      slurm("3", "8", "n[1-2],m5", "3(x2),2"));
  EXPECT_EQ(resolver.cluster_spec().job_tasks("worker"),
            (Addresses{"m5:8888", "m5:8889", "n1:8888", "n1:8889", "n1:8890",
                       "n2:8888", "n2:8889", "n2:8890"}));
  EXPECT_EQ(resolver.task(), (TaskId{"worker", 3}));
  EXPECT_EQ(resolver.master(), "grpc://n1:8889");
}

TEST(SlurmTest, JobsAreGivenOutByNameAndGpusByTask) {
  SlurmOptions options;
  options.jobs = {{"worker", 3}, {"ps", 1}};
  options.port_base = 1000;
  options.gpus_per_node = 4;
  const std::string before =
      processEnvironment("CUDA_VISIBLE_DEVICES").value_or("");
  const SlurmClusterResolver resolver(options, slurm("3", "4", "a,b", "2(x2)"));
  EXPECT_EQ(resolver.cluster_spec().job_tasks("ps"), (Addresses{"a:1000"}));
  EXPECT_EQ(resolver.cluster_spec().job_tasks("worker"),
            (Addresses{"a:1001", "b:1000", "b:1001"}));
  EXPECT_EQ(resolver.task(), (TaskId{"worker", 2}));
  EXPECT_EQ(processEnvironment("CUDA_VISIBLE_DEVICES"), "2,3");
  EXPECT_EQ(resolver.num_accelerators().at("GPU"), 2);
  setenv("CUDA_VISIBLE_DEVICES", before.c_str(), 1);
}

TEST(SlurmTest, MalformedVariablesAreErrors) {
  const auto problem = [](const Environment &environment,
                          const SlurmOptions &options = {}) {
    return messageOf(
        [&] { return SlurmClusterResolver(options, environment); });
  };
  EXPECT_THAT(
      problem(variables({})),
      HasSubstr("SLURM_PROCID is not set: srun sets it in each task of a "
                "step, such as SLURM_PROCID=0"));
  EXPECT_THAT(problem(slurm("x", "2", "a", "2")),
              HasSubstr("expected a number such as SLURM_PROCID=0, got \"x\""));
  EXPECT_THAT(problem(slurm("2", "2", "a", "2")),
              HasSubstr("expected SLURM_PROCID in 0..1, got 2"));
  EXPECT_THAT(problem(slurm("0", "3", "a", "2")),
              HasSubstr("SLURM_STEP_NUM_TASKS is 3, but "
                        "SLURM_STEP_TASKS_PER_NODE has 2 tasks in all"));
  EXPECT_THAT(problem(slurm("0", "2", "a,b", "2")),
              HasSubstr("SLURM_STEP_NODELIST has 2 hosts, "
                        "SLURM_STEP_TASKS_PER_NODE numbers of tasks for 1"));
  SlurmOptions options;
  options.jobs = {{"worker", 3}};
  EXPECT_THAT(problem(slurm("0", "2", "a", "2"), options),
              HasSubstr("the jobs have 3 tasks, but srun started 2"));
  options = {};
  options.gpus_per_node = 1;
  options.gpus_per_task = 1;
  EXPECT_THAT(problem(slurm("0", "2", "a", "2"), options),
              HasSubstr("2 tasks of 1 GPUs on one host need 2, it has 1"));
}

TEST(KubernetesTest, PodsAreSortedByName) {
  Addresses asked;
  KubernetesOptions options;
  options.job_to_label_mapping = {{"worker", {"job=w", "job=x"}},
                                  {"ps", {"job=p"}}};
  KubernetesClusterResolver resolver(
      options, [&](const std::string &selector) -> std::vector<KubernetesPod> {
        asked.push_back(selector);
        if (selector == "job=w")
          return {{"b", "Running", "10.0.0.2"}, {"a", "Running", "10.0.0.1"}};
        return {{selector, "Running", "10.0.1.1"}};
      });
  EXPECT_EQ(asked, (Addresses{"job=p", "job=w", "job=x"}));
  EXPECT_EQ(resolver.cluster_spec().job_tasks("worker"),
            (Addresses{"10.0.0.1:8470", "10.0.0.2:8470", "10.0.1.1:8470"}));
  // Which one this is, its user says.
  EXPECT_FALSE(resolver.task());
  EXPECT_EQ(resolver.master(), "");
  resolver.set_task({"worker", 1});
  EXPECT_EQ(resolver.master(), "grpc://10.0.0.2:8470");
}

TEST(KubernetesTest, APodThatDoesNotRunIsSaid) {
  EXPECT_THAT(
      messageOf([] {
        return KubernetesClusterResolver({}, [](const std::string &) {
          return std::vector<KubernetesPod>{{"w-0", "Pending", ""}};
        });
      }),
      testing::StartsWith(
          "[KubernetesClusterResolver] pod \"w-0\" of job \"worker\" (selector "
          "\"job-name=tensorflow\") is Pending, not Running: wait until all "
          "pods run (at "));
}

/// Puts a program of this text in front of all others while it lives.
class ProgramInPath {
public:
  ProgramInPath(const std::string &name, const std::string &text)
      : path(processEnvironment("PATH").value_or("")) {
    const std::string file = folder / name;
    std::ofstream(file) << "#!/bin/sh\n" << text << "\n";
    std::filesystem::permissions(file, std::filesystem::perms::owner_all);
    setenv("PATH", (folder.path.string() + ":" + path).c_str(), 1);
  }
  ~ProgramInPath() { setenv("PATH", path.c_str(), 1); }

private:
  const test::TemporaryFolder folder;
  const std::string path;
};

TEST(KubernetesTest, KubectlIsAsked) {
  {
    const ProgramInPath kubectl(
        "kubectl",
        R"(echo '{"items": [{"metadata": {"name": "'"$3"'"},
          "status": {"phase": "Running", "hostIP": "10.0.0.9"}}]}')");
    const std::vector<KubernetesPod> pods = kubectlPods("job=w");
    ASSERT_EQ(pods.size(), 1U);
    EXPECT_EQ(pods[0].name, "--selector=job=w");
    EXPECT_EQ(pods[0].hostIp, "10.0.0.9");
  }
  {
    const ProgramInPath kubectl("kubectl",
                                "echo 'no configuration' >&2; exit 1");
    EXPECT_EQ(messageOf([] { return kubectlPods("job=w"); }),
              "[KubernetesClusterResolver] pods \"job=w\" cannot be listed: "
              "'kubectl get pods --selector=job=w -o json' failed: no "
              "configuration");
  }
  const ProgramInPath kubectl("kubectl", "echo nonsense");
  EXPECT_THAT(messageOf([] { return kubectlPods("job=w"); }),
              HasSubstr("kubectl's list of pods \"job=w\" cannot be read"));
}

TEST(TPUWorkersTest, LocalNamedAndAddressed) {
  const auto noLookup = [](const std::string &) -> TPUWorkers {
    throw Error("was asked");
  };
  EXPECT_TRUE(TPUWorkersResolver("local", noLookup, variables({}))
                  .cluster_spec()
                  .empty());
  const TPUWorkersResolver pod(
      "", noLookup,
      variables({{"TPU_WORKER_HOSTNAMES", "10.0.0.1,10.0.0.2:99"},
                 {"TPU_WORKER_ID", "1"}}));
  EXPECT_EQ(pod.cluster_spec().job_tasks("worker"),
            (Addresses{"10.0.0.1:8470", "10.0.0.2:99"}));
  EXPECT_EQ(pod.task(), (TaskId{"worker", 1}));
  const TPUWorkersResolver address("grpc://10.0.0.1:8470,10.0.0.2:8470",
                                   noLookup, variables({}));
  EXPECT_EQ(address.master(), "grpc://10.0.0.1:8470");
  const TPUWorkersResolver name(
      "my-tpu",
      [](const std::string &) {
        return TPUWorkers{{"10.0.0.7:8470", "10.0.0.8:8470"}, {}, {4, 4}};
      },
      variables({}));
  EXPECT_EQ(name.cluster_spec().num_tasks("worker"), 2);
  EXPECT_EQ(name.num_accelerators().at("TPU"), 4);
}

TEST(TPUWorkersTest, ContradictoryVariablesAreErrors) {
  EXPECT_THAT(messageOf([] {
                return TPUWorkersResolver("my-tpu", [](const std::string &) {
                  return TPUWorkers{{"a:1", "b:1"}, {}, {4, 8}};
                });
              }),
              HasSubstr("different numbers of TPU cores (4, 8)"));
  EXPECT_THAT(messageOf([] {
                return TPUWorkersResolver(
                    "local", gcloudTPU,
                    variables({{"TPU_WORKER_HOSTNAMES", "a,b"},
                               {"TPU_WORKER_ID", "2"}}));
              }),
              HasSubstr("expected TPU_WORKER_ID in 0..1"));
  EXPECT_THAT(messageOf([] { return TPUWorkersResolver("grpc://a:port"); }),
              HasSubstr("expected an address such as \"10.0.0.2:8470\""));
  const ProgramInPath gcloud(
      "gcloud", R"(echo '{"state": "CREATING", "networkEndpoints": []}')");
  EXPECT_THAT(messageOf([] { return TPUWorkersResolver("my-tpu"); }),
              HasSubstr("TPU \"my-tpu\" is CREATING, not READY"));
}

TEST(UnionTest, TasksOfOneJobFollowEachOther) {
  SimpleClusterOptions first;
  first.task_type = "worker";
  first.task_id = 1;
  first.rpc_layer = "grpc";
  const SimpleClusterResolver one(ClusterSpec({{"worker", {"a:1", "b:1"}}}),
                                  first);
  const SimpleClusterResolver two(
      ClusterSpec({{"worker", {"c:1"}}, {"ps", {"d:1"}}}));
  const std::vector<const ClusterResolver *> both = {&one, &two};
  const UnionClusterResolver joined(both);
  EXPECT_EQ(joined.cluster_spec().job_tasks("worker"),
            (Addresses{"a:1", "b:1", "c:1"}));
  EXPECT_EQ(joined.cluster_spec().job_tasks("ps"), (Addresses{"d:1"}));
  EXPECT_EQ(joined.task(), (TaskId{"worker", 1}));
  EXPECT_EQ(joined.master(TaskId{"worker", 2}), "grpc://c:1");
  EXPECT_THAT(messageOf([] {
                return UnionClusterResolver(
                    std::span<const ClusterResolver *const>());
              }),
              HasSubstr("expected at least one resolver"));
}

} // namespace
