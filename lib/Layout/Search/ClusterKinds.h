// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ClusterKinds: the ways to lay out clusters, for all clusters that are alike.
#pragma once

#include "meshloom/Layout/Search/LayoutState.h"

#include <deque>
#include <map>
#include <unordered_map>

namespace meshloom {

/// An operand of a cluster's op that no op before it in the cluster gives.
struct ClusterInput {
  unsigned position; ///< of the op, in the cluster
  unsigned operand;
  unsigned value;
};

/// Returns the inputs of a cluster: for each op its operands, then those of its
/// copies.
std::vector<ClusterInput> inputsOf(const LayoutGraph &graph,
                                   const LayoutCluster &cluster);

/// The ways to lay out the clusters of a kind.
///
/// A way is an assignment of mesh axes to factor classes. Its meaning for the
/// cluster's results depends on nothing else, except where the cluster is given
/// pending reductions, and a neighbouring tensor's layout asks for an
/// assignment that depends on that layout only. So all of this is worked out
/// once for clusters whose ops are of the same kinds, in all searches that
/// share prices, and has small numbers after that. The numbers depend on which
/// search came first: nothing may be ordered by them.
class ClusterKind {
public:
  ClusterKind(const LayoutGraph &graph, const LayoutCluster &cluster);

  /// The axes of each factor class, major to minor.
  using Assignment = std::vector<std::vector<unsigned>>;
  /// The layouts of all results of the cluster's ops, in order.
  using ResultLayouts = std::vector<LayoutId>;
  /// The inputs of the cluster that have pending reductions, and their layouts.
  using Pending = std::vector<unsigned>;

  /// Returns the assignment by which ops run; `running` has the evaluation of
  /// the first op of each factor class.
  unsigned assignmentOf(const std::vector<const OpEvaluation *> &running);
  /// Returns the assignments with each axis on every class, or on none, if they
  /// are no more than `most`; else those that move one axis.
  const std::vector<unsigned> &around(unsigned assignment, size_t most,
                                      const Mesh &mesh);
  /// Returns the assignment that a layout of an input asks for.
  unsigned wishOfInput(unsigned input, LayoutId id, const LayoutPrices &prices);
  /// Returns the assignment that a layout of a result asks for.
  unsigned wishOfResult(unsigned result, LayoutId id,
                        const LayoutPrices &prices);
  /// Returns the number of the results' layouts that an assignment means, with
  /// pending reductions passed on where they can be; -1: it is impossible.
  int meaning(unsigned assignment, const Pending &pending,
              LayoutPrices &prices);
  const ResultLayouts &resultLayouts(unsigned number) const {
    return meanings[number];
  }

private:
  /// An operand or result of one of the ops.
  struct Tensor {
    unsigned position; ///< into the ops
    ShardingRule::Tensor dims;
  };
  struct Op {
    std::shared_ptr<const ShardingRule> rule;
    std::vector<int> classOf; ///< per factor; -1: none
    /// Per operand: the result of the cluster that it is, or -1 - the input.
    std::vector<int> sources;
    size_t numberOfResults;
  };
  struct IdsHash {
    size_t operator()(const std::vector<unsigned> &ids) const {
      return LayoutPrices::IdsHash()(ids);
    }
  };
  struct RunningHash {
    size_t operator()(const std::vector<const OpEvaluation *> &running) const;
  };

  unsigned number(const Assignment &assignment);
  Assignment assignmentOn(const Assignment &now,
                          const std::vector<unsigned> &classOfAxis,
                          const Mesh &mesh) const;
  unsigned wish(std::unordered_map<LayoutId, unsigned> &wishes,
                const Tensor &tensor, LayoutId id, const LayoutPrices &prices);
  std::optional<ResultLayouts> resultsOf(const Assignment &assignment,
                                         const Pending &pending,
                                         LayoutPrices &prices) const;

  std::vector<Op> ops;
  /// Per factor class, the factor of the first op that has it.
  std::vector<unsigned> firstFactors;
  std::vector<Tensor> inputs, results;

  std::deque<Assignment> assignments;
  std::map<Assignment, unsigned> assignmentIds;
  std::unordered_map<std::vector<const OpEvaluation *>, unsigned, RunningHash>
      runningAssignments;
  /// By assignment and number of ways.
  std::map<std::pair<unsigned, size_t>, std::vector<unsigned>> assignmentsNear;
  /// Per tensor and layout.
  std::vector<std::unordered_map<LayoutId, unsigned>> inputWishes, resultWishes;
  std::deque<ResultLayouts> meanings;
  std::map<ResultLayouts, unsigned> meaningIds;
  /// By assignment, and by assignment and pending inputs.
  std::vector<int> plainMeanings;
  std::unordered_map<std::vector<unsigned>, int, IdsHash> pendingMeanings;
};

/// The kinds of clusters of searches that share prices.
class ClusterKinds {
public:
  ClusterKind &kindOf(const LayoutGraph &graph, const LayoutCluster &cluster,
                      const LayoutState &state);

private:
  std::map<std::vector<unsigned>, ClusterKind> kinds;
};

} // namespace meshloom
