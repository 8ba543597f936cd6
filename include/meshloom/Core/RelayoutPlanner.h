// The cheapest chain of collectives from one layout to another.
#pragma once

#include "meshloom/Core/MachineModel.h"

#include <functional>

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

/// Searches layouts reachable by collectives for the cheapest chain (A*;
/// ties: fewer bytes sent, then fewer collectives, then fewer steps, then a
/// fixed order of kinds).
/// After `mostSettled` layouts it stops with the cheapest chain found: the
/// default reaches every chain on meshes of up to 4 axes; whoever only compares
/// costs of many relayouts may ask for less.
/// Fails where meshes or ranks differ, or `to` is partial where `from` is not
/// (except the kinds and axes both carry).
Result<RelayoutPlan> planRelayout(const Layout &from, const Layout &to,
                                  const Shape &global, DType type,
                                  const MachineModel &machine,
                                  size_t mostSettled = 4096);

/// One layout that a value is brought to, made from the value itself (source
/// -1) or from another one of them.
struct TreeEdge {
  int source;
  unsigned target;
  bool operator==(const TreeEdge &) const = default;
};

/// The cheapest way to make all of `targets` layouts of one value, by the cost
/// of making one from another (nothing: impossible), in an order in which they
/// can be made. Exact for up to 4; then greedy. Nothing where there is no way.
std::optional<std::vector<TreeEdge>> cheapestTree(
    unsigned targets,
    const std::function<std::optional<Cost>(int source, unsigned target)>
        &cost);

/// The permutation of shards between devices that turns `from` into the layout
/// of dims `dims`, with the axes it needs; nothing where shards of the two are
/// not the same boxes.
std::optional<CollectiveOp>
permuteTo(const Layout &from, const Layout::DimAxes &dims, const Shape &global);

} // namespace meshloom
