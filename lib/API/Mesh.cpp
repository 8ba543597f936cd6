// Devices, meshes and this thread's default mesh.
#include "meshloom/API/Mesh.h"
#include "Devices.h"
#include "Node.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <atomic>
#include <set>

namespace meshloom {
using namespace detail;

namespace {

constexpr int64_t mostDevices = 65536;
std::atomic<int64_t> &deviceCount() {
  static std::atomic<int64_t> count = 1;
  return count;
}

std::string sizesText(const std::vector<MeshAxis> &axes) {
  std::vector<std::string> sizes;
  for (const MeshAxis &axis : axes)
    sizes.push_back(fmt::format("{}={}", axis.name, axis.size));
  return fmt::format("[{}]", fmt::join(sizes, ", "));
}

} // namespace

std::vector<DeviceSpec> virtual_cpus(int64_t n) {
  if (n < 1 || n > mostDevices)
    fail("virtual_cpus",
         fmt::format("expected 1 to {} devices, got {}", mostDevices, n));
  int64_t known = deviceCount();
  while (known < n && !deviceCount().compare_exchange_weak(known, n)) {
  }
  std::vector<DeviceSpec> devices;
  for (int64_t i = 0; i < n; ++i)
    devices.push_back({"CPU", i});
  return devices;
}

std::vector<DeviceSpec> list_devices(std::string_view type) {
  if (type.empty() || type == "CPU")
    return virtual_cpus(deviceCount());
  platformOf(std::string(type), "list_devices");
  return list_logical_devices(type);
}

Mesh create_mesh(std::vector<MeshAxis> axes, std::vector<DeviceSpec> devices,
                 std::string name) {
  constexpr std::string_view op = "create_mesh";
  if (devices.empty())
    devices = list_devices();
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
                           "divide, got {} devices for sizes {}",
                           count, sizesText(axes)));
    open->size = count / product;
  }

  MeshOptions options;
  options.name = std::move(name);
  options.deviceType = devices.front().type;
  std::set<int64_t> seen;
  for (const DeviceSpec &device : devices) {
    if (device.type != options.deviceType)
      fail(op, fmt::format("expected devices of one type, got {} beside {}",
                           device.to_string(), devices.front().to_string()));
    if (device.index < 0 || device.index >= mostDevices)
      fail(op, fmt::format("expected devices numbered from 0 to {}, got {}",
                           mostDevices - 1, device.to_string()));
    if (!seen.insert(device.index).second)
      fail(op, fmt::format("expected different devices, got {} twice",
                           device.to_string()));
    options.localDevices.push_back(fmt::format(
        "/job:localhost/replica:0/task:0/device:{}", device.to_string()));
  }
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
              fmt::format("expected {} devices for sizes {}, got {}: pass "
                          "virtual_cpus({}), or use -1 for one size",
                          size, sizesText(axes), count, size));
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

DefaultMeshScope::DefaultMeshScope(Mesh given)
    : mesh(std::make_shared<Mesh>(std::move(given))) {
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
  const auto &meshes = threadState().meshes;
  for (auto held = meshes.rbegin(); held != meshes.rend(); ++held)
    if (std::shared_ptr<const Mesh> mesh = held->lock())
      // On the mesh of plain tensors they stay plain.
      return *mesh == hostMesh() ? std::nullopt : std::optional(*mesh);
  return std::nullopt;
}

} // namespace meshloom
