// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// PlannedWays: the prices of relayouts that were planned before, for all
// searches of the process.
#pragma once

#include "meshloom/Core/RelayoutPlanner.h"

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>

namespace meshloom {

/// Returns whether two machines price collectives alike. With links, only links
/// count.
bool priceCollectivesAlike(const MachineModel &machine,
                           const MachineModel &other);

/// The properties of a relayout that every change of a search asks for.
struct RelayoutWay {
  Cost cost = 0;
  Cost overhead = 0; ///< the part that does not depend on size
  int64_t collectives = 0;
  bool reduces = false;
  bool sums = false; ///< it is one all_reduce
  TreePrice price() const { return {cost, collectives}; }
};

/// The ways of one mesh and machine, by patterns of relayouts
/// (RelayoutCosts.h). Planning was a fifth of the time of an automatic layout,
/// which searches a program tens of times. A way follows from its pattern, so
/// results do not depend on what was planned before. Safe for several threads.
class PlannedWays {
public:
  PlannedWays(const Mesh &mesh, const MachineModel &machine)
      : mesh(mesh), machine(machine) {}

  /// Returns the ways of the mesh and the machine. The process stores the ways
  /// of the last few.
  static std::shared_ptr<PlannedWays> of(const Mesh &mesh,
                                         const MachineModel &machine);

  /// Returns the way of a pattern, which `plan()` returns where it is new;
  /// nothing where there is none.
  template <typename Plan>
  std::optional<RelayoutWay> find(const std::string &pattern, Plan plan) {
    {
      const std::scoped_lock lock(mutex);
      if (auto found = ways.find(pattern); found != ways.end())
        return found->second;
    }
    std::optional<RelayoutWay> way = plan();
    constexpr size_t most = 100'000; // about 20 MB
    const std::scoped_lock lock(mutex);
    if (ways.size() == most)
      ways.clear();
    ways.emplace(pattern, way);
    return way;
  }

private:
  const Mesh mesh;
  const MachineModel machine;
  std::mutex mutex;
  std::unordered_map<std::string, std::optional<RelayoutWay>> ways;
};

} // namespace meshloom
