// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// LiftVariables: reads and assignments of variables become SSA values; what is
// left of a variable is an argument and, where it is assigned, a result.

#include "meshloom/ControlFlow/ReturnTypes.h"

#include "meshloom/ControlFlow/ArgumentAttributes.h"
#include "meshloom/ControlFlow/ControlFlow.h"
#include "meshloom/ControlFlow/Passes.h"
#include "meshloom/Dialect/DTensor/Notes.h"
#include "meshloom/Dialect/DTensor/WrittenLayouts.h"

namespace meshloom {
#define GEN_PASS_DEF_LIFTVARIABLES
#include "meshloom/ControlFlow/Passes.h.inc"

namespace {
class LiftVariablesPass : public impl::LiftVariablesBase<LiftVariablesPass> {
  void runOnOperation() override {
    mlir::func::FuncOp function = getOperation();
    if (function.isExternal())
      return;
    for (Type result : function.getResultTypes())
      if (isa<dtensor::VariableType>(result)) {
        function.emitError("returns a variable; return its value, read by "
                           "dtensor.read_variable");
        return signalPassFailure();
      }
    if (llvm::none_of(function.getArgumentTypes(), [](Type type) {
          return isa<dtensor::VariableType>(type);
        }))
      return;
    if (!function.getBody().hasOneBlock()) {
      function.emitError("expected a body of one block");
      return signalPassFailure();
    }
    if (failed(lift(function)))
      signalPassFailure();
  }

  /// In program order, so that each read finds the value at that point.
  LogicalResult lift(mlir::func::FuncOp function) {
    Block &block = function.getBody().front();
    DenseMap<Value, Value> current;
    SmallVector<BlockArgument> assigned;
    for (BlockArgument argument : block.getArguments()) {
      if (!isa<dtensor::VariableType>(argument.getType()))
        continue;
      current[argument] = argument;
      for (Operation *user : argument.getUsers()) {
        if (!isa<dtensor::ReadVariableOp, dtensor::AssignVariableOp>(user))
          return user->emitOpError("takes a variable; only read_variable and "
                                   "assign_variable do");
        for (dtensor::WhileOp loop : loopsAround(user))
          if (isa<dtensor::AssignVariableOp>(user) &&
              loop.getCondition().isAncestor(user->getParentRegion()))
            return user->emitOpError("is in the condition of a loop, which "
                                     "must not assign");
        if (isa<dtensor::AssignVariableOp>(user) &&
            !llvm::is_contained(assigned, argument))
          assigned.push_back(argument);
      }
    }
    llvm::sort(assigned, [](BlockArgument a, BlockArgument b) {
      return a.getArgNumber() < b.getArgNumber();
    });
    lift(block, current);

    for (BlockArgument argument : block.getArguments())
      if (auto variable = dyn_cast<dtensor::VariableType>(argument.getType()))
        argument.setType(variable.getTensorType());
    Operation *terminator = block.getTerminator();
    SmallVector<Value> operands(terminator->getOperands());
    SmallVector<Type> results(function.getResultTypes());
    unsigned firstLifted = results.size();
    Builder builder(&getContext());
    ArgumentAttributes attributes(function);
    for (BlockArgument argument : assigned) {
      attributes.set(argument.getArgNumber(), dtensor::aliasAttr,
                     builder.getI64IntegerAttr(results.size()));
      operands.push_back(asVariable(current[argument], argument));
      results.push_back(operands.back().getType());
    }
    attributes.apply();
    terminator->setOperands(operands);
    SmallVector<Attribute> resultAttrs;
    for (unsigned i = 0; i < firstLifted; ++i)
      resultAttrs.push_back(
          builder.getDictionaryAttr(function.getResultAttrs(i)));
    function.setFunctionType(
        builder.getFunctionType(block.getArgumentTypes(), results));
    for (BlockArgument argument : assigned) {
      SmallVector<NamedAttribute> attributes;
      for (StringRef name :
           {StringRef(dtensor::nameAttr), StringRef(dtensor::writtenAttr)})
        if (Attribute value =
                function.getArgAttr(argument.getArgNumber(), name))
          attributes.push_back(builder.getNamedAttr(name, value));
      resultAttrs.push_back(builder.getDictionaryAttr(attributes));
    }
    function.setResAttrsAttr(builder.getArrayAttr(resultAttrs));
    matchReturnTypes(function);
    return success();
  }

  using Current = DenseMap<Value, Value>;

  /// Replaces reads and assignments in a block, and in those inside it;
  /// `current` has the variables' values at its start, then at its end.
  static void lift(Block &block, Current &current) {
    for (Operation &op : llvm::make_early_inc_range(block)) {
      // Untyped: an unassigned variable's value is still of variable type.
      if (isa<dtensor::ReadVariableOp>(op)) {
        op.getResult(0).replaceAllUsesWith(current[op.getOperand(0)]);
        op.erase();
      } else if (isa<dtensor::AssignVariableOp>(op)) {
        // The variable's layout is that of the argument and the result; a
        // read in between sees the value however it is laid out.
        current[op.getOperand(0)] = op.getOperand(1);
        op.erase();
      } else if (isControl(&op)) {
        lift(&op, current);
      }
    }
  }

  /// Variables that regions assign become carried values of a while, results
  /// of a case.
  static void lift(Operation *op, Current &current) {
    SmallVector<BlockArgument> assigned;
    op->walk([&](dtensor::AssignVariableOp assign) {
      auto variable = cast<BlockArgument>(assign.getVariable());
      if (!llvm::is_contained(assigned, variable))
        assigned.push_back(variable);
    });
    llvm::sort(assigned, [](BlockArgument a, BlockArgument b) {
      return a.getArgNumber() < b.getArgNumber();
    });
    Operation *lifted = op;
    unsigned first = op->getNumResults();
    if (!assigned.empty()) {
      OpBuilder builder(op);
      OperationState state(op->getLoc(), op->getName());
      state.addOperands(op->getOperands());
      state.addTypes(op->getResultTypes());
      state.addAttributes(op->getAttrs());
      for (BlockArgument variable : assigned) {
        if (isa<dtensor::WhileOp>(op))
          state.addOperands(current[variable]);
        state.addTypes(dtensor::undecided(variable.getType()));
      }
      for (Region &region : op->getRegions())
        state.addRegion()->takeBody(region);
      lifted = builder.create(state);
      op->replaceAllUsesWith(lifted->getResults().take_front(first));
      op->erase();
    }
    bool loop = isa<dtensor::WhileOp>(lifted);
    for (Region &region : lifted->getRegions()) {
      Block &block = region.front();
      Current inside = current;
      if (loop)
        for (BlockArgument variable : assigned)
          inside[variable] = block.addArgument(
              dtensor::undecided(variable.getType()), lifted->getLoc());
      lift(block, inside);
      if (loop && &region == &lifted->getRegion(0))
        continue; // a condition assigns nothing
      Operation *yield = block.getTerminator();
      for (BlockArgument variable : assigned)
        yield->insertOperands(yield->getNumOperands(), inside[variable]);
    }
    for (auto [i, variable] : llvm::enumerate(assigned))
      current[variable] = lifted->getResult(first + i);
  }

  /// The value that is returned for a variable has the variable's layout, if
  /// that is given.
  static Value asVariable(Value value, BlockArgument variable) {
    if (value.getType() == variable.getType() ||
        !dtensor::layoutAttrOf(variable.getType()))
      return value;
    OpBuilder builder(variable.getOwner()->getTerminator());
    return builder.create<dtensor::ConstraintOp>(value.getLoc(),
                                                 variable.getType(), value);
  }
};
} // namespace
} // namespace meshloom
