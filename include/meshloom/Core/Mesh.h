// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Mesh: named axes, and the devices they are over.
#pragma once

#include "meshloom/Core/DeviceAssignment.h"
#include "meshloom/Core/Result.h"

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <memory>
#include <optional>
#include <source_location>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace meshloom {

/// One named axis of a mesh; `size` is a number of devices.
struct MeshAxis {
  std::string name;
  int64_t size;
  bool operator==(const MeshAxis &) const = default;
};

/// The options of a Mesh besides its axes. Everything left empty is derived:
/// ids count up from 0, all devices are local and of the type that the device
/// names give, else "CPU".
struct MeshOptions {
  std::string name = {};
  std::string deviceType = {};
  /// Row-major over the axes, strictly increasing by one.
  std::vector<int64_t> globalDeviceIds = {};
  /// The devices that this process drives; all of them when empty (see
  /// `remote`).
  std::vector<int64_t> localDeviceIds = {};
  /// Names such as "/job:localhost/replica:0/task:0/device:CPU:3" or "CPU:3",
  /// one per local id.
  std::vector<std::string> localDevices = {};
  /// One name per global id, where the mesh spans several processes.
  std::vector<std::string> globalDevices = {};
  /// This process drives no device of the mesh.
  bool remote = false;
  /// Part of TensorFlow's mesh strings; for TPU meshes only.
  bool useXlaSpmd = false;
};

/// The devices a program runs on, as a grid with named axes: axes, and a
/// DeviceAssignment. Layouts, the IR and everything compiled have meshes of the
/// standard assignment, which stands for whatever devices a program is loaded
/// on.
///
/// Example: axes x=2, y=4 name 8 devices; device 6 is at coords (1, 2). Devices
/// that differ only in y form a group, over which a collective on `y` runs.
///
/// Invariants: device `i` (0 <= i < size()) is the one at `coords(i)`,
/// row-major: the last axis varies fastest. Global ids count up by one, so id =
/// i + min_global_device_id(). Equal meshes share one representation, so `==`
/// compares pointers: a mesh is compared at every op of a program.
///
/// Rejected: a list of device ids in any order (Shardy's permuted meshes). Then
/// two meshes can have the same axes and different devices, and every
/// collective must carry groups; a reordered machine is described once instead,
/// by the order of the device names.
///
/// An immutable value, cheap to copy, usable from any thread. One made without
/// arguments, or moved from, is empty: it equals other empty ones, and all else
/// throws meshloom::Error.
class Mesh {
public:
  /// The line of a call, for messages.
  using Where = std::source_location;
  Mesh() = default;
  /// Returns whether it is not empty.
  bool defined() const { return impl != nullptr; }

  /// One size may be -1: then it is what the ids or devices given leave for it.
  /// Fails on: no or repeated or reserved ("any", "match", "unsharded", or not
  /// an identifier) axis names, sizes below 1, ids that do not count up, a
  /// number of ids that is not the product of the sizes, duplicate or mixed
  /// type devices, local ids that are not global ones.
  static Result<Mesh> get(std::vector<MeshAxis> axes, MeshOptions options = {});

  const std::string &name() const;
  const std::string &device_type() const;
  std::span<const MeshAxis> axes() const;
  /// Number of axes.
  unsigned rank() const { return unsigned(axes().size()); }
  /// Number of devices, over all processes.
  int64_t size() const;
  bool contains_axis(std::string_view axis) const;
  std::optional<unsigned> axis_index(std::string_view axis) const;
  /// Devices along `axis`. Throws meshloom::Error if there is no such axis.
  int64_t axis_size(std::string_view axis,
                    Where where = Where::current()) const;
  int64_t axis_size(unsigned axis, Where where = Where::current()) const;
  std::vector<std::string> axis_names() const;
  /// Row-major strides, in devices: sizes (2,4,2) -> [8,2,1].
  std::vector<int64_t> strides() const;
  /// Position of a device on each axis; wraps past the size. Throws
  /// meshloom::Error for a negative one.
  std::vector<int64_t> coords(int64_t device,
                              Where where = Where::current()) const;
  /// Inverse of coords. Throws meshloom::Error if there is not one coordinate
  /// for each axis, or if one is not on its axis.
  int64_t device_at(std::span<const int64_t> coords,
                    Where where = Where::current()) const;

  /// Which devices the indices are.
  const DeviceAssignment &assignment() const;
  /// The same axes on other devices. Throws meshloom::Error where their number
  /// is not size(), or where it names devices that it does not have.
  Mesh placed_on(const DeviceAssignment &assignment,
                 Where where = Where::current()) const;
  /// The axes alone: on the standard assignment.
  Mesh without_devices() const;

  std::span<const int64_t> global_device_ids() const;
  std::span<const int64_t> local_device_ids() const;
  /// The indices of the devices that this process drives.
  std::span<const int64_t> local_indices() const;
  /// Names, one per local id.
  std::span<const std::string> local_devices() const;
  /// Names, one per global id; empty unless the mesh was made with them.
  std::span<const std::string> global_devices() const;
  int64_t num_local_devices() const;
  int64_t min_global_device_id() const;
  /// Coordinates of each local device.
  std::vector<std::vector<int64_t>> local_device_locations() const;
  bool is_remote() const { return num_local_devices() == 0; }
  bool is_single_device() const { return size() == 1; }
  bool use_xla_spmd() const;

  /// "name|x=2,y=4|0,1,...|0,1,...|dev0,dev1,...", TensorFlow's form, then
  /// "|global devices" and "|use_xla_spmd" where the mesh has them.
  std::string to_string() const;
  /// Reads to_string's form and the shorthand "name|x=2,y=4|*CPU".
  static Result<Mesh> from_string(std::string_view text);
  /// "<x=2, y=4>": the form of messages and of the IR.
  std::string spec_string() const;

  bool operator==(const Mesh &other) const { return impl == other.impl; }
  /// The same in every process.
  size_t hash() const;

private:
  struct Impl;
  explicit Mesh(std::shared_ptr<const Impl> impl) : impl(std::move(impl)) {}
  /// Throws where it is empty.
  const Impl &contents() const;
  std::shared_ptr<const Impl> impl;
};

/// "<x=2, y=4>", with the name in front where it has one.
std::ostream &operator<<(std::ostream &, const Mesh &);

} // namespace meshloom
