// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Arrays on a plug-in's devices. A plug-in knows static shapes only: every
// device's buffer has the shape of the largest shard, and what lies beyond a
// device's own shard is zero and read by nobody.
#include "PJRTClient.h"

#include "meshloom/Runtime/BoxCopy.h"
#include "meshloom/Runtime/Combine.h"

#include <algorithm>
#include <fmt/format.h>

namespace meshloom::pjrt {

PJRTBuffer::PJRTBuffer(std::shared_ptr<PJRTClient> client,
                       std::vector<PluginBuffer> parts, int64_t bytes)
    : owner(std::move(client)), buffers(std::move(parts)), size(bytes) {
  static_cast<PJRTClient &>(*owner).live += size;
}

PJRTBuffer::~PJRTBuffer() {
  static_cast<PJRTClient &>(*owner).live -= size;
}

PJRTClient::PJRTClient(std::shared_ptr<Session> session,
                       const std::string &deviceType,
                       const std::vector<int64_t> &numbers)
    : shared(std::move(session)) {
  for (int64_t number : numbers)
    deviceList.push_back({number, fmt::format("{}:{}", deviceType, number)});
}

Result<std::vector<const PluginDevice *>>
PJRTClient::devicesOf(const DeviceAssignment &assignment) const {
  std::vector<const PluginDevice *> found;
  for (int64_t number : assignment.localDeviceNumbers()) {
    if (std::ranges::none_of(deviceList, [&](const Device &device) {
          return device.id == number;
        }))
      return Error(
          fmt::format("device {}:{} is not one of this client's: {} to {}",
                      assignment.deviceType, number, deviceList.front().name,
                      deviceList.back().name));
    found.push_back(&shared->plugin->devices()[size_t(number)]);
  }
  return found;
}

int64_t partBytesOf(const ArrayType &type) {
  return elementCount(type.layout.local_shape(type.shape)) *
         byteWidth(type.dtype);
}

namespace {
/// The device's coordinate is 0 on all of `axes` that the predicate names.
template <typename Predicate>
bool isFirstAlong(const Mesh &mesh, int64_t device, Predicate axes) {
  const std::vector<int64_t> coords = mesh.coords(device);
  for (unsigned axis = 0; axis < coords.size(); ++axis)
    if (coords[axis] != 0 && axes(axis))
      return false;
  return true;
}

bool holdsIdentity(const Layout &layout, int64_t device) {
  return !isFirstAlong(layout.mesh(), device, [&](unsigned axis) {
    return std::ranges::any_of(layout.partial(), [&](const Partial &partial) {
      return partial.axis == axis;
    });
  });
}

Error about(const ArrayType &type, const Error &error) {
  return error.withMessage(type.to_string() + ": " + error.message());
}
} // namespace

std::shared_ptr<PJRTBuffer> PJRTClient::hold(std::vector<PluginBuffer> parts,
                                             int64_t partBytes) {
  const int64_t bytes = partBytes * int64_t(parts.size());
  return std::make_shared<PJRTBuffer>(
      std::static_pointer_cast<PJRTClient>(shared_from_this()),
      std::move(parts), bytes);
}

Result<std::shared_ptr<Buffer>> PJRTClient::put(
    const ArrayType &type,
    const std::function<std::span<const char>(int64_t device)> &partOf) {
  auto devices = devicesOf(type.layout.mesh().assignment());
  if (!devices)
    return about(type, devices.error());
  const Shape local = type.layout.local_shape(type.shape);
  std::vector<PluginBuffer> parts;
  for (size_t device = 0; device < devices->size(); ++device) {
    auto part = shared->plugin->toDevice(*(*devices)[device], type.dtype, local,
                                         partOf(int64_t(device)));
    if (!part)
      return about(type, part.error());
    parts.push_back(std::move(*part));
  }
  return std::shared_ptr<Buffer>(hold(std::move(parts), partBytesOf(type)));
}

Result<std::shared_ptr<Buffer>>
PJRTClient::fromHost(const ArrayType &type, std::span<const char> data) {
  const Layout &layout = type.layout;
  const unsigned width = byteWidth(type.dtype);
  const Shape local = layout.local_shape(type.shape);
  const ArrayView whole{const_cast<char *>(data.data()),
                        Box::whole(type.shape)};
  HostBytes padded;
  return put(type, [&](int64_t device) -> std::span<const char> {
    const bool identity = holdsIdentity(layout, device);
    if (!identity && local == type.shape)
      return data;
    padded.assign(size_t(elementCount(local)) * width, 0);
    if (identity) {
      fillIdentity(layout.partial().front().kind, type.dtype, padded.data(),
                   elementCount(local));
    } else {
      const Box shard = layout.shard(type.shape, device);
      copyBox({padded.data(), {shard.offset, local}}, whole, shard, width);
    }
    return padded;
  });
}

Result<std::shared_ptr<Buffer>>
PJRTClient::fromComponents(const ArrayType &type,
                           std::span<const Component> components) {
  const unsigned width = byteWidth(type.dtype);
  const Shape local = type.layout.local_shape(type.shape);
  HostBytes padded;
  return put(type, [&](int64_t device) -> std::span<const char> {
    const Component &component = components[size_t(device)];
    if (component.shape == local)
      return component.bytes;
    padded.assign(size_t(elementCount(local)) * width, 0);
    const Box held = Box::whole(component.shape);
    copyBox({padded.data(), Box::whole(local)},
            {const_cast<char *>(component.bytes.data()), held}, held, width);
    return padded;
  });
}

Result<std::vector<HostBytes>>
PJRTClient::read(const ArrayType &type, const Buffer &buffer,
                 std::span<const int64_t> devices) {
  const auto &parts = static_cast<const PJRTBuffer &>(buffer).parts();
  std::vector<HostBytes> values(devices.size(),
                                HostBytes(size_t(partBytesOf(type))));
  // All at once; none may be left writing to memory that is gone.
  std::vector<PluginEvent> copies;
  std::optional<Error> failure;
  for (size_t i = 0; i < devices.size() && !failure; ++i) {
    auto copy = parts[size_t(devices[i])].copyTo(values[i], type.shape.size());
    if (copy)
      copies.push_back(std::move(*copy));
    else
      failure = copy.error();
  }
  for (const PluginEvent &copy : copies)
    if (Status done = copy.wait("read an array"); !done && !failure)
      failure = done.error();
  if (failure)
    return about(type, *failure);
  return values;
}

Result<HostBytes> PJRTClient::toHost(const ArrayType &type,
                                     const Buffer &buffer) {
  const Layout &layout = type.layout;
  const unsigned width = byteWidth(type.dtype);
  const Shape local = layout.local_shape(type.shape);
  // One copy of each shard; all addends of it.
  std::vector<int64_t> devices;
  for (int64_t device = 0; device < layout.mesh().size(); ++device)
    if (!layout.shard(type.shape, device).empty() &&
        isFirstAlong(layout.mesh(), device,
                     [&](unsigned axis) { return !layout.uses_axis(axis); }))
      devices.push_back(device);
  auto values = read(type, buffer, devices);
  if (!values)
    return values.error();
  if (devices.size() == 1 && local == type.shape)
    return std::move(values->front());

  std::map<Shape, std::vector<size_t>> addends; // by the shard's offset
  for (size_t i = 0; i < devices.size(); ++i)
    addends[layout.shard(type.shape, devices[i]).offset].push_back(i);
  HostBytes whole(size_t(elementCount(type.shape)) * width);
  for (const auto &[offset, indices] : addends) {
    HostBytes &value = (*values)[indices.front()];
    if (indices.size() > 1) {
      std::vector<const void *> sources;
      for (size_t i : indices)
        sources.push_back((*values)[i].data());
      combine(layout.partial().front().kind, type.dtype, value.data(), sources,
              elementCount(local));
    }
    copyBox({whole.data(), Box::whole(type.shape)},
            {value.data(), {offset, local}},
            layout.shard(type.shape, devices[indices.front()]), width);
  }
  return whole;
}

Result<OwnedComponent> PJRTClient::component(const ArrayType &type,
                                             const Buffer &buffer,
                                             int64_t device) {
  auto values = read(type, buffer, std::span(&device, 1));
  if (!values)
    return values.error();
  const Shape local = type.layout.local_shape(type.shape);
  const Shape extent = type.layout.shard(type.shape, device).extent;
  if (extent == local)
    return OwnedComponent{extent, std::move(values->front())};
  const unsigned width = byteWidth(type.dtype);
  OwnedComponent component{extent,
                           HostBytes(size_t(elementCount(extent)) * width)};
  copyBox({component.bytes.data(), Box::whole(extent)},
          {values->front().data(), Box::whole(local)}, Box::whole(extent),
          width);
  return component;
}

Result<std::shared_ptr<Executable>>
PJRTClient::loadOn(Compiled compiled, const DeviceAssignment &assignment,
                   const LoadOptions &options) {
  if (!compiled.stableHLO())
    return Error(fmt::format("program '{}' consists of steps, which PJRT "
                             "plug-ins do not run: compile it for the target "
                             "stablehlo",
                             compiled.signature().name));
  if (options.checkNonFinite)
    return Error(fmt::format("program '{}' cannot be searched for the op that "
                             "makes a nan or an infinity: a PJRT plug-in runs "
                             "it as a whole. Use the platform cpu",
                             compiled.signature().name));
  return loadExecutable(
      std::static_pointer_cast<PJRTClient>(shared_from_this()),
      std::move(compiled), assignment, options);
}

} // namespace meshloom::pjrt
