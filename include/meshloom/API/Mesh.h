// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Devices, and meshes made of them.
#pragma once

#include "meshloom/Core/Layout.h"

#include <concepts>
#include <iosfwd>
#include <iterator>
#include <ranges>
#include <source_location>

namespace meshloom {

/// A device, such as "CPU:3" or "TPU:0". A function that takes one takes its
/// name as well: OneDeviceStrategy("CPU:1").
struct DeviceSpec {
  /// CPU:0.
  DeviceSpec() = default;
  /// By its parts; see below.
  DeviceSpec(std::string type, int64_t index, int64_t process = -1)
      : type(std::move(type)), index(index), process(process) {}
  /// By its name; see from_string.
  template <typename Name>
    requires std::convertible_to<const Name &, std::string_view>
  DeviceSpec(const Name &name,
             std::source_location where = std::source_location::current())
      : DeviceSpec(from_string(std::string_view(name), where)) {}
  /// The same. Throws meshloom::Error for a null pointer, too.
  DeviceSpec(const char *name,
             std::source_location where = std::source_location::current())
      : DeviceSpec(from_string(
            textOrThrow(name, "a device's name, as \"CPU:0\"", where), where)) {
  }
  /// A device has a name.
  DeviceSpec(std::nullptr_t) = delete;

  std::string type = "CPU"; ///< of its platform
  /// Among those of its type: of its process, or, where that is not said, of
  /// all that run this program together (see Processes.h).
  int64_t index = 0;
  /// Where several processes run this program: which one has it; -1: not said.
  int64_t process = -1;
  /// "CPU:3"; the form of `name` where the process is said.
  std::string to_string() const;
  /// "/job:localhost/replica:0/task:0/device:CPU:3", TensorFlow's form; where
  /// several processes run this program and it is not said which one has the
  /// device, "/device:CPU:3".
  std::string name() const;
  /// The device named "CPU:3", "/CPU:3", "/device:CPU:3" or as `name` writes
  /// it, in any case of letters; without an index it is 0. Throws
  /// meshloom::Error if it is not a device's name, or one of a process that
  /// there is not.
  static DeviceSpec
  from_string(std::string_view name,
              std::source_location where = std::source_location::current());
  /// Returns whether both are the same device.
  bool operator==(const DeviceSpec &) const = default;
};

/// Prints "CPU:3".
std::ostream &operator<<(std::ostream &, const DeviceSpec &);
/// Prints "[CPU:0, CPU:1]".
std::ostream &operator<<(std::ostream &, const std::vector<DeviceSpec> &);

/// Several devices, as functions take them: names, devices as they are listed,
/// or both.
///
///   create_mesh({{"x", 2}}, {"CPU:0", "CPU:1"});
///   MirroredStrategy strategy(list_logical_devices("GPU"));
class DeviceList {
public:
  /// No devices: what the function says then.
  DeviceList() = default;
  /// These.
  DeviceList(std::initializer_list<DeviceSpec> devices) : list(devices) {}
  /// The devices of a vector, an array, or a view of names or of devices.
  template <std::ranges::input_range Range>
    requires std::convertible_to<std::ranges::range_reference_t<Range>,
                                 DeviceSpec> &&
             (!std::same_as<std::remove_cvref_t<Range>, DeviceList>)
  DeviceList(Range &&devices) {
    for (auto &&device : devices)
      list.push_back(device);
  }
  /// The devices from `first` to before `last`.
  template <std::input_iterator Iterator>
    requires std::convertible_to<std::iter_reference_t<Iterator>, DeviceSpec>
  DeviceList(Iterator first, Iterator last) : list(first, last) {}

  /// The devices, in the given order.
  const std::vector<DeviceSpec> &devices() const { return list; }
  /// Returns whether there are none.
  bool empty() const { return list.empty(); }

private:
  std::vector<DeviceSpec> list;
};

/// `n` virtual CPUs, CPU:0 to CPU:n-1: devices that share this process's memory
/// and cores, or, where several processes run this program, those of all of
/// them, each of which has a block. Making them costs nothing; asking again
/// gives the same ones.
/// Throws meshloom::Error if n is not in [1, 65536].
std::vector<DeviceSpec>
virtual_cpus(int64_t n,
             std::source_location where = std::source_location::current());

/// The virtual CPUs asked for so far, at least CPU:0 (of several processes: as
/// many in each as InitializeOptions::devices_per_process), or this process's
/// devices of another type that is connected (see Devices.h). Throws
/// meshloom::Error if there is none of the type. Empty: virtual CPUs.
std::vector<DeviceSpec>
list_devices(std::string_view type = "",
             std::source_location where = std::source_location::current());

/// A mesh of `devices` (default: all of list_devices()), in the order of the
/// axes, the last one fastest: create_mesh({{"x", 2}, {"y", 4}}). One size may
/// be -1: what the number of devices leaves. Without axes: one axis "x".
///
/// Where several processes run this program, "CPU:0" to "CPU:n-1" are n devices
/// of all of them, the k-th block in process k; devices of this process alone
/// are those of local_devices(), and one device is each process's own.
///
/// Throws meshloom::Error if the product of the sizes is not the number of
/// devices, if an axis is repeated or has no valid name, if two sizes are -1,
/// if a device is repeated, does not exist or is of another type than the
/// others, if the processes do not divide the devices.
Mesh create_mesh(std::vector<MeshAxis> axes = {}, DeviceList devices = {},
                 std::string name = "",
                 std::source_location where = std::source_location::current());

/// While it lives, `mesh` is where this thread's tensors without a layout go
/// (replicated). Nests. Throws meshloom::Error if the mesh is empty.
///
///   auto scope = default_mesh(mesh);
///   Tensor x = ones({4, 4}); // replicated on mesh
class [[nodiscard]] DefaultMeshScope {
public:
  /// See default_mesh.
  explicit DefaultMeshScope(Mesh mesh);
  ~DefaultMeshScope();
  DefaultMeshScope(const DefaultMeshScope &) = delete;
  DefaultMeshScope &operator=(const DefaultMeshScope &) = delete;

private:
  std::shared_ptr<const Mesh> mesh;
};
/// auto scope = default_mesh(mesh); see DefaultMeshScope.
inline DefaultMeshScope default_mesh(Mesh mesh) {
  return DefaultMeshScope(std::move(mesh));
}
/// The innermost one of this thread.
std::optional<Mesh> get_default_mesh();

} // namespace meshloom
