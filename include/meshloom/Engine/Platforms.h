// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The platforms of this process by the type of their devices.
#pragma once

#include "meshloom/API/Mesh.h"
#include "meshloom/Core/MachineModel.h"
#include "meshloom/Runtime/Platform.h"

#include <atomic>
#include <map>
#include <mutex>

namespace meshloom::detail {

inline constexpr std::string_view virtualType = "CPU";
inline constexpr std::string_view tpuType = "TPU";
inline constexpr std::string_view gpuType = "GPU";

/// The connected platforms by the type of their devices. Platforms last as long
/// as the process.
class Platforms {
public:
  static Platforms &get();

  /// Connects the platform of that name and returns the type of its devices.
  std::string connect(const std::string &name, std::string_view op);
  /// Connects a platform without asking it for its type, which might touch its
  /// devices.
  void add(const std::string &type, const std::shared_ptr<Platform> &platform,
           std::string_view op);
  void remove(const std::string &type);
  /// Null: none of that type is connected.
  std::shared_ptr<Platform> find(const std::string &type);
  std::vector<std::string> types();

private:
  Platforms();

  std::mutex mutex;
  std::map<std::string, std::shared_ptr<Platform>> byType;
};

/// Joins the platform with the other processes, which may have some of its
/// devices. Comes before its devices are looked at.
void joinOthers(Platform &platform, std::string_view op);

/// The platform of a type, which is connected now if the environment names it,
/// or if it is that of GPUs and NVIDIA's driver finds one; null if there is
/// none.
std::shared_ptr<Platform> findPlatform(const std::string &type,
                                       std::string_view op);

/// The platform of devices of that type; connects a plug-in that the
/// environment names so. Throws where there is none, saying what there is.
std::shared_ptr<Platform> platformOf(const std::string &deviceType,
                                     std::string_view op);

/// Returns whether the platform of that type knows devices of other processes,
/// too.
bool isOfSeveralProcesses(const std::string &deviceType, std::string_view op);

/// "CPU" of "cpu".
std::string upperCase(std::string_view text);

/// The machine model that programs on `mesh` are compiled for: `machine`, or
/// the devices' own model where `machine` shares memory and the devices do not.
MachineModel machineFor(const Mesh &mesh, const MachineModel &machine);

/// Virtual CPUs of this process, as set_logical_device_configuration said; 1
/// before.
std::atomic<int64_t> &configuredDevices();

} // namespace meshloom::detail
