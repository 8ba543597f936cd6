// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The ways of the meshes and machines that were searched last.
#include "meshloom/Layout/Search/PlannedWays.h"

#include <algorithm>
#include <deque>

namespace meshloom {

bool priceCollectivesAlike(const MachineModel &machine,
                           const MachineModel &other) {
  return machine == other ||
         (!machine.sharedMemory && !other.sharedMemory &&
          machine.defaultLink == other.defaultLink &&
          machine.links == other.links && machine.torus == other.torus &&
          machine.hosts == other.hosts);
}

std::shared_ptr<PlannedWays> PlannedWays::of(const Mesh &mesh,
                                             const MachineModel &machine) {
  constexpr size_t most = 16;
  // The last first. Never destroyed: threads compile until the process ends.
  static auto &latest = *new std::deque<std::shared_ptr<PlannedWays>>();
  static std::mutex mutex;
  const std::scoped_lock lock(mutex);
  auto found = std::ranges::find_if(latest, [&](const auto &ways) {
    return ways->mesh == mesh && priceCollectivesAlike(ways->machine, machine);
  });
  if (found == latest.end()) {
    if (latest.size() == most)
      latest.pop_back();
    latest.push_front(std::make_shared<PlannedWays>(mesh, machine));
  } else {
    std::rotate(latest.begin(), found, found + 1);
  }
  return latest.front();
}

} // namespace meshloom
