// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// LayoutPrices: what searches over layouts know of prices: relayouts, and how
// ops run.
#pragma once

#include "meshloom/Core/BlockGrid.h"
#include "meshloom/Layout/Search/LayoutGraph.h"
#include "meshloom/Layout/Search/RelayoutCosts.h"

#include <algorithm>
#include <array>
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

/// Prices of relayouts and evaluations of ops, kept for all searches over a
/// graph and its folds. Ops are alike (of one kind) where they have one rule,
/// do the same work for a point and have operands and results of one shape and
/// type: the layers of a model are evaluated once.
class LayoutPrices : public RelayoutCosts {
public:
  using RelayoutCosts::RelayoutCosts;

  using Ids = std::span<const LayoutId>;
  struct IdsHash {
    using is_transparent = void;
    size_t operator()(Ids ids) const {
      size_t hash = ids.size();
      for (LayoutId id : ids)
        hash = (hash ^ id) * 0x9e3779b97f4a7c15u;
      return hash ^ (hash >> 32);
    }
  };
  struct IdsEqual {
    using is_transparent = void;
    bool operator()(Ids a, Ids b) const { return std::ranges::equal(a, b); }
  };
  /// By the layouts of operands and results.
  using Evaluations = std::unordered_map<std::vector<LayoutId>, OpEvaluation,
                                         IdsHash, IdsEqual>;

  /// `shared`: per value, whether exchanges of it are priced by value.
  unsigned opKind(const LayoutGraph &graph, unsigned op,
                  std::span<const char> shared);
  Evaluations &evaluations(unsigned kind) { return evaluationsOfKind[kind]; }
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
  std::map<std::pair<TensorKind, LayoutId>, std::shared_ptr<const BlockGrid>>
      grids;
  std::unordered_map<std::string, unsigned> opKinds;
  std::deque<Evaluations> evaluationsOfKind;
};

} // namespace meshloom
