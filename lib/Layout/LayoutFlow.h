// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The flow of mesh axes from the user's layouts along the factors of sharding
// rules: what PropagateLayouts decides types from.
#pragma once

#include "LayoutNumbers.h"
#include "meshloom/ControlFlow/OpKinds.h"
#include "meshloom/Dialect/DTensor/FunctionLayouts.h"
#include "meshloom/Dialect/DTensor/Wish.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <deque>
#include <memory>

namespace meshloom {

/// A layout that the user wrote, in words: "argument 'x' [batch, *]".
struct Annotation {
  std::string text;
  Location location;
};

/// A user's wish about a value, where that is less than a layout.
struct FlowWish {
  dtensor::Wish wish;
  /// Dims whose priority has not come yet.
  SmallVector<char> waiting;
};

/// The axes that a value's dims have been given so far. Layouts are numbers of
/// the flow's.
struct FlowState {
  /// The axes as a layout, without pending reductions.
  unsigned layout = 0;
  /// Given, or decided at the end: what the value is, pending reductions too.
  std::optional<unsigned> actual;
  /// The user wrote the type: it never changes.
  bool fixed = false;
  std::unique_ptr<FlowWish> wished;
};

/// Reports that `op` has no sharding rule; for an op of StableHLO also the pass
/// that turns it into ops that have one.
LogicalResult failWithoutRule(Operation &op);

/// How an op takes part in the flow.
enum class FlowKind : uint8_t {
  Barrier,     ///< relayout, constraint, return: layouts are given
  Identity,    ///< all tensors have the same factors
  Contraction, ///< operands have factors that others lack
  Broadcast    ///< a result has a factor that no operand has
};

/// A rule that axes flow by; all ops of one kind share it.
struct FlowRule {
  ShardingRule rule;
  FlowKind kind;
};

struct FlowOp {
  Operation *op;
  const FlowRule *shared;                     ///< null: a barrier
  SmallVector<unsigned, 4> operands, results; ///< indices of states
  /// A result of a control op: no op makes it, values meet in it.
  std::optional<unsigned> joins = std::nullopt;
  /// Which way axes may pass.
  dtensor::WishDirection direction = dtensor::WishDirection::Both;
  /// Only links values: there is nothing to lay out.
  bool linksOnly = false;

  FlowKind kind() const { return shared ? shared->kind : FlowKind::Barrier; }
  const ShardingRule &rule() const { return shared->rule; }
};

/// Where dims have priorities, the stages run once for each, in order: the axes
/// of a dim are put in place when its turn comes, and kept free till then.
///
/// Runs over a function, with the blocks inside its loops and branches. A
/// carried value is one value, from the arguments of both regions to the
/// result; its init and its next value meet in it as the operands of an
/// elementwise op do, and so do a case's branches in its results. Axes are only
/// ever added to a value, each at most once, so the number of changes is at
/// most values x axes; an op is visited again only after a change to one of its
/// values. The result of a visit follows from the op's rule and the layouts
/// that its values have by then; a program has few different such visits, and
/// each result is computed once.
class LayoutFlow {
public:
  explicit LayoutFlow(mlir::func::FuncOp function) : function(function) {}

  /// The mesh, annotations, then the four stages. Fails, with diagnostics, on
  /// ops that have no rule and on several meshes.
  LogicalResult run();

  unsigned indexOf(Value value) const { return index.lookup(value); }
  FlowState &state(Value value) { return states[indexOf(value)]; }
  const Mesh &mesh() const { return *onMesh; }
  /// The axes of a value, by its index.
  const Layout &layoutOf(unsigned value) const {
    return layouts[states[value].layout];
  }
  /// Per mesh axis: index of the annotation that a value has it from, or -1.
  MutableArrayRef<int> originsOf(unsigned value) {
    return MutableArrayRef<int>(origins).slice(size_t(value) * mesh().rank(),
                                               mesh().rank());
  }
  /// The annotation that `axis` of `op` came from, for the factor that has it,
  /// or -1.
  int originOf(const FlowOp &op, unsigned factor, unsigned axis);
  /// "'x'", or "#2" where the argument has no name.
  static std::string argumentName(mlir::func::FuncOp function, unsigned arg);
  /// "argument 'x' [batch, *]": an argument with a layout, as the user wrote
  /// it.
  static std::string argumentText(mlir::func::FuncOp function,
                                  BlockArgument argument);
  /// "result 'loss'", where all that is done with the value is to return it;
  /// else nothing.
  static std::string resultName(mlir::func::FuncOp function, Value value);
  /// "carried value #0 of the while at f.mlir:1:2".
  static std::string joinName(Operation *op, unsigned result);

  std::deque<FlowOp> ops;
  std::vector<FlowState> states;
  LayoutNumbers layouts;
  std::vector<Annotation> annotations;

private:
  unsigned number(Value value);
  LogicalResult collectOps();
  LogicalResult collectOps(Block &block);
  LogicalResult collect(dtensor::WhileOp loop);
  LogicalResult collect(dtensor::CaseOp branch);
  void addJoin(Operation *op, unsigned result, ValueRange operands);
  void add(FlowOp flow);
  LogicalResult resolveMesh();
  /// `text`: the annotation with its layout.
  void seed(Value value, const Layout &layout, std::string text,
            Location location, bool fixed);
  void collectAnnotations();
  LogicalResult addGroups();
  const FlowRule *addRule(ShardingRule rule, FlowKind kind);
  /// The rule of the op's kind; null where it has none.
  const FlowRule *ruleOf(Operation &op, bool wished);
  void seedWish(FlowOp &flow, const dtensor::Wish &wish);
  bool mayTake(const FlowState &state, unsigned dim, unsigned axis) const;
  void runPriority(int64_t priority);
  void runStage(unsigned stage);
  void visit(const FlowOp &op, unsigned stage);

  /// Axes that a visit adds to one of the op's values.
  struct Extension {
    bool isResult;
    unsigned index;         ///< of the operand or result
    unsigned wanted;        ///< the layout with these axes
    unsigned before, after; ///< what it makes of a value without wishes
  };
  struct Visit {
    FactorSharding factors;
    SmallVector<Extension, 1> extensions;
  };
  Visit findVisit(const FlowOp &op, bool forward, bool backward);
  /// The layout of `state` with the axes that `wanted` has beyond its own, dim
  /// by dim, where they extend what is there and are not in use elsewhere in
  /// the value.
  unsigned extended(const FlowState &state, const Layout &wanted);
  void extend(const FlowOp &op, const Extension &extension,
              const FactorSharding &factors);
  void enqueueNeighbours(unsigned value);

  mlir::func::FuncOp function;
  std::optional<Mesh> onMesh;
  std::vector<int> origins; ///< those of all states
  OpKinds kinds;
  std::vector<const FlowRule *> ruleOfKind;
  std::deque<FlowRule> rules;
  TupleNumbers visitNumbers;
  std::deque<Visit> visits;
  DenseMap<Value, unsigned> index;
  std::vector<Value> values;
  std::vector<SmallVector<unsigned, 4>> touching; ///< per state, ops by index
  std::deque<unsigned> queue;
  std::vector<char> queued;
};

} // namespace meshloom
