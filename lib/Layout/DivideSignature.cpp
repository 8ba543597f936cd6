// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// DivideSignature: takes axes from dims of arguments and results until every
// device's shard has one size, and each dim has whole axes.

#include "LaidOut.h"
#include "meshloom/Core/SubAxis.h"
#include "meshloom/Dialect/DTensor/FunctionLayouts.h"
#include "meshloom/Dialect/DTensor/OpenSignature.h"
#include "meshloom/Layout/Passes.h"

namespace meshloom {
#define GEN_PASS_DEF_DIVIDESIGNATURE
#include "meshloom/Layout/Passes.h.inc"

namespace {
/// Returns whether `axes` are axes of the user's mesh and not parts of some.
bool areWhole(const Mesh &mesh, ArrayRef<unsigned> axes) {
  return llvm::all_of(mergedNames(mesh, axes), [](const std::string &name) {
    const std::optional<SubAxis> axis = SubAxis::parse(name);
    return !axis || axis->isWhole();
  });
}

/// Returns the largest number of the first `axes` that are whole and whose
/// product divides `extent`.
size_t evenCount(const Mesh &mesh, ArrayRef<unsigned> axes, int64_t extent) {
  int64_t shards = 1;
  size_t result = 0;
  for (size_t count = 1; count <= axes.size(); ++count) {
    shards *= mesh.axis_size(axes[count - 1]);
    if (extent % shards != 0)
      break;
    if (areWhole(mesh, axes.take_front(count)))
      result = count;
  }
  return result;
}

/// Returns `layout` where each dim has only the first axes that `evenCount`
/// counts.
Layout evenLayout(Layout layout, ArrayRef<int64_t> shape) {
  const Layout::DimAxes dims = layout.dim_axes();
  for (auto [dim, axes] : llvm::enumerate(dims)) {
    const size_t count = evenCount(layout.mesh(), axes, shape[dim]);
    if (count < axes.size())
      layout = layout.with_dim(unsigned(dim),
                               {axes.begin(), axes.begin() + ptrdiff_t(count)});
  }
  return layout;
}

/// The even layout of a value, where it has an uneven one.
std::optional<Layout> neededLayout(Value value) {
  std::optional<Layout> layout = annotatedLayout(value.getType());
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
        const Layout before = *annotatedLayout(argument.getType());
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
