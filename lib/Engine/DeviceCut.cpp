// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Cutting a function by devices, see DeviceCut.h.
#include "DeviceCut.h"

#include "meshloom/Engine/Processes.h"

#include "meshloom/ControlFlow/ArgumentAttributes.h"
#include "meshloom/ControlFlow/ControlFlow.h"
#include "meshloom/ControlFlow/SourceLocation.h"
#include "meshloom/Dialect/DTensor/DeviceSets.h"
#include "meshloom/Dialect/DTensor/Notes.h"
#include "meshloom/Dialect/DTensor/Recompute.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include <fmt/format.h>

namespace meshloom::detail {

static std::optional<int64_t> numberIn(Operation *op, StringRef name) {
  auto number = op->getAttrOfType<IntegerAttr>(name);
  return number ? std::optional(number.getInt()) : std::nullopt;
}

DeviceCut::DeviceCut(ModuleOp module, ArrayRef<int64_t> ofArguments,
                     ArrayRef<int64_t> resultSets, ArrayRef<Mesh> meshes)
    : function(*module.getOps<mlir::func::FuncOp>().begin()),
      block(function.getBody().front()), meshes(meshes),
      places(block, ofArguments, meshes) {
  for (auto [argument, set] :
       llvm::zip_equal(block.getArguments(), ofArguments)) {
    numbers[argument] = values.size();
    auto layout = dtensor::layoutAttrOf(argument.getType());
    values.push_back({argument, set,
                      set != ANYWHERE && layout
                          ? std::optional(layout.getLayout())
                          : std::nullopt});
    if (auto result = function.getArgAttrOfType<IntegerAttr>(
            argument.getArgNumber(), dtensor::aliasAttr))
      resultOfArgument[argument.getArgNumber()] = unsigned(result.getInt());
  }
  // The layout of a variable is asked for where it is stored.
  Operation *terminator = block.getTerminator();
  for (auto [i, set] : llvm::enumerate(resultSets)) {
    Value result = terminator->getOperand(unsigned(i));
    auto pin = result.getDefiningOp<dtensor::ConstraintOp>();
    if (set != ANYWHERE && pin && !pin->hasAttr(dtensor::deviceSetAttr))
      terminator->setOperand(unsigned(i), pin.getOperand());
  }
  inlineSpread(ofArguments);
  eraseUnused();
  places.visit(terminator->getPrevNode());
  gatherTransferred();
  for (Operation &op : block.without_terminator())
    place(&op);
  placeResults(resultSets);
  numberShared();
}

/// Before any part is built.
void DeviceCut::numberShared() {
  for (size_t p = 0; p < parts.size(); ++p)
    for (Operation *op : parts[p].ops)
      for (Value value : usedValues(op))
        if (Operation *source = value.getDefiningOp();
            source && partOf.contains(source) &&
            partOf.lookup(source) != int64_t(p))
          (void)numberOf(value);
}

void DeviceCut::eraseUnused() {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (mlir::isOpTriviallyDead(&op))
      op.erase();
}

void DeviceCut::inlineSpread(ArrayRef<int64_t> ofArguments) {
  // A branch that is computed again for a gradient is a part by itself: it
  // would else be computed, and kept, with the ops that it repeats.
  int64_t nextLabel = -2;
  for (bool isDone = false; !isDone;) {
    isDone = true;
    DevicePlaces now(block, ofArguments, meshes);
    now.visit(block.getTerminator()->getPrevNode());
    for (Operation &op : llvm::make_early_inc_range(block)) {
      if (!now.isSpread(&op))
        continue;
      isDone = false;
      Attribute label = op.getAttr(dtensor::partAttr);
      if (!label && op.hasAttr(dtensor::recomputedAttr))
        label = OpBuilder(&op).getI64IntegerAttr(nextLabel--);
      Block &body = op.getRegion(0).front();
      Operation *terminator = body.getTerminator();
      op.replaceAllUsesWith(terminator->getOperands());
      terminator->erase();
      for (Operation &inner : llvm::make_early_inc_range(body)) {
        if (label)
          inner.setAttr(dtensor::partAttr, label);
        inner.moveBefore(&op);
      }
      op.erase();
    }
  }
}

void DeviceCut::gatherTransferred() {
  for (Operation &op : block.without_terminator()) {
    if (!isTransfer(&op))
      continue;
    Value operand = op.getOperand(0);
    const int64_t from = places.of(operand);
    const auto layout = dtensor::layoutAttrOf(operand.getType());
    if (!spansThisProcess(meshOfDeviceSet(from, meshes)) ||
        !ownerOf(meshOfDeviceSet(places.of(&op), meshes)) ||
        (layout && layout.getLayout().is_fully_replicated()))
      continue;
    RankedTensorType bare = dtensor::undecided(operand.getType());
    OpBuilder b(&op);
    auto gathered = b.create<dtensor::RelayoutOp>(
        op.getLoc(),
        RankedTensorType::get(
            bare.getShape(), bare.getElementType(),
            dtensor::LayoutAttr::get(
                b.getContext(),
                Layout::replicated(meshOfDeviceSet(from, meshes),
                                   unsigned(bare.getRank())))),
        operand);
    gathered->setAttr(dtensor::deviceSetAttr, b.getI64IntegerAttr(from));
    gatheredOf[gathered] = operand;
    op.setOperand(0, gathered);
    places.visit(gathered);
  }
}

bool DeviceCut::isTransfer(Operation *op) const {
  if (!isa<dtensor::RelayoutOp>(op))
    return false;
  const int64_t from = places.of(op->getOperand(0));
  return from != ANYWHERE && from != places.of(op);
}

int64_t DeviceCut::positionOf(Value value) const {
  Operation *op = value.getDefiningOp();
  if (!op || (places.of(op) == ANYWHERE && !places.isHosted(op)))
    return -1; // it depends on arguments alone
  if (isTransfer(op))
    return positionOf(op->getOperand(0));
  return partOf.lookup(op);
}

DevicePart &DeviceCut::partFor(Operation *op, int64_t set) {
  const int64_t label = numberIn(op, dtensor::partAttr).value_or(-1);
  auto last = lastPart.find(set);
  if (last != lastPart.end() && parts[size_t(last->second)].label == label &&
      llvm::all_of(usedValues(op), [&](Value value) {
        // A value that left this part and came back is not in it.
        const int64_t position = positionOf(value);
        Operation *maker = value.getDefiningOp();
        return position < last->second ||
               (position == last->second && !(maker && isTransfer(maker)));
      }))
    return parts[size_t(last->second)];
  lastPart[set] = int64_t(parts.size());
  return parts.emplace_back(DevicePart{set, label, {}, {}, {}, {}});
}

void DeviceCut::addTo(DevicePart &part, Operation *op) {
  partOf[op] = &part - parts.data();
  part.ops.push_back(op);
}

void DeviceCut::place(Operation *op) {
  if (places.isHosted(op))
    return placeHosted(op);
  int64_t set = places.of(op);
  if (set == ANYWHERE)
    return;
  if (!isTransfer(op))
    return addTo(partFor(op, set), op);
  auto layout = dtensor::layoutAttrOf(op->getResult(0).getType());
  if (layout.getLayout().is_partial()) {
    std::string where;
    if (auto position = sourcePosition(op->getLoc()))
      where = fmt::format(" (at {})", *position);
    fail("relayout",
         fmt::format("expected a layout that is not partial for {}, got {}: "
                     "bring the value there first, then begin the reduction{}",
                     deviceSetText(set, meshes),
                     layout.getLayout().spec_string(), where));
  }
  Value operand = op->getOperand(0);
  if (auto number = numberIn(op, dtensor::transferAttr)) {
    Value source = gatheredOf.lookup(operand);
    if (source)
      (void)numberOf(source); // for its layout
    transferred[*number] = source ? source : operand;
  }
  DeviceMove move{numberOf(operand), {}, layout.getLayout()};
  if (auto number = numberIn(op, dtensor::transferBackAttr))
    move.layoutLike = transferred.lookup(*number);
  numbers[op->getResult(0)] = values.size();
  values.push_back({op->getResult(0), set, std::nullopt, std::move(move)});
}

void DeviceCut::compute(Value value, int64_t set) {
  Operation *op = value.getDefiningOp();
  if (op && places.of(value) == ANYWHERE && !partOf.contains(op))
    addTo(partFor(op, set), op);
}

void DeviceCut::placeHosted(Operation *op) {
  if (auto loop = dyn_cast<dtensor::WhileOp>(op))
    for (auto [init, result] :
         llvm::zip_equal(loop.getInits(), loop.getResults()))
      compute(init, places.of(result));
  else
    compute(op->getOperand(0), detail::deviceSetOf(hostMesh()));
  // The ops that come after it in the function run after it.
  lastPart.clear();
  DevicePart &part =
      parts.emplace_back(DevicePart{ANYWHERE, -1, {}, {}, {}, {}});
  addTo(part, op);
  for (Value result : op->getResults()) {
    numbers[result] = values.size();
    part.results.push_back(values.size());
    values.push_back({result, places.of(result)});
  }
}

void DeviceCut::placeResults(ArrayRef<int64_t> resultSets) {
  for (auto [i, value] :
       llvm::enumerate(block.getTerminator()->getOperands())) {
    const int64_t wanted = resultSets[i];
    int64_t set = places.of(value);
    if (wanted != ANYWHERE && set != ANYWHERE &&
        !comesAlong(set, dtensor::globalShape(value.getType()).empty(),
                    wanted)) {
      auto argument = llvm::find_if(
          resultOfArgument, [i = i](auto &pair) { return pair.second == i; });
      auto name = function.getArgAttrOfType<StringAttr>(argument->first,
                                                        dtensor::nameAttr);
      fail("assign",
           fmt::format("expected a value on the devices of variable '{}', {}, "
                       "got one on {}: bring it there with relayout, make the "
                       "variable with a layout there, or give it one by "
                       "set_layout (a model: set_layouts)",
                       name ? name.str() : "", deviceSetText(wanted, meshes),
                       deviceSetText(set, meshes)));
    }
    Operation *op = value.getDefiningOp();
    if (set == ANYWHERE && op) {
      compute(value, wanted == ANYWHERE ? detail::deviceSetOf(meshes.front())
                                        : wanted);
      set = parts[size_t(partOf.lookup(op))].deviceSet;
    }
    resultNumbers.push_back(numberOf(value));
    if (wanted != ANYWHERE && set != wanted)
      resultNumbers.back() = numberOn(value, wanted);
  }
}

size_t DeviceCut::numberOf(Value value) {
  auto [found, isNew] = numbers.try_emplace(value, values.size());
  if (isNew) {
    Operation *op = value.getDefiningOp();
    DevicePart &part = parts[size_t(partOf.lookup(op))];
    values.push_back({value, part.deviceSet});
    part.results.push_back(found->second);
  }
  return found->second;
}

size_t DeviceCut::numberOn(Value value, int64_t set) {
  const size_t number = numberOf(value);
  if (values[number].deviceSet == set)
    return number;
  auto [found, isNew] = movedNumbers.try_emplace({number, set}, values.size());
  if (isNew) {
    const auto rank =
        unsigned(cast<RankedTensorType>(value.getType()).getRank());
    Layout layout = Layout::replicated(meshOfDeviceSet(set, meshes), rank);
    values.push_back(
        {value, set, std::nullopt, DeviceMove{number, {}, std::move(layout)}});
  }
  return found->second;
}

const DeviceMove *DeviceCut::moveOf(size_t number) const {
  const std::optional<DeviceMove> &move = values[number].move;
  return move ? &*move : nullptr;
}

RankedTensorType DeviceCut::typeOf(size_t number) const {
  return dtensor::undecided(values[number].value.getType());
}

Layout DeviceCut::layoutOf(size_t number) const {
  const Numbered &numbered = values[number];
  if (numbered.layout)
    return *numbered.layout;
  assert(numbered.move &&
         "a program's results have layouts only after it was compiled");
  if (Value like = numbered.move->layoutLike)
    if (auto found = numbers.find(like); found != numbers.end())
      if (const Numbered &source = values[found->second];
          source.layout && !source.layout->is_partial())
        return *source.layout;
  return numbered.move->layout;
}

RankedTensorType DeviceCut::placedTypeOf(size_t number) const {
  RankedTensorType bare = typeOf(number);
  if (deviceSetOf(number) == ANYWHERE)
    return bare;
  return RankedTensorType::get(
      bare.getShape(), bare.getElementType(),
      dtensor::LayoutAttr::get(bare.getContext(), layoutOf(number)));
}

OwningOpRef<ModuleOp>
DeviceCut::emptyModule(OpBuilder &b, mlir::func::FuncOp &emptyFunction) {
  auto original = function->getParentOfType<ModuleOp>();
  OwningOpRef<ModuleOp> module = ModuleOp::create(original.getLoc());
  (*module)->setDiscardableAttrs(original->getDiscardableAttrDictionary());
  b.setInsertionPointToStart(module->getBody());
  emptyFunction = b.create<mlir::func::FuncOp>(function.getLoc(), "main",
                                               b.getFunctionType({}, {}));
  emptyFunction->setDiscardableAttrs(function->getDiscardableAttrDictionary());
  b.setInsertionPointToStart(emptyFunction.addEntryBlock());
  return module;
}

/// A function whose body is there has its type.
static void setTypeByBody(mlir::func::FuncOp function) {
  Block &body = function.getBody().front();
  function.setFunctionType(
      mlir::FunctionType::get(function.getContext(), body.getArgumentTypes(),
                              body.getTerminator()->getOperandTypes()));
}

Operation *DeviceCut::controlOf(size_t number) const {
  const DevicePart &part = parts[number];
  return part.deviceSet == ANYWHERE ? part.ops.front() : nullptr;
}

SmallVector<Value, 0> DeviceCut::argumentsOf(Operation *control) const {
  llvm::SetVector<Value> arguments;
  // Ops on no devices are in each body instead.
  std::function<void(Value)> add = [&](Value value) {
    Operation *op = value.getDefiningOp();
    if (op && places.of(value) == ANYWHERE)
      llvm::for_each(usedValues(op), add);
    else
      arguments.insert(value);
  };
  llvm::for_each(capturedValues(control), add);
  return arguments.takeVector();
}

void DeviceCut::useOperands(size_t number) {
  DevicePart &part = parts[number];
  Operation *control = part.ops.front();
  if (isa<dtensor::WhileOp>(control))
    for (auto [init, result] :
         llvm::zip_equal(control->getOperands(), control->getResults()))
      part.operands.push_back(numberOn(init, places.of(result)));
  else
    part.operands.push_back(numberOf(control->getOperand(0)));
  for (Value value : argumentsOf(control))
    part.operands.push_back(numberOf(value));
}

OwningOpRef<ModuleOp> DeviceCut::bodyOf(size_t number, Region &region) {
  const DevicePart &part = parts[number];
  Operation *control = part.ops.front();
  OpBuilder b(function.getContext());
  mlir::func::FuncOp outlined;
  OwningOpRef<ModuleOp> module = emptyModule(b, outlined);
  Block &body = outlined.getBody().front();
  SmallVector<Value> sources(region.getArguments());
  llvm::append_range(sources, argumentsOf(control));
  mlir::IRMapping mapping;
  const size_t skipped = part.operands.size() - sources.size(); // the index
  for (auto [source, operand] :
       llvm::zip_equal(sources, ArrayRef(part.operands).drop_front(skipped)))
    mapping.map(source,
                body.addArgument(placedTypeOf(operand), source.getLoc()));
  std::function<void(Value)> copy = [&](Value value) {
    Operation *op = value.getDefiningOp();
    if (mapping.contains(value))
      return;
    llvm::for_each(usedValues(op), copy);
    b.clone(*op, mapping);
  };
  llvm::for_each(capturedValues(control), copy);
  for (Operation &op : region.front().without_terminator())
    b.clone(op, mapping);
  SmallVector<Value> results;
  for (Value value : region.front().getTerminator()->getOperands())
    results.push_back(mapping.lookup(value));
  b.create<mlir::func::ReturnOp>(control->getLoc(), results);
  setTypeByBody(outlined);
  ArgumentAttributes attributes(outlined);
  for (unsigned i = 0; i < body.getNumArguments(); ++i)
    attributes.set(i, dtensor::nameAttr,
                   b.getStringAttr(fmt::format("value{}", i)));
  attributes.apply();
  return module;
}

/// Builds the module of one part.
class DeviceCut::Builder {
public:
  Builder(DeviceCut &cut, DevicePart &part) : cut(cut), part(part) {}

