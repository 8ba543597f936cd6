// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// DeviceAssignment: which devices the indices of a mesh are.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace meshloom {

/// Binds mesh indices to devices and processes. A compiled program knows axes
/// only; a program is bound when it is loaded, so that all processes compile
/// the same bytes.
///
/// Example: a mesh <x=2, y=4> on the devices CPU:8 to CPU:15 of this process
/// has the `ids` 0 to 7, all of them local, and the local devices
/// "/job:localhost/replica:0/task:0/device:CPU:8" to "...:15". Index 6 (x=1,
/// y=2) is CPU:14.
///
/// The assignment of a mesh that nobody gave devices is `standard`.
struct DeviceAssignment {
  /// The user's name of the mesh.
  std::string meshName = {};
  /// "CPU", "GPU", "TPU": what kind of device all of them are.
  std::string deviceType = "CPU";
  /// The id of mesh index i, over all processes; they count up by one.
  std::vector<int64_t> ids;
  /// The ids of the devices that this process drives.
  std::vector<int64_t> localIds;
  /// Names, one per local id; empty: the standard ones, whose number is the id.
  std::vector<std::string> localDevices = {};
  /// Names, one per id, where the mesh spans several processes.
  std::vector<std::string> globalDevices = {};
  /// Part of TensorFlow's mesh strings; for TPU meshes only.
  bool useXlaSpmd = false;
  /// The process that drives each mesh index, as many devices in each; empty:
  /// equal blocks of indices in the order of the processes.
  std::vector<int64_t> processes = {};

  bool operator==(const DeviceAssignment &) const = default;

  /// The CPUs 0 to `size` - 1 of this process.
  static DeviceAssignment standard(int64_t size);
  /// The devices with the given numbers (`{8, 9}`: CPU:8 and CPU:9) of this
  /// process, for indices 0, 1, ...
  static DeviceAssignment of(std::string deviceType,
                             const std::vector<int64_t> &devices);

  /// Devices 0 to n - 1 of each process, for the mesh indices that
  /// `processes` says it has. This process is `self`.
  static DeviceAssignment among(std::vector<int64_t> processes, int64_t self);

  /// Number of devices, over all processes.
  int64_t size() const { return int64_t(ids.size()); }
  /// The number behind each local device's name: 3 of "...:CPU:3".
  std::vector<int64_t> localDeviceNumbers() const;
  /// "/job:localhost/replica:0/task:0/device:CPU:3".
  static std::string standardName(std::string_view deviceType, int64_t number);
};

} // namespace meshloom
