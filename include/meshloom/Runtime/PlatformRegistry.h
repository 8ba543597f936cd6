// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The entry by which a backend is found by its name.
#pragma once

#include "meshloom/Runtime/Platform.h"

#include <functional>

namespace meshloom {

/// `name` is the whole name, `argument` what comes after its first colon.
using PlatformFactory = Result<std::shared_ptr<Platform>> (*)(
    const std::string &name, const std::string &argument);

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
};

/// The platform of these devices. Fails where there is an `argument`: it takes
/// none.
Result<std::shared_ptr<Platform>> virtualPlatform(const std::string &name,
                                                  const std::string &argument,
                                                  VirtualDevices devices);

} // namespace meshloom
