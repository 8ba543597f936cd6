// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Meeting, connecting and leaving, see Join.h.
#include "meshloom/Processes/Join.h"

#include "meshloom/Cluster/Coordination/RunOptions.h"
#include "meshloom/Core/Version.h"
#include "meshloom/Runtime/LaunchedRuns.h"
#include "meshloom/Runtime/Plan/Components.h"
#include "meshloom/Runtime/Plan/PlanExecutable.h"

#include <fmt/format.h>

#include <algorithm>

namespace meshloom {

using std::chrono::milliseconds;

std::vector<int> JoinedProcesses::memoryGroups() const {
  return communicator ? communicator->transport().memoryGroups()
                      : std::vector<int>(size_t(group.size));
}

Result<std::vector<std::string>>
JoinedProcesses::leave(int status, std::string_view farewell) {
  Result<std::vector<std::string>> farewells = std::vector<std::string>();
  if (client && status != 0) {
    // The first culprit is named also where another one's end is heard first.
    const std::optional<Error> why = communicator->failure();
    client->reportFailure(
        fmt::format("the program ended with status {}{}", status,
                    why ? fmt::format(", after: {}", why->message())
                        : std::string()),
        why ? why->code() : ErrorCode::UNAVAILABLE);
  } else if (client) {
    farewells = endOrderly(milliseconds(60000), farewell);
  }
  // A service ends after all know how the run ended.
  if (service)
    (void)service->waitForEnd(milliseconds(2000));
  client.reset();
  service.reset();
  return farewells;
}

Result<std::vector<std::string>>
JoinedProcesses::endOrderly(milliseconds timeout,
                            std::string_view farewell) const {
  // The calls are done. A process that waits for more of this one learns it
  // before the end that all come to. Who waits for more of this process learns
  // it before the end that all come to.
  (void)waitForLaunchedRuns(milliseconds(10000));
  communicator->leave();
  return client->shutdown(timeout, farewell);
}

Result<JoinedProcesses> joinProcesses(ProcessGroup group,
                                      const JoinOptions &options) {
  JoinedProcesses joined;
  joined.group = std::move(group);
  if (joined.isAlone())
    return joined;
  const ProcessGroup &joinedGroup = joined.group;
  Result<CoordinationClientOptions> client = clientOptions(joinedGroup);
  if (!client)
    return client.error();
  client->version = version();
  if (options.startTimeout)
    client->startTimeout = *options.startTimeout;
  if (joinedGroup.rank == 0 && !joinedGroup.coordinatorRuns) {
    Result<CoordinationServiceOptions> service = serviceOptions(joinedGroup);
    if (!service)
      return service.error();
    service->startTimeout = client->startTimeout;
    if (options.heartbeatTimeout)
      service->heartbeatTimeout = *options.heartbeatTimeout;
    auto started = CoordinationService::start(*service);
    if (!started)
      return started.error();
    joined.service = std::move(*started);
    client->address = joined.service->address();
  }
  const milliseconds startTimeout = client->startTimeout;
  auto met = CoordinationClient::connect(std::move(*client));
  if (!met) {
    if (joined.service)
      (void)joined.service->waitForEnd(milliseconds(2000));
    return met.error();
  }
  joined.client = std::move(*met);
  ProcessTransportOptions link;
  link.rank = int(joinedGroup.rank);
  link.size = int(joinedGroup.size);
  link.host = joined.client->ranks()[size_t(joinedGroup.rank)].host;
  link.prefix = joined.client->runName() + "/transport/";
  link.kind = options.links;
  link.connectTimeout = startTimeout;
  link.timeout = options.timeout;
  link.failure = [client = joined.client]() -> std::optional<Error> {
    const std::optional<Failure> why = client->failure();
    return why ? std::optional(why->error()) : std::nullopt;
  };
  auto transport = connectProcesses(*joined.client, link);
  if (!transport)
    return transport.error();
  joined.communicator = std::make_shared<Communicator>(std::move(*transport));
  joined.ofPlatforms = std::make_shared<PlatformProcesses>(
      joinedGroup.rank, joinedGroup.size, joined.client,
      joined.client->runName() + "/", joined.communicator,
      std::ranges::count(joined.client->ranks(), link.host, &RankInfo::host));
  joined.client->onFailure([communicator = std::weak_ptr(joined.communicator)](
                               const Failure &failure) {
    if (auto alive = communicator.lock())
      alive->abort(failure.error());
  });
  return joined;
}

bool needsAllProcesses(const Executable &program) {
  if (const auto *planned =
          dynamic_cast<const plan::PlanExecutable *>(&program))
    return planned->exchanges();
  // A platform of its own, of which nothing is known.
  const Mesh &mesh = program.signature().mesh;
  return mesh.num_local_devices() < mesh.size();
}

Result<HostBytes> gatherValue(const Array &array, Communicator &communicator,
                              uint64_t tag) {
  const ArrayType &type = array.type();
  const Mesh &mesh = type.layout.mesh();
  // One process may have all of what others have a part of: all decide alike.
  if (mesh.num_local_devices() == mesh.size() ||
      type.layout.is_fully_replicated())
    return array.toHost();
  const auto padded = size_t(plan::paddedBytes(type));
  const size_t localBytes = padded * size_t(mesh.num_local_devices());
  HostBytes gathered(padded * size_t(mesh.size()));
  for (int64_t id : mesh.local_device_ids()) {
    const int64_t device = id - mesh.min_global_device_id();
    Result<OwnedComponent> part = array.component(device);
    if (!part)
      return part.error();
    plan::placeInPadded(type, {part->shape, part->bytes}, device,
                        gathered.data() + size_t(device) * padded);
  }
  std::vector<Communicator::Outgoing> outgoing;
  std::vector<Communicator::Incoming> incoming;
  for (int rank = 0; rank < communicator.size(); ++rank) {
    if (rank == communicator.rank())
      continue;
    outgoing.push_back(
        {rank,
         {gathered.data() + size_t(communicator.rank()) * localBytes,
          localBytes}});
    incoming.push_back(
        {rank, {gathered.data() + size_t(rank) * localBytes, localBytes}});
  }
  if (Status came =
          communicator.wait(communicator.exchange(tag, outgoing, incoming));
      !came)
    return came.error();
  return plan::readPadded(type, [&](int64_t device) -> const char * {
    return gathered.data() + size_t(device) * padded;
  });
}

} // namespace meshloom
