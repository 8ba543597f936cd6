// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "PartitionedInterface.h"

#include "ArrangeDims.h"
#include "OpShardings.h"

#include "meshloom/Dialect/StableHLO/StableHLO.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace meshloom;
using namespace meshloom::plugin;
using mlir::func::FuncOp;

namespace {
void addTokens(FuncOp main, const ProgramInterface &interface) {
  auto token = stablehlo::TokenType::get(main.getContext());
  for (auto [i, argument] : llvm::enumerate(interface.arguments))
    if (argument.element.isToken)
      main.insertArgument(unsigned(i), token, {}, main.getLoc());
  Operation *terminator = main.getBody().front().getTerminator();
  OpBuilder builder(terminator);
  for (auto [i, result] : llvm::enumerate(interface.results))
    if (result.element.isToken) {
      main.insertResult(unsigned(i), token, {});
      Value value = builder.create<stablehlo::AfterAllOp>(main.getLoc(), token,
                                                          mlir::ValueRange());
      terminator->insertOperands(unsigned(i), value);
    }
}

/// Gives an argument the dims that the caller's value has.
void restoreDims(BlockArgument argument, const ValueType &value) {
  auto type = dyn_cast<RankedTensorType>(argument.getType());
  if (!type || (value.order.isRowMajor() && !value.isStacked))
    return;
  OpBuilder builder = OpBuilder::atBlockBegin(argument.getOwner());
  ArrayRef<int64_t> shape = type.getShape();
  Value inMemory;
  if (value.isStacked) {
    argument.setType(type.clone(shape.drop_front()));
    inMemory =
        builder.create<stablehlo::ReshapeOp>(argument.getLoc(), type, argument);
  } else {
    argument.setType(type.clone(value.order.ofValue(shape)));
    inMemory = toMemory(builder, value.order, argument);
  }
  argument.replaceAllUsesExcept(inMemory, inMemory.getDefiningOp());
}

void restoreDims(FuncOp main, const ProgramInterface &interface) {
  for (auto [argument, value] :
       llvm::zip_equal(main.getArguments(), interface.arguments))
    restoreDims(argument, value);
  Operation *terminator = main.getBody().front().getTerminator();
  OpBuilder builder(terminator);
  for (auto [i, value] : llvm::enumerate(interface.results))
    if (!value.order.isRowMajor())
      terminator->setOperand(unsigned(i),
                             fromMemory(builder, value.order,
                                        terminator->getOperand(unsigned(i))));
  main.setFunctionType(mlir::FunctionType::get(
      main.getContext(), main.getBody().getArgumentTypes(),
      terminator->getOperandTypes()));
}

/// The dims of each value from minor to major.
mlir::ArrayAttr ordersOf(const std::vector<ValueType> &values,
                         Builder &builder) {
  SmallVector<Attribute> orders;
  for (const ValueType &value : values) {
    std::vector<int64_t> dims = value.order.majorToMinor();
    std::ranges::reverse(dims);
    orders.push_back(builder.getIndexTensorAttr(dims));
  }
  return builder.getArrayAttr(orders);
}
} // namespace

void plugin::addInterface(ModuleOp module, const ProgramInterface &interface,
                          const std::vector<std::string> &argumentShardings,
                          const std::vector<std::string> &resultShardings) {
  auto main = *module.getOps<FuncOp>().begin();
  addTokens(main, interface);
  restoreDims(main, interface);
  Builder builder(module.getContext());
  module->setAttr("mhlo.xla_entry_computation_parameter_layouts",
                  ordersOf(interface.arguments, builder));
  module->setAttr("mhlo.xla_entry_computation_result_layout",
                  ordersOf(interface.results, builder));
  SmallVector<StringRef> shardings(argumentShardings.begin(),
                                   argumentShardings.end());
  module->setAttr("mhlo.spmd_parameters_shardings",
                  builder.getStrArrayAttr(shardings));
  if (!resultShardings.empty())
    module->setAttr("mhlo.spmd_output_sharding",
                    builder.getStringAttr(resultShardingOf(resultShardings)));
}
