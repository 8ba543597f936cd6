// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Connecting platforms, listing their devices, and TPUs.
#include "meshloom/API/Devices.h"
#include "meshloom/Engine/Clients.h"
#include "meshloom/Engine/Errors.h"
#include "meshloom/Engine/Platforms.h"
#include "meshloom/Engine/Processes.h"

#include "meshloom/Cluster/ClusterResolver.h"
#include "meshloom/Cluster/ThisMachine.h"
#include "meshloom/Runtime/Backends/PJRT/AheadOfTime.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <set>

namespace meshloom {
using namespace detail;

namespace {

int64_t logicalNumber(const PlatformDevice &device) {
  return device.number;
}
int64_t physicalNumber(const PlatformDevice &device) {
  return device.physical < 0 ? device.number : device.physical;
}

/// The devices of a type, each by the number that `number` gives it.
std::vector<DeviceSpec>
devicesOf(const std::string &type, std::string_view op,
          int64_t (*number)(const PlatformDevice &) = &logicalNumber) {
  if (type == virtualType) {
    std::vector<DeviceSpec> cpus = list_devices(virtualType);
    if (number == &physicalNumber)
      std::erase_if(cpus, [](const DeviceSpec &cpu) { return cpu.index > 0; });
    return cpus;
  }
  std::vector<DeviceSpec> devices;
  std::shared_ptr<Platform> found = findPlatform(type, op);
  if (!found)
    return devices;
  const bool isShared = isOfSeveralProcesses(type, op);
  for (const PlatformDevice &device : check(found->devices(), op))
    devices.push_back({type, number(device), isShared ? device.process : -1});
  return devices;
}

std::string platformName(const TPUClusterResolver &resolver) {
  return "pjrt:" + resolver.library();
}

/// Returns the topology of all TPUs, which are there.
TPUTopology topologyOf(const std::vector<PlatformDevice> &devices) {
  TPUTopology topology;
  topology.mesh_shape = {1, 1, 1, 1};
  std::set<int64_t> processes;
  for (const PlatformDevice &device : devices) {
    std::vector<int64_t> place = device.coords;
    place.resize(3);
    place.push_back(device.core);
    for (size_t dim = 0; dim < place.size(); ++dim)
      topology.mesh_shape[dim] =
          std::max(topology.mesh_shape[dim], place[dim] + 1);
    topology.device_coordinates.push_back(std::move(place));
    processes.insert(device.process);
  }
  topology.num_tasks = int64_t(processes.size());
  return topology;
}
} // namespace

DeviceSpec DeviceSpec::from_string(std::string_view name,
                                   std::source_location where) {
  const UserLine line(where);
  constexpr std::string_view op = "device";
  std::string_view remaining = name;
  const Processes &joined = processes(op);
  // Where there is one process: job "localhost", or "worker" of a resolver.
  for (const std::string &prefix :
       {"/job:" + joined.group.jobName, std::string("/job:localhost"),
        std::string("/job:worker"), std::string("/replica:0")})
    if (remaining.starts_with(prefix) &&
        remaining.substr(prefix.size()).starts_with('/'))
      remaining.remove_prefix(prefix.size());
  int64_t process = -1;
  if (constexpr std::string_view task = "/task:"; remaining.starts_with(task)) {
    int64_t number = -1;
    auto [end, error] =
        std::from_chars(remaining.data() + task.size(),
                        remaining.data() + remaining.size(), number);
    if (error == std::errc() && number >= 0 && number < joined.group.size &&
        end != remaining.data() + remaining.size() && *end == '/') {
      remaining.remove_prefix(size_t(end - remaining.data()));
      process = joined.isAlone() ? -1 : number;
    }
  }
  for (std::string_view place : {"/job:", "/replica:", "/task:"})
    if (remaining.starts_with(place))
      fail(op,
           joined.isAlone()
               ? fmt::format("expected a device of this process, which is "
                             "/job:localhost/replica:0/task:0, got \"{}\"",
                             name)
               : fmt::format("expected a device of one of the {} processes, "
                             "/job:{}/replica:0/task:0 to {}, got \"{}\"",
                             joined.group.size, joined.group.jobName,
                             joined.group.size - 1, name));
  if (remaining.starts_with('/'))
    remaining.remove_prefix(1);
  if (remaining.starts_with("device:"))
    remaining.remove_prefix(std::string_view("device:").size());
  const size_t colon = std::min(remaining.find(':'), remaining.size());
  DeviceSpec device{upperCase(remaining.substr(0, colon)), 0, process};
  const std::string_view number =
      colon == remaining.size() ? "0" : remaining.substr(colon + 1);
  const bool digits =
      !number.empty() && number.size() < 10 &&
      std::ranges::all_of(number, [](char c) { return c >= '0' && c <= '9'; });
  const bool letters = std::ranges::all_of(device.type, [](char c) {
    return c == '_' || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  });
  if (!digits || !letters || device.type.empty())
    fail(op, fmt::format("expected a device such as \"CPU:0\", \"TPU:1\" or "
                         "\"/device:TPU:1\", got \"{}\"",
                         name));
  device.index = std::stoll(std::string(number));
  return device;
}

std::vector<DeviceSpec> connect_platform(const std::string &platform,
                                         std::source_location where) {
  const UserLine line(where);
  constexpr std::string_view op = "connect_platform";
  return devicesOf(Platforms::get().connect(platform, op), op);
}

std::vector<DeviceSpec> list_logical_devices(std::string_view type,
                                             std::source_location where) {
  const UserLine line(where);
  constexpr std::string_view op = "list_logical_devices";
  if (!type.empty())
    return devicesOf(upperCase(type), op);
  std::vector<DeviceSpec> devices;
  for (const std::string &connected : Platforms::get().types())
    for (DeviceSpec &device : devicesOf(connected, op))
      devices.push_back(std::move(device));
  return devices;
}

std::vector<DeviceSpec> list_physical_devices(std::string_view type,
                                              std::source_location where) {
  const UserLine line(where);
  constexpr std::string_view op = "list_physical_devices";
  std::vector<std::string> types{upperCase(type)};
  if (type.empty())
    types = Platforms::get().types();
  std::vector<DeviceSpec> physical;
  for (const std::string &connected : types)
    for (DeviceSpec &device : devicesOf(connected, op, &physicalNumber))
      if (std::ranges::find(physical, device) == physical.end())
        physical.push_back(std::move(device));
  return physical;
}

void set_client_options(const ClientOptions &options,
                        std::source_location where) {
  const UserLine line(where);
  constexpr std::string_view op = "set_client_options";
  if (options.workers < 0 || options.memory_limit < 0)
    fail(op, fmt::format("expected numbers of at least 0, got {} workers and a "
                         "memory limit of {} bytes",
                         options.workers, options.memory_limit));
  if (const std::string used = firstUsedDevice(); !used.empty())
    fail(op, fmt::format("must come before anything uses devices, but {} is in "
                         "use: call it at the start of the program",
                         used));
  auto connected =
      check(platform(fmt::format("cpu:workers={},memory-limit={}{}",
                                 options.workers, options.memory_limit,
                                 options.private_memories ? ",private-memories"
                                                          : "")),
            op);
  Platforms::get().remove(std::string(virtualType));
  Platforms::get().add(std::string(virtualType), connected, op);
}

/// Makes a device of another platform than the virtual CPUs several ones.
static void
configurePlatform(const DeviceSpec &device,
                  const std::vector<LogicalDeviceConfiguration> &configurations,
                  std::string_view op) {
  std::vector<int64_t> limits;
  for (const LogicalDeviceConfiguration &configuration : configurations) {
    constexpr int64_t megabyte = int64_t(1) << 20;
    if (configuration.memory_limit < 0 ||
        configuration.memory_limit > (int64_t(1) << 40))
      fail(op, fmt::format("expected a memory limit in megabytes, 0 for none, "
                           "got {}",
                           configuration.memory_limit));
    limits.push_back(configuration.memory_limit * megabyte);
  }
  check(platformOf(device.type, op)->configure(device.index, limits), op);
}

void set_logical_device_configuration(
    const DeviceSpec &device,
    const std::vector<LogicalDeviceConfiguration> &configurations,
    std::source_location where) {
  const UserLine line(where);
  constexpr std::string_view op = "set_logical_device_configuration";
  if (device.type != virtualType)
    return configurePlatform(device, configurations, op);
  if (device != DeviceSpec())
    fail(op, fmt::format("of CPUs only CPU:0 can be several logical devices, "
                         "got {}",
                         device.to_string()));
  for (const LogicalDeviceConfiguration &configuration : configurations)
    if (configuration.memory_limit != 0)
      fail(op, "virtual CPUs share the machine's memory: limit it for all of "
               "them with set_client_options");
  const auto count = int64_t(configurations.size());
  const int64_t processCount = processes(op).group.size;
  const int64_t existing = std::ssize(list_devices()) / processCount;
  if (count < existing)
    fail(op, fmt::format("expected at least {} configurations, as many as "
                         "there are virtual CPUs already, got {}: call it at "
                         "the start of the program",
                         existing, count));
  virtual_cpus(count * processCount);
  // Where this process joins others later, each has as many.
  configuredDevices() = count;
}

DefaultMeshScope device(const DeviceSpec &device, std::source_location where) {
  const UserLine line(where);
  constexpr std::string_view op = "device";
  // Where plain tensors are anyway.
  if (device == DeviceSpec())
    return DefaultMeshScope(hostMesh());
  platformOf(device.type, op);
  return DefaultMeshScope(create_mesh({{"d", 1}}, {device}));
}

//===----------------------------------------------------------------------===//
// TPUs
//===----------------------------------------------------------------------===//

TPUClusterResolver::TPUClusterResolver(std::string tpu, std::string library,
                                       std::source_location where)
    : name(tpu.empty() ? "local" : std::move(tpu)) {
  constexpr std::string_view op = "TPUClusterResolver";
  const UserLine line(where);
  const TPUWorkersResolver workers(name, gcloudTPU, processEnvironment, where);
  if (!workers.cluster_spec().empty()) {
    const std::vector<std::string> machines =
        workers.cluster_spec().job_tasks("worker");
    firstMachine = workers.master(TaskId{"worker", 0});
    const auto thisMachine = std::ranges::find_if(machines, isThisMachine);
    task = name == "local" ? workers.task_id().value_or(0)
                           : thisMachine - machines.begin();
    if (name != "local" && thisMachine == machines.end())
      fail(op, fmt::format(
                   "the TPU \"{}\" is in the machines {}, and this machine is "
                   "not one of them: TPUs are driven by programs that run on "
                   "their machines (mesh-launch --hosts starts them)",
                   name, fmt::join(machines, ", ")));
  }
  path = check(pjrt::findTPULibrary(library), op);
  if (std::error_code none; !std::filesystem::exists(path, none))
    fail(op, fmt::format("there is no libtpu at '{}', {}", path,
                         library.empty() ? "which the environment names "
                                           "(PJRT_NAMES_AND_LIBRARY_PATHS, "
                                           "TPU_LIBRARY_PATH)"
                                         : "the path given"));
}

int64_t TPUClusterResolver::num_accelerators() const {
  constexpr std::string_view op = "TPUClusterResolver";
  const std::shared_ptr<Platform> found =
      check(platform(platformName(*this)), op);
  joinOthers(*found, op);
  return std::ranges::count(check(found->devices(), op), true,
                            &PlatformDevice::isHere);
}

void connect_to_cluster(const TPUClusterResolver &resolver,
                        std::source_location where) {
  const UserLine line(where);
  constexpr std::string_view op = "connect_to_cluster";
  Platforms::get().add(std::string(tpuType),
                       check(platform(platformName(resolver)), op), op);
}

TPUTopology initialize_tpu_system(const TPUClusterResolver &resolver,
                                  std::source_location where) {
  const UserLine line(where);
  constexpr std::string_view op = "initialize_tpu_system";
  if (const std::string used = firstUsedDevice(); !used.empty())
    fail(op, fmt::format("must come before anything uses devices, but {} is in "
                         "use: call it at the start of the program. Nothing "
                         "was changed",
                         used));
  const std::string name = platformName(resolver);
  std::shared_ptr<Platform> found = check(platform(name), op);
  joinOthers(*found, op);
  Result<std::string> type = found->deviceType();
  if (!type)
    fail(op, type.error().withMessage(
                 fmt::format("no TPU was found in this machine by '{}': {}",
                             resolver.library(), type.error().message())));
  if (*type != tpuType) {
    if (Platforms::get().find(std::string(tpuType)) == found)
      Platforms::get().remove(std::string(tpuType));
    fail(op, fmt::format("expected a plug-in for TPUs, but the devices of '{}' "
                         "are of type {}: use connect_platform(\"{}\")",
                         resolver.library(), *type, name));
  }
  Platforms::get().add(std::string(tpuType), found, op);
  return topologyOf(check(found->devices(), op));
}

TPUTopology initialize_tpu_system(std::source_location where) {
  return initialize_tpu_system(TPUClusterResolver("local", "", where), where);
}

} // namespace meshloom
