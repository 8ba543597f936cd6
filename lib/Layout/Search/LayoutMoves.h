// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// LayoutMoves: the changes that a search may make to one cluster at a time.
#pragma once

#include "meshloom/Layout/Search/LayoutState.h"

#include <deque>
#include <map>
#include <unordered_map>

namespace meshloom {

/// Ways to lay out a cluster: each mesh axis on one of its factors, or none,
/// and what the tensors around it would like best.
///
/// A way is an assignment of axes to factor classes. Its meaning for the
/// cluster's values depends on nothing else, except where the cluster is given
/// pending reductions, and a neighbouring tensor's layout asks for an
/// assignment that depends on that layout only. So all of this is worked out
/// once and known by small numbers after that; listing a cluster's moves is a
/// few look-ups for each operand and result.
class LayoutMoves {
public:
  using Change = LayoutState::Change;

  LayoutMoves(const LayoutGraph &graph, const LayoutClusters &clusters,
              LayoutState &state);

  /// All assignments of a cluster are listed where they are no more than this,
  /// else those that move one axis.
  static constexpr size_t manyWays = 64, fewWays = 27;

  /// All changes of one cluster but what is, in a fixed order. They stay where
  /// they are.
  std::vector<const Change *> list(unsigned cluster, size_t ways = manyWays);

private:
  /// Axes of each factor class of a cluster, major to minor.
  using Assignment = std::vector<std::vector<unsigned>>;
  /// An operand or result of one of a cluster's ops.
  struct Place {
    unsigned position; ///< into the cluster's ops
    unsigned value;
    const ShardingRule::Tensor *dims;
  };
  struct IdsHash {
    size_t operator()(const std::vector<unsigned> &ids) const;
  };
  struct Cluster {
    std::vector<Place> inputs, results;    ///< inputs: made elsewhere
    std::vector<std::vector<int>> classOf; ///< per op and factor; -1: none

    std::vector<Assignment> assignments;
    std::map<Assignment, unsigned> assignmentIds;
    std::deque<Change> changes;
    std::map<Change, unsigned> changeIds;
    /// Changes by assignment, and by assignment and the ids of pending inputs;
    /// -1: impossible.
    std::vector<int> meaning;
    std::unordered_map<std::vector<unsigned>, int, IdsHash> pendingMeaning;
    /// By assignment now and number of ways.
    std::map<std::pair<unsigned, size_t>, std::vector<unsigned>> around;
    /// By place and layout: the assignment that it asks for.
    std::vector<std::unordered_map<LayoutId, unsigned>> wishes;
  };

  unsigned number(Cluster &cluster, const Assignment &assignment);
  unsigned assignmentNow(unsigned cluster);
  const std::vector<unsigned> &around(Cluster &cluster, unsigned now,
                                      size_t ways);
  unsigned wish(unsigned cluster, unsigned place, LayoutId layout);
  int meaning(unsigned cluster, unsigned assignment,
              const std::vector<unsigned> &pending);
  std::optional<Change> change(unsigned cluster, const Assignment &assignment,
                               bool pass);

  const LayoutGraph &graph;
  const LayoutClusters &clusters;
  LayoutState &state;
  std::vector<Cluster> clusterMoves;

  // Scratch.
  std::vector<unsigned> found; ///< assignments
  std::vector<int64_t> listed; ///< per assignment: the last list with it
  int64_t lists = 0;
  std::vector<int> ids;
};

} // namespace meshloom