  OwningOpRef<ModuleOp> build(const Mesh &mesh) {
    MLIRContext *context = cut.function.getContext();
    OpBuilder b(context);
    OwningOpRef<ModuleOp> module = cut.emptyModule(b, function);
    (*module)->setAttr("dtensor.mesh", dtensor::MeshAttr::get(context, mesh));
    body = &function.getBody().front();
    for (Operation *op : part.ops)
      clone(b, op);
    SmallVector<Value> results;
    for (size_t number : part.results)
      results.push_back(mapping.lookup(cut.values[number].value));
    b.create<mlir::func::ReturnOp>(cut.function.getLoc(), results);
    setTypeByBody(function);
    nameArguments();
    return module;
  }

private:
  void clone(OpBuilder &b, Operation *op) {
    for (Value value : usedValues(op))
      import(b, value);
    dtensor::eraseDeviceSets(b.clone(*op, mapping));
  }

  void import(OpBuilder &b, Value value) {
    if (mapping.contains(value))
      return;
    Operation *op = value.getDefiningOp();
    if (op && cut.places.of(op) == ANYWHERE)
      return clone(b, op);
    const size_t number = cut.numberOn(value, part.deviceSet);
    part.operands.push_back(number);
    mapping.map(value,
                body->addArgument(cut.placedTypeOf(number), value.getLoc()));
  }

