// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The entry by which a backend is found by its name.
#pragma once

#include "meshloom/Runtime/Platform.h"

#include <functional>
#include <optional>

namespace meshloom {

/// `name` is the whole name, `argument` what comes after its first colon.
using PlatformFactory = Result<std::shared_ptr<Platform>> (*)(
    const std::string &name, const std::string &argument);

/// Calls `take(name, value)` for each option of a platform's argument: these
/// are separated by commas, and are "name=value" or, without a value, "name".
/// Fails where `take` returns false, with `expected`, the options that there
/// are.
Status readPlatformOptions(
    std::string_view argument, std::string_view expected,
    const std::function<bool(std::string_view name,
                             std::optional<std::string_view> value)> &take);
/// Reads a whole number of at least 0; returns whether `value` is one.
bool readPlatformNumber(std::optional<std::string_view> value, int64_t &number);

/// Devices that are made as clients ask for them.
struct VirtualDevices {
  std::string type; ///< "CPU"
  /// Whose programs they run.
  std::string target = "cpu";
  bool spansProcesses = false;
  /// See Platform::client; its `processes` are null unless spansProcesses.
  std::function<Result<std::shared_ptr<Client>>(
      const std::vector<int64_t> &numbers,
      const std::shared_ptr<PlatformProcesses> &processes)>
      makeClient;
  /// The devices that the platform lists, though clients may have more; null:
  /// none.
  std::function<Result<std::vector<PlatformDevice>>()> listed = nullptr;
  /// See Platform::configure; null: devices are always one.
  std::function<Status(int64_t physical,
                       const std::vector<int64_t> &memoryLimits)>
      configure = nullptr;
};

/// The platform of these devices. Fails where there is an `argument`: it takes
/// none.
Result<std::shared_ptr<Platform>> virtualPlatform(const std::string &name,
                                                  const std::string &argument,
                                                  VirtualDevices devices);

} // namespace meshloom
