// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where the flow starts: the mesh that values are on, and what the user wrote
// about layouts, in types, constraints and wishes, and how messages call it.
#include "LayoutFlow.h"
#include "meshloom/Dialect/DTensor/Notes.h"

#include "meshloom/ControlFlow/SourceLocation.h"
#include "meshloom/Core/MeshUnification.h"
#include "meshloom/Dialect/DTensor/WrittenLayouts.h"

namespace meshloom {

std::string LayoutFlow::argumentName(mlir::func::FuncOp function,
                                     unsigned arg) {
  if (auto name = function.getArgAttrOfType<StringAttr>(arg, dtensor::nameAttr))
    return "'" + name.str() + "'";
  return "#" + std::to_string(arg);
}

std::string LayoutFlow::argumentText(mlir::func::FuncOp function,
                                     BlockArgument argument) {
  unsigned number = argument.getArgNumber();
  auto layout = function.getArgAttrOfType<dtensor::LayoutAttr>(
      number, dtensor::writtenAttr);
  if (!layout)
    layout = dtensor::layoutAttrOf(argument.getType());
  return "argument " + argumentName(function, number) + " " +
         layout.getLayout().spec_string();
}

std::string LayoutFlow::resultName(mlir::func::FuncOp function, Value value) {
  if (!value.hasOneUse())
    return "";
  OpOperand &use = *value.getUses().begin();
  if (!isa<mlir::func::ReturnOp>(use.getOwner()))
    return "";
  unsigned index = use.getOperandNumber();
  auto name =
      function.getResultAttrOfType<StringAttr>(index, dtensor::nameAttr);
  return "result " +
         (name ? "'" + name.str() + "'" : "#" + std::to_string(index));
}

std::string LayoutFlow::joinName(Operation *op, unsigned result) {
  return (isa<dtensor::WhileOp>(op) ? "carried value #" : "result #") +
         std::to_string(result) + " of the " +
         op->getName().stripDialect().str() + " at " +
         locationText(op->getLoc());
}

LogicalResult LayoutFlow::resolveMesh() {
  FailureOr<Mesh> found = onlyMesh(function);
  if (failed(found))
    return failure();
  onMesh = *found;
  origins.assign(states.size() * mesh().rank(), -1);
  SmallVector<unsigned> replicated; // by rank
  for (auto [state, value] : llvm::zip_equal(states, values)) {
    auto tensor = dyn_cast<RankedTensorType>(value.getType());
    size_t rank = tensor ? size_t(tensor.getRank()) : 0;
    while (replicated.size() <= rank)
      replicated.push_back(
          layouts.of(Layout::replicated(mesh(), unsigned(replicated.size()))));
    state.layout = replicated[rank];
  }
  return success();
}

void LayoutFlow::seed(Value value, const Layout &layout, std::string text,
                      Location location, bool fixed) {
  unsigned target = indexOf(value);
  FlowState &state = states[target];
  MutableArrayRef<int> from = originsOf(target);
  int annotation = int(annotations.size());
  annotations.push_back({std::move(text), location});
  if (fixed) {
    state.fixed = true;
    state.actual = layouts.of(layout);
    std::fill(from.begin(), from.end(), -1);
    for (const Partial &partial : layout.partial())
      from[partial.axis] = annotation;
  } else if (state.fixed || !layoutOf(target).is_fully_replicated()) {
    return; // an earlier annotation has it
  }
  state.layout = layouts.of(layout.without_partial());
  for (const auto &axes : layout.dim_axes())
    for (unsigned axis : axes)
      from[axis] = annotation;
}

/// A wish's axes come in when their dim's priority does; see runPriority.
void LayoutFlow::seedWish(FlowOp &flow, const dtensor::Wish &wish) {
  unsigned target = flow.results.front();
  states[target].wished = std::make_unique<FlowWish>(
      FlowWish{wish, SmallVector<char>(layoutOf(target).rank(), char(true))});
  std::string text = resultName(function, flow.op->getResult(0));
  if (text.empty())
    if (auto argument = dyn_cast<BlockArgument>(flow.op->getOperand(0));
        argument && argument.getOwner() == &function.getBody().front())
      text = "argument " + argumentName(function, argument.getArgNumber());
  if (text.empty())
    text = "constraint at " + locationText(flow.op->getLoc());
  int annotation = int(annotations.size());
  annotations.push_back(
      {text + " " + wish.layout.spec_string(), flow.op->getLoc()});
  for (const auto &axes : wish.layout.dim_axes())
    for (unsigned axis : axes)
      originsOf(target)[axis] = annotation;
}

void LayoutFlow::collectAnnotations() {
  for (BlockArgument argument : function.getArguments())
    if (auto layout = annotatedLayout(argument.getType()))
      seed(argument, *layout, argumentText(function, argument),
           argument.getLoc(), /*given=*/true);
  // The layout that a constraint asks for is also a wish of the value it takes:
  // the op that makes the value would best make it so.
  for (FlowOp &flow : ops) {
    if (flow.joins) {
      Value result = flow.op->getResult(*flow.joins);
      if (auto layout = annotatedLayout(result.getType()))
        seed(result, *layout,
             joinName(flow.op, *flow.joins) + " " + layout->spec_string(),
             result.getLoc(),
             /*given=*/true);
      continue;
    }
    if (flow.op->getNumResults() != 1 || flow.linksOnly)
      continue;
    if (auto constraint = dyn_cast<dtensor::ConstraintOp>(flow.op))
      if (auto wish = dtensor::wishOf(constraint)) {
        seedWish(flow, *wish);
        continue;
      }
    auto layout = annotatedLayout(flow.op->getResult(0).getType());
    if (!layout)
      continue;
    std::string place = " at " + locationText(flow.op->getLoc()),
                spec = " " + layout->spec_string();
    Location location = flow.op->getLoc();
    if (isa<dtensor::ConstraintOp>(flow.op)) {
      std::string text = resultName(function, flow.op->getResult(0));
      if (text.empty()) {
        text = "constraint" + place + spec;
      } else {
        OpOperand &use = *flow.op->getResult(0).getUses().begin();
        auto written = function.getResultAttrOfType<dtensor::LayoutAttr>(
            use.getOperandNumber(), dtensor::writtenAttr);
        text += written ? " " + written.getLayout().spec_string() : spec;
      }
      seed(flow.op->getResult(0), *layout, text, location, /*given=*/true);
      seed(flow.op->getOperand(0), *layout, text, location, /*given=*/false);
    } else if (isa<dtensor::RelayoutOp>(flow.op)) {
      seed(flow.op->getResult(0), *layout, "relayout" + place + spec, location,
           /*given=*/true);
    } else {
      seed(flow.op->getResult(0), *layout, "type" + place + spec, location,
           /*given=*/false);
    }
  }
}

} // namespace meshloom
