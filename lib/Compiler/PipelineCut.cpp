// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Cutting a step into the parts of a pipeline; see PipelineCut.h.
#include "PipelineCut.h"

#include "meshloom/ControlFlow/ArgumentAttributes.h"
#include "meshloom/ControlFlow/ControlFlow.h"
#include "meshloom/Dialect/DTensor/FunctionContract.h"
#include "meshloom/Dialect/DTensor/FunctionLayouts.h"
#include "meshloom/Dialect/DTensor/Notes.h"
#include "meshloom/Dialect/DTensor/TensorBuilder.h"

#include "llvm/ADT/StringExtras.h"

namespace meshloom {

using mlir::func::FuncOp;

/// Returns the number of the first scope in a name such as
/// "jit(step)/transpose(jvp(stage0))/dot_general".
static std::optional<int64_t> scopeNumberIn(StringRef name, StringRef scope) {
  auto isInWord = [](char c) { return llvm::isAlnum(c) || c == '_'; };
  for (size_t begin = name.find(scope); begin != StringRef::npos;
       begin = name.find(scope, begin + 1)) {
    if (begin > 0 && isInWord(name[begin - 1]))
      continue;
    StringRef number = name.drop_front(begin + scope.size());
    int64_t value = 0;
    if (!number.consumeInteger(10, value) &&
        (number.empty() || !isInWord(number.front())))
      return value;
  }
  return std::nullopt;
}

std::optional<int64_t> scopeNumber(Location location, StringRef scope) {
  std::optional<int64_t> number;
  location->walk([&](Location inner) {
    if (auto named = dyn_cast<mlir::NameLoc>(inner))
      number = scopeNumberIn(named.getName().getValue(), scope);
    else if (auto fused = dyn_cast<mlir::FusedLoc>(inner))
      if (auto part = dyn_cast_or_null<StringAttr>(fused.getMetadata()))
        number = scopeNumberIn(part.getValue(), scope);
    return number ? mlir::WalkResult::interrupt() : mlir::WalkResult::advance();
  });
  return number;
}

/// Returns the position of an op; -1: no operand has one, and no scope.
FailureOr<int64_t> PipelineCut::positionOf(Operation *op) const {
  int64_t operands = -1;
  for (Value value : usedValues(op))
    if (Operation *producer = value.getDefiningOp())
      if (auto found = positions.find(producer); found != positions.end())
        operands = std::max(operands, found->second);
  const std::optional<int64_t> number = scopeNumber(op->getLoc(), scope);
  if (!number)
    return operands;
  const int64_t stage = stages.at(*number);
  if (operands <= stage)
    return stage;
  const int64_t backward = lastPosition() - stage;
  if (operands <= backward)
    return backward;
  return mlir::emitError(op->getLoc())
         << "this op is in the scope " << scope << *number
         << ", which is in stage " << stage
         << " of the pipeline, and needs a value that stage "
         << stageAt(operands)
         << " computes later, in its backward part: the numbers of scopes go "
            "up from the batch to the loss";
}

int64_t PipelineCut::positionOfFirstUser(Operation *op) const {
  int64_t first = lastPosition();
  bool isUsed = false;
  for (Operation *user : op->getUsers())
    if (auto found =
            positions.find(microbatches.body().findAncestorOpInBlock(*user));
        found != positions.end()) {
      first = std::min(first, found->second);
      isUsed = true;
    }
  return isUsed ? first : 0;
}

LogicalResult PipelineCut::placeLoopOps() {
  std::vector<Operation *> free;
  for (Operation &op : microbatches.body().without_terminator()) {
    if (!microbatches.isInLoop(&op))
      continue;
    const FailureOr<int64_t> position = positionOf(&op);
    if (failed(position))
      return failure();
    positions[&op] = *position;
    if (*position < 0)
      free.push_back(&op);
  }
  for (Operation *op : llvm::reverse(free))
    positions[op] = positionOfFirstUser(op);
  for (const auto &[op, position] : positions)
    keys[op] = {false, position, 0};
  return success();
}

/// Moves the ops that no later position needs to parts of their own.
void PipelineCut::splitWeightGradients() {
  llvm::DenseSet<Operation *> needed;
  for (Operation &op :
       llvm::reverse(microbatches.body().without_terminator())) {
    const auto position = positions.find(&op);
    if (position == positions.end() ||
        position->second < program.shape.stages - 1)
      continue;
    const bool isNeeded = llvm::any_of(op.getUsers(), [&](Operation *user) {
      user = microbatches.body().findAncestorOpInBlock(*user);
      const auto found = positions.find(user);
      return found != positions.end() &&
             (found->second > position->second || needed.contains(user));
    });
    if (isNeeded)
      needed.insert(&op);
    else
      keys[&op] = {false, position->second, 1};
  }
}

std::optional<PipelineCut::Key> PipelineCut::keyOf(Value value) const {
  Operation *producer = value.getDefiningOp();
  if (auto sum = dyn_cast_or_null<spmd::AllReduceOp>(producer))
    producer = sum->getOperand(0).getDefiningOp();
  const auto found = keys.find(producer);
  return found == keys.end() ? std::nullopt : std::optional(found->second);
}

PipelineCut::Key PipelineCut::updateKey(Operation *op) const {
  const int64_t lastStage = program.shape.stages - 1;
  int64_t level = 0, shared = -1;
  std::optional<int64_t> stage;
  bool hasSeveralStages = false;
  for (Value value : usedValues(op)) {
    const std::optional<Key> key = keyOf(value);
    if (!key)
      continue;
    const auto [isUpdate, place, ofPart] = *key;
    const int64_t levelOfValue = isUpdate ? place : 0;
    level = std::max(level, levelOfValue);
    if (levelOfValue % 2) {
      shared = std::max(shared, levelOfValue);
      continue;
    }
    const int64_t stageOfValue = isUpdate ? ofPart : stageAt(place);
    hasSeveralStages |= stage && *stage != stageOfValue;
    stage = stageOfValue;
  }
  if (hasSeveralStages || (!stage && shared >= 0))
    return {true, level % 2 ? level : level + 1, lastStage};
  return {true, shared == level ? level + 1 : level, stage.value_or(0)};
}

void PipelineCut::placeUpdates() {
  for (Operation &op : microbatches.body().without_terminator())
    if (!isa<spmd::AllReduceOp>(op) && op.getNumResults() > 0 &&
        microbatches.phaseOf(op.getResult(0)) == Phase::Behind)
      keys[&op] = updateKey(&op);
}

void PipelineCut::addToParts() {
  for (Operation &op : microbatches.body().without_terminator())
    if (auto found = keys.find(&op); found != keys.end())
      parts[found->second].push_back(&op);
  // A result that does not depend on the batch is computed by an update.
  for (Value value : microbatches.body().getTerminator()->getOperands())
    if (value.getDefiningOp() && microbatches.phaseOf(value) == Phase::Once)
      parts.try_emplace({true, 0, 0});
}

void PipelineCut::exportValues() {
  for (const auto &[op, key] : keys)
    for (Value value : usedValues(op))
      if (std::optional<Key> ofValue = keyOf(value); ofValue && *ofValue != key)
        exported.insert(value);
  for (Value value : microbatches.body().getTerminator()->getOperands())
    exported.insert(value);
}

size_t PipelineCut::numberOf(Value value) {
  const auto [found, isNew] = numbers.try_emplace(value, program.values.size());
  if (!isNew)
    return found->second;
  using Kind = PipelineValue::Kind;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    const unsigned number = argument.getArgNumber();
    program.values.push_back({microbatches.batch().contains(number)
                                  ? Kind::Microbatch
                                  : Kind::Argument,
                              number});
  } else if (isa<spmd::AllReduceOp>(value.getDefiningOp())) {
    program.values.push_back({Kind::Sum});
  } else {
    program.values.push_back({microbatches.phaseOf(value) == Phase::Loop
                                  ? Kind::Activation
                                  : Kind::Update});
  }
  return found->second;
}

