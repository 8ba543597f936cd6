// LiftVariables: reads and assignments of variables become SSA values; what is
// left of a variable is an argument and, where it is assigned, a result.

#include "meshloom/Transforms/Passes.h"

namespace meshloom {
#define GEN_PASS_DEF_LIFTVARIABLES
#include "meshloom/Transforms/Passes.h.inc"

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
      auto variable = dyn_cast<dtensor::VariableType>(argument.getType());
      if (!variable)
        continue;
      current[argument] = argument;
      for (Operation *user : argument.getUsers()) {
        if (!isa<dtensor::ReadVariableOp, dtensor::AssignVariableOp>(user))
          return user->emitOpError("takes a variable; only read_variable and "
                                   "assign_variable do");
        if (isa<dtensor::AssignVariableOp>(user) &&
            !llvm::is_contained(assigned, argument))
          assigned.push_back(argument);
      }
    }
    llvm::sort(assigned, [](BlockArgument a, BlockArgument b) {
      return a.getArgNumber() < b.getArgNumber();
    });
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
      }
    }

    for (BlockArgument argument : block.getArguments())
      if (auto variable = dyn_cast<dtensor::VariableType>(argument.getType()))
        argument.setType(variable.getTensorType());
    Operation *terminator = block.getTerminator();
    SmallVector<Value> operands(terminator->getOperands());
    SmallVector<Type> results(function.getResultTypes());
    unsigned firstLifted = results.size();
    Builder builder(&getContext());
    for (BlockArgument argument : assigned) {
      function.setArgAttr(argument.getArgNumber(), "dtensor.alias",
                          builder.getI64IntegerAttr(results.size()));
      operands.push_back(asVariable(current[argument], argument));
      results.push_back(operands.back().getType());
    }
    terminator->setOperands(operands);
    SmallVector<Attribute> resultAttrs;
    for (unsigned i = 0; i < firstLifted; ++i)
      resultAttrs.push_back(
          builder.getDictionaryAttr(function.getResultAttrs(i)));
    function.setFunctionType(
        builder.getFunctionType(block.getArgumentTypes(), results));
    for (BlockArgument argument : assigned) {
      Attribute name =
          function.getArgAttr(argument.getArgNumber(), "dtensor.name");
      resultAttrs.push_back(
          name ? builder.getDictionaryAttr(
                     builder.getNamedAttr("dtensor.name", name))
               : builder.getDictionaryAttr({}));
    }
    function.setResAttrsAttr(builder.getArrayAttr(resultAttrs));
    return success();
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
