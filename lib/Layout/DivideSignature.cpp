// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// DivideSignature: takes axes from dims of arguments and results until every
// device's shard has one size.

#include "LaidOut.h"
#include "meshloom/Dialect/DTensor/OpenSignature.h"
#include "meshloom/Layout/Passes.h"

namespace meshloom {
#define GEN_PASS_DEF_DIVIDESIGNATURE
#include "meshloom/Layout/Passes.h.inc"

namespace {
/// `layout` without the axes of a dim that follow after the first ones whose
/// product divides it.
Layout evenLayout(Layout layout, ArrayRef<int64_t> shape) {
  const Layout::DimAxes dims = layout.dim_axes();
  for (auto [dim, axes] : llvm::enumerate(dims)) {
    int64_t shards = 1;
    size_t count = 0;
    for (unsigned axis : axes) {
      if (shape[dim] % (shards * layout.mesh().axis_size(axis)) != 0)
        break;
      shards *= layout.mesh().axis_size(axis);
      ++count;
    }
    if (count < axes.size())
      layout = layout.with_dim(unsigned(dim),
                               {axes.begin(), axes.begin() + ptrdiff_t(count)});
  }
  return layout;
}

/// The even layout of a value, where it has an uneven one.
std::optional<Layout> neededLayout(Value value) {
  std::optional<Layout> layout = givenLayout(value.getType());
  if (!layout)
    return std::nullopt;
  Layout even =
      evenLayout(*layout, cast<RankedTensorType>(value.getType()).getShape());
  return even == *layout ? std::nullopt : std::optional(even);
}

class DivideSignaturePass
    : public impl::DivideSignatureBase<DivideSignaturePass> {
  void runOnOperation() override {
    mlir::func::FuncOp function = getOperation();
    auto module = function->getParentOfType<ModuleOp>();
    if (function.isExternal() || !module ||
        !module->hasAttr(dtensor::evenSignatureAttr))
      return;
    Block &body = function.getBody().front();
    Operation *terminator = body.getTerminator();
    for (OpOperand &operand : terminator->getOpOperands())
      if (auto layout = neededLayout(operand.get())) {
        OpBuilder builder(terminator);
        operand.set(constrain(builder, operand.get(), *layout));
      }
    for (BlockArgument argument : body.getArguments())
      if (auto layout = neededLayout(argument)) {
        const Layout before = *givenLayout(argument.getType());
        setLayout(argument, *layout);
        OpBuilder builder = OpBuilder::atBlockBegin(&body);
        auto constraint = constrain(builder, argument, before);
        argument.replaceAllUsesExcept(constraint, constraint);
      }
    function.setFunctionType(mlir::FunctionType::get(
        &getContext(), body.getArgumentTypes(), terminator->getOperandTypes()));
  }

  dtensor::ConstraintOp constrain(OpBuilder &builder, Value value,
                                  const Layout &layout) {
    return builder.create<dtensor::ConstraintOp>(
        value.getLoc(), value, dtensor::LayoutAttr::get(&getContext(), layout));
  }
};
} // namespace
} // namespace meshloom
