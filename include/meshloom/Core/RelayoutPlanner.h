// The cheapest chain of collectives from one layout to another.
#pragma once

#include "meshloom/Core/MachineModel.h"

namespace meshloom {

/// A chain of collectives: step i's `to` is step i+1's `from`.
struct RelayoutPlan {
  std::vector<CollectiveOp> steps;
  Cost cost = 0;         ///< by the machine model
  Cost overhead = 0;     ///< the part of `cost` that does not depend on size
  int64_t bytesSent = 0; ///< per device, ring count

  /// Number of steps that move data: all but slices.
  int64_t collectives() const;
  /// Whether it combines values, rather than only moving them.
  bool reduces() const;
};

/// Searches layouts reachable by collectives for the cheapest chain (Dijkstra;
/// ties: fewer bytes sent, then fewer collectives, then fewer steps, then a
/// fixed order of kinds).
/// Fails where meshes or ranks differ, or `to` is partial where `from` is not
/// (except the kinds and axes both carry).
Result<RelayoutPlan> planRelayout(const Layout &from, const Layout &to,
                                  const Shape &global, DType type,
                                  const MachineModel &machine);

/// The permutation of shards between devices that turns `from` into the layout
/// of dims `dims`, with the axes it needs; nothing where shards of the two are
/// not the same boxes.
std::optional<CollectiveOp>
permuteTo(const Layout &from, const Layout::DimAxes &dims, const Shape &global);

} // namespace meshloom
