// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// FunctionGraph: a function, with the blocks inside its loops and branches, as
// the search over layouts sees it, and which op and value is which.
#pragma once

#include "meshloom/ControlFlow/OpKinds.h"
#include "meshloom/Layout/Search/LayoutGraph.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <deque>

namespace meshloom {

/// Results of constraints and relayouts keep their layouts, and so do carried
/// values and results of branches that the user laid out, and arguments and
/// results of the function but for those that the function lists as open. How
/// often blocks run: trip counts where they are known, else `unknownTrips`;
/// each branch of a case is as likely as the others.
struct FunctionGraph {
  LayoutGraph graph;
  /// Per op of the graph; for joins, the while or case.
  std::vector<Operation *> ops;
  /// Operand `i` of op `op`; of joins: the init and the yields.
  OpOperand &use(unsigned op, unsigned i) const {
    return joins[op] < 0 ? ops[op]->getOpOperand(i)
                         : *joinUses.find(op)->second[i];
  }
  /// Per op: which result of a while or case it is the join of, or -1.
  std::vector<int> joins;
  /// Per value. A carried value inside of its loop: the body's argument.
  std::vector<Value> values;

  /// Whether a step's results are the arguments of the next step.
  enum class Steps {
    One,     ///< They are not: a result is laid out as the function says.
    Repeated ///< An argument with an alias and its result are a carried value
             ///< of a loop over the whole function.
  };
  /// Fails, with a diagnostic, where a value has no layout or an op no rule.
  LogicalResult build(mlir::func::FuncOp function, Steps steps = Steps::One);

  /// Returns the value that is a function's argument in a step: of
  /// `Steps::Repeated`, the carried value.
  unsigned argumentValue(unsigned argument) const;

private:
  /// A block that is being read.
  struct Scope {
    unsigned block;
    int64_t runs;
    unsigned branch;
    int64_t branchRuns;
  };
  LogicalResult addBlock(Block &block, const Scope &scope);
  void addDemand(Operation &op, const Scope &scope);
  void addOp(Operation &op, unsigned kind, const Scope &scope);
  LogicalResult addLoop(dtensor::WhileOp loop, const Scope &scope);
  LogicalResult addBranches(dtensor::CaseOp branch, const Scope &scope);
  /// An op without operands, yet, and the values it gives.
  unsigned addJoin(Operation *op, unsigned result, size_t operands,
                   const Scope &scope) {
    return addJoin(op, result, op->getResult(result).getType(), operands,
                   isa<dtensor::WhileOp>(op) ? 2 : 1, scope);
  }
  unsigned addJoin(Operation *op, unsigned result, Type type, size_t operands,
                   size_t results, const Scope &scope);
  /// Makes the arguments that have an alias carried values of a loop, in which
  /// the ops that are added next are.
  void beginSteps(mlir::func::FuncOp function, const Scope &scope);
  unsigned addValue(Value value,
                    const std::shared_ptr<const LayoutGraph::Tensor> &tensor,
                    int producer, const Scope &scope);
  unsigned addValue(Value value, int producer, const Scope &scope) {
    return addValue(value, *ofType(value.getType()), producer, scope);
  }
  /// The number of a value that was read.
  unsigned numberOf(Value value) const;
  void addOutput(Value value, const Layout &layout, const Scope &scope,
                 bool atEnd = false);
  void markSums(dtensor::WhileOp loop, int64_t runs);

  /// The common properties of all ops of a kind.
  struct OfKind {
    enum { Op, Demand, Loop, Branches, End } role = Op;
    std::shared_ptr<const ShardingRule> rule;
    int64_t flopsPerPoint;
    IndexList flat;
    bool free, held;
    SmallVector<std::shared_ptr<const LayoutGraph::Tensor>, 1> results;
  };
  LogicalResult addKind(Operation &op);
  using OfType = std::shared_ptr<const LayoutGraph::Tensor>;
  /// The common properties of all values of a type; null where it is not a
  /// tensor with a layout.
  const OfType *ofType(Type type);

  OpKinds kinds;
  std::deque<OfKind> ofKind;
  std::deque<OfType> types;
  DenseMap<Type, const OfType *> typeOf;
  Block *entry = nullptr; ///< of the function
  DenseMap<unsigned, SmallVector<OpOperand *>> joinUses;
  DenseMap<Value, unsigned> index; ///< but of the function's arguments
  /// `Steps::Repeated` fills these: the join of an argument, and per result of
  /// the function the join whose next value it is.
  DenseMap<unsigned, unsigned> joinOfArgument, joinOfResult;
  unsigned blocks = 0, branches = 0;
};

} // namespace meshloom
