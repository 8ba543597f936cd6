// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// LayoutOptimum: the cheapest layouts of a small program, by branch and bound.
#pragma once

#include "meshloom/Layout/Search/LayoutState.h"

#include <map>

namespace meshloom {

/// Finds the layouts of a small graph that no others are cheaper than, with
/// each mesh axis on one factor of each op, or on none.
///
/// Ops get their results' layouts in program order; ops to come are replicated
/// meanwhile, which any op can be. The cost of a value is settled once its
/// producer and its users are laid out, that of a cluster once its ops and the
/// users of their results are; nothing that comes later lowers it. So a branch
/// is given up when the settled cost, and the least work of the ops to come
/// (nothing for a cluster of several ops), is no less than the cost of the best
/// known plan. It is also given up where the search has been at the same
/// frontier at no more cost: with the same layouts of, and needs for, the
/// values that ops to come use. A program of 8 ops takes some hundred changes
/// on one axis and some thousand on two.
///
/// Rejected: relayouts in the bound of what is to come. Their least cost is
/// nearly always nothing.
class LayoutOptimum {
public:
  /// A plan's peak is at most `peakLimit` bytes per device; < 0: any number.
  LayoutOptimum(const LayoutGraph &graph, const LayoutClusters &clusters,
                LayoutState &state, int64_t peakLimit);

  /// Returns whether the graph is one of few ops in one block, all of which may
  /// be moved.
  static bool isSmall(const LayoutGraph &graph);

  /// Lays the graph out so, or leaves it as it is where nothing is cheaper.
  /// False where that takes more than `mostTried` changes, or no plan keeps to
  /// the limit; the plan may not be the cheapest one then.
  bool find(int64_t mostTried);

private:
  using Change = LayoutState::Change;

  void findOrder();
  void findLeastWork();
  Change changeTo(unsigned op, const OpSharding &sharding);
  const std::vector<Change> &choicesOf(unsigned op);
  Cost settledBy(unsigned ops) const;
  bool isWithinLimit() {
    return peakLimit < 0 || state.peakBytes() <= peakLimit;
  }
  Change plan() const;
  uint64_t frontierAt(unsigned op) const;
  bool isReachedForLess(unsigned op, Cost settled);
  void extend(unsigned op, Cost settled);

  const LayoutGraph &graph;
  const LayoutClusters &clusters;
  LayoutState &state;
  const int64_t peakLimit;
  Cost leastCost = 0; ///< of the plans found
  Change best;        ///< the plan, if one is cheaper than that at the start
  int64_t end = 0;    ///< no branch begins after so many changes
  bool isCut = false;
  /// Says whether equal frontiers cost the same from there on. They do not
  /// where there is a limit on the peak, which counts all values, or where ops
  /// share the exchanges of windows.
  bool comparesFrontiers = false;
  NumberTable<Cost> leastCosts; ///< settled, by frontier
  /// How many of the first ops have to be laid out before the cost of a value
  /// or cluster is settled, and what is settled by each number of ops.
  std::vector<unsigned> valueEnds, clusterEnds;
  std::vector<std::vector<unsigned>> settledValues, settledClusters;
  /// The least work of the clusters that are not settled by then.
  std::vector<Cost> leastWork;
  /// By op and the layouts of its operands.
  std::map<std::vector<LayoutId>, std::vector<Change>> choices;
};

} // namespace meshloom
