// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Platform: where compiled programs can run, by name.
#pragma once

#include "meshloom/Runtime/Client.h"

#include <string>

namespace meshloom {

class PlatformProcesses;

/// A device of a platform, as far as it is known before anything runs there.
struct PlatformDevice {
  /// Among those of its process, as client() takes it there.
  int64_t number = 0;
  std::string kind; ///< "TPU v4"
  /// The coordinates of its chip among the linked chips, x first; empty: not
  /// known.
  std::vector<int64_t> coords;
  int64_t core = 0;    ///< within its chip
  int64_t process = 0; ///< that drives it
  bool isHere = true;  ///< and that this one is
  /// The physical device that it is, or is a part of where that is several
  /// logical ones; -1: `number`.
  int64_t physical = -1;
};

/// A kind of device and the way to reach it: virtual CPUs, a PJRT plug-in. One
/// object stands for the platform in this process. Safe to use from any thread.
class Platform {
public:
  virtual ~Platform() = default;
  /// "cpu", "pjrt:/path/plugin.so": what platform() was asked for.
  virtual const std::string &name() const = 0;
  /// The target whose programs it loads: "cpu", "stablehlo".
  virtual std::string_view target() const = 0;
  /// The type of its devices, which no other platform of this build has: "CPU"
  /// (virtual ones), "TPU", "XLA_CPU".
  virtual Result<std::string> deviceType() = 0;
  /// Says which processes run this program together, before anything asks for
  /// devices; once is enough. Fails where this process alone has used some.
  virtual Status join(const std::shared_ptr<PlatformProcesses> &) {
    return Success();
  }
  /// The devices of all processes that the platform knows, process by process;
  /// programs run on those that are here. None where they are virtual, made as
  /// clients ask for them.
  virtual Result<std::vector<PlatformDevice>> devices() {
    return std::vector<PlatformDevice>();
  }
  /// Makes a physical device as many logical ones as there are limits: each
  /// says how many bytes it may take, 0: as many as there are. Fails where
  /// there is no such device, where it is in use, and where the platform's
  /// devices are always one.
  virtual Status configure(int64_t physical,
                           const std::vector<int64_t> &memoryLimits);
  /// Returns whether one program can run on devices of several processes, as
  /// many in each.
  virtual bool spansProcesses() const { return false; }
  /// The client that has the devices of these numbers; the same one as long as
  /// anybody holds it. Platforms whose devices are virtual make them; others
  /// fail on a number that is not a device of theirs.
  ///
  /// With `processes` the client is a new one: it runs the programs of meshes
  /// that have as many devices in each of them, and these devices in this one.
  /// Fails where the platform does not span processes.
  Result<std::shared_ptr<Client>>
  client(const std::vector<int64_t> &numbers,
         const std::shared_ptr<PlatformProcesses> &processes = nullptr);
  /// A client of the first `count` devices of this process.
  Result<std::shared_ptr<Client>>
  client(int64_t count,
         const std::shared_ptr<PlatformProcesses> &processes = nullptr);

protected:
  /// See client(). `processes` is null unless the platform spans processes.
  virtual Result<std::shared_ptr<Client>>
  clientOf(const std::vector<int64_t> &numbers,
           const std::shared_ptr<PlatformProcesses> &processes) = 0;
};

/// The platform of a name, with what the name says after a colon: "cpu",
/// "reference", "pjrt:/path/plugin.so". Asking again gives the same one. Fails,
/// naming those there are, on other names.
Result<std::shared_ptr<Platform>> platform(const std::string &name);

/// The names that platform() knows.
std::vector<std::string> platformNames();

} // namespace meshloom
