// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// MultiWorkerMirroredStrategy: joins the workers of a cluster, and is a
// mirrored strategy over the devices of all of them.
#include "StrategyState.h"
#include "meshloom/Distribute/Strategies.h"

#include "meshloom/API/Logging.h"
#include "meshloom/API/Processes.h"
#include "meshloom/API/TransferTimeout.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace meshloom {
using namespace detail;

namespace {

constexpr char strategyName[] = "MultiWorkerMirroredStrategy";

std::string_view nameOf(CommunicationImplementation implementation) {
  switch (implementation.kind) {
  case CommunicationImplementation::AUTO:
    return "AUTO";
  case CommunicationImplementation::RING:
    return "RING";
  case CommunicationImplementation::NCCL:
    return "NCCL";
  }
  return "";
}

/// Joins the cluster's other workers, where nothing else has made this process
/// one of them.
void join(const ClusterResolver &resolver) {
  const ClusterSpec &cluster = resolver.cluster_spec();
  if (cluster.empty())
    return;
  if (!resolver.task())
    fail(strategyName,
         "expected a resolver that says which task of the cluster this "
         "process is, got one without type or id: TF_CONFIG has them as "
         R"("task": {"type": "worker", "index": 0})");
  if (const TaskId task = *resolver.task(); task.type == "ps")
    fail(strategyName,
         fmt::format("expected a task that computes, a chief or a worker, "
                     "got {}: parameter servers are of "
                     "ParameterServerStrategy, and run Server(...).join()",
                     str(task)));
  if (num_clients() == 1) {
    if (worker_count(cluster, *resolver.task()) > 1)
      initialize(resolver);
    return;
  }
  const TaskId task = *resolver.task();
  if (worker_count(cluster, task) != num_clients() ||
      id_in_cluster(cluster, task) != client_id())
    fail(strategyName,
         fmt::format("this process is number {} of {} already, but the "
                     "cluster says that it is {}, number {} of {}: start it "
                     "by mesh-launch or by TF_CONFIG",
                     client_id(), num_clients(), str(task),
                     id_in_cluster(cluster, task),
                     worker_count(cluster, task)));
}

std::shared_ptr<const StrategyState> make(const ClusterResolver &resolver,
                                          const CommunicationOptions &options) {
  auto state = std::make_shared<StrategyState>();
  state->name = strategyName;
  state->kind = StrategyState::Kind::Workers;
  state->communication = CommunicationOptions().merged(options);
  const std::optional<double> timeout = state->communication.timeout_seconds;
  if (timeout && !(*timeout > 0))
    fail(strategyName,
         fmt::format("expected timeout_seconds above 0, got {}", *timeout));
  join(resolver);
  // The timeout holds for all transfers: the transport does not know
  // strategies.
  if (timeout)
    setTransferTimeout(*timeout);
  std::vector<DeviceSpec> devices;
  if (num_clients() == 1)
    devices = list_logical_devices("GPU");
  if (devices.empty())
    devices = list_logical_devices("CPU");
  const int64_t count = std::ssize(devices);
  state->mesh = create_mesh({{replicaAxis, count}}, std::move(devices));
  if (state->communication.implementation ==
          CommunicationImplementation::NCCL &&
      state->mesh->device_type() != "GPU")
    fail(strategyName,
         fmt::format("expected GPUs, which NCCL is for, got devices of type "
                     "{}: ask for AUTO or RING",
                     state->mesh->device_type()));
  logOnce(LogLevel::INFO,
          fmt::format("{} with {} worker{}, num_replicas {}, local_devices "
                      "({}), communication {}",
                      strategyName, state->workers(),
                      state->workers() == 1 ? "" : "s", state->replicas(),
                      fmt::join(state->mesh->local_devices(), ", "),
                      nameOf(state->communication.implementation)));
  return state;
}

} // namespace

MultiWorkerMirroredStrategy::MultiWorkerMirroredStrategy(
    const CommunicationOptions &communication_options, Where where)
    : MultiWorkerMirroredStrategy(
          detail::atLine(where, [] { return TFConfigClusterResolver(); }),
          communication_options, where) {}

MultiWorkerMirroredStrategy::MultiWorkerMirroredStrategy(
    const ClusterResolver &resolver,
    const CommunicationOptions &communication_options, Where where)
    : Strategy(detail::atLine(
          where, [&] { return make(resolver, communication_options); })),
      resolved(std::make_shared<const ClusterResolver>(resolver)) {}

} // namespace meshloom
