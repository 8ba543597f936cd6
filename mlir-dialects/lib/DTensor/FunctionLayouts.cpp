// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The layouts and the mesh of a function.
#include "meshloom/Dialect/DTensor/FunctionLayouts.h"

#include "meshloom/Core/MeshUnification.h"
#include "meshloom/Dialect/DTensor/Wish.h"

namespace meshloom {

std::optional<Layout> annotatedLayout(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return std::nullopt;
  auto encoding = dyn_cast_or_null<dtensor::LayoutAttr>(tensor.getEncoding());
  if (!encoding)
    return std::nullopt;
  return encoding.getLayout();
}

std::vector<Layout> annotatedLayouts(mlir::TypeRange types) {
  std::vector<Layout> layouts;
  for (Type type : types)
    layouts.push_back(*annotatedLayout(type));
  return layouts;
}

LogicalResult expectOneBlock(mlir::func::FuncOp function) {
  if (function.getBody().hasOneBlock())
    return success();
  return function.emitError("expected a body of one block");
}

FailureOr<Mesh> onlyMesh(mlir::func::FuncOp function) {
  dtensor::LayoutAttr first;
  Location firstLoc = function.getLoc();
  auto look = [&](dtensor::LayoutAttr layout, Location loc) -> LogicalResult {
    if (!layout || (first && layout.getMeshAttr() == first.getMeshAttr()))
      return success();
    if (!first) {
      first = layout;
      firstLoc = loc;
      return success();
    }
    auto text = [](dtensor::LayoutAttr layout) {
      return layout.getMesh().spec_string();
    };
    InFlightDiagnostic error = mlir::emitError(loc)
                               << "function '" << function.getName()
                               << "' has values on two meshes, " << text(first)
                               << " and " << text(layout)
                               << ": run --dtensor-unify-meshes first";
    error.attachNote(firstLoc) << "mesh " << text(first) << " is from here";
    return error;
  };
  // Programs have many values, and few types.
  DenseSet<Type> seen;
  Type last;
  auto lookAt = [&](auto values) -> LogicalResult {
    for (Value value : values) {
      const Type type = value.getType();
      if (type == last)
        continue;
      last = type;
      if (seen.insert(type).second &&
          failed(look(dtensor::layoutAttrOf(type), value.getLoc())))
        return failure();
    }
    return success();
  };
  // An op, then what is in it.
  auto visit = [&](Operation *op, auto &visit) -> LogicalResult {
    for (Region &region : op->getRegions())
      for (Block &block : region)
        if (failed(lookAt(block.getArguments())))
          return failure();
    if (auto constraint = dyn_cast<dtensor::ConstraintOp>(op))
      if (auto wish = dtensor::wishOf(constraint))
        if (failed(
                look(dtensor::LayoutAttr::get(op->getContext(), wish->layout),
                     op->getLoc())))
          return failure();
    if (failed(lookAt(op->getResults())))
      return failure();
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (Operation &inner : block)
          if (failed(visit(&inner, visit)))
            return failure();
    return success();
  };
  if (failed(visit(function, visit)))
    return failure();
  for (Type type : function.getResultTypes())
    if (failed(look(dtensor::layoutAttrOf(type), function.getLoc())))
      return failure();
  if (first)
    return first.getMesh();
  if (auto module = function->getParentOfType<ModuleOp>())
    if (auto mesh = module->getAttrOfType<dtensor::MeshAttr>(
            dtensor::DTensorDialect::meshAttrName))
      return withoutAxesOfOne(mesh.getMesh());
  return *Mesh::get({{"d", 1}});
}

} // namespace meshloom
