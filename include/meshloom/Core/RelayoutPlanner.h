// The cheapest chain of collectives from one layout to another.
#pragma once

#include "meshloom/Core/MachineModel.h"

namespace meshloom {

/// A chain of collectives: step i's `to` is step i+1's `from`.
struct RelayoutPlan {
  std::vector<CollectiveOp> steps;
  Cost cost = 0;         ///< by the machine model
  int64_t bytesSent = 0; ///< per device, ring count
};

/// Searches layouts reachable by collectives for the cheapest chain (Dijkstra;
/// ties: fewer bytes sent, then fewer collectives, then a fixed order of kinds).
/// Fails where meshes or ranks differ, or `to` is partial where `from` is not
/// (except the kinds and axes both carry).
Result<RelayoutPlan> planRelayout(const Layout &from, const Layout &to,
                                  const Shape &global, DType type,
                                  const MachineModel &machine);

} // namespace meshloom
