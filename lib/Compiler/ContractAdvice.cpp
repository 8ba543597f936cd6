// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tries changes of single annotations on copies of the function.
#include "ContractAdvice.h"

#include "meshloom/ControlFlow/SourceLocation.h"
#include "meshloom/Dialect/DTensor/FunctionLayouts.h"
#include "meshloom/Dialect/DTensor/Notes.h"
#include "meshloom/Layout/Passes.h"

#include "mlir/IR/Diagnostics.h"

#include <fmt/format.h>

#include <thread>

namespace meshloom {

namespace {

/// Copies that are partitioned before the search ends. A block of a transformer
/// takes some 50 ms each.
constexpr size_t mostTries = 200;

/// A layout that the user gave, by its place in a function: an argument, or a
/// constraint in the order of a walk.
struct Annotation {
  std::string text; ///< "argument 'x'", as reasons of collectives name it
  Layout layout;
  bool isArgument;
  size_t index;
};

/// A value with another layout; nothing: without one.
struct Change {
  const Annotation *annotation;
  std::optional<Layout> layout;

  /// "argument 'x' has the layout [*, y] instead of [x, *]".
  std::string text() const {
    return fmt::format("{}{} has {} instead of {}",
                       annotation->isArgument ? "" : "the ", annotation->text,
                       layout ? "the layout " + layout->spec_string()
                              : std::string("no layout"),
                       annotation->layout.spec_string());
  }
};

std::vector<Annotation> annotationsOf(mlir::func::FuncOp function) {
  std::vector<Annotation> annotations;
  for (BlockArgument argument : function.getArguments()) {
    const unsigned index = argument.getArgNumber();
    auto name = function.getArgAttrOfType<StringAttr>(index, dtensor::nameAttr);
    if (std::optional<Layout> layout = givenLayout(argument.getType());
        layout && isa<RankedTensorType>(argument.getType()))
      annotations.push_back({name ? fmt::format("argument '{}'", name.str())
                                  : fmt::format("argument #{}", index),
                             *layout, true, index});
  }
  size_t index = 0;
  function.walk([&](dtensor::ConstraintOp constraint) {
    if (std::optional<Layout> layout = givenLayout(constraint.getType()))
      annotations.push_back(
          {"constraint at " + locationText(constraint.getLoc()), *layout, false,
           index});
    ++index;
  });
  return annotations;
}

std::vector<Change> changesOf(const Annotation &annotation) {
  const Layout &layout = annotation.layout;
  const Mesh &mesh = layout.mesh();
  std::vector<Change> changes{{&annotation, std::nullopt}};
  auto add = [&](Layout candidate) {
    if (candidate != layout)
      changes.push_back({&annotation, std::move(candidate)});
  };
  add(Layout::replicated(mesh, layout.rank()));
  for (unsigned dim = 0; dim < layout.rank(); ++dim)
    for (unsigned axis = 0; axis < mesh.rank(); ++axis) {
      Layout::DimAxes axes(layout.rank());
      axes[dim] = {axis};
      if (Result<Layout> cut = Layout::get(mesh, std::move(axes)))
        add(std::move(*cut));
    }
  return changes;
}

void apply(const Change &change, mlir::func::FuncOp function) {
  auto changed = [&](Type type) {
    auto tensor = cast<RankedTensorType>(type);
    return RankedTensorType::get(
        tensor.getShape(), tensor.getElementType(),
        change.layout
            ? dtensor::LayoutAttr::get(type.getContext(), *change.layout)
            : Attribute());
  };
  if (change.annotation->isArgument) {
    BlockArgument argument =
        function.getArgument(unsigned(change.annotation->index));
    argument.setType(changed(argument.getType()));
  } else {
    size_t index = 0;
    dtensor::ConstraintOp found;
    function.walk([&](dtensor::ConstraintOp constraint) {
      if (index++ == change.annotation->index)
        found = constraint;
    });
    if (change.layout) {
      found.getResult().setType(changed(found.getType()));
    } else {
      found.replaceAllUsesWith(found.getOperand());
      found.erase();
    }
  }
  Block &body = function.getBody().front();
  function.setFunctionType(
      mlir::FunctionType::get(function.getContext(), body.getArgumentTypes(),
                              body.getTerminator()->getOperandTypes()));
}

/// The predicted time of a step of `function`, which it partitions; nothing
/// where that fails, as it does where the function breaks its contract.
std::optional<Cost> predictedTime(mlir::func::FuncOp function,
                                  const PartitionOptions &options) {
  MLIRContext *context = function.getContext();
  auto source = function->getParentOfType<ModuleOp>();
  mlir::PassManager passes(context);
  passes.enableVerifier(false);
  buildPartitionPipeline(passes, options);
  passes.addNestedPass<mlir::func::FuncOp>(createCheckContract());
  if (failed(passes.run(source)))
    return std::nullopt;
  auto time = function->getAttrOfType<IntegerAttr>(predictedTimeAttr);
  return time ? time.getInt() : 0;
}

} // namespace

std::string contractAdvice(mlir::func::FuncOp function,
                           const PartitionOptions &partition,
                           const ContractFindings &findings) {
  MLIRContext *context = function.getContext();
  // The errors of copies are no news.
  const std::thread::id thread = std::this_thread::get_id();
  mlir::ScopedDiagnosticHandler silence(context, [&](mlir::Diagnostic &) {
    return success(std::this_thread::get_id() == thread);
  });
  const std::vector<Annotation> annotations = annotationsOf(function);
  auto isBlamed = [&](const Annotation &annotation) {
    return llvm::any_of(findings.causes, [&](StringRef cause) {
      return cause.contains(annotation.text + " ");
    });
  };
  std::vector<Change> changes;
  for (const bool blamed : {true, false})
    for (const Annotation &annotation : annotations)
      if (isBlamed(annotation) == blamed)
        llvm::append_range(changes, changesOf(annotation));
  const size_t tries = std::min(changes.size(), mostTries);
  const Change *best = nullptr;
  Cost bestTime = 0;
  for (const Change &change : ArrayRef(changes).take_front(tries)) {
    auto original = function->getParentOfType<ModuleOp>();
    OwningOpRef<ModuleOp> module = ModuleOp::create(original.getLoc());
    (*module)->setDiscardableAttrs(original->getDiscardableAttrDictionary());
    mlir::func::FuncOp copy = function.clone();
    module->push_back(copy);
    apply(change, copy);
    std::optional<Cost> time = predictedTime(copy, partition);
    if (time && (!best || *time < bestTime)) {
      best = &change;
      bestTime = *time;
    }
  }
  if (best)
    return fmt::format(
        "the program keeps its contract if {}; a step then takes "
        "a predicted {}",
        best->text(), formatTime(bestTime));
  return tries < changes.size()
             ? fmt::format("none of the {} first changes of one annotation "
                           "keeps the contract",
                           tries)
             : "no change of one annotation keeps the contract";
}

} // namespace meshloom
