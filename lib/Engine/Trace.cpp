// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Building the traced function, see Trace.h.
#include "meshloom/Engine/Trace.h"

#include "meshloom/Engine/DeviceSets.h"

#include "meshloom/API/NameScope.h"
#include "meshloom/Compiler/AccumulateGradients.h"
#include "meshloom/Compiler/MemoryBudget.h"
#include "meshloom/ControlFlow/Determinism.h"
#include "meshloom/ControlFlow/SourceLocation.h"
#include "meshloom/Dialect/DTensor/DeviceSets.h"
#include "meshloom/Dialect/DTensor/FunctionContract.h"
#include "meshloom/Dialect/DTensor/Notes.h"

#include <fmt/format.h>

namespace meshloom::detail {

Trace::Trace(std::string name, std::shared_ptr<MLIRContext> itsContext)
    : title(std::move(name)), context(std::move(itsContext)),
      build(context.get()) {
  Location unknown = build.getUnknownLoc();
  module = ModuleOp::create(unknown);
  build.setInsertionPointToStart(module->getBody());
  function = build.create<mlir::func::FuncOp>(unknown, "main",
                                              build.getFunctionType({}, {}));
  block = function.addEntryBlock();
  build.setInsertionPointToStart(block);
}

Trace::~Trace() = default;

void Trace::beDeterministic() {
  function->setAttr(deterministicAttr, build.getUnitAttr());
}

void Trace::expectContract(const Contract &contract) {
  dtensor::setContract(function, contract);
}

void Trace::accumulateGradients(int64_t microbatches) {
  function->setAttr(accumulateGradientsAttr,
                    build.getI64IntegerAttr(microbatches));
}

void Trace::limitMemory(int64_t bytes) {
  function->setAttr(memoryBudgetAttr, build.getI64IntegerAttr(bytes));
}

Operation *Trace::lastOp() const {
  Block *now = const_cast<OpBuilder &>(build).getInsertionBlock();
  return now->empty() ? nullptr : &now->back();
}

Location Trace::location(const std::source_location &site) const {
  const std::source_location where = callSiteOr(site);
  Location place = mlir::FileLineColLoc::get(context.get(), where.file_name(),
                                             where.line(), where.column());
  const std::vector<std::string> &scopes = threadState().scopes;
  return scopes.empty() ? place : inPart(place, scopes.back());
}

std::optional<std::string> Trace::sourceOf(const TensorNode &node) {
  return sourcePosition(Value::getFromOpaquePointer(node.value).getLoc());
}

Tensor Trace::wrapValue(Value value) {
  auto node = std::make_shared<TensorNode>();
  auto type = cast<RankedTensorType>(value.getType());
  node->shape.assign(type.getShape().begin(), type.getShape().end());
  node->dtype = *dtensor::dtypeOf(type.getElementType());
  node->trace = shared_from_this();
  node->value = value.getAsOpaquePointer();
  return Tensor::internalFrom(std::move(node));
}

void Trace::discard(Operation *op) {
  op->remove();
  op->dropAllReferences(); // so that it is not a user of what remains
  discarded.emplace_back(op);
}

void Trace::useMesh(const Mesh &mesh) {
  if (llvm::is_contained(meshesUsed, mesh))
    return;
  meshesUsed.push_back(mesh);
  if (llvm::any_of(mapped,
                   [](const MappedAxis &axis) { return axis.isOfDevices; }))
    expectOneDeviceSet(title, nullptr);
}

void Trace::expectOneDeviceSet(std::string_view op,
                               const std::source_location *where) const {
  if (!isSpread())
    return;
  const Mesh &first = meshesUsed.front();
  const Mesh &other = *llvm::find_if(meshesUsed, [&](const Mesh &mesh) {
    return !onSameDevices(mesh, first);
  });
  fail(op,
       fmt::format("expected all tensors of '{}' on the same devices, got {} "
                   "and {}: a function that maps over devices is on those "
                   "alone; bring tensors there with relayout or copy_to_mesh "
                   "before it is called",
                   title, devicesText(first), devicesText(other)),
       where);
}

bool Trace::isSpread() const {
  return llvm::any_of(meshesUsed, [&](const Mesh &mesh) {
    return !onSameDevices(mesh, meshesUsed.front());
  });
}

std::vector<int64_t> Trace::argumentSets() const {
  std::vector<int64_t> sets;
  for (const TraceArgument &argument : args) {
    const bool isVariable = argument.kind == TraceArgument::Kind::Variable;
    const bool isOnHost =
        isVariable ? argument.variable->host : argument.tensor.internal()->host;
    if (isOnHost)
      sets.push_back(argument.assigned ? detail::deviceSetOf(hostMesh())
                                       : ANYWHERE);
    else
      sets.push_back(detail::deviceSetOf(
          isVariable ? argument.variable->type.layout.mesh()
                     : argument.tensor.internal()->array.layout().mesh()));
  }
  return sets;
}

int64_t Trace::deviceSetOf(Value value) const {
  DevicePlaces places(*block, argumentSets(), meshesUsed);
  if (value.getParentBlock() == block && !value.getDefiningOp())
    return places.of(value);
  Operation *op = value.getDefiningOp();
  Operation *inBody = block->findAncestorOpInBlock(
      op ? *op : *value.getParentBlock()->getParentOp());
  places.visit(inBody);
  // A value of a loop or branch is where that runs.
  const int64_t set = places.of(value);
  return set == ANYWHERE ? places.of(inBody) : set;
}

void Trace::note(Operation *op, StringRef attribute, Attribute value) {
  op->setAttr(attribute, value);
  hasNotes = true;
}

Tensor Trace::addArgument(const Tensor &tensor, std::string name) {
  const TensorNode &node = *tensor.internal();
  if (!node.host)
    useMesh(node.array.layout().mesh());
  Type type = RankedTensorType::get(node.shape,
                                    dtensor::typeOf(context.get(), node.dtype));
  if (name.empty())
    name = fmt::format("arg{}", args.size());
  args.push_back(
      {TraceArgument::Kind::Explicit, tensor, nullptr, false, std::move(name)});
  return wrapValue(block->addArgument(type, build.getUnknownLoc()));
}

Value Trace::valueOf(const Tensor &tensor, std::string_view op,
                     const std::source_location *where) {
  TensorNode &node = nodeOf(tensor, op, where);
  if (node.trace) {
    Value value = Value::getFromOpaquePointer(node.value);
    if (!value.getParentRegion()->isAncestor(
            build.getInsertionBlock()->getParent()))
      fail(op,
           fmt::format("a {} that was made in the body of a loop or branch, or "
                       "in a mapped function, is used outside of that body: "
                       "return it from the body",
                       typeText(tensor)),
           where);
    return value;
  }
  auto [entry, isNew] = known.try_emplace(&node, unsigned(args.size()));
  if (!isNew)
    return block->getArgument(entry->second);
  if (!node.host)
    useMesh(node.array.layout().mesh());
  Type type = RankedTensorType::get(node.shape,
                                    dtensor::typeOf(context.get(), node.dtype));
  args.push_back({TraceArgument::Kind::Captured, tensor, nullptr, false,
                  fmt::format("captured{}", args.size())});
  return block->addArgument(type, build.getUnknownLoc());
}

Value Trace::argumentOf(const std::shared_ptr<VariableState> &variable) {
  auto [entry, isNew] =
      known.try_emplace(variable.get(), unsigned(args.size()));
  if (!isNew)
    return block->getArgument(entry->second);
  if (!variable->host)
    useMesh(variable->type.layout.mesh());
  auto tensor = RankedTensorType::get(
      variable->type.shape,
      dtensor::typeOf(context.get(), variable->type.dtype));
  args.push_back({TraceArgument::Kind::Variable, Tensor(), variable, false,
                  variable->name});
  return block->addArgument(dtensor::VariableType::get(context.get(), tensor),
                            build.getUnknownLoc());
}

Tensor Trace::read(const std::shared_ptr<VariableState> &variable,
                   const std::source_location &where) {
  Value argument = argumentOf(variable);
  Type type = dtensor::undecided(argument.getType());
  return wrapValue(
      build.create<dtensor::ReadVariableOp>(location(where), type, argument));
}

void Trace::assign(const std::shared_ptr<VariableState> &variable,
                   const Tensor &value, const std::source_location &where) {
  Value argument = argumentOf(variable);
  args[cast<BlockArgument>(argument).getArgNumber()].assigned = true;
  build.create<dtensor::AssignVariableOp>(location(where), argument,
                                          valueOf(value, "assign", &where));
}

void Trace::finish(ArrayRef<Tensor> results,
                   const std::vector<std::optional<Layout>> &resultLayouts) {
  SmallVector<Value> values;
  for (const Tensor &result : results)
    values.push_back(valueOf(result, title, nullptr));
  build.create<mlir::func::ReturnOp>(build.getUnknownLoc(), values);
  if (meshesUsed.empty())
    meshesUsed.push_back(get_default_mesh().value_or(hostMesh()));
  // An assigned variable of the host stays there, whatever the function is on.
  if (llvm::any_of(args, [](const TraceArgument &argument) {
        return argument.assigned && argument.variable->host;
      }))
    useMesh(hostMesh());
  const bool spread = isSpread();
  const Mesh &mesh = meshesUsed.front();

  auto withLayout = [&](Type type, const Layout &layout) -> Type {
    RankedTensorType bare = dtensor::undecided(type);
    return RankedTensorType::get(
        bare.getShape(), bare.getElementType(),
        dtensor::LayoutAttr::get(context.get(), layout));
  };
  SmallVector<Type> inputs, outputs;
  for (auto [i, argument] : llvm::enumerate(args)) {
    bool isVariable = argument.kind == TraceArgument::Kind::Variable;
    bool host =
        isVariable ? argument.variable->host : argument.tensor.internal()->host;
    BlockArgument value = block->getArgument(unsigned(i));
    unsigned rank =
        unsigned(isVariable ? argument.variable->type.shape.size()
                            : argument.tensor.internal()->shape.size());
    if (host && spread && !argument.assigned) {
      inputs.push_back(value.getType());
      continue; // without a layout: it comes to where it is used
    }
    Layout layout =
        host ? Layout::replicated(argument.assigned ? hostMesh() : mesh, rank)
        : isVariable ? argument.variable->type.layout
                     : argument.tensor.internal()->array.layout();
    Type type = withLayout(value.getType(), layout);
    if (isVariable)
      type = dtensor::VariableType::get(context.get(),
                                        cast<RankedTensorType>(type));
    value.setType(type);
    inputs.push_back(type);
  }
  for (auto [i, value] : llvm::enumerate(values)) {
    Type type = dtensor::undecided(value.getType());
    if (i < resultLayouts.size() && resultLayouts[i]) {
      type = withLayout(type, *resultLayouts[i]);
      Location loc = value.getLoc();
      OpBuilder::InsertionGuard guard(build);
      build.setInsertionPoint(block->getTerminator());
      Value pinned = build.create<dtensor::ConstraintOp>(loc, type, value);
      note(pinned.getDefiningOp(), dtensor::deviceSetAttr,
           build.getI64IntegerAttr(
               detail::deviceSetOf(resultLayouts[i]->mesh())));
      block->getTerminator()->setOperand(unsigned(i), pinned);
    } else if (value.getType() != type) {
      type = value.getType(); // an argument, or a value with a pinned layout
    }
    outputs.push_back(type);
  }
  function.setFunctionType(build.getFunctionType(inputs, outputs));
  // All at once: a context keeps every list of attributes that it has seen.
  SmallVector<mlir::DictionaryAttr> names;
  names.reserve(args.size());
  for (const TraceArgument &argument : args)
    names.push_back(build.getDictionaryAttr(build.getNamedAttr(
        dtensor::nameAttr, build.getStringAttr(argument.name))));
  function.setAllArgAttrs(names);
  (*module)->setAttr("dtensor.mesh",
                     dtensor::MeshAttr::get(context.get(), mesh));
  if (hasNotes && !spread)
    dtensor::eraseDeviceSets(function);
  ended = true;
}

std::shared_ptr<const TracedModule> Trace::takeModule() {
  assert(ended && "a module is handed over when it is complete");
  return std::make_shared<TracedModule>(context, std::move(module),
                                        std::move(objects));
}

void Trace::abandon() {
  ended = true;
  // The discarded ops refer to ops in the module.
  discarded.clear();
  module = {};
  objects.clear();
  args.clear();
  known.clear();
  context.reset();
}

} // namespace meshloom::detail