/// Builds the function of a part.
class PipelineCut::Builder {
public:
  Builder(PipelineCut &cut, PipelinePart &part, StringRef name)
      : cut(cut), part(part), builder(cut.function.getContext()) {
    auto source = cut.function->getParentOfType<ModuleOp>();
    part.module = ModuleOp::create(cut.function.getLoc());
    (*part.module)->setDiscardableAttrs(source->getDiscardableAttrDictionary());
    builder.setInsertionPointToStart(part.module->getBody());
    function = builder.create<FuncOp>(cut.function.getLoc(), name,
                                      builder.getFunctionType({}, {}));
    function->setDiscardableAttrs(cut.function->getDiscardableAttrDictionary());
    function->removeAttr(dtensor::contractAttr);
    if (cut.mesh.size() > 1)
      (*part.module)
          ->setAttr(dtensor::DTensorDialect::meshAttrName,
                    dtensor::MeshAttr::get(builder.getContext(), cut.mesh));
    builder.setInsertionPointToStart(function.addEntryBlock());
  }

  void add(ArrayRef<Operation *> ops) {
    for (Operation *op : ops)
      clone(op);
    for (Operation *op : ops)
      for (Value result : op->getResults())
        if (cut.exported.contains(result))
          addResult(cut.numberOf(result), mapping.lookup(result));
  }

  /// Adds the operand of a sum to the sum of the microbatches before.
  void addTo(spmd::AllReduceOp sum) {
    const Value addend = import(sum->getOperand(0));
    const size_t number = cut.numberOf(sum->getResult(0));
    const Value before =
        addArgument(number, plainType(addend.getType()), sum.getLoc());
    addResult(
        number,
        dtensor::TensorBuilder(builder, sum.getLoc()).add(before, addend));
  }

  void addResult(size_t number, Value value) {
    part.results.push_back(number);
    results.push_back(value);
  }

