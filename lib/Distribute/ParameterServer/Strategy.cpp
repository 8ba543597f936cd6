// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ParameterServerStrategy, see its header.
#include "Coordination.h"

#include "../StrategyState.h"

#include "meshloom/API/Logging.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace meshloom {
using namespace detail;

namespace {

constexpr char parameterServers[] = "ParameterServerStrategy";

void expectCluster(const ClusterSpec &cluster) {
  constexpr std::string_view right =
      "{\"cluster\": {\"chief\": [\"a:2222\"], \"worker\": [\"b:2222\"], "
      "\"ps\": [\"c:2222\"]}, \"task\": {\"type\": \"chief\", \"index\": 0}}";
  for (const std::string &job : cluster.jobs())
    if (job != "chief" && job != "worker" && job != "ps")
      fail(parameterServers,
           fmt::format("expected jobs chief, worker and ps, got '{}': a "
                       "right TF_CONFIG is {}",
                       job, right));
  for (const char *job : {"ps", "worker"})
    if (!cluster.has_job(job) || cluster.num_tasks(job) == 0)
      fail(parameterServers,
           fmt::format("expected a cluster with at least one '{}', got jobs "
                       "[{}]: a right TF_CONFIG is {}",
                       job, fmt::join(cluster.jobs(), ", "), right));
}

std::shared_ptr<const StrategyState> connected(const ClusterResolver &resolver,
                                               ParameterServerOptions options) {
  const ClusterSpec &cluster = resolver.cluster_spec();
  expectCluster(cluster);
  if (const auto &type = resolver.task_type(); type && *type != "chief")
    fail(parameterServers,
         fmt::format("expected this process to be the chief, got task type "
                     "'{}': that is a Server(cluster, \"{}\", {})",
                     *type, *type, resolver.task_id().value_or(0)));
  const double connectTimeout =
      options.connect_timeout_seconds
          ? *options.connect_timeout_seconds
          : ps::secondsOf(parameterServers, "MESHLOOM_START_TIMEOUT", 60);
  for (auto [name, seconds] :
       {std::pair("connect_timeout_seconds", connectTimeout),
        std::pair("worker_timeout_seconds", options.worker_timeout_seconds)})
    if (!(seconds >= 0 && seconds <= 1e9))
      fail(parameterServers,
           fmt::format("expected {} to be 0 or more, got {}", name, seconds));
  auto store = std::make_shared<ps::Store>(
      cluster, std::move(options.variable_partitioner),
      ps::accessOf(parameterServers, options.token, options.tls));
  store->begin(connectTimeout);
  auto state = std::make_shared<StrategyState>();
  state->name = parameterServers;
  state->kind = StrategyState::Kind::ParameterServer;
  state->createVariable = [store](const NextVariable &next,
                                  const Tensor &initial,
                                  VariableOptions variableOptions) {
    return store->make(next, initial, std::move(variableOptions));
  };
  state->workerPool = Coordination::make(store, options.worker_timeout_seconds);
  log(LogLevel::INFO,
      fmt::format("Using {} with {} worker(s) and {} parameter server(s)",
                  parameterServers, store->workers.size(),
                  store->servers.size()));
  return state;
}

} // namespace

int64_t detail::replicasOfWorkers(const std::vector<int64_t> &gpus) {
  const auto [least, most] = std::ranges::minmax(gpus);
  if (least != most)
    fail(parameterServers,
         fmt::format("expected equally many GPUs in each worker, got [{}]",
                     fmt::join(gpus, ", ")));
  return std::max<int64_t>(1, most);
}

ParameterServerStrategy::ParameterServerStrategy(
    const ClusterResolver &cluster_resolver, ParameterServerOptions options,
    Where where)
    : Strategy(detail::atLine(where, [&] {
        return connected(cluster_resolver, std::move(options));
      })) {}

const ClusterSpec &ParameterServerStrategy::cluster_spec() const {
  return static_cast<const Coordination &>(*state->workerPool).store->cluster;
}

} // namespace meshloom
