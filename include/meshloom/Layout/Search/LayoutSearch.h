// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The search for cheaper layouts that RefineLayouts runs.
#pragma once

#include "meshloom/Layout/Search/LayoutState.h"

#include <algorithm>

namespace meshloom {

/// The bytes per device that any plan may take at its peak: no machine runs out
/// of so little, but in small programs a few kB more can halve what is sent.
constexpr int64_t smallPeak = int64_t(64) * 1024;

/// The most bytes per device that a plan may take at its peak, where the given
/// one takes `peak`.
constexpr int64_t allowedPeak(int64_t peak) {
  return std::max(peak, smallPeak);
}

/// The search's decision about one cluster, in words: only for clusters that it
/// moved or whose layout needs collectives.
struct LayoutDecision {
  std::vector<unsigned> ops; ///< of the cluster, those that relayouts lead to
                             ///< or from, and moved ones
  bool moved = false;
  /// The rejected choice: propagation's layout where the cluster was moved,
  /// else the cheapest other one. "[*, *] partial<batch: sum>: all_reduce over
  /// [batch] of 2195200 bytes; 472.2 us against 316.1 us, 156.1 us more". For
  /// clusters that were decided together, the times are those of all.
  std::string rejected;
};

/// How far a search goes.
enum class SearchDepth : uint8_t {
  Whole,
  /// Single clusters move, and chains of them. A graph of few clusters has the
  /// whole search.
  Chains,
  /// Only single clusters move. A transformer of 2 layers takes a thirtieth of
  /// the work, and most of its plans are within 2 % of those of whole searches.
  SingleMoves
};

struct LayoutRefinement {
  std::vector<Layout> layouts; ///< per value of the graph
  /// The layouts that operands must be brought to (operands of free ops stay as
  /// they are); ops that were decided alike share theirs.
  std::vector<std::vector<Layout>> needs;
  std::vector<unsigned> needsOf; ///< per op, which; empty: its own number
  const Layout &need(unsigned op, unsigned operand) const {
    return needs[needsOf.empty() ? op : needsOf[op]][operand];
  }
  std::vector<LayoutDecision> decisions; ///< by cluster
  Objective before, after;
  int64_t peakBefore = 0, peakAfter = 0; ///< bytes per device
  /// The search's work: changes of single clusters that it worked out.
  int64_t tried = 0;
  /// Clusters where it stopped trying sequences of moves at a fixed number.
  int64_t cutShort = 0;
  /// No plan within the memory is cheaper, by branch and bound.
  bool isOptimal = false;
  bool changed() const { return after.changes > 0; }
};

/// Moves clusters of ops to cheaper layouts by coordinate descent: from a
/// worklist, each cluster goes to the best of its candidates (each mesh axis on
/// one of its factors, or none) with the others left alone, while that saves at
/// least 5 % of the cost it touches, and 1 % of what a cluster costs on
/// average; where no single move helps, adjacent pairs are tried once.
/// Deterministic; ends because the integer total strictly falls. A result whose
/// peak bytes exceed what those of the start allow (`allowedPeak`) is searched
/// again with every move held to that. Given values, outputs and arguments
/// never change, but for open ones: arguments come as is cheapest for their
/// users, results as they are. `prices`: for several searches over one graph,
/// what relayouts cost; taken where it fits the machine.
LayoutRefinement refineLayouts(const LayoutGraph &graph,
                               const MachineModel &machine,
                               std::shared_ptr<LayoutPrices> prices = nullptr);

/// The cheapest plan found from this start whose peak is at most `memory` bytes
/// per device (0: any number), or what the start takes. Like `refineLayouts`,
/// but any saving is worth a move.
LayoutRefinement findLayouts(const LayoutGraph &graph,
                             const MachineModel &machine, int64_t memory,
                             SearchDepth depth = SearchDepth::Whole);

/// The costs of the layouts that a graph has.
struct LayoutPrice {
  Objective cost;
  int64_t peak = 0; ///< bytes per device
};
LayoutPrice priceLayouts(const LayoutGraph &graph, const MachineModel &machine);

/// The search of RefineLayouts: like `refineLayouts`, but where links count it
/// saves little time for many bytes nowhere, and sends no more than the given
/// layouts do.
LayoutRefinement refineByTimeAndBytes(const LayoutGraph &graph,
                                      const MachineModel &machine,
                                      SearchDepth depth = SearchDepth::Whole);

} // namespace meshloom
