// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Finds the layout annotations of a function, and changes them.
#include "meshloom/Compiler/Annotations.h"

#include "meshloom/ControlFlow/Passes.h"
#include "meshloom/ControlFlow/SourceLocation.h"
#include "meshloom/Dialect/DTensor/FunctionLayouts.h"
#include "meshloom/Dialect/DTensor/Notes.h"
#include "meshloom/Dialect/DTensor/WrittenLayouts.h"
#include "meshloom/Layout/LayoutReport.h"
#include "meshloom/Layout/Passes.h"

#include "mlir/Pass/PassManager.h"

#include <fmt/format.h>

#include <map>

namespace meshloom {

OwningOpRef<ModuleOp> copyAlone(mlir::func::FuncOp function) {
  auto module = function->getParentOfType<ModuleOp>();
  OwningOpRef<ModuleOp> copy = ModuleOp::create(module.getLoc());
  (*copy)->setDiscardableAttrs(module->getDiscardableAttrDictionary());
  copy->push_back(function.clone());
  return copy;
}

LogicalResult exposeAnnotations(ModuleOp module) {
  mlir::PassManager passes(module.getContext());
  passes.enableVerifier(false);
  passes.addNestedPass<mlir::func::FuncOp>(createUnifyMeshes());
  passes.addNestedPass<mlir::func::FuncOp>(createLiftVariables());
  return passes.run(module);
}

namespace {

std::string nameOf(mlir::func::FuncOp function, unsigned argument) {
  auto name =
      function.getArgAttrOfType<StringAttr>(argument, dtensor::nameAttr);
  return name ? name.str() : std::string();
}

std::string sourceText(mlir::func::FuncOp function, unsigned argument) {
  const std::string name = nameOf(function, argument);
  return name.empty() ? fmt::format("argument #{}", argument)
                      : fmt::format("argument '{}'", name);
}

/// Adds the tensors among the arguments, those with one name pattern and one
/// layout as one annotation.
void addArguments(mlir::func::FuncOp function,
                  std::vector<LayoutAnnotation> &annotations) {
  struct Pattern {
    std::vector<unsigned> arguments;
    bool isUniform = true;
  };
  std::map<std::string, Pattern> patterns;
  auto typeOf = [&](unsigned argument) {
    return function.getArgument(argument).getType();
  };
  auto patternOf = [&](unsigned argument) {
    const std::string name = nameOf(function, argument);
    return name.empty() ? fmt::format("#{}", argument) : namePattern(name);
  };
  for (BlockArgument argument : function.getArguments()) {
    const unsigned number = argument.getArgNumber();
    if (!isa<RankedTensorType>(argument.getType()))
      continue;
    Pattern &pattern = patterns[patternOf(number)];
    pattern.arguments.push_back(number);
    pattern.isUniform &= typeOf(number) == typeOf(pattern.arguments.front());
  }
  for (BlockArgument argument : function.getArguments()) {
    const unsigned number = argument.getArgNumber();
    auto found = patterns.find(patternOf(number));
    if (found == patterns.end())
      continue;
    const auto &[name, pattern] = *found;
    const bool isShared = pattern.isUniform && pattern.arguments.size() > 1;
    if (isShared && pattern.arguments.front() != number)
      continue;
    LayoutAnnotation annotation{sourceText(function, number),
                                annotatedLayout(argument.getType()),
                                {number},
                                {},
                                {}};
    if (isShared) {
      annotation.text = fmt::format("arguments '{}'", name);
      annotation.arguments = pattern.arguments;
    }
    for (unsigned member : annotation.arguments)
      annotation.sources.push_back(sourceText(function, member));
    annotations.push_back(std::move(annotation));
  }
}

RankedTensorType withLayout(Type type, const std::optional<Layout> &layout) {
  auto tensor = cast<RankedTensorType>(type);
  return RankedTensorType::get(
      tensor.getShape(), tensor.getElementType(),
      layout ? dtensor::LayoutAttr::get(type.getContext(), *layout)
             : Attribute());
}

void setLayout(dtensor::ConstraintOp constraint,
               const std::optional<Layout> &layout) {
  if (layout) {
    constraint.getResult().setType(withLayout(constraint.getType(), layout));
    return;
  }
  constraint.replaceAllUsesWith(constraint.getOperand());
  constraint.erase();
}

/// Returns the operand of the terminator that is the next value of an argument;
/// null where there is none.
OpOperand *nextValue(mlir::func::FuncOp function, unsigned argument) {
  auto alias =
      function.getArgAttrOfType<IntegerAttr>(argument, dtensor::aliasAttr);
  return alias ? &function.getBody().front().getTerminator()->getOpOperand(
                     unsigned(alias.getInt()))
               : nullptr;
}

void annotateArgument(mlir::func::FuncOp function, unsigned number,
                      const std::optional<Layout> &layout) {
  BlockArgument argument = function.getArgument(number);
  const std::optional<Layout> before = annotatedLayout(argument.getType());
  argument.setType(withLayout(argument.getType(), layout));
  function.removeArgAttr(number, dtensor::writtenAttr);
  OpOperand *next = nextValue(function, number);
  if (!next)
    return;
  auto constraint = next->get().getDefiningOp<dtensor::ConstraintOp>();
  if (constraint && annotatedLayout(constraint.getType()) == before) {
    setLayout(constraint, layout);
  } else if (!constraint && !before && layout) {
    OpBuilder builder(next->getOwner());
    next->set(builder.create<dtensor::ConstraintOp>(
        next->get().getLoc(), next->get(),
        dtensor::LayoutAttr::get(function.getContext(), *layout)));
  }
  function.removeResultAttr(
      next->getOperandNumber(),
      StringAttr::get(function.getContext(), dtensor::writtenAttr));
}

} // namespace

/// The constraints that lay next values of arguments out as the arguments are:
/// they belong to those.
static llvm::DenseSet<Operation *>
constraintsOfNextValues(mlir::func::FuncOp function) {
  llvm::DenseSet<Operation *> constraints;
  for (BlockArgument argument : function.getArguments())
    if (OpOperand *next = nextValue(function, argument.getArgNumber()))
      if (auto constraint = next->get().getDefiningOp<dtensor::ConstraintOp>();
          constraint && annotatedLayout(constraint.getType()) ==
                            annotatedLayout(argument.getType()))
        constraints.insert(constraint);
  return constraints;
}

std::vector<LayoutAnnotation> annotationsOf(mlir::func::FuncOp function) {
  std::vector<LayoutAnnotation> annotations;
  addArguments(function, annotations);
  const llvm::DenseSet<Operation *> ofArguments =
      constraintsOfNextValues(function);
  unsigned number = 0;
  function.walk([&](dtensor::ConstraintOp constraint) {
    if (std::optional<Layout> layout = annotatedLayout(constraint.getType());
        layout && !ofArguments.contains(constraint)) {
      const std::string text =
          "constraint at " + locationText(constraint.getLoc());
      annotations.push_back({text, *layout, {}, number, {text}});
    }
    ++number;
  });
  return annotations;
}

std::vector<Layout> layoutsNear(mlir::func::FuncOp function,
                                const LayoutAnnotation &annotation) {
  std::optional<Layout> layout = annotation.layout;
  if (!layout) {
    FailureOr<Mesh> mesh = onlyMesh(function);
    if (failed(mesh))
      return {};
    auto type = cast<RankedTensorType>(
        function.getArgument(annotation.arguments.front()).getType());
    layout = Layout::replicated(*mesh, unsigned(type.getRank()));
  }
  const Mesh &mesh = layout->mesh();
  std::vector<Layout> layouts;
  auto add = [&](const Layout &candidate) {
    if (candidate != annotation.layout &&
        !llvm::is_contained(layouts, candidate))
      layouts.push_back(candidate);
  };
  add(Layout::replicated(mesh, layout->rank()));
  for (unsigned axis = 0; axis < mesh.rank(); ++axis) {
    Layout::DimAxes without(layout->dim_axes().begin(),
                            layout->dim_axes().end());
    for (std::vector<unsigned> &axes : without)
      std::erase(axes, axis);
    for (unsigned dim = 0; dim <= layout->rank(); ++dim) {
      Layout::DimAxes axes = without;
      if (dim < layout->rank())
        axes[dim].push_back(axis);
      if (Result<Layout> candidate = Layout::get(mesh, std::move(axes)))
        add(*candidate);
    }
  }
  return layouts;
}

void annotate(mlir::func::FuncOp function, const LayoutAnnotation &annotation,
              const std::optional<Layout> &layout) {
  for (unsigned argument : annotation.arguments)
    annotateArgument(function, argument, layout);
  if (annotation.constraint) {
    unsigned number = 0;
    dtensor::ConstraintOp found;
    function.walk([&](dtensor::ConstraintOp constraint) {
      if (number++ == *annotation.constraint)
        found = constraint;
    });
    setLayout(found, layout);
  }
  Block &body = function.getBody().front();
  function.setFunctionType(
      mlir::FunctionType::get(function.getContext(), body.getArgumentTypes(),
                              body.getTerminator()->getOperandTypes()));
}

} // namespace meshloom
