// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// LayoutPrices: what searches over layouts know of prices: relayouts, and how
// ops run.
#pragma once

#include "meshloom/Core/BlockGrid.h"
#include "meshloom/Layout/Search/LayoutGraph.h"
#include "meshloom/Layout/Search/RelayoutCosts.h"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>

namespace meshloom {

/// The numbers that the search minimizes, in this order.
struct Objective {
  Cost cost = 0;
  int64_t collectives = 0;
  int64_t changes = 0; ///< values laid out otherwise than at the start
  auto operator<=>(const Objective &) const = default;
  Objective &operator+=(const Objective &other);
  Objective &operator-=(const Objective &other);
};

/// How one op runs with given layouts of its operands and results.
struct OpEvaluation {
  bool valid = false; ///< the rule allows it
  OpSharding sharding;
  std::vector<LayoutId> needs;    ///< per operand
  std::vector<LayoutId> produces; ///< per result; may drop pending reductions
                                  ///< that no operand has
  Work work;                      ///< compute only; bytes are the cluster's
  Objective halos;                ///< of the halo exchanges of its operands,
                                  ///< but for those that it shares
  /// What it needs beyond the blocks of an operand that other uses need too.
  struct Beyond {
    unsigned operand;
    Windows windows;
  };
  std::vector<Beyond> shared;
};

/// Returns a rule as text without the names of its factors: equal where rules
/// are.
std::string ruleText(const ShardingRule &rule);

class ClusterKinds;

/// Prices of relayouts, evaluations of ops and kinds of clusters, for all
/// searches of a thread on one mesh and machine. Ops are alike (of one kind)
/// where they have one rule, do the same work for a point and have operands and
/// results of one shape and type: the layers of a model, and the programs that
/// an automatic layout compares, are evaluated once.
class LayoutPrices : public RelayoutCosts {
public:
  LayoutPrices(const Mesh &mesh, const MachineModel &machine);
  ~LayoutPrices();

  /// Returns the prices of the calling thread. The thread stores those of its
  /// last mesh and machine until they are large. Numbers of layouts depend on
  /// what the thread searched before, so no result may follow from their order.
  static std::shared_ptr<LayoutPrices> ofThread(const Mesh &mesh,
                                                const MachineModel &machine);

  using Ids = std::span<const LayoutId>;
  struct IdsHash {
    size_t operator()(Ids ids) const {
      size_t hash = ids.size();
      for (LayoutId id : ids)
        hash = (hash ^ id) * 0x9e3779b97f4a7c15u;
      return hash ^ (hash >> 32);
    }
  };
  /// `shared`: per value, whether exchanges of it are priced by value.
  unsigned opKind(const LayoutGraph &graph, unsigned op,
                  std::span<const char> shared);
  /// Returns how an op of a kind runs with these layouts of its operands and
  /// results, which `compute()` returns where it is new.
  template <typename Compute>
  const OpEvaluation &evaluation(unsigned kind, Ids layouts, Compute compute) {
    uint64_t hash = mixed(kind);
    for (LayoutId id : layouts)
      hash = mixed(hash ^ id);
    while (const unsigned *number = evaluationNumbers.find(hash)) {
      const Evaluated &found = evaluated[*number];
      if (found.kind == kind && std::ranges::equal(found.layouts, layouts))
        return found.evaluation;
      hash = mixed(hash);
    }
    evaluated.push_back({kind, {layouts.begin(), layouts.end()}, compute()});
    evaluationNumbers[hash] = unsigned(evaluated.size() - 1);
    return evaluated.back().evaluation;
  }
  ClusterKinds &clusterKinds() { return *kindsOfClusters; }
  /// The exchanges of one value for all uses that share them: how each op runs,
  /// and which of its operands the value is.
  using SharedUses = std::vector<std::pair<const OpEvaluation *, unsigned>>;
  std::map<SharedUses, Objective> sharedHalos;
  /// How a layout cuts tensors of a kind.
  const std::shared_ptr<const BlockGrid> &grid(TensorKind kind, LayoutId id,
                                               const Shape &shape) {
    std::shared_ptr<const BlockGrid> &found = grids[{kind, id}];
    if (!found)
      found = std::make_shared<const BlockGrid>(get(id), shape);
    return found;
  }

  /// The elements of one operand that devices need beyond what they have.
  struct OperandHalo {
    Windows windows;                    ///< no dims: nothing
    std::vector<unsigned> axes;         ///< of the exchange
    std::optional<MovedByDevice> moved; ///< by the exchange, bytes
  };
  /// By the kind of the op, the operand, and what it has and needs: of an op
  /// of hundreds of operands, one alone has changed mostly.
  using OperandKey = std::array<unsigned, 4>;
  struct OperandKeyHash {
    size_t operator()(const OperandKey &key) const { return IdsHash()(key); }
  };
  std::unordered_map<OperandKey, OperandHalo, OperandKeyHash> operandHalos;

private:
  struct Evaluated {
    unsigned kind;
    std::vector<LayoutId> layouts;
    OpEvaluation evaluation;
  };

  std::map<std::pair<TensorKind, LayoutId>, std::shared_ptr<const BlockGrid>>
      grids;
  std::unordered_map<std::string, unsigned> opKinds;
  NumberTable<unsigned> evaluationNumbers; ///< by hash
  std::deque<Evaluated> evaluated;
  const std::unique_ptr<ClusterKinds> kindsOfClusters;
};

} // namespace meshloom
