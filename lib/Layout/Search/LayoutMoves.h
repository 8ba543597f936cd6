// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// LayoutMoves: the changes that a search may make to one cluster at a time.
#pragma once

#include "ClusterKinds.h"

namespace meshloom {

/// Ways to lay out a cluster: each mesh axis on one of its factors, or none,
/// and what the tensors around it would like best. Clusters that are alike
/// share what these mean (ClusterKinds.h); listing a cluster's moves is a few
/// look-ups for each input and result.
class LayoutMoves {
public:
  using Change = LayoutState::Change;

  LayoutMoves(const LayoutGraph &graph, const LayoutClusters &clusters,
              LayoutState &state);

  /// All assignments of a cluster are listed where they are no more than this,
  /// else those that move one axis.
  static constexpr size_t manyWays = 64, fewWays = 27;

  /// All changes of one cluster but what is: first those by assignments, then
  /// those by tensors around it. They stay where they are,
  /// and so does the list.
  const std::vector<const Change *> &list(unsigned cluster,
                                          size_t ways = manyWays);

private:
  struct Cluster {
    ClusterKind *kind;
    std::vector<unsigned> inputs, results; ///< values
    std::vector<unsigned> firstOps;        ///< per factor class
    std::deque<Change> changes;
    /// By number of the kind; null: not listed before.
    std::vector<const Change *> changeOf;
    std::deque<std::vector<const Change *>> lists;
    NumberTable<unsigned> listNumbers; ///< by `stateOf`, from 1; 0: new
  };

  /// Returns a hash of all that a list depends on.
  uint64_t stateOf(unsigned index, size_t ways) const;
  std::vector<const Change *> newList(Cluster &cluster, size_t ways);

  /// Lists the assignments that are worth trying.
  void findAssignments(const Cluster &cluster, size_t ways);
  const Change *changeTo(Cluster &cluster, unsigned resultLayouts);

  const LayoutGraph &graph;
  LayoutState &state;
  std::vector<Cluster> clusterMoves;

  // Scratch.
  std::vector<const OpEvaluation *> running;
  ClusterKind::Pending pending;
  std::vector<unsigned> found;        ///< assignments
  std::vector<int64_t> listedIn;      ///< per assignment: the last list with it
  std::vector<int64_t> meaningListed; ///< per number of results' layouts
  int64_t lists = 0;
};

} // namespace meshloom