  /// Names the arguments as the function's, and says which of the results may
  /// be in their memory.
  void nameArguments() {
    ArgumentAttributes attributes(function);
    ::mlir::Builder b(function.getContext());
    for (auto [i, number] : llvm::enumerate(part.operands)) {
      Value value = cut.values[number].value;
      // By its place, so that equal parts are equal modules.
      std::string name = fmt::format("value{}", i);
      if (auto argument = dyn_cast<BlockArgument>(value)) {
        if (auto argumentName = cut.function.getArgAttrOfType<StringAttr>(
                argument.getArgNumber(), dtensor::nameAttr))
          name = argumentName.str();
        auto assigned = cut.resultOfArgument.find(argument.getArgNumber());
        if (assigned != cut.resultOfArgument.end()) {
          const size_t result = cut.resultNumbers[assigned->second];
          if (auto found = llvm::find(part.results, result);
              found != part.results.end())
            attributes.set(unsigned(i), dtensor::aliasAttr,
                           b.getI64IntegerAttr(found - part.results.begin()));
        }
      }
      attributes.set(unsigned(i), dtensor::nameAttr, b.getStringAttr(name));
    }
    attributes.apply();
  }

  DeviceCut &cut;
  DevicePart &part;
  mlir::func::FuncOp function;
  Block *body = nullptr;
  mlir::IRMapping mapping;
};

ModuleOp DeviceCut::build(size_t number, const Mesh &mesh) {
  DevicePart &part = parts[number];
  part.module = Builder(*this, part).build(mesh);
  return *part.module;
}

} // namespace meshloom::detail
