// LayoutGraph: a function body as layout decisions see it: ops with sharding
// rules, values with layouts. No MLIR in it, so that the search over layouts
// can be tested by itself; RefineLayouts builds one from a function.
#pragma once

#include "meshloom/Core/MachineModel.h"
#include "meshloom/Core/ShardingRule.h"

namespace meshloom {

struct LayoutGraph {
  struct Value {
    Shape shape; ///< global
    DType type;
    Layout layout;
    /// Index of the op that makes it; -1: an argument, or what a constraint or
    /// relayout gives. The layouts of those never change.
    int producer = -1;
    /// There before the first op runs (no device has to wait for it).
    bool argument = false;
    /// From outside of a loop whose body this is: relayouts of the value are
    /// made once for so many runs.
    int64_t runs = 1;
  };
  struct Op {
    ShardingRule rule;
    std::vector<unsigned> operands, results; ///< indices of values
    /// Floating point operations for each point of the rule's iteration space.
    int64_t flopsPerPoint = 1;
    /// A constant or the like: made in any layout at no cost.
    bool free = false;
    /// Factors that are no part of that space: whatever their size and shards,
    /// the op does the same work (rows of a table that is looked up in).
    std::vector<unsigned> flat = {};
  };
  /// A layout that a value must also be brought to: a function's result, a
  /// constraint, a relayout of the user's.
  struct Output {
    unsigned value;
    Layout layout;
    /// Nothing but the function's end waits for it.
    bool atEnd = false;
  };

  std::vector<Value> values;
  std::vector<Op> ops; ///< in an order in which they can run
  std::vector<Output> outputs;

  /// All values are on it.
  const Mesh &mesh() const { return values.front().layout.mesh(); }
};

/// Ops linked by identity-like rules over values whose layout is free to
/// change: what is sensibly laid out alike, and runs as one fused loop. Every
/// op is in one cluster, free ones in none.
struct LayoutCluster {
  /// A factor that the cluster's ops have in common: one per kind of dim.
  struct FactorClass {
    /// (index into `ops`, factor of that op's rule).
    std::vector<std::pair<unsigned, unsigned>> members;
  };
  std::vector<unsigned> ops;        ///< indices into the graph's ops, ascending
  std::vector<FactorClass> factors; ///< of extent above one
};

struct LayoutClusters {
  std::vector<LayoutCluster> clusters; ///< by first op
  std::vector<int> ofOp;               ///< per op, -1 for free ones
};

/// Links ops A -> B over a value where all dims of it are factors of both, one
/// each, no factor of B is missing in it and none of A is reduced: elementwise
/// ops, transposes, and broadcasts with those that use them. Near linear.
LayoutClusters findClusters(const LayoutGraph &graph);

} // namespace meshloom
