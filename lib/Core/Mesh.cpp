// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Mesh: checks, derived names and ids, and the table that makes equal meshes
// share one representation. Strings are in MeshString.cpp.
#include "meshloom/Core/Mesh.h"

#include "meshloom/Core/Hash.h"
#include "meshloom/Core/SubAxis.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <limits>
#include <mutex>
#include <ostream>
#include <set>
#include <unordered_map>

namespace meshloom {

namespace {
/// Meshes describe machines; a larger product is a typing error, and would
/// exhaust memory before anything could be said about it.
constexpr int64_t maxDevices = 65'536;

Error meshError(std::string text) {
  return Error("[Mesh] " + std::move(text));
}

bool isIdentifier(std::string_view name) {
  auto letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  if (name.empty() || !letter(name[0]))
    return false;
  return std::all_of(name.begin(), name.end(), [&](char c) {
    return letter(c) || (c >= '0' && c <= '9');
  });
}

Status checkAxisNames(const std::vector<MeshAxis> &axes) {
  if (axes.empty())
    return meshError("a mesh needs at least one axis, e.g. {{\"x\", 8}}");
  std::set<std::string> seen;
  SubAxis last;
  for (const MeshAxis &axis : axes) {
    SubAxis part = SubAxis::parse(axis.name).value_or(SubAxis{axis.name});
    if (!isIdentifier(part.axis))
      return meshError(fmt::format(
          "axis name '{}' is not an identifier; use letters, digits and '_', "
          "not starting with a digit",
          axis.name));
    if (part.axis == "any" || part.axis == "match" || part.axis == "unsharded")
      return meshError(fmt::format(
          "axis name '{}' is reserved (any, match, unsharded); choose another",
          axis.name));
    bool continues = !part.isWhole() && !last.isWhole() &&
                     part.axis == last.axis &&
                     part.before == last.before * last.size;
    if (!continues && !seen.insert(part.axis).second)
      return meshError(fmt::format(
          "axis '{}' appears twice; axis names must differ", axis.name));
    if (!part.isWhole() &&
        (part.size != axis.size || (!continues && part.before != 1)))
      return meshError(fmt::format(
          "axis '{}' = {} is not the next part of '{}'; the parts of an axis "
          "are listed from the major one on, e.g. x:(1)2 = 2, x:(2)4 = 4",
          axis.name, axis.size, part.axis));
    last = part;
  }
  return Success();
}

/// Replaces a size of -1 by what `devices` (0: not known) leaves for it, and
/// returns the product of the sizes.
Result<int64_t> resolveSizes(std::vector<MeshAxis> &axes, int64_t devices) {
  MeshAxis *open = nullptr;
  int64_t product = 1;
  for (MeshAxis &axis : axes) {
    if (axis.size == -1) {
      if (open)
        return meshError(fmt::format(
            "axes '{}' and '{}' both have size -1; only one size can be left "
            "open",
            open->name, axis.name));
      open = &axis;
      continue;
    }
    if (axis.size < 1)
      return meshError(fmt::format(
          "axis '{}' has size {}; sizes are at least 1 (or -1 for one axis "
          "that takes all remaining devices)",
          axis.name, axis.size));
    if (axis.size > maxDevices || product * axis.size > maxDevices)
      return meshError(
          fmt::format("the sizes multiply to more than {} devices at axis '{}'",
                      maxDevices, axis.name));
    product *= axis.size;
  }
  if (!open)
    return product;
  if (devices == 0)
    return meshError(fmt::format(
        "axis '{}' has size -1, but no devices are given to count; give its "
        "size, or the devices",
        open->name));
  if (devices % product != 0)
    return meshError(fmt::format(
        "axis '{}' has size -1, but {} devices cannot be divided by the other "
        "sizes' product {}",
        open->name, devices, product));
  open->size = devices / product;
  return devices;
}

/// "CPU" of "/job:.../device:CPU:3" or "CPU:3".
std::optional<std::string_view> deviceTypeOf(std::string_view device) {
  if (size_t position = device.rfind("device:");
      position != std::string_view::npos)
    device.remove_prefix(position + 7);
  size_t colon = device.find(':');
  if (colon == 0 || colon == std::string_view::npos ||
      colon + 1 == device.size() ||
      !std::all_of(device.begin() + colon + 1, device.end(),
                   [](char c) { return c >= '0' && c <= '9'; }))
    return std::nullopt;
  return device.substr(0, colon);
}

/// Checks names for duplicates and mixed types; sets `type` if still empty.
Status checkDevices(const std::vector<std::string> &devices,
                    std::string &type) {
  std::set<std::string_view> seen;
  for (const std::string &device : devices) {
    auto its = deviceTypeOf(device);
    if (!its || device.find_first_of(",|") != std::string::npos)
      return meshError(
          fmt::format("'{}' is not a device name; expected e.g. CPU:0 or "
                      "/job:localhost/replica:0/task:0/device:CPU:0",
                      device));
    if (type.empty())
      type = *its;
    if (*its != type)
      return meshError(fmt::format(
          "device '{}' is of type {}, but the mesh is of type {}; all devices "
          "of a mesh have one type",
          device, *its, type));
    if (!seen.insert(device).second)
      return meshError(fmt::format(
          "device '{}' appears twice; each device has one place in a mesh",
          device));
  }
  return Success();
}

Status checkIds(const MeshOptions &options, int64_t size,
                std::string_view axes) {
  const auto &ids = options.globalDeviceIds;
  if (int64_t(ids.size()) != size)
    return meshError(fmt::format(
        "{} device ids are given, but the axes {} need {}; give one id per "
        "device, or change the sizes",
        ids.size(), axes, size));
  if (ids[0] < 0)
    return meshError(fmt::format("device id {} is negative", ids[0]));
  if (ids[0] > std::numeric_limits<int64_t>::max() - size)
    return meshError(fmt::format("device id {} is too large", ids[0]));
  for (size_t i = 1; i < ids.size(); ++i)
    if (ids[i] != ids[i - 1] + 1)
      return meshError(fmt::format(
          "global device ids must increase by one, but {} follows {}", ids[i],
          ids[i - 1]));
  const auto &local = options.localDeviceIds;
  for (size_t i = 0; i < local.size(); ++i) {
    if (local[i] < ids.front() || local[i] > ids.back())
      return meshError(fmt::format(
          "local device id {} is not one of the global ids {} to {}", local[i],
          ids.front(), ids.back()));
    if (i && local[i] <= local[i - 1])
      return meshError(
          fmt::format("local device ids must increase, but {} follows {}",
                      local[i], local[i - 1]));
  }
  return Success();
}
} // namespace

struct Mesh::Impl {
  std::vector<MeshAxis> axes;
  std::vector<int64_t> strides;
  int64_t size;
  /// Its names are empty where they are the standard ones: those are then made
  /// on demand, as most meshes are never asked for them.
  DeviceAssignment assignment;
  std::vector<int64_t> localIndices;
  size_t hash;
  mutable std::once_flag namesOnce;
  mutable std::vector<std::string> derivedNames;