  /// Returns the value in the part: a copy of what does not depend on the
  /// batch, or an argument.
  Value import(Value value) {
    if (Value present = mapping.lookupOrNull(value))
      return present;
    Operation *producer = value.getDefiningOp();
    if (producer && cut.microbatches.phaseOf(value) == Phase::Once) {
      clone(producer);
      return mapping.lookup(value);
    }
    RankedTensorType type = plainType(value.getType());
    if (auto argument = dyn_cast<BlockArgument>(value))
      type = RankedTensorType::get(
          type.getShape(), type.getElementType(),
          cast<RankedTensorType>(
              cut.function.getArgument(argument.getArgNumber()).getType())
              .getEncoding());
    const Value argument =
        addArgument(cut.numberOf(value), type, value.getLoc());
    mapping.map(value, argument);
    return argument;
  }

  void end() {
    builder.create<mlir::func::ReturnOp>(cut.function.getLoc(), results);
    Block &body = function.getBody().front();
    function.setFunctionType(builder.getFunctionType(
        body.getArgumentTypes(), mlir::ValueRange(results).getTypes()));
    setArgumentAttributes();
  }

private:
  void clone(Operation *op) {
    for (Value value : usedValues(op))
      import(value);
    cloneWithPlainTypes(builder, op, mapping);
  }

  Value addArgument(size_t number, RankedTensorType type, Location location) {
    part.operands.push_back(number);
    return function.getBody().front().addArgument(type, location);
  }

  /// Returns the number of the value that takes the memory of an operand.
  std::optional<size_t> successorOf(size_t operand) const {
    const PipelineValue &value = cut.program.values[operand];
    if (value.kind == PipelineValue::Kind::Sum)
      return operand;
    if (value.kind != PipelineValue::Kind::Argument)
      return std::nullopt;
    auto alias = cut.function.getArgAttrOfType<IntegerAttr>(
        unsigned(value.argument), dtensor::aliasAttr);
    if (!alias)
      return std::nullopt;
    const Value result = cut.microbatches.body().getTerminator()->getOperand(
        unsigned(alias.getInt()));
    const auto found = cut.numbers.find(result);
    return found == cut.numbers.end() ? std::nullopt
                                      : std::optional(found->second);
  }

  void setArgumentAttributes() {
    ArgumentAttributes attributes(function);
    for (auto [i, number] : llvm::enumerate(part.operands)) {
      const PipelineValue &value = cut.program.values[number];
      if (value.kind == PipelineValue::Kind::Argument ||
          value.kind == PipelineValue::Kind::Microbatch)
        for (mlir::NamedAttribute attribute :
             mlir::function_interface_impl::getArgAttrs(
                 cut.function, unsigned(value.argument)))
          if (attribute.getName() != dtensor::aliasAttr)
            attributes.set(unsigned(i), attribute.getName(),
                           attribute.getValue());
      const std::optional<size_t> successor = successorOf(number);
      if (auto found = llvm::find(part.results, successor);
          successor && found != part.results.end())
        attributes.set(unsigned(i), dtensor::aliasAttr,
                       builder.getI64IntegerAttr(found - part.results.begin()));
    }
    attributes.apply();
  }

  PipelineCut &cut;
  PipelinePart &part;
  OpBuilder builder;
  FuncOp function;
  SmallVector<Value> results;
  mlir::IRMapping mapping; ///< from values of the copy
};

void PipelineCut::build() {
  std::map<Key, std::vector<spmd::AllReduceOp>> sums;
  for (spmd::AllReduceOp sum : microbatches.sums())
    sums[keyOf(sum->getResult(0)).value_or(parts.begin()->first)].push_back(
        sum);
  mlir::OperandRange results =
      microbatches.body().getTerminator()->getOperands();
  for (const auto &[key, ops] : parts) {
    const auto [isUpdate, place, ofPart] = key;
    PipelinePart &part = program.parts.emplace_back();
    part.stage = isUpdate ? ofPart : stageAt(place);
    if (!isUpdate)
      part.work = place < program.shape.stages - 1 ? PipelineWork::FORWARD
                  : ofPart ? PipelineWork::WEIGHT_GRADIENT
                           : PipelineWork::BACKWARD;
    Builder builder(*this, part, function.getName());
    builder.add(ops);
    for (spmd::AllReduceOp sum : sums[key])
      builder.addTo(sum);
    if (key == Key{true, 0, 0})
      for (Value value : results)
        if (value.getDefiningOp() &&
            microbatches.phaseOf(value) == Phase::Once &&
            !numbers.contains(value))
          builder.addResult(numberOf(value), builder.import(value));
    builder.end();
  }
  for (Value value : results)
    program.results.push_back(numberOf(value));
}

LogicalResult PipelineCut::run() {
  FailureOr<Mesh> ofFunction = onlyMesh(function);
  if (failed(ofFunction))
    return failure();
  mesh = *ofFunction;
  if (failed(placeLoopOps()))
    return failure();
  if (program.shape.schedule == PipelineSchedule::ZERO_BUBBLE)
    splitWeightGradients();
  placeUpdates();
  addToParts();
  exportValues();
  build();
  return success();
}

} // namespace meshloom
