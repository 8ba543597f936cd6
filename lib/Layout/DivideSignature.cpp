// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// DivideSignature: takes axes from dims of arguments and results until every
// device's shard has one size, and each dim has whole axes.

#include "LaidOut.h"
#include "meshloom/Core/MeshUnification.h"
#include "meshloom/Core/SubAxis.h"
#include "meshloom/Dialect/DTensor/FunctionLayouts.h"
#include "meshloom/Dialect/DTensor/OpenSignature.h"
#include "meshloom/Dialect/DTensor/WrittenLayouts.h"
#include "meshloom/Layout/Passes.h"

namespace meshloom {
#define GEN_PASS_DEF_DIVIDESIGNATURE
#include "meshloom/Layout/Passes.h.inc"

namespace {
/// The layouts that callers have words for.
class CallersLayouts {
public:
  explicit CallersLayouts(mlir::func::FuncOp function)
      : writtenMeshes(dtensor::writtenMeshes(function)) {}

  /// The layout that a value needs, where it has a different one.
  std::optional<Layout> needed(Value value) const;

private:
  bool areWhole(const Mesh &mesh, ArrayRef<unsigned> axes) const;
  size_t evenCount(const Mesh &mesh, ArrayRef<unsigned> axes,
                   int64_t extent) const;
  Layout evenLayout(Layout layout, ArrayRef<int64_t> shape) const;

  const SmallVector<Mesh> writtenMeshes;
};

/// Returns whether `axes` are axes of a mesh that the user wrote, or none of
/// them is a part of an axis that the user named.
bool CallersLayouts::areWhole(const Mesh &mesh, ArrayRef<unsigned> axes) const {
  if (llvm::any_of(writtenMeshes, [&](const Mesh &written) {
        return axesOn(mesh, axes, written).has_value();
      }))
    return true;
  return llvm::all_of(mergedNames(mesh, axes), [&](const std::string &name) {
    const std::optional<SubAxis> axis = SubAxis::parse(name);
    return !axis || axis->isWhole() ||
           llvm::none_of(writtenMeshes, [&](const Mesh &written) {
             return written.axis_index(axis->axis).has_value();
           });
  });
}

/// Returns the largest number of the first `axes` that are whole and whose
/// product divides `extent`.
size_t CallersLayouts::evenCount(const Mesh &mesh, ArrayRef<unsigned> axes,
                                 int64_t extent) const {
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
Layout CallersLayouts::evenLayout(Layout layout,
                                  ArrayRef<int64_t> shape) const {
  const Layout::DimAxes dims = layout.dim_axes();
  for (auto [dim, axes] : llvm::enumerate(dims)) {
    const size_t count = evenCount(layout.mesh(), axes, shape[dim]);
    if (count < axes.size())
      layout = layout.with_dim(unsigned(dim),
                               {axes.begin(), axes.begin() + ptrdiff_t(count)});
  }
  return layout;
}

std::optional<Layout> CallersLayouts::needed(Value value) const {
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
    const CallersLayouts layouts(function);
    Block &body = function.getBody().front();
    Operation *terminator = body.getTerminator();
    for (OpOperand &operand : terminator->getOpOperands())
      if (auto layout = layouts.needed(operand.get())) {
        OpBuilder builder(terminator);
        operand.set(constrain(builder, operand.get(), *layout));
      }
    for (BlockArgument argument : body.getArguments())
      if (auto layout = layouts.needed(argument)) {
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