  Impl(std::vector<MeshAxis> meshAxes, DeviceAssignment devices)
      : axes(std::move(meshAxes)), strides(axes.size()), size(1),
        assignment(std::move(devices)), localIndices(assignment.localIds) {
    for (int64_t &id : localIndices)
      id -= assignment.ids.front();
    for (size_t i = axes.size(); i-- > 0; size *= axes[i].size)
      strides[i] = size;
    // A mesh whose devices are spelled out and one that derives the same names
    // are equal.
    bool standard = true;
    for (size_t i = 0; standard && i < assignment.localDevices.size(); ++i)
      standard = assignment.localDevices[i] ==
                 DeviceAssignment::standardName(assignment.deviceType,
                                                assignment.localIds[i]);
    if (standard)
      assignment.localDevices.clear();
    hash = computeHash();
  }

  bool sameAs(const Impl &other) const {
    return hash == other.hash && axes == other.axes &&
           assignment == other.assignment;
  }

  size_t computeHash() const {
    StableHash h;
    h.add(assignment.meshName);
    h.add(assignment.deviceType);
    for (const MeshAxis &axis : axes) {
      h.add(axis.name);
      h.add(uint64_t(axis.size));
    }
    h.add(uint64_t(assignment.ids.front()));
    for (int64_t id : assignment.localIds)
      h.add(uint64_t(id));
    for (const std::string &device : assignment.localDevices)
      h.add(device);
    for (const std::string &device : assignment.globalDevices)
      h.add(device);
    h.add(uint64_t(assignment.useXlaSpmd));
    for (int64_t process : assignment.processes)
      h.add(uint64_t(process));
    return h.value();
  }

