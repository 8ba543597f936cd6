// A cluster of workers and parameter servers for tests, in threads of this
// process.
#pragma once

#include "Testing.h"

#include "meshloom/Distribute/ParameterServer/ClusterCoordinator.h"
#include "meshloom/Distribute/ParameterServer/Server.h"

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

} // namespace meshloom
