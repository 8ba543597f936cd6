// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Connecting platforms, and the machine that a mesh is on.
#include "meshloom/Engine/Platforms.h"
#include "meshloom/Engine/Errors.h"
#include "meshloom/Engine/Processes.h"

#include "meshloom/Core/ProcessMachine.h"
#include "meshloom/Core/TPUMachine.h"
#include "meshloom/Runtime/Backends/PJRT/AheadOfTime.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace meshloom::detail {

void joinOthers(Platform &platform, std::string_view op) {
  if (const auto &others = processes(op).ofPlatforms)
    check(platform.join(others), op);
}

std::string upperCase(std::string_view text) {
  std::string result(text);
  for (char &letter : result)
    letter = char(std::toupper(letter));
  return result;
}

Platforms &Platforms::get() {
  static Platforms &platforms = *new Platforms;
  return platforms;
}

Platforms::Platforms() {
  byType.emplace(virtualType, platform("cpu").value_or_throw());
}

std::string Platforms::connect(const std::string &name, std::string_view op) {
  std::shared_ptr<Platform> connected = check(platform(name), op);
  joinOthers(*connected, op);
  std::string type = check(connected->deviceType(), op);
  add(type, connected, op);
  return type;
}

void Platforms::add(const std::string &type,
                    const std::shared_ptr<Platform> &platform,
                    std::string_view op) {
  std::lock_guard lock(mutex);
  std::shared_ptr<Platform> &present = byType[type];
  if (present && present != platform)
    fail(op, fmt::format("the {} devices of this process are those of '{}'; "
                         "'{}' has some too, and only one platform of a type "
                         "can be connected",
                         type, present->name(), platform->name()));
  present = platform;
}

void Platforms::remove(const std::string &type) {
  std::lock_guard lock(mutex);
  byType.erase(type);
}

std::shared_ptr<Platform> Platforms::find(const std::string &type) {
  std::lock_guard lock(mutex);
  auto found = byType.find(type);
  return found == byType.end() ? nullptr : found->second;
}

std::vector<std::string> Platforms::types() {
  std::lock_guard lock(mutex);
  std::vector<std::string> types;
  for (const auto &[type, platform] : byType)
    types.push_back(type);
  return types;
}

std::shared_ptr<Platform> findPlatform(const std::string &type,
                                       std::string_view op) {
  Platforms &platforms = Platforms::get();
  if (auto found = platforms.find(type)) {
    if (type != virtualType)
      joinOthers(*found, op);
    return found;
  }
  for (const pjrt::NamedPlugin &plugin : check(pjrt::namedPlugins(), op))
    if (upperCase(plugin.name) == type) {
      const std::string name = "pjrt:" + plugin.path;
      const std::string says = platforms.connect(name, op);
      if (says != type)
        fail(op, fmt::format("the plug-in that {} calls '{}' ({}) has devices "
                             "of type {}, not {}",
                             plugin.variable, plugin.name, plugin.path, says,
                             type));
      return platforms.find(type);
    }
  if (type == gpuType) {
    std::shared_ptr<Platform> cuda = check(platform("cuda"), op);
    if (auto devices = cuda->devices()) {
      platforms.add(type, cuda, op);
      return cuda;
    } else if (devices.error().code() != ErrorCode::NOT_FOUND) {
      fail(op, devices.error());
    }
  }
  return nullptr;
}

std::shared_ptr<Platform> platformOf(const std::string &deviceType,
                                     std::string_view op) {
  if (auto found = findPlatform(deviceType, op))
    return found;
  std::string plugins;
  for (const pjrt::NamedPlugin &plugin : check(pjrt::namedPlugins(), op))
    plugins += fmt::format("{}{} ({})", plugins.empty() ? "" : ", ",
                           plugin.name, plugin.path);
  fail(op,
       fmt::format("there are no devices of type {}: connected are {}, and the "
                   "environment names {} (PJRT_NAMES_AND_LIBRARY_PATHS, "
                   "TPU_LIBRARY_PATH). Connect them first: {}",
                   deviceType, fmt::join(Platforms::get().types(), ", "),
                   plugins.empty() ? "no plug-in" : "the plug-ins " + plugins,
                   deviceType == tpuType
                       ? "connect_to_cluster(TPUClusterResolver(\"local\"))"
                       : "connect_platform(\"pjrt:/path/to/plugin.so\")"));
}

bool isOfSeveralProcesses(const std::string &deviceType, std::string_view op) {
  return !std::ranges::all_of(check(platformOf(deviceType, op)->devices(), op),
                              &PlatformDevice::isHere);
}

MachineModel machineFor(const Mesh &mesh, const MachineModel &machine) {
  if (!machine.sharedMemory)
    return machine;
  if (spansThisProcess(mesh))
    return machineOfProcesses(
        machine, mesh, blocksOfProcesses(mesh.size(), mesh.num_local_devices()),
        processes("create_mesh").memoryGroups());
  if (mesh.device_type() == virtualType)
    return machine;
  const MachineModel ring = *MachineModel::preset("ring");
  auto devices = platformOf(mesh.device_type(), "create_mesh")->devices();
  if (!devices || devices->empty())
    return ring;
  std::vector<std::vector<int64_t>> chips, chipsHere;
  for (const PlatformDevice &device : *devices) {
    if (device.coords.empty())
      continue;
    chips.push_back(device.coords);
    if (device.isHere)
      chipsHere.push_back(device.coords);
  }
  auto name = tpuTopology(devices->front().kind, chips);
  // Links follow from places only where the mesh has all devices.
  std::vector<std::vector<int64_t>> placed;
  for (int64_t number : mesh.assignment().localDeviceNumbers())
    if (size_t(number) < chipsHere.size())
      placed.push_back(chipsHere[size_t(number)]);
  if (!name || chips.size() != devices->size())
    return ring;
  auto model =
      tpuMachine(*name, placed.size() == chips.size() ? placed : chips);
  return model ? *model : ring;
}

std::atomic<int64_t> &configuredDevices() {
  static std::atomic<int64_t> count = 1;
  return count;
}

} // namespace meshloom::detail