  /// The one representation of all meshes equal to `candidate`.
  static std::shared_ptr<const Impl>
  intern(std::shared_ptr<const Impl> candidate) {
    // Never destroyed: threads may use meshes while the process ends.
    static std::mutex &mutex = *new std::mutex;
    static auto &table =
        *new std::unordered_multimap<size_t, std::weak_ptr<const Impl>>;
    std::lock_guard lock(mutex);
    auto [entry, end] = table.equal_range(candidate->hash);
    while (entry != end) {
      if (auto existing = entry->second.lock()) {
        if (existing->sameAs(*candidate))
          return existing;
        ++entry;
      } else {
        entry = table.erase(entry);
      }
    }
    table.emplace(candidate->hash, candidate);
    return candidate;
  }
};

Result<Mesh> Mesh::get(std::vector<MeshAxis> axes, MeshOptions options) {
  if (auto ok = checkAxisNames(axes); !ok)
    return ok.error();
  if (options.name.find_first_of("|\n") != std::string::npos)
    return meshError(
        fmt::format("mesh name '{}' must not contain '|'", options.name));
  int64_t count = int64_t(options.globalDeviceIds.size());
  if (!count)
    count = int64_t(options.globalDevices.size());
  if (!count && options.localDeviceIds.empty())
    count = int64_t(options.localDevices.size());
  Result<int64_t> size = resolveSizes(axes, count);
  if (!size)
    return size.error();

  std::string spec;
  for (const MeshAxis &axis : axes)
    spec +=
        fmt::format("{}{}={}", spec.empty() ? "<" : ", ", axis.name, axis.size);
  spec += ">";

  if (options.globalDeviceIds.empty())
    for (int64_t id = 0; id < *size; ++id)
      options.globalDeviceIds.push_back(id);
  if (options.remote) {
    if (!options.localDeviceIds.empty() || !options.localDevices.empty())
      return meshError(
          "a remote mesh has no local devices, but some are given");
  } else if (options.localDeviceIds.empty()) {
    options.localDeviceIds = options.globalDeviceIds;
  }
  if (auto ok = checkIds(options, *size, spec); !ok)
    return ok.error();

  if (!options.localDevices.empty() &&
      options.localDevices.size() != options.localDeviceIds.size())
    return meshError(fmt::format(
        "{} devices are given for the {} local devices of a mesh with axes {}; "
        "their number must equal the product of the sizes",
        options.localDevices.size(), options.localDeviceIds.size(), spec));
  if (!options.globalDevices.empty() &&
      int64_t(options.globalDevices.size()) != *size)
    return meshError(
        fmt::format("{} global devices are given, but the axes {} need {}",
                    options.globalDevices.size(), spec, *size));
  if (auto ok = checkDevices(options.localDevices, options.deviceType); !ok)
    return ok.error();
  if (auto ok = checkDevices(options.globalDevices, options.deviceType); !ok)
    return ok.error();
  if (options.deviceType.empty())
    options.deviceType = "CPU";
  if (!isIdentifier(options.deviceType))
    return meshError(fmt::format("'{}' is not a device type; expected e.g. CPU",
                                 options.deviceType));
  if (options.useXlaSpmd && options.deviceType != "TPU")
    return meshError(
        fmt::format("use_xla_spmd is for TPU meshes, but this mesh "
                    "is of type {}; leave it out",
                    options.deviceType));

  DeviceAssignment assignment;
  assignment.meshName = std::move(options.name);
  assignment.deviceType = std::move(options.deviceType);
  assignment.ids = std::move(options.globalDeviceIds);
  assignment.localIds = std::move(options.localDeviceIds);
  assignment.localDevices = std::move(options.localDevices);
  assignment.globalDevices = std::move(options.globalDevices);
  assignment.useXlaSpmd = options.useXlaSpmd;
  return Mesh(Impl::intern(
      std::make_shared<Impl>(std::move(axes), std::move(assignment))));
}

const DeviceAssignment &Mesh::assignment() const {
  return contents().assignment;
}

const Mesh::Impl &Mesh::contents() const {
  if (!impl)
    meshError("expected a mesh, got an empty one: make it with "
              "create_mesh; one that was moved from is empty, too")
        .raise();
  return *impl;
}

/// Returns whether the lists of `assignment` belong together.
static bool isConsistent(const DeviceAssignment &assignment) {
  const auto &[name, type, ids, local, devices, allDevices, spmd, processes] =
      assignment;
  if (ids.empty() || ids.front() < 0)
    return false;
  for (size_t i = 1; i < ids.size(); ++i)
    if (ids[i] != ids.front() + int64_t(i))
      return false;
  return std::ranges::all_of(local,
                             [&](int64_t id) {
                               return id >= ids.front() && id <= ids.back();
                             }) &&
         (devices.empty() || devices.size() == local.size()) &&
         (allDevices.empty() || allDevices.size() == ids.size()) &&
         (processes.empty() || processes.size() == ids.size());
}

Mesh Mesh::placed_on(const DeviceAssignment &assignment, Where where) const {
  if (assignment == contents().assignment)
    return *this;
  if (assignment.size() != size())
    meshError(fmt::format("a mesh with axes {} takes {} devices, got {}",
                          spec_string(), size(), assignment.size()))
        .atLine(where)
        .raise();
  if (!isConsistent(assignment))
    meshError("expected ids that count up by one, local ids among them, "
              "and one name for each, got an assignment that is not so")
        .atLine(where)
        .raise();
  return Mesh(
      Impl::intern(std::make_shared<Impl>(contents().axes, assignment)));
}

Mesh Mesh::without_devices() const {
  return placed_on(DeviceAssignment::standard(size()));
}

const std::string &Mesh::name() const {
  return contents().assignment.meshName;
}
const std::string &Mesh::device_type() const {
  return contents().assignment.deviceType;
}
std::span<const MeshAxis> Mesh::axes() const {
  return contents().axes;
}
int64_t Mesh::size() const {
  return contents().size;
}
bool Mesh::use_xla_spmd() const {
  return contents().assignment.useXlaSpmd;
}
size_t Mesh::hash() const {
  return impl ? impl->hash : 0;
}
std::vector<int64_t> Mesh::strides() const {
  return contents().strides;
}

std::optional<unsigned> Mesh::axis_index(std::string_view axis) const {
  for (unsigned i = 0; i < rank(); ++i)
    if (contents().axes[i].name == axis)
      return i;
  return std::nullopt;
}

bool Mesh::contains_axis(std::string_view axis) const {
  return axis_index(axis).has_value();
}

int64_t Mesh::axis_size(unsigned axis, Where where) const {
  if (axis >= rank())
    meshError(fmt::format("there is no axis number {} in mesh {}, which "
                          "has {}",
                          axis, spec_string(), rank()))
        .atLine(where)
        .raise();
  return contents().axes[axis].size;
}

int64_t Mesh::axis_size(std::string_view axis, Where where) const {
  if (auto index = axis_index(axis))
    return contents().axes[*index].size;
  meshError(fmt::format("there is no axis '{}' in mesh {}; its axes are "
                        "{}",
                        axis, spec_string(), fmt::join(axis_names(), ", ")))
      .atLine(where)
      .raise();
}

std::vector<std::string> Mesh::axis_names() const {
  std::vector<std::string> names;
  for (const MeshAxis &axis : contents().axes)
    names.push_back(axis.name);
  return names;
}

std::vector<int64_t> Mesh::coords(int64_t device, Where where) const {
  if (device < 0)
    meshError(fmt::format("expected a device of mesh {}, got {}", spec_string(),
                          device))
        .atLine(where)
        .raise();
  std::vector<int64_t> result(rank());
  for (unsigned i = 0; i < rank(); ++i)
    result[i] = device / contents().strides[i] % contents().axes[i].size;
  return result;
}

int64_t Mesh::device_at(std::span<const int64_t> coords, Where where) const {
  bool fits = coords.size() == rank();
  for (unsigned i = 0; fits && i < rank(); ++i)
    fits = coords[i] >= 0 && coords[i] < contents().axes[i].size;
  if (!fits)
    meshError(fmt::format("expected a coordinate on each axis of mesh "
                          "{}, got [{}]",
                          spec_string(), fmt::join(coords, ", ")))
        .atLine(where)
        .raise();
  int64_t device = 0;
  for (unsigned i = 0; i < rank(); ++i)
    device += coords[i] * contents().strides[i];
  return device;
}

std::span<const int64_t> Mesh::global_device_ids() const {
  return contents().assignment.ids;
}
std::span<const int64_t> Mesh::local_indices() const {
  return contents().localIndices;
}
std::span<const int64_t> Mesh::local_device_ids() const {
  return contents().assignment.localIds;
}
std::span<const std::string> Mesh::local_devices() const {
  if (!contents().assignment.localDevices.empty())
    return contents().assignment.localDevices;
  std::call_once(contents().namesOnce, [this] {
    for (int64_t id : contents().assignment.localIds)
      contents().derivedNames.push_back(
          DeviceAssignment::standardName(contents().assignment.deviceType, id));
  });
  return contents().derivedNames;
}
std::span<const std::string> Mesh::global_devices() const {
  return contents().assignment.globalDevices;
}
int64_t Mesh::num_local_devices() const {
  return int64_t(contents().assignment.localIds.size());
}
int64_t Mesh::min_global_device_id() const {
  return contents().assignment.ids.front();
}

std::vector<std::vector<int64_t>> Mesh::local_device_locations() const {
  std::vector<std::vector<int64_t>> locations;
  for (int64_t id : contents().assignment.localIds)
    locations.push_back(coords(id - min_global_device_id()));
  return locations;
}

std::ostream &operator<<(std::ostream &out, const Mesh &mesh) {
  if (!mesh.defined())
    return out << "empty mesh";
  return out << mesh.name() << mesh.spec_string();
}

} // namespace meshloom
