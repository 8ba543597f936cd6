// Mesh: named axes over a set of devices.
#pragma once

#include "meshloom/Core/Result.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
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

/// What a Mesh is made from besides its axes. Everything left empty is derived:
/// ids count up from 0, all devices are local and of type "CPU".
struct MeshOptions {
  std::string name;
  std::string deviceType = "CPU";
  /// Row-major over the axes, strictly increasing by one.
  std::vector<int64_t> globalDeviceIds;
  std::vector<int64_t> localDeviceIds;
  /// Names such as "/job:localhost/replica:0/task:0/device:CPU:3", one per
  /// local id.
  std::vector<std::string> localDevices;
};

/// An immutable value, cheap to copy. Device `i` (0 <= i < size()) of the mesh
/// is the one at `coords(i)`, row-major: the last axis varies fastest.
class Mesh {
public:
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
  /// Throws meshloom::Error if there is no such axis.
  int64_t axis_size(std::string_view axis) const;
  int64_t axis_size(unsigned axis) const { return axes()[axis].size; }
  std::vector<std::string> axis_names() const;
  /// Row-major strides, in devices: sizes (2,4,2) -> [8,2,1].
  std::vector<int64_t> strides() const;
  /// Position of a device on each axis; wraps past the size.
  std::vector<int64_t> coords(int64_t device) const;
  /// Inverse of coords.
  int64_t device_at(std::span<const int64_t> coords) const;

  std::span<const int64_t> global_device_ids() const;
  std::span<const int64_t> local_device_ids() const;
  std::span<const std::string> local_devices() const;
  int64_t num_local_devices() const;
  int64_t min_global_device_id() const;
  /// Coordinates of each local device.
  std::vector<std::vector<int64_t>> local_device_locations() const;
  bool is_remote() const { return num_local_devices() == 0; }
  bool is_single_device() const { return size() == 1; }

  /// "name|x=2,y=4|0,1,...|0,1,...|dev0,dev1,...", TensorFlow's form; also
  /// reads the shorthand "name|x=2,y=4|*CPU".
  std::string to_string() const;
  static Result<Mesh> from_string(std::string_view text);

  bool operator==(const Mesh &other) const;
  size_t hash() const;

private:
  struct Impl;
  explicit Mesh(std::shared_ptr<const Impl> impl) : impl(std::move(impl)) {}
  std::shared_ptr<const Impl> impl;
};

} // namespace meshloom
