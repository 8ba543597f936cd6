// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// processGroup: what a process learns from its environment, by whichever way it
// was started, and what is said of settings that cannot be.
#include "Variables.h"

#include "meshloom/Cluster/Coordination/RunOptions.h"
#include "meshloom/Cluster/ProcessGroup.h"

using namespace meshloom;
using namespace meshloom::test;
using testing::AllOf;
using testing::HasSubstr;

namespace {

using Values = std::map<std::string, std::string>;

std::string problem(const Values &values) {
  const Result<ProcessGroup> group = processGroup(variables(values));
  return group ? "" : group.error().message();
}

TEST(ProcessGroupTest, NothingSetIsOneProcess) {
  const ProcessGroup group = processGroup(variables({})).value_or_throw();
  EXPECT_EQ(group.size, 1);
  EXPECT_EQ(group.rank, 0);
  EXPECT_EQ(group.source, "");
  EXPECT_EQ(group.jobName, "localhost");
}

TEST(ProcessGroupTest, DTensorVariables) {
  Values values = {{"DTENSOR_CLIENT_ID", "1"},
                   {"DTENSOR_NUM_CLIENTS", "2"},
                   {"DTENSOR_JOBS", "a:1, b:1"}};
  ProcessGroup group = processGroup(variables(values)).value_or_throw();
  EXPECT_EQ(group.rank, 1);
  EXPECT_EQ(group.size, 2);
  EXPECT_EQ(group.jobName, "worker");
  EXPECT_EQ(group.coordinator, "a:1");
  EXPECT_FALSE(group.coordinatorRuns);
  EXPECT_EQ(group.addresses, (std::vector<std::string>{"a:1", "b:1"}));
  // There are as many processes as addresses.
  Values counted = values;
  counted.erase("DTENSOR_NUM_CLIENTS");
  EXPECT_EQ(processGroup(variables(counted)).value_or_throw().size, 2);
  // A launcher's variables beside them.
  values["DTENSOR_JOBS"] = "a:1";
  values["DTENSOR_JOB_NAME"] = "train";
  values["MESHLOOM_COORDINATOR"] = "c:2";
  values["MESHLOOM_GENERATION"] = "00000000000000ff";
  group = processGroup(variables(values)).value_or_throw();
  EXPECT_EQ(group.jobName, "train");
  EXPECT_EQ(group.coordinator, "c:2");
  EXPECT_TRUE(group.coordinatorRuns);
  EXPECT_EQ(group.generation, 255U);
}

TEST(ProcessGroupTest, MalformedDTensorVariablesAreSaidWithRightOnes) {
  const Values right = {{"DTENSOR_CLIENT_ID", "1"},
                        {"DTENSOR_NUM_CLIENTS", "2"},
                        {"DTENSOR_JOBS", "a:1,b:1"}};
  const auto with = [&](const char *name, const char *value) {
    Values values = right;
    values[name] = value;
    std::string message = problem(values);
    EXPECT_THAT(message, HasSubstr("; a right setting is DTENSOR_NUM_CLIENTS=4 "
                                   "DTENSOR_CLIENT_ID=2"));
    return message.substr(0, message.find(';'));
  };
  EXPECT_EQ(with("DTENSOR_CLIENT_ID", "one"),
            "expected a number from 0 as DTENSOR_CLIENT_ID, got \"one\"");
  EXPECT_EQ(with("DTENSOR_NUM_CLIENTS", "0"),
            "expected a number from 1 as DTENSOR_NUM_CLIENTS, got \"0\"");
  EXPECT_EQ(with("DTENSOR_NUM_CLIENTS", "99999999999"),
            "expected at most 65536 as DTENSOR_NUM_CLIENTS, got 99999999999");
  EXPECT_EQ(with("DTENSOR_JOBS", "a:1,a:1"),
            "expected another address for each client in DTENSOR_JOBS, got "
            "\"a:1\" twice");
  EXPECT_EQ(with("DTENSOR_CLIENT_ID", "2"),
            "expected DTENSOR_CLIENT_ID in 0..1, as DTENSOR_NUM_CLIENTS is 2, "
            "got 2");
  EXPECT_EQ(
      with("DTENSOR_JOBS", "a:1,b:1,c:1"),
      "DTENSOR_JOBS has 3 addresses, expected 2, one a client, or rank 0's "
      "alone");
  EXPECT_EQ(with("DTENSOR_JOBS", "a,b:1"),
            "expected addresses \"host:port\" in DTENSOR_JOBS, got \"a\"");
  EXPECT_EQ(
      with("DTENSOR_JOBS", "a:70000,b:1"),
      "expected addresses \"host:port\" in DTENSOR_JOBS, got \"a:70000\"");
  EXPECT_EQ(
      with("DTENSOR_JOBS", ""),
      "DTENSOR_NUM_CLIENTS is 2, but DTENSOR_JOBS does not say where rank 0 "
      "is");
  EXPECT_EQ(with("DTENSOR_JOB_NAME", "a b"),
            "expected a name as DTENSOR_JOB_NAME, got \"a b\"");
  EXPECT_EQ(with("MESHLOOM_COORDINATOR", "here"),
            "expected addresses \"host:port\" in MESHLOOM_COORDINATOR, got "
            "\"here\"");
  EXPECT_THAT(problem({{"DTENSOR_CLIENT_ID", "1"}}),
              HasSubstr("neither DTENSOR_NUM_CLIENTS nor DTENSOR_JOBS says"));
  Values values = right;
  values["MESHLOOM_GENERATION"] = "xyz";
  EXPECT_THAT(problem(values),
              HasSubstr("expected MESHLOOM_GENERATION as up to 16 hexadecimal "
                        "digits, such as 1f00d5a7c0ffee42, got \"xyz\""));
}

TEST(ProcessGroupTest, TFConfigNumbersChiefAndWorkers) {
  const std::string cluster =
      R"({"cluster": {"chief": ["a:1"], "worker": ["b:1", "c:1"],
                      "ps": ["d:1"], "evaluator": ["e:1"]}, "task": )";
  const ProcessGroup group =
      processGroup(
          variables(
              {{"TF_CONFIG", cluster + R"({"type": "worker", "index": 1}})"}}))
          .value_or_throw();
  EXPECT_EQ(group.rank, 2);
  EXPECT_EQ(group.size, 3);
  EXPECT_EQ(group.coordinator, "a:1");
  EXPECT_EQ(group.source, "TF_CONFIG");
  EXPECT_THAT(
      problem({{"TF_CONFIG", cluster + R"({"type": "ps", "index": 0}})"}}),
      HasSubstr("TF_CONFIG: this process is /job:ps/task:0, which "
                "computes no part of an SPMD program"));
  EXPECT_THAT(problem({{"TF_CONFIG", R"({"cluster": {"worker": ["a:1"]}})"}}),
              HasSubstr("does not say which of its tasks this process is"));
  EXPECT_THAT(problem({{"TF_CONFIG", "{"}}), HasSubstr("it is not JSON"));
  auto workers = [](const std::string &addresses) {
    return problem({{"TF_CONFIG", R"({"cluster": {"worker": [)" + addresses +
                                      R"(]}, "task": {"type": "worker", )"
                                      R"("index": 0}})"}});
  };
  EXPECT_THAT(workers(R"("a:1", "b")"),
              HasSubstr(R"(of its own for each task, got "b"; a right cluster )"
                        R"(is {"worker": ["a:2222", "b:2222"]})"));
  EXPECT_THAT(workers(R"("a:1", "a:1")"), HasSubstr(R"(got "a:1" twice)"));
  EXPECT_THAT(workers(""), HasSubstr("the cluster has no task of that job"));
}

