// The flow of mesh axes from the user's layouts along the factors of sharding
// rules: what PropagateLayouts decides types from.
#pragma once

#include "meshloom/Dialect/DTensor/Wish.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <deque>

namespace meshloom {

/// Fails, with a diagnostic, on a function whose body branches.
LogicalResult expectOneBlock(mlir::func::FuncOp function);

/// The mesh of all layouts of `function`; where it has none, that of the
/// module's `dtensor.mesh`, else one device. Fails, with a diagnostic, on
/// several: --dtensor-unify-meshes comes first.
FailureOr<Mesh> onlyMesh(mlir::func::FuncOp function);

/// A layout that the user wrote, in words: "argument 'x' [batch, *]".
struct Annotation {
  std::string text;
  Location location;
};

/// The axes that a value's dims have been given so far.
struct FlowState {
  std::optional<Mesh> mesh;
  Layout::DimAxes dims;
  /// Per mesh axis: index of the annotation it came from, or -1.
  SmallVector<int> origins;
  /// The user wrote the type: it never changes.
  bool given = false;
  /// What the user wishes, where that is less than a layout.
  std::optional<dtensor::Wish> wished;
  /// Wished: dims whose priority has not come yet.
  SmallVector<char> waiting;
  /// Given, or decided at the end: what the value is, pending reductions too.
  std::optional<Layout> actual;

  /// `dims` as a layout.
  Layout wish() const { return *Layout::get(*mesh, dims); }
};

/// How an op takes part in the flow.
enum class FlowKind : uint8_t {
  Barrier,     ///< relayout, constraint, return: layouts are given
  Identity,    ///< all tensors have the same factors
  Contraction, ///< operands have factors that others lack
  Broadcast    ///< a result has a factor that no operand has
};

struct FlowOp {
  Operation *op;
  FlowKind kind;
  ShardingRule rule;
  SmallVector<unsigned> operands, results; ///< indices of states
  /// A result of a control op: no op makes it, values meet in it.
  std::optional<unsigned> joins = std::nullopt;
  /// Which way axes may pass.
  dtensor::WishDirection direction = dtensor::WishDirection::Both;
  /// Only links values: there is nothing to lay out.
  bool linksOnly = false;
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
/// values.
class LayoutFlow {
public:
  explicit LayoutFlow(mlir::func::FuncOp function) : function(function) {}

  /// The mesh, annotations, then the four stages. Fails, with diagnostics, on
  /// ops that have no rule and on several meshes.
  LogicalResult run();

  FlowState &state(Value value) { return states[index.lookup(value)]; }
  /// The annotation that `axis` of `op` came from, for the factor that has it,
  /// or -1.
  int originOf(const FlowOp &op, unsigned factor, unsigned axis) const;
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

  std::vector<FlowOp> ops;
  std::vector<FlowState> states;
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
            Location location, bool given);
  void collectAnnotations();
  LogicalResult addGroups();
  void seedWish(FlowOp &flow, const dtensor::Wish &wish);
  bool mayTake(const FlowState &state, unsigned dim, unsigned axis) const;
  void runPriority(int64_t priority);
  void runStage(unsigned stage);
  void visit(const FlowOp &op, unsigned stage);
  void write(unsigned value, const Layout &layout, const FlowOp &op,
             const FactorSharding &factors);
  void enqueueNeighbours(unsigned value);

  mlir::func::FuncOp function;
  DenseMap<Value, unsigned> index;
  std::vector<Value> values;
  std::vector<SmallVector<unsigned>> touching; ///< per state, ops by index
  std::deque<unsigned> queue;
  std::vector<char> queued;
};

/// The layout in a type, or none.
std::optional<Layout> givenLayout(Type type);

} // namespace meshloom
