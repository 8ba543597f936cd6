// Where the flow starts: the meshes that values are on, and what the user wrote
// about layouts, in types, constraints and wishes, and how messages call it.
#include "meshloom/Layout/LayoutFlow.h"

#include "meshloom/ControlFlow/SourceLocation.h"

namespace meshloom {

std::optional<Layout> givenLayout(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return std::nullopt;
  auto encoding = dyn_cast_or_null<dtensor::LayoutAttr>(tensor.getEncoding());
  if (!encoding)
    return std::nullopt;
  return encoding.getLayout();
}

std::string LayoutFlow::argumentName(mlir::func::FuncOp function,
                                     unsigned arg) {
  if (auto name = function.getArgAttrOfType<StringAttr>(arg, "dtensor.name"))
    return "'" + name.str() + "'";
  return "#" + std::to_string(arg);
}

std::string LayoutFlow::resultName(mlir::func::FuncOp function, Value value) {
  if (!value.hasOneUse())
    return "";
  OpOperand &use = *value.getUses().begin();
  if (!isa<mlir::func::ReturnOp>(use.getOwner()))
    return "";
  unsigned index = use.getOperandNumber();
  auto name = function.getResultAttrOfType<StringAttr>(index, "dtensor.name");
  return "result " +
         (name ? "'" + name.str() + "'" : "#" + std::to_string(index));
}

std::string LayoutFlow::joinName(Operation *op, unsigned result) {
  return (isa<dtensor::WhileOp>(op) ? "carried value #" : "result #") +
         std::to_string(result) + " of the " +
         op->getName().stripDialect().str() + " at " +
         locationText(op->getLoc());
}

/// A value without a layout is on the mesh of the values it meets in ops; what
/// meets none is on the module's mesh, else the function's only one, else on
/// one device.
LogicalResult LayoutFlow::resolveMeshes() {
  std::optional<Mesh> any;
  std::vector<Value> source(states.size());
  auto give = [&](unsigned value, const Mesh &mesh, Value from) {
    states[value].mesh = mesh;
    source[value] = from;
    if (!any)
      any = mesh;
  };
  for (unsigned i = 0; i < values.size(); ++i)
    if (auto layout = givenLayout(values[i].getType()))
      give(i, layout->mesh(), values[i]);
  for (const FlowOp &flow : ops)
    if (auto constraint = dyn_cast<dtensor::ConstraintOp>(flow.op))
      if (auto wish = dtensor::wishOf(constraint))
        give(flow.results.front(), wish->layout.mesh(), flow.op->getResult(0));

  // Forward and backward sweeps until nothing changes.
  for (bool changed = true; changed;) {
    changed = false;
    auto meet = [&](FlowOp &flow) -> LogicalResult {
      if (isa<mlir::func::ReturnOp>(flow.op))
        return success();
      std::optional<unsigned> first;
      for (unsigned value :
           llvm::concat<unsigned>(flow.operands, flow.results)) {
        if (!states[value].mesh)
          continue;
        if (!first) {
          first = value;
        } else if (!(*states[*first].mesh == *states[value].mesh)) {
          auto text = [](const Mesh &mesh) {
            std::string axes;
            for (const MeshAxis &axis : mesh.axes())
              axes += (axes.empty() ? "" : ", ") + axis.name + " = " +
                      std::to_string(axis.size);
            return "<" + axes + ">";
          };
          auto error = flow.op->emitOpError("mixes values of two meshes: ")
                       << text(*states[*first].mesh) << " and "
                       << text(*states[value].mesh)
                       << "; bring them to one mesh first";
          for (unsigned culprit : {*first, value})
            if (Value from = source[culprit])
              error.attachNote(from.getLoc())
                  << "mesh " << text(*states[culprit].mesh) << " is from here";
          return error;
        }
      }
      if (!first)
        return success();
      for (unsigned value : llvm::concat<unsigned>(flow.operands, flow.results))
        if (!states[value].mesh) {
          give(value, *states[*first].mesh, source[*first]);
          changed = true;
        }
      return success();
    };
    for (FlowOp &flow : ops)
      if (failed(meet(flow)))
        return failure();
    for (FlowOp &flow : llvm::reverse(ops))
      if (failed(meet(flow)))
        return failure();
  }

  std::optional<Mesh> fallback;
  if (auto module = function->getParentOfType<ModuleOp>())
    if (auto attr = module->getAttrOfType<dtensor::MeshAttr>(
            dtensor::DTensorDialect::meshAttrName))
      fallback = attr.getMesh();
  if (!fallback)
    fallback = any ? *any : *Mesh::get({{"d", 1}});
  for (FlowState &state : states) {
    if (!state.mesh)
      state.mesh = fallback;
    state.origins.assign(state.mesh->rank(), -1);
  }
  return success();
}

void LayoutFlow::seed(Value value, const Layout &layout, std::string text,
                      Location location, bool given) {
  FlowState &target = state(value);
  if (!(*target.mesh == layout.mesh()))
    return; // the relayout that this needs is refused later, by name
  int annotation = int(annotations.size());
  annotations.push_back({text + " " + layout.spec_string(), location});
  if (given) {
    target.given = true;
    target.actual = layout;
    target.dims = layout.dim_axes();
    target.origins.assign(target.mesh->rank(), -1);
    for (const Partial &partial : layout.partial())
      target.origins[partial.axis] = annotation;
  } else {
    if (target.given ||
        llvm::any_of(target.dims, [](auto &axes) { return !axes.empty(); }))
      return; // an earlier annotation has it
    target.dims = layout.dim_axes();
  }
  for (const auto &axes : target.dims)
    for (unsigned axis : axes)
      target.origins[axis] = annotation;
}

/// A wish's axes come in when their dim's priority does; see runPriority.
void LayoutFlow::seedWish(FlowOp &flow, const dtensor::Wish &wish) {
  FlowState &target = states[flow.results.front()];
  if (!(*target.mesh == wish.layout.mesh()))
    return;
  target.wished = wish;
  target.waiting.assign(target.dims.size(), true);
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
      target.origins[axis] = annotation;
}

void LayoutFlow::collectAnnotations() {
  for (BlockArgument argument : function.getArguments())
    if (auto layout = givenLayout(argument.getType()))
      seed(argument, *layout,
           "argument " + argumentName(function, argument.getArgNumber()),
           argument.getLoc(), /*given=*/true);
  // What a constraint asks for is also a wish of the value it takes: the op
  // that makes the value would best make it so.
  for (FlowOp &flow : ops) {
    if (flow.joins) {
      Value result = flow.op->getResult(*flow.joins);
      if (auto layout = givenLayout(result.getType()))
        seed(result, *layout, joinName(flow.op, *flow.joins), result.getLoc(),
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
    auto layout = givenLayout(flow.op->getResult(0).getType());
    if (!layout)
      continue;
    std::string at = " at " + locationText(flow.op->getLoc());
    Location location = flow.op->getLoc();
    if (isa<dtensor::ConstraintOp>(flow.op)) {
      std::string text = resultName(function, flow.op->getResult(0));
      if (text.empty())
        text = "constraint" + at;
      seed(flow.op->getResult(0), *layout, text, location, /*given=*/true);
      seed(flow.op->getOperand(0), *layout, text, location, /*given=*/false);
    } else if (isa<dtensor::RelayoutOp>(flow.op)) {
      seed(flow.op->getResult(0), *layout, "relayout" + at, location,
           /*given=*/true);
    } else {
      seed(flow.op->getResult(0), *layout, "type" + at, location,
           /*given=*/false);
    }
  }
}

} // namespace meshloom
