// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Joining, naming and leaving the processes of a program.
#include "meshloom/API/Processes.h"
#include "meshloom/Engine/Errors.h"
#include "meshloom/Engine/Nodes.h"
#include "meshloom/Engine/Platforms.h"
#include "meshloom/Engine/Processes.h"

#include "meshloom/API/Distribute.h"
#include "meshloom/API/HostTensor.h"
#include "meshloom/API/Shards.h"
#include "meshloom/Cluster/ClusterResolver.h"
#include "meshloom/Core/Hash.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace meshloom {
using namespace detail;

/// Returns an environment in which `options` replace variables, in the text
/// that the variables would have.
static Environment overlaid(const InitializeOptions &options) {
  return [options](const char *name) -> std::optional<std::string> {
    const std::string_view wanted = name;
    if (wanted == "DTENSOR_CLIENT_ID" && options.client_id)
      return std::to_string(*options.client_id);
    if (wanted == "DTENSOR_NUM_CLIENTS" && options.num_clients)
      return std::to_string(*options.num_clients);
    if (wanted == "DTENSOR_JOB_NAME" && !options.job_name.empty())
      return options.job_name;
    if (wanted == "DTENSOR_JOBS" && !options.jobs.empty())
      return fmt::format("{}", fmt::join(options.jobs, ","));
    return processEnvironment(name);
  };
}

void initialize(const InitializeOptions &options, std::source_location where) {
  const UserLine line(where);
  joinGroup(check(processGroup(overlaid(options)), "initialize"), options);
}

void initialize(const ClusterResolver &resolver,
                const InitializeOptions &options) {
  joinGroup(check(processGroup(resolver), "initialize"), options);
}

void shutdown() {
  leaveGroup();
}

int64_t client_id() {
  return processes("client_id").group.rank;
}
int64_t num_clients() {
  return processes("num_clients").group.size;
}
std::string job_name() {
  return processes("job_name").group.jobName;
}
std::string full_job_name(std::optional<int64_t> task_id) {
  const ProcessGroup &group = processes("full_job_name").group;
  const int64_t task = task_id.value_or(group.rank);
  if (task < 0 || task >= group.size)
    fail("full_job_name", fmt::format("expected a task from 0 to {}, got {}",
                                      group.size - 1, task));
  return fmt::format("{}/replica:0/task:{}", group.jobName, task);
}
std::vector<std::string> jobs() {
  return processes("jobs").group.addresses;
}

std::vector<DeviceSpec> local_devices(std::string_view type) {
  const Processes &joined = processes("local_devices");
  std::vector<DeviceSpec> devices = list_devices(type);
  if (joined.isAlone() || (!type.empty() && type != "CPU")) {
    std::erase_if(devices, [&](const DeviceSpec &device) {
      return device.process >= 0 && device.process != joined.group.rank;
    });
    return devices;
  }
  const int64_t count = int64_t(devices.size()) / joined.group.size;
  devices.clear();
  for (int64_t i = 0; i < count; ++i)
    devices.push_back({"CPU", i, joined.group.rank});
  return devices;
}
int64_t num_local_devices(std::string_view type) {
  return int64_t(local_devices(type).size());
}
int64_t num_global_devices(std::string_view type) {
  const std::vector<DeviceSpec> devices = list_devices(type);
  const bool isShared = type.empty() || type == "CPU" ||
                        isOfSeveralProcesses(std::string(type), "list_devices");
  return int64_t(devices.size()) * (isShared ? 1 : num_clients());
}

Mesh create_distributed_mesh(std::vector<MeshAxis> axes, DeviceList devices,
                             std::string name, std::source_location where) {
  const UserLine line(where);
  constexpr std::string_view op = "create_distributed_mesh";
  const std::vector<DeviceSpec> &local_devices = devices.devices();
  const Processes &joined = processes(op);
  for (const DeviceSpec &device : local_devices)
    if (device.process >= 0 && device.process != joined.group.rank)
      fail(op, fmt::format("expected devices of this process, which is rank "
                           "{}, got {}",
                           joined.group.rank, device.to_string()));
  if (joined.isAlone() && !local_devices.empty())
    return create_mesh(std::move(axes), std::move(devices), std::move(name));
  int64_t count = int64_t(local_devices.size()) * joined.group.size;
  if (count == 0) {
    count = 1;
    for (const MeshAxis &axis : axes)
      count = axis.size == -1 ? -1
                              : std::clamp<int64_t>(count, -1, 65537) *
                                    std::clamp<int64_t>(axis.size, 1, 65537);
    if (count < 0 || axes.empty())
      return create_mesh(std::move(axes), {}, std::move(name));
    if (count % joined.group.size)
      fail(op, fmt::format("expected sizes whose product the {} processes "
                           "divide, so that each has as many devices, got {} "
                           "devices",
                           joined.group.size, count));
    return create_mesh(std::move(axes), virtual_cpus(count), std::move(name));
  }
  for (size_t i = 0; i < local_devices.size(); ++i)
    if (local_devices[i].type != "CPU" || local_devices[i].index != int64_t(i))
      fail(op, fmt::format("expected the virtual CPUs CPU:0 to CPU:{} of each "
                           "process, in order, got {} as number {}",
                           local_devices.size() - 1,
                           local_devices[i].to_string(), i));
  return create_mesh(std::move(axes), virtual_cpus(count), std::move(name));
}

void barrier(const Mesh &mesh, const std::string &name, double timeout_seconds,
             std::source_location where) {
  const UserLine line(where);
  constexpr std::string_view op = "barrier";
  if (!mesh.defined())
    fail(op, "expected a mesh, got an empty one: make it with create_mesh");
  if (!spansProcesses(mesh))
    return;
  const Processes &joined = processes(op);
  meetAt(joined, "barrier/" + name, fmt::format("barrier '{}'", name),
         timeout_seconds, op);
}

namespace detail {

Tensor ofFirstProcess(const Tensor &local) {
  constexpr std::string_view op = "initial value";
  const Processes &joined = processes(op);
  if (!joined.communicator)
    return local;
  const HostBytes bytes = bytesOf(local, op);
  StableHash hash;
  for (int64_t number : local.shape())
    hash.add(uint64_t(number));
  hash.add(uint64_t(local.dtype()));
  // Sizes first: what is sent must be as large as what is awaited.
  const auto shapes =
      gatherNumbers({int64_t(hash.value()), int64_t(bytes.size())}, op);
  for (size_t rank = 1; rank < shapes.size(); ++rank)
    if (shapes[rank] != shapes.front())
      fail(op,
           fmt::format("expected the same type and shape in all processes, "
                       "got another one in {} than in rank 0; here it is {}",
                       joined.rankText(int64_t(rank)), typeText(local)));
  HostBytes first = bytes;
  check(broadcastOfFirst(joined, first, op), op);
  return hostTensorOf(local.dtype(), local.shape(), first);
}

Tensor replicateUnlessLocal(const Tensor &tensor) {
  const Layout &layout = arrayOf(tensor, "relayout").type().layout;
  if (ownerOf(layout.mesh()))
    return relayout(tensor,
                    Layout::replicated(
                        create_distributed_mesh({{"process", num_clients()}}),
                        unsigned(tensor.rank())));
  // One process may have all of what others have a part of: all decide alike.
  return !spansProcesses(layout.mesh()) || layout.is_fully_replicated()
             ? tensor
             : relayout(tensor, Layout::replicated(layout.mesh(),
                                                   unsigned(tensor.rank())));
}

} // namespace detail

} // namespace meshloom
