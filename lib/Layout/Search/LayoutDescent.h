// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// LayoutDescent: the search itself, in stages: single moves from a worklist,
// chains of moves, moves of parts of clusters, and windows.
#pragma once

#include "LayoutFold.h"
#include "LayoutMoves.h"
#include "TriedMoves.h"

#include "meshloom/Layout/Search/LayoutSearch.h"

#include <deque>
#include <limits>
#include <set>

namespace meshloom {

/// How much a move must save.
enum class Saving {
  Clear, ///< 5 % of what it touches, and `LayoutDescent::leastSaved`
  Any
};

class LayoutDescent {
public:
  LayoutDescent(const LayoutGraph &graph, const LayoutClusters &clusters,
                const MachineModel &machine,
                std::shared_ptr<LayoutPrices> prices, Saving saving,
                SearchDepth depth);

  /// `peakLimit` < 0: none.
  void run(int64_t peakLimit);
  /// Lays each value out as `parts` has the one that `partOf` says; false, and
  /// nothing, where that is not possible, not cheaper or above the limit.
  bool unfold(std::span<const unsigned> partOf, const LayoutState &parts,
              int64_t peakLimit);
  /// After `unfold`: looks at one of those clusters that are alike and laid out
  /// alike, and at the others if it is moved. At the seams few are.
  void tidy(int64_t peakLimit);
  /// In a fold: clusters that take a value most copies of which go elsewhere
  /// stay as they are, as relayouts for them are counted for all copies. Their
  /// surroundings are as they are elsewhere but for ops some way off, which are
  /// looked at.
  void holdSeams();

  std::vector<LayoutDecision> decisions();

private:
  using Change = LayoutState::Change;
  using Delta = LayoutState::Delta;

  bool canMove(unsigned cluster) const {
    return !clusters.clusters[cluster].factors.empty();
  }
  void findLeastSaved();
  /// Returns whether saving `saved` is worth moving the cluster, and others
  /// with it, where what they touch costs `touched`.
  bool worthwhile(unsigned cluster, Cost saved, Cost touched) const {
    return saved > 0 && saved >= leastSaved[cluster] &&
           (saving == Saving::Any || saved >= touched / 20);
  }
  bool worthwhile(unsigned cluster, const Delta &delta) const {
    return worthwhile(cluster, delta.saved(), delta.before.cost);
  }
  void allowSequences();
  std::vector<uint64_t> clusterColours(unsigned rounds) const;
  void settle(unsigned cluster);
  /// The clusters and values that accepted moves touched.
  struct Moved {
    std::set<unsigned> clusters, touched, changed; ///< touched, changed: values
    void add(const LayoutState &state);            ///< its last `apply`
  };
  void enqueueAround(const Moved &moved);
  void enqueue(unsigned cluster) {
    // Moving a large cluster costs its size: it waits until all near it is
    // settled.
    constexpr size_t manyOps = 128;
    if (canMove(cluster) && !isHeld[cluster] &&
        !std::exchange(queued[cluster], 1))
      (clusters.clusters[cluster].ops.size() > manyOps ? largeOnes : worklist)
          .push_back(cluster);
  }
  void drain();
  void allowSettling();
  Cost edgeCost(unsigned cluster) const;
  Cost possibleSaving(unsigned cluster) const;
  bool promising(unsigned cluster);
  struct Asked {
    Cost saving;
    unsigned cluster;
  };
  std::vector<Asked> toAsk(const std::set<unsigned> &moved) const;
  struct Answer {
    const Change *move = nullptr;
    unsigned cluster = 0;
  };
  Answer answer(const std::vector<Asked> &asked);
  Answer passOn(const std::set<unsigned> &touched,
                const std::set<unsigned> &moved);
  /// How many answers a chain of moves has, how many moves that save nothing,
  /// and how many changes are tried for those of one cluster.
  struct ChainLimits {
    size_t answers, passedOn;
    int64_t tried;
    /// A value that several moves touch costs what it did before the first,
    /// once. Else as often as it is touched: a chain that goes back and forth
    /// must save more, so that what clearly pays is done first.
    bool countsOnce = false;
  };
  bool tryChain(unsigned cluster, const std::vector<const Change *> &options,
                size_t least, const ChainLimits &limits);
  void tryChains(const ChainLimits &limits);
  std::vector<unsigned> windowAround(unsigned cluster, int64_t most);
  bool tryJointly(unsigned cluster, int64_t most);
  void tryWindows();
  bool trySplit(unsigned cluster);
  std::string describe(const std::vector<PlannedRelayout> &relayouts,
                       const std::vector<PlannedRelayout> &without);
  std::string rejected(unsigned cluster, const Change &back);

  const LayoutGraph &graph;
  const LayoutClusters &clusters;

public:
  LayoutState state;
  int64_t cutShort = 0; ///< clusters whose chains were not all tried

private:
  const Mesh &mesh;
  const Saving saving;
  const SearchDepth depth;
  const bool links; ///< are between devices: they share no memory
  LayoutMoves moves;
  TriedMoves triedMoves;
  std::vector<std::vector<unsigned>> neighbours;
  std::vector<std::vector<unsigned>> around; ///< values, per cluster
  std::deque<unsigned> worklist, largeOnes;
  std::vector<char> queued;
  std::vector<char> isHeld;    ///< per cluster: it stays as it is
  std::vector<Cost> leastWork; ///< of the moves of a cluster that were tried
  int64_t peakLimit = -1;
  /// 1 % of what a cluster of its block costs on average: what nobody would
  /// notice is no reason for another collective.
  std::vector<Cost> leastSaved;
  std::vector<char> carries; ///< per cluster: a carried value is in it
  /// Clusters that are alike, until one of them was moved; `peersOf` is empty,
  /// or has for each cluster which ones are its.
  std::vector<std::vector<unsigned>> peers;
  std::vector<unsigned> peersOf;
  int64_t sequencesEnd = 0;    ///< no chain begins after so many changes
  std::vector<char> isSettled; ///< per cluster: it was looked at
  /// ... and is not looked at again after so many changes for many parts.
  int64_t settlingEnd = 0;
};

} // namespace meshloom