TEST(ProcessGroupTest, SlurmAndTPU) {
  ProcessGroup group =
      processGroup(variables({{"SLURM_PROCID", "1"},
                              {"SLURM_STEP_NUM_TASKS", "2"},
                              {"SLURM_STEP_NODELIST", "n[1-2]"},
                              {"SLURM_STEP_TASKS_PER_NODE", "1(x2)"}}))
          .value_or_throw();
  EXPECT_EQ(group.source, "SLURM");
  EXPECT_EQ(group.rank, 1);
  EXPECT_EQ(group.coordinator, "n1:8888");
  group = processGroup(variables({{"TPU_WORKER_HOSTNAMES", "a,b"},
                                  {"TPU_WORKER_ID", "0"}}))
              .value_or_throw();
  EXPECT_EQ(group.size, 2);
  EXPECT_EQ(group.coordinator, "a:8470");
}

TEST(ProcessGroupTest, ServiceAndClientsReadTheSameVariables) {
  ProcessGroup group;
  group.size = 2;
  group.rank = 1;
  group.coordinator = "a:1";
  const Environment environment =
      variables({{"MESHLOOM_TOKEN", "secret"},
                 {"MESHLOOM_HEARTBEAT_TIMEOUT", "2.5"},
                 {"MESHLOOM_START_TIMEOUT", "30"},
                 {"MESHLOOM_TLS_CERTIFICATE", "c.pem"}});
  const CoordinationServiceOptions service =
      serviceOptions(group, environment).value_or_throw();
  EXPECT_EQ(service.token, "secret");
  EXPECT_EQ(service.heartbeatTimeout.count(), 2500);
  EXPECT_EQ(service.startTimeout.count(), 30000);
  EXPECT_EQ(service.tls.certificate, "c.pem");
  const CoordinationClientOptions client =
      clientOptions(group, environment).value_or_throw();
  EXPECT_EQ(client.token, "secret");
  EXPECT_EQ(client.rank, 1);
  EXPECT_EQ(client.startTimeout.count(), 30000);
  EXPECT_THAT(
      serviceOptions(group, variables({{"MESHLOOM_HEARTBEAT_TIMEOUT", "soon"}}))
          .error()
          .message(),
      HasSubstr("expected seconds from 0.1 as MESHLOOM_HEARTBEAT_TIMEOUT, such "
                "as MESHLOOM_HEARTBEAT_TIMEOUT=10, got \"soon\""));
}

} // namespace
