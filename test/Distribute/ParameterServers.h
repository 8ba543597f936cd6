// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A cluster of workers and parameter servers for tests, in threads of this
// process.
#pragma once

#include "Testing.h"

#include "meshloom/Distribute/ParameterServer/ClusterCoordinator.h"
#include "meshloom/Distribute/ParameterServer/Server.h"

#include <csignal>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

namespace meshloom {

inline ClusterSpec freeCluster(int64_t workers, int64_t servers) {
  auto addresses = [](int64_t count) {
    std::vector<std::string> list;
    for (int64_t i = 0; i < count; ++i)
      list.push_back(fmt::format("localhost:{}", pick_unused_port()));
    return list;
  };
  return ClusterSpec(std::map<std::string, std::vector<std::string>>{
      {"chief", addresses(1)},
      {"worker", addresses(workers)},
      {"ps", addresses(servers)}});
}

/// Nobody is told what starts while it lives.
struct Quiet {
  Quiet() : before(get_log_level()) { set_log_level(LogLevel::WARNING); }
  ~Quiet() { set_log_level(before); }
  Quiet(const Quiet &) = delete;
  LogLevel before;
};

struct ServerThreads {
  explicit ServerThreads(int64_t workerCount, int64_t serverCount,
                         bool startsWorkers = true)
      : spec(freeCluster(workerCount, serverCount)) {
    for (int64_t i = 0; i < serverCount; ++i)
      servers.push_back(start("ps", i));
    for (int64_t i = 0; startsWorkers && i < workerCount; ++i)
      workers.push_back(start("worker", i));
  }
  std::unique_ptr<Server> start(const std::string &job, int64_t index) const {
    return std::make_unique<Server>(spec, job, index);
  }
  ParameterServerStrategy strategy(ParameterServerOptions options = {}) const {
    return ParameterServerStrategy(
        SimpleClusterResolver(spec, {.master = "",
                                     .task_type = "chief",
                                     .task_id = 0,
                                     .environment = "",
                                     .num_accelerators = {},
                                     .rpc_layer = "grpc"}),
        std::move(options));
  }

  Quiet quiet;
  ClusterSpec spec;
  std::vector<std::unique_ptr<Server>> servers, workers;
};

/// This program as a task of a cluster.
class Process {
public:
  Process(const ClusterSpec &spec, const std::string &job, int64_t index) {
    std::string jobs;
    for (const std::string &name : spec.jobs())
      jobs += fmt::format("{}\"{}\": [\"{}\"]", jobs.empty() ? "" : ", ", name,
                          fmt::join(spec.job_tasks(name), "\", \""));
    const std::string config = fmt::format(
        "TF_CONFIG={{\"cluster\": {{{}}}, \"task\": {{\"type\": \"{}\", "
        "\"index\": {}}}}}",
        jobs, job, index);
    std::vector<char *> variables;
    for (char **variable = environ; *variable; ++variable)
      variables.push_back(*variable);
    variables.push_back(const_cast<char *>(config.c_str()));
    variables.push_back(nullptr);
    const char *arguments[] = {"distribute_test",
                               "--gtest_filter=ServerProcess.*",
                               "--gtest_also_run_disabled_tests", nullptr};
    id = ::fork();
    if (id == 0) {
      ::execve("/proc/self/exe", const_cast<char **>(arguments),
               variables.data());
      ::_exit(1);
    }
  }
  ~Process() { kill(); }
  Process(const Process &) = delete;
  pid_t number() const { return id; }
  void signal(int signal) const {
    ::kill(id, signal);
    // Threads of one that is to stop go on for as long as a busy machine lets
    // none of them see it.
    if (signal == SIGSTOP)
      ::waitpid(id, nullptr, WUNTRACED);
  }
  void kill() {
    if (id > 0) {
      ::kill(id, SIGKILL);
      ::waitpid(id, nullptr, 0);
    }
    id = 0;
  }

private:
  pid_t id;
};

} // namespace meshloom
