// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
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
  int64_t peakBytes = 0; ///< of the largest layout of the chain, on one device
  /// The search stopped at its limit: there may be a cheaper chain.
  bool cutShort = false;

  /// Number of steps that move data: all but slices.
  int64_t collectives() const;
  /// Returns whether it combines values, rather than only moving them.
  bool reduces() const;
};

/// How far a search goes.
struct PlanLimits {
  /// Layouts looked at; the default reaches every chain on meshes of up to four
  /// axes. Whoever only compares costs of many relayouts may ask for less.
  size_t mostSettled = 4096;
  /// Meshes of up to so many axes are searched by all collectives; larger ones
  /// by those that may well lead towards the target.
  unsigned exactAxes = 4;
  /// The most bytes that a layout on the way may take on one device. The larger
  /// of both ends is always allowed, and more where there is no other way: then
  /// the least that does.
  int64_t peakBytes = 0;
};

/// Searches layouts reachable by collectives for the cheapest chain within the
/// bound on memory (A*; ties: fewer bytes sent, then fewer collectives, then
/// fewer steps, then a fixed order of kinds). On meshes of up to four axes the
/// answer is the optimum over all chains of collectives whose permutes keep the
/// number of shards; a permute that does not is the whole plan or not used.
/// Fails where meshes or ranks differ, or `to` is partial where `from` is not
/// (except the kinds and axes both carry).
Result<RelayoutPlan> planRelayout(const Layout &from, const Layout &to,
                                  const Shape &global, DType type,
                                  const MachineModel &machine,
                                  const PlanLimits &limits = {});

/// Returns whether `to` is partial in a way that `from` is not: to go there, a
/// reduction begins. No collective does that; each device keeps what it has, or
/// drops it.
bool beginsReduction(const Layout &from, const Layout &to);

/// The layout to which collectives bring `from` before a reduction begins: `to`
/// without its pending reductions. An axis that becomes pending, and cuts a dim
/// into even blocks as its most minor axis, may stay there (unless `to` has
/// axes on a dim of one element).
Layout beforeBeginning(const Layout &from, const Layout &to,
                       const Shape &global);

/// One layout that a value is brought to, made from the value itself (source
/// -1) or from another one of them.
struct TreeEdge {
  int source;
  unsigned target;
  bool operator==(const TreeEdge &) const = default;
};

/// The prices by which relayouts are compared, in this order.
struct TreePrice {
  Cost cost = 0;
  int64_t collectives = 0;
  auto operator<=>(const TreePrice &) const = default;
};

/// The cheapest way to make all of `targets` layouts of one value, by the price
/// of making one from another (nothing: impossible), in an order in which they
/// can be made. Exact for up to 4; then greedy, from every first one. Nothing
/// where there is no way.
std::optional<std::vector<TreeEdge>> cheapestTree(
    unsigned targets,
    const std::function<std::optional<TreePrice>(int source, unsigned target)>
        &price);

/// The permute that turns `from` into the layout of dims `dims`, with the axes
/// it needs; nothing where none change, or one is pending.
std::optional<CollectiveOp> permuteTo(const Layout &from,
                                      const Layout::DimAxes &dims);

} // namespace meshloom
