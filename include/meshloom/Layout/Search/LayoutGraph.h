// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// LayoutGraph: a function as layout decisions see it: ops with sharding rules,
// values with layouts, in loops and branches or not. No MLIR in it, so that the
// search over layouts can be tested by itself; RefineLayouts builds one from a
// function.
#pragma once

#include "meshloom/Core/MachineModel.h"
#include "meshloom/Core/ShardingRule.h"
#include "meshloom/Layout/Search/InlineList.h"

#include <memory>

namespace meshloom {

/// The `runs` of an op that runs once; an op in one of three branches has a
/// third of it.
constexpr int64_t runsOnce = 64;

/// A function body, with the blocks inside its loops and branches.
///
/// Where values meet (what a loop carries, the result of a branch) there is an
/// op that does nothing, a `join`: it takes them and gives the carried value or
/// the result, elementwise, so that a layout for it is looked for as for any
/// other value. The join of a carried value is an op of the loop's body, in
/// front of all others; its operands are the init and the next value, its
/// results the value inside of the loop and the one after it. So
///   h = 0; for (...) h = tanh(h w)
/// is join(h0, t) -> h, r; p = dot(h, w); t = tanh(p), where t is made after it
/// is used: costs do not depend on the order.
///
/// Costs count as often as what they are the costs of: an op `runs` times, a
/// relayout as often as InsertRelayouts will make it, in front of the loops
/// that the value comes from outside of, but inside the innermost branch.
struct LayoutGraph {
  /// The type and layout of a value.
  struct Tensor {
    Shape shape; ///< global
    DType type;
    Layout layout;
  };
  struct Value {
    /// Values of one shape, type and layout may share it: the thousands of a
    /// program have few different ones.
    std::shared_ptr<const Tensor> tensor;
    /// Index of the op that makes it; -1: an argument, or what a constraint or
    /// relayout gives. The layouts of those never change, but for open ones.
    int producer = -1;
    /// There before the first op runs (no device has to wait for it).
    bool argument = false;
    /// How often it is made, or its op runs.
    int64_t runs = runsOnce;
    unsigned block = 0; ///< that makes it: a body, a condition, a branch
    /// How often an all_reduce of it is made, where that is less often: all
    /// that is done with it is to add it to a carried value, so it is made of
    /// the sum, after the loop. 0: it is not.
    int64_t sumRuns = 0;
    unsigned branch = 0; ///< the innermost one that it is made in
    /// An argument that nobody laid out: it comes as its users want it.
    bool open = false;

    const Shape &shape() const { return tensor->shape; }
    DType type() const { return tensor->type; }
    const Layout &layout() const { return tensor->layout; }
    void layOut(Layout layout) {
      tensor =
          std::make_shared<const Tensor>(shape(), type(), std::move(layout));
    }
  };
  struct Op {
    std::shared_ptr<const ShardingRule> rule; ///< that ops of a kind share
    IndexList operands, results;              ///< of values
    /// Floating point operations for each point of the rule's iteration space.
    int64_t flopsPerPoint = 1;
    /// A constant or the like: made in any layout at no cost.
    bool free = false;
    /// Where it runs is seen (a call of the host's functions): it is never
    /// moved.
    bool held = false;
    /// Factors that are no part of that space: whatever their size and shards,
    /// the op does the same work (rows of a table that is looked up in).
    IndexList flat = {};
    int64_t runs = runsOnce;
    unsigned block = 0;
    unsigned branch = 0; ///< the innermost one that it is in
    /// How often that runs, in all: relayouts of operands from outside of it
    /// are made so often.
    int64_t branchRuns = runsOnce;
    bool join = false;
    int loop = -1; ///< that a join carries a value of
    /// How many ops it stands for in a fold (LayoutFold.h); `runs` counts all.
    int64_t copies = 1;
    /// The value that some copies take as operand `operand` instead. They are
    /// brought to what that needs too.
    struct Other {
      unsigned operand, value;
    };
    std::vector<Other> others = {};
  };
  /// A layout that a value must also be brought to: a function's result, a
  /// constraint, a relayout of the user's.
  struct Output {
    unsigned value;
    Layout layout;
    /// Nothing but the function's end waits for it.
    bool atEnd = false;
    unsigned branch = 0; ///< as an op's
    int64_t branchRuns = runsOnce;
    /// Where it is not a result of the function: the value that it gives, and
    /// how many ops come before it.
    int result = -1, place = -1;
    /// Nobody laid it out: as the value is, its reductions resolved.
    bool open = false;
  };
  /// The ops from `first` to `last` (inclusive) run again and again. The joins
  /// of its carried values come right before them.
  struct Loop {
    unsigned first, last;
  };

  std::vector<Value> values;
  std::vector<Op> ops; ///< in an order in which they can run
  std::vector<Output> outputs;
  std::vector<Loop> loops;

  /// All values are on it.
  const Mesh &mesh() const { return values.front().layout().mesh(); }
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

/// Links ops A -> B of one block over a value where all dims of it are factors
/// of both, one each, no factor of B is missing in it and none of A is reduced:
/// elementwise ops, transposes, and broadcasts with those that use them. Near
/// linear.
LayoutClusters findClusters(const LayoutGraph &graph);

} // namespace meshloom
