// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Devices, meshes and this thread's default mesh.
#include "meshloom/API/Mesh.h"
#include "meshloom/API/Devices.h"
#include "meshloom/API/NameScope.h"
#include "meshloom/Engine/Nodes.h"
#include "meshloom/Engine/Platforms.h"
#include "meshloom/Engine/Processes.h"
#include "meshloom/Engine/Texts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <ostream>
#include <set>

namespace meshloom {
using namespace detail;

namespace {

constexpr int64_t mostDevices = 65536;
std::atomic<int64_t> &deviceCount() {
  static std::atomic<int64_t> count = 1;
  return count;
}

/// Which process has which devices of a mesh.
struct Placement {
  /// The process of each device, and its number there.
  std::vector<std::pair<int64_t, int64_t>> devices;
  /// Says whether all processes have this mesh, be its devices of all or of
  /// one.
  bool isOfAll = false;
};

/// Returns the placement of devices of one type. Throws where processes have no
/// equal blocks of them.
Placement placementOf(const std::vector<DeviceSpec> &devices,
                      std::string_view op) {
  const Processes &joined = processes(op);
  const int64_t rank = joined.group.rank, size = joined.group.size;
  const auto count = int64_t(devices.size());
  Placement placement;
  placement.devices.reserve(devices.size());
  auto isLocal = [&](const DeviceSpec &device) {
    return device.process < 0 || device.process == rank;
  };
  const bool isNamed = std::ranges::any_of(
      devices, [](const DeviceSpec &device) { return device.process >= 0; });
  const std::string &type = devices.front().type;
  const bool maySpan =
      joined.isAlone() || platformOf(type, op)->spansProcesses();
  const auto other = std::ranges::find_if_not(devices, isLocal);
  if (!maySpan && (other != devices.end() ||
                   (!isNamed && count > 1 && isOfSeveralProcesses(type, op))))
    fail(op,
         fmt::format(
             "expected devices of this process, which is rank {}: "
             "a mesh over several processes cannot have {} devices; got {}, "
             "where {} devices are those of several: "
             "take local_devices(\"{}\")",
             rank, type,
             (other == devices.end() ? devices.front() : *other).to_string(),
             type, type));
  // Other types are those of each process; so is a single device.
  if (joined.isAlone() || !maySpan ||
      (count == 1 && isLocal(devices.front())) ||
      (isNamed && std::ranges::all_of(devices, isLocal))) {
    for (const DeviceSpec &device : devices)
      placement.devices.emplace_back(rank, device.index);
    return placement;
  }
  placement.isOfAll = true;
  const int64_t perProcess = count / size;
  if (count % size)
    fail(op, fmt::format(
                 "expected a number of devices that the {} processes divide, "
                 "so that each has equally many, got {}: take a multiple of "
                 "{}, or devices of each process alone (local_devices())",
                 size, count, size));
  for (int64_t i = 0; i < count; ++i) {
    const DeviceSpec &device = devices[size_t(i)];
    const bool isInPlace = device.process < 0
                               ? device.index == i
                               : device.process == i / perProcess &&
                                     device.index == i % perProcess;
    if (!isInPlace)
      fail(op,
           fmt::format("expected the devices of {} processes in order: "
                       "CPU:0 to CPU:{}, or CPU:0 to CPU:{} of process 0, "
                       "then of process 1, got {} as number {}",
                       size, count - 1, perProcess - 1, device.to_string(), i));
    placement.devices.emplace_back(i / perProcess, i % perProcess);
  }
  return placement;
}

/// Places devices of one process, which are numbered over all, or name it.
Placement submeshPlacement(const std::vector<DeviceSpec> &devices,
                           std::string_view op) {
  const Processes &group = processes(op);
  if (group.isAlone())
    return placementOf(devices, op);
  const std::string &type = devices.front().type;
  if (!platformOf(type, op)->spansProcesses())
    fail(op, fmt::format("expected virtual CPUs, got {}: devices of a "
                         "different type belong to one process each",
                         devices.front().to_string()));
  const int64_t perProcess = std::ssize(list_devices(type)) / group.group.size;
  Placement placement;
  placement.isOfAll = true;
  for (const DeviceSpec &device : devices) {
    const bool isNamed = device.process >= 0;
    if (device.index >= (isNamed ? perProcess : perProcess * group.group.size))
      fail(op,
           fmt::format("expected devices of {} processes that have {} each, "
                       "got {}: call set_logical_device_configuration at "
                       "the start of the program, or start it with "
                       "mesh-launch --devices-per-process",
                       group.group.size, perProcess, device.to_string()));
    placement.devices.emplace_back(
        isNamed ? device.process : device.index / perProcess,
        isNamed ? device.index : device.index % perProcess);
    if (placement.devices.back().first != placement.devices.front().first)
      fail(op, fmt::format("expected devices of one process, got {} of process "
                           "{} beside {} of process {}, as each of {} "
                           "processes has {}: make a mesh over devices of all "
                           "processes with create_mesh",
                           devices.front().to_string(),
                           placement.devices.front().first, device.to_string(),
                           placement.devices.back().first, group.group.size,
                           perProcess));
  }
  return placement;
}

std::string fullName(const std::string &type, int64_t process, int64_t index) {
  const Processes &joined = processes("create_mesh");
  return fmt::format("/job:{}/replica:0/task:{}/device:{}:{}",
                     joined.isAlone() ? "localhost" : joined.group.jobName,
                     process, type, index);
}

} // namespace

std::string DeviceSpec::to_string() const {
  return process < 0 ? fmt::format("{}:{}", type, index) : name();
}

std::string DeviceSpec::name() const {
  const Processes &joined = processes("device");
  if (process < 0 && !joined.isAlone())
    return "/device:" + to_string();
  return fullName(type, std::max<int64_t>(process, 0), index);
}

std::ostream &operator<<(std::ostream &out, const DeviceSpec &device) {
  return out << device.to_string();
}

std::ostream &operator<<(std::ostream &out,
                         const std::vector<DeviceSpec> &devices) {
  out << '[';
  for (size_t i = 0; i < devices.size(); ++i)
    out << (i ? ", " : "") << devices[i];
  return out << ']';
}

std::vector<DeviceSpec> virtual_cpus(int64_t n, std::source_location where) {
  const UserLine line(where);
  if (n < 1 || n > mostDevices)
    fail("virtual_cpus",
         fmt::format("expected 1 to {} devices, got {}", mostDevices, n));
  int64_t largest = deviceCount();
  while (largest < n && !deviceCount().compare_exchange_weak(largest, n)) {
  }
  std::vector<DeviceSpec> devices;
  for (int64_t i = 0; i < n; ++i)
    devices.push_back({"CPU", i});
  return devices;
}

std::vector<DeviceSpec> list_devices(std::string_view type,
                                     std::source_location where) {
  const UserLine line(where);
  if (type.empty() || type == "CPU") {
    // Every process has as many.
    const Processes &joined = processes("list_devices");
    const int64_t perProcess =
        (deviceCount() + joined.group.size - 1) / joined.group.size;
    return virtual_cpus(std::max(perProcess, joined.devicesEach) *
                        joined.group.size);
  }
  platformOf(std::string(type), "list_devices");
  return list_logical_devices(type);
}

/// A mesh whose devices are where `place` says.
static Mesh meshOn(std::vector<MeshAxis> axes,
                   const std::vector<DeviceSpec> &devices, std::string name,
                   Placement (&place)(const std::vector<DeviceSpec> &,
                                      std::string_view),
                   std::string_view op) {
  int64_t count = int64_t(devices.size());
  if (axes.empty())
    axes.push_back({"x", count});

  MeshAxis *open = nullptr;
  int64_t product = 1;
  for (MeshAxis &axis : axes) {
    if (axis.size != -1) {
      // Past the most devices that there can be, any number will do.
      product = std::min<int64_t>(
          product * std::clamp<int64_t>(axis.size, 1, mostDevices + 1),
          mostDevices + 1);
      continue;
    }
    if (open)
      fail(op, fmt::format("expected at most one size of -1, got it for axes "
                           "'{}' and '{}'",
                           open->name, axis.name));
    open = &axis;
  }
  if (open) {
    if (count % product)
      fail(op, fmt::format("expected a number of devices that the other sizes "
                           "divide, got {} devices for sizes [{}]",
                           count, axesText(axes)));
    open->size = count / product;
  }

  MeshOptions options;
  options.name = std::move(name);
  options.deviceType = devices.front().type;
  std::set<std::pair<int64_t, int64_t>> seen;
  for (const DeviceSpec &device : devices) {
    if (device.type != options.deviceType)
      fail(op, fmt::format("expected devices of one type, got {} beside {}",
                           device.to_string(), devices.front().to_string()));
    if (device.index < 0 || device.index >= mostDevices)
      fail(op, fmt::format("expected devices numbered from 0 to {}, got {}",
                           mostDevices - 1, device.to_string()));
    if (!seen.emplace(device.process, device.index).second)
      fail(op, fmt::format("expected different devices, got {} twice",
                           device.to_string()));
  }
  const Placement placement = place(devices, op);
  for (int64_t i = 0; i < count; ++i) {
    const auto &[process, index] = placement.devices[size_t(i)];
    std::string device = fullName(options.deviceType, process, index);
    if (process == processes(op).group.rank) {
      options.localDeviceIds.push_back(i);
      options.localDevices.push_back(device);
    }
    options.globalDeviceIds.push_back(i);
    if (placement.isOfAll)
      options.globalDevices.push_back(std::move(device));
  }
  options.remote = options.localDeviceIds.empty();
  Mesh mesh = check(
      [&]() -> Result<Mesh> {
        int64_t size = 1;
        bool valid = true;
        for (const MeshAxis &axis : axes) {
          valid &= axis.size >= 1 && axis.size <= mostDevices / size;
          size *= valid ? axis.size : 1;
        }
        if (valid && size != count)
          return Error(
              fmt::format("expected {} devices for sizes [{}], got {}: pass "
                          "virtual_cpus({}), or use -1 for one size",
                          size, axesText(axes), count, size));
        return Mesh::get(axes, options);
      }(),
      op);
  // Virtual CPUs are made as they are needed; others are there or not.
  if (mesh.device_type() != "CPU")
    check(platformOf(mesh.device_type(), op)
              ->client(mesh.assignment().localDeviceNumbers()),
          op);
  return mesh;
}

Mesh create_mesh(std::vector<MeshAxis> axes, DeviceList devices,
                 std::string name, std::source_location where) {
  return atLine(where, [&]() -> Mesh {
    return meshOn(std::move(axes),
                  devices.empty() ? list_devices() : devices.devices(),
                  std::move(name), placementOf, "create_mesh");
  });
}

Mesh create_submesh(std::vector<MeshAxis> axes, DeviceList devices,
                    std::string name, std::source_location where) {
  return atLine(where, [&]() -> Mesh {
    constexpr std::string_view op = "create_submesh";
    if (devices.empty())
      fail(op, "expected the devices of a process, got none: name them, for "
               "example {\"CPU:2\", \"CPU:3\"}");
    return meshOn(std::move(axes), devices.devices(), std::move(name),
                  submeshPlacement, op);
  });
}

DefaultMeshScope::DefaultMeshScope(Mesh chosen)
    : mesh(std::make_shared<Mesh>(std::move(chosen))) {
  if (!mesh->defined())
    fail("default_mesh",
         "expected a mesh, got an empty one: make it with create_mesh");
  threadState().meshes.push_back(mesh);
}
DefaultMeshScope::~DefaultMeshScope() {
  // Not the last one where scopes were made and ended on different threads.
  std::erase_if(threadState().meshes, [&](const auto &held) {
    return held.expired() || held.lock() == mesh;
  });
}

std::optional<Mesh> get_default_mesh() {
  return defaultMesh();
}

} // namespace meshloom
