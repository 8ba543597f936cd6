// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Importer: the walk over functions and blocks, and what is checked of every
// op. Handlers do the rest.
#include "Importer.h"

#include "meshloom/Core/TensorSize.h"

#include "mlir/IR/Matchers.h"
#include "mlir/IR/Verifier.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace meshloom;
using namespace meshloom::importer;
using mlir::func::FuncOp;

/// How often the ops of a program may be imported. Most are once; the body of a
/// loop in a manual computation is again for each axis along which a value
/// turns out to differ, which multiplies in loops inside of it.
static constexpr int64_t readings = 64;

/// The handlers of all families, which serve every context.
static const Handlers &allHandlers(MLIRContext *context) {
  static const Handlers &families = *new Handlers([context] {
    Handlers handlers;
    addElementwise(handlers, context);
    addMovement(handlers);
    addContractions(handlers);
    addEinsums(handlers);
    addRaggedOps(handlers);
    addReductions(handlers);
    addWindows(handlers);
    addIndexing(handlers);
    addOrdering(handlers);
    addLinalg(handlers);
    addControlFlow(handlers);
    addManualComputations(handlers);
    addCollectives(handlers);
    addAnnotations(handlers);
    addSpecialFunctions(handlers);
    addBroadcasting(handlers);
    addNormalization(handlers);
    addRandomBits(handlers);
    addCustomCalls(handlers);
    return handlers;
  }());
  return families;
}

Importer::Importer(ModuleOp module, const Shardings &shardings, int64_t size)
    : b(module.getContext(), shardings.getMesh()), module(module),
      shardings(shardings), handlers(allHandlers(module.getContext())),
      budget(readings * (size + 1024)) {
  b.setListener(&recorder);
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

LogicalResult importer::checkType(Location loc, Type type) {
  if (auto tuple = dyn_cast<mlir::TupleType>(type)) {
    for (Type element : tuple.getTypes())
      if (failed(checkType(loc, element)))
        return failure();
    return success();
  }
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return mlir::emitError(loc) << "a value of type " << type
                                << " is not supported; expected a tensor";
  if (!tensor.hasStaticShape())
    return mlir::emitError(loc) << "dynamic shapes are not supported (" << type
                                << "); export the program with fixed shapes";
  if (auto element = dtensor::dtypeOf(tensor.getElementType())) {
    if (tensorBytes(Shape(tensor.getShape()), *element))
      return success();
    return mlir::emitError(loc)
           << "tensors of more than 2^53 bytes are not supported (" << type
           << ")";
  }
  Type element = tensor.getElementType();
  auto error = mlir::emitError(loc);
  if (auto number = dyn_cast<IntegerType>(element); number)
    error << "integers of " << number.getWidth() << " bits";
  else if (auto format = dyn_cast<FloatType>(element);
           format && format.getWidth() <= 8)
    error << "floats of " << format.getWidth() << " bits";
  else if (StringRef(element.getDialect().getNamespace()) == "quant")
    error << "quantized types";
  else
    error << "elements of this type";
  return error << " are not supported (" << type << ")";
}

void importer::flatten(Type type, SmallVectorImpl<RankedTensorType> &tensors) {
  if (auto tuple = dyn_cast<mlir::TupleType>(type)) {
    for (Type element : tuple.getTypes())
      flatten(element, tensors);
    return;
  }
  auto tensor = cast<RankedTensorType>(type);
  tensors.push_back(
      RankedTensorType::get(tensor.getShape(), tensor.getElementType()));
}

RankedTensorType Importer::typeOf(Value source) {
  auto type = cast<RankedTensorType>(source.getType());
  return RankedTensorType::get(type.getShape(), type.getElementType());
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

ArrayRef<Value> Importer::leaves(Value source) const {
  auto entry = values.find(source);
  assert(entry != values.end() && "operands are imported before their users");
  return entry->second;
}

SmallVector<Value> Importer::leaves(ValueRange sources) const {
  SmallVector<Value> result;
  for (Value source : sources)
    llvm::append_range(result, leaves(source));
  return result;
}

Value Importer::get(Value source) const {
  return leaves(source).front();
}

SmallVector<Value> Importer::get(ValueRange sources) const {
  return leaves(sources);
}

void Importer::set(Value source, ArrayRef<Value> itsLeaves) {
  values[source] = SmallVector<Value, 1>(itsLeaves);
}

int64_t Importer::deviceAt(int64_t position) const {
  if (!manualOrder.empty())
    return manualOrder[size_t(position)];
  return shardings.any() ? shardings.meshes().deviceAt(position) : position;
}

int64_t Importer::positionOf(int64_t device) const {
  if (!manualOrder.empty())
    return llvm::find(manualOrder, device) - manualOrder.begin();
  return shardings.any() ? shardings.meshes().positionOf(device) : device;
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

/// Regions that are functions of their arguments may use constants, too.
static bool isConstant(Operation *op) {
  return isa_and_nonnull<stablehlo::ConstantOp, sdy::ConstantOp>(op);
}

LogicalResult Importer::checkTypes(Operation &op) {
  auto isOutside = [&](Value operand) {
    return scalarRegion && scalarRegion->isAncestor(op.getParentRegion()) &&
           !scalarRegion->isAncestor(operand.getParentRegion()) &&
           !isConstant(operand.getDefiningOp());
  };
  for (Value operand : op.getOperands())
    if (!values.count(operand) || isOutside(operand))
      return mlir::emitError(op.getLoc())
             << "uses a value from outside of its region, which is a function "
                "of its arguments and of constants only";
  for (Type type : op.getResultTypes())
    if (failed(checkType(op.getLoc(), type)))
      return failure();
  return success();
}

/// Ops whose handlers take tuples apart; those of all others get tensors.
static bool takesTuples(Operation *op) {
  return isa<mlir::func::CallOp, sdy::NamedComputationOp, stablehlo::CaseOp,
             stablehlo::CompositeOp, stablehlo::CustomCallOp,
             stablehlo::GetTupleElementOp, stablehlo::IfOp,
             stablehlo::OptimizationBarrierOp, stablehlo::TupleOp,
             stablehlo::WhileOp>(op);
}

/// Ops that a handler made are wrong where the source op is: they say so.
LogicalResult Importer::verifyNewOps(size_t since, LogicalResult soFar) {
  if (succeeded(soFar))
    for (Operation *op : llvm::drop_begin(recorder.created, since))
      if (failed(mlir::verify(op, /*verifyRecursively=*/false))) {
        soFar = failure();
        break;
      }
  recorder.created.truncate(since);
  return soFar;
}

void Importer::forget(Region &region) {
  llvm::erase_if(recorder.created, [&](Operation *recorded) {
    return region.isAncestor(recorded->getParentRegion());
  });
}

void Importer::retract(Operation *op) {
  llvm::erase_if(recorder.created,
                 [&](Operation *recorded) { return op->isAncestor(recorded); });
  op->erase();
}

FailureOr<SmallVector<Value>> Importer::annotated(Operation &op,
                                                  SmallVector<Value> results) {
  if (isa<stablehlo::CustomCallOp>(op) || results.empty())
    return results; // @Sharding and its like say what theirs means
  Attribute attribute = op.getDiscardableAttr(shardyName);
  if (auto perValue =
          dyn_cast_or_null<sdy::TensorShardingPerValueAttr>(attribute)) {
    if (perValue.getShardings().size() != results.size())
      return op.emitError("has ")
             << perValue.getShardings().size() << " shardings for "
             << results.size() << " results";
    for (auto [value, sharding] :
         llvm::zip_equal(results, perValue.getShardings())) {
      auto pinned = constrain(*this, value, sharding);
      if (failed(pinned))
        return failure();
      value = *pinned;
    }
    return results;
  }
  if (!attribute)
    attribute = op.getDiscardableAttr(gspmdName);
  if (!attribute)
    return results;
  SmallVector<Attribute> parts(1, attribute);
  if (auto text = dyn_cast<StringAttr>(attribute)) {
    parts.clear();
    auto split = splitGspmdTuple(text.getValue().str());
    if (!split)
      return op.emitError(split.error().message());
    for (const std::string &part : *split)
      parts.push_back(b.getStringAttr(part));
  }
  // One for a tuple, or for an op without results.
  if (parts.size() == 1 && results.size() != 1 &&
      (results.empty() || shardings.isForTuple(attribute)))
    parts.assign(results.size(), attribute);
  if (parts.size() != results.size())
    return op.emitError("has ")
           << parts.size() << " shardings for " << results.size() << " results";
  for (auto [value, part] : llvm::zip_equal(results, parts)) {
    auto sharding = shardings.of(op.getLoc(), part, b.typeOf(value));
    if (failed(sharding))
      return failure();
    if (!sharding->manual.empty()) // one per device anyway
      continue;
    auto pinned = constrain(*this, value, *sharding);
    if (failed(pinned))
      return failure();
    value = *pinned;
  }
  return results;
}

LogicalResult Importer::importOp(Operation &op) {
  b.setLoc(op.getLoc());
  if (failed(checkTypes(op)))
    return failure();
  if (--budget < 0)
    return op.emitError(
               "is in loops in one another that are read again for each "
               "axis along which their values may differ, and this is "
               "done too often; the most is ")
           << readings << " times the program";
  const Handlers::Handler *handler = handlers.find(&op);
  if (!handler)
    return op.emitError() << "'" << op.getName() << "' is not supported";
  if (!takesTuples(&op))
    for (Type type :
         llvm::concat<const Type>(SmallVector<Type>(op.getOperandTypes()),
                                  SmallVector<Type>(op.getResultTypes())))
      if (isa<mlir::TupleType>(type))
        return op.emitError("'")
               << op.getName() << "' takes and gives tensors, not a " << type;
  size_t before = recorder.created.size();
  Imported results = (*handler)(*this, &op);
  if (failed(verifyNewOps(before, results)))
    return failure();

  b.setLoc(op.getLoc());
  SmallVector<RankedTensorType> expected;
  for (Type type : op.getResultTypes())
    flatten(type, expected);
  bool agree = expected.size() == results->size();
  for (size_t i = 0; agree && i < expected.size(); ++i)
    agree = b.typeOf((*results)[i]) == expected[i];
  if (!agree) {
    auto error = op.emitError("'") << op.getName() << "' gives ";
    llvm::interleaveComma(*results, error,
                          [&](Value value) { error << b.typeOf(value); });
    error << ", but its type says ";
    llvm::interleaveComma(expected, error);
    return error;
  }
  if (!inScalarRegion()) {
    results = annotated(op, std::move(*results));
    if (failed(verifyNewOps(before, results)))
      return failure();
  }

  ArrayRef<Value> remaining = *results;
  for (Value result : op.getResults()) {
    SmallVector<RankedTensorType> tensors;
    flatten(result.getType(), tensors);
    set(result, remaining.take_front(tensors.size()));
    remaining = remaining.drop_front(tensors.size());
  }
  return success();
}

LogicalResult Importer::importBlock(Block &block) {
  for (Operation &op : block.without_terminator())
    if (failed(importOp(op)))
      return failure();
  if (failed(checkTypes(*block.getTerminator())))
    return failure();
  b.setLoc(block.getTerminator()->getLoc());
  return success();
}

/// The one block of a region, with its terminator.
static FailureOr<Block *> onlyBlock(Location loc, Region &region) {
  if (!region.hasOneBlock() || !region.front().mightHaveTerminator())
    return mlir::emitError(loc) << "a region must have one block that returns";
  return &region.front();
}

Imported Importer::importInline(Region &region, ArrayRef<Value> arguments) {
  auto block = onlyBlock(b.getLoc(), region);
  if (failed(block))
    return failure();
  ArrayRef<Value> remaining = arguments;
  for (BlockArgument argument : (*block)->getArguments()) {
    SmallVector<RankedTensorType> tensors;
    if (failed(checkType(argument.getLoc(), argument.getType())))
      return failure();
    flatten(argument.getType(), tensors);
    if (remaining.size() < tensors.size())
      return error("the region has more arguments than there are values");
    for (auto [value, type] : llvm::zip(remaining, tensors))
      if (b.typeOf(value) != type)
        return error("the region's argument #")
               << argument.getArgNumber() << " is a " << type << ", but gets a "
               << b.typeOf(value);
    set(argument, remaining.take_front(tensors.size()));
    remaining = remaining.drop_front(tensors.size());
  }
  if (!remaining.empty())
    return error("the region has fewer arguments than there are values");
  Location outer = b.getLoc();
  if (failed(importBlock(**block)))
    return failure();
  b.setLoc(outer);
  return leaves((*block)->getTerminator()->getOperands());
}

LogicalResult Importer::importCaptured(
    Region &region,
    SmallVectorImpl<std::pair<Value, SmallVector<Value>>> &outer) {
  llvm::SmallSetVector<Value, 4> used;
  region.walk([&](Operation *op) {
    for (Value operand : op->getOperands())
      if (!region.isAncestor(operand.getParentRegion()) &&
          isConstant(operand.getDefiningOp()) && values.count(operand))
        used.insert(operand);
  });
  for (Value value : used) {
    Operation *op = value.getDefiningOp();
    outer.push_back({value, SmallVector<Value>(leaves(value))});
    Imported imported = (*handlers.find(op))(*this, op);
    if (failed(imported))
      return failure();
    set(value, *imported);
  }
  return success();
}

LogicalResult Importer::importScalarRegion(Region &source, Region &target) {
  auto block = onlyBlock(b.getLoc(), source);
  if (failed(block))
    return failure();
  OpBuilder::InsertionGuard guard(b);
  Location outer = b.getLoc();
  SmallVector<Value> arguments;
  SmallVector<Type> types;
  for (BlockArgument argument : (*block)->getArguments()) {
    if (failed(checkType(argument.getLoc(), argument.getType())))
      return failure();
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    if (!type || type.getRank() != 0)
      return error(
                 "a reducer's or comparator's arguments must be scalars, not ")
             << argument.getType();
    types.push_back(typeOf(argument));
  }
  target.getBlocks().clear();
  Block *body = b.createBlock(&target, target.end(), types,
                              SmallVector<Location>(types.size(), outer));
  for (Value argument : body->getArguments())
    b.note(argument, {});
  llvm::append_range(arguments, body->getArguments());
  SmallVector<std::pair<Value, SmallVector<Value>>> captured;
  if (failed(importCaptured(source, captured)))
    return failure();
  Region *enclosing = std::exchange(scalarRegion, &source);
  Imported results = importInline(source, arguments);
  scalarRegion = enclosing;
  for (const auto &[value, itsLeaves] : captured)
    set(value, itsLeaves);
  if (failed(results))
    return failure();
  b.create<dtensor::YieldOp>(outer, *results);
  b.setLoc(outer);
  return success();
}

Imported Importer::importCall(Location loc, StringRef symbol,
                              ArrayRef<Value> arguments) {
  auto func = module.lookupSymbol<FuncOp>(symbol);
  if (!func || func.isExternal())
    return mlir::emitError(loc)
           << "there is no function '" << symbol << "' with a body";
  // Annotations of tuples' parts would need names for them.
  SmallVector<Value> pinned(arguments);
  if (pinned.size() == func.getNumArguments())
    for (auto [i, value] : llvm::enumerate(pinned))
      if (Attribute sharding = shardingIn(func.getArgAttrDict(i))) {
        auto result = constrain(*this, value, sharding);
        if (failed(result))
          return failure();
        value = *result;
      }
  Imported results = importInline(func.getBody(), pinned);
  if (failed(results))
    return failure();
  b.setLoc(loc);
  if (results->size() == func.getNumResults())
    for (auto [i, value] : llvm::enumerate(*results))
      if (Attribute sharding = shardingIn(func.getResultAttrDict(i))) {
        auto result = constrain(*this, value, sharding);
        if (failed(result))
          return failure();
        value = *result;
      }
  return results;
}

//===----------------------------------------------------------------------===//
// Reducers
//===----------------------------------------------------------------------===//

SmallVector<Value> Importer::promoted(Region &reducer,
                                      ArrayRef<Value> operands) {
  SmallVector<Value> result(operands);
  if (!reducer.hasOneBlock())
    return result;
  for (auto [value, argument] :
       llvm::zip(result, reducer.front().getArguments())) {
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    if (type && dtensor::dtypeOf(type.getElementType()))
      value = b.convert(value, type.getElementType());
  }
  return result;
}

std::optional<ReduceKind> Importer::kindOf(Region &reducer) {
  if (!reducer.hasOneBlock())
    return std::nullopt;
  Block &block = reducer.front();
  auto isAnnotation = [](Operation *op) {
    auto call = dyn_cast_or_null<stablehlo::CustomCallOp>(op);
    return isa_and_nonnull<sdy::ShardingConstraintOp>(op) ||
           (call && call.getCallTargetName() == "Sharding" &&
            call->getNumOperands() == 1);
  };
  // The one op that is not an annotation.
  Operation *only = nullptr;
  for (Operation &op : block.without_terminator()) {
    if (isAnnotation(&op))
      continue;
    if (only)
      return std::nullopt;
    only = &op;
  }
  auto meant = [&](Value value) {
    while (isAnnotation(value.getDefiningOp()))
      value = value.getDefiningOp()->getOperand(0);
    return value;
  };
  Operation *end = block.getTerminator();
  if (!only || block.getNumArguments() != 2 || only->getNumOperands() != 2 ||
      only->getNumResults() != 1 || end->getNumOperands() != 1 ||
      meant(end->getOperand(0)) != only->getResult(0))
    return std::nullopt;
  // All of these are commutative.
  Value lhs = meant(only->getOperand(0)), rhs = meant(only->getOperand(1));
  auto isParameter = [&](Value value) {
    return isa<BlockArgument>(value) && value.getParentBlock() == &block;
  };
  if (lhs == rhs || !isParameter(lhs) || !isParameter(rhs))
    return std::nullopt;
  // Which of two complex numbers is larger is a formula, no kind.
  if (isa<stablehlo::MinOp, stablehlo::MaxOp>(only) &&
      isa<mlir::ComplexType>(mlir::getElementTypeOrSelf(lhs.getType())))
    return std::nullopt;
  return llvm::TypeSwitch<Operation *, std::optional<ReduceKind>>(only)
      .Case([](stablehlo::AddOp) { return ReduceKind::Sum; })
      .Case([](stablehlo::MulOp) { return ReduceKind::Prod; })
      .Case([](stablehlo::MinOp) { return ReduceKind::Min; })
      .Case([](stablehlo::MaxOp) { return ReduceKind::Max; })
      .Case([](stablehlo::AndOp) { return ReduceKind::And; })
      .Case([](stablehlo::OrOp) { return ReduceKind::Or; })
      .Default([](Operation *) { return std::nullopt; });
}

/// The identity of a reduction as an attribute.
static mlir::TypedAttr identityAttr(ReduceKind kind, Type element) {
  if (auto complex = dyn_cast<mlir::ComplexType>(element))
    element = complex.getElementType();
  if (auto format = dyn_cast<FloatType>(element)) {
    const llvm::fltSemantics &semantics = format.getFloatSemantics();
    switch (kind) {
    case ReduceKind::Prod:
      return FloatAttr::get(element, llvm::APFloat(semantics, 1));
    case ReduceKind::Min:
      return FloatAttr::get(element, llvm::APFloat::getInf(semantics));
    case ReduceKind::Max:
      return FloatAttr::get(element, llvm::APFloat::getInf(semantics, true));
    default:
      return FloatAttr::get(element, llvm::APFloat::getZero(semantics));
    }
  }
  unsigned width = element.getIntOrFloatBitWidth();
  bool isUnsigned = element.isUnsignedInteger() || width == 1;
  auto value = [&] {
    switch (kind) {
    case ReduceKind::Prod:
      return llvm::APInt(width, 1);
    case ReduceKind::Min:
      return isUnsigned ? llvm::APInt::getMaxValue(width)
                        : llvm::APInt::getSignedMaxValue(width);
    case ReduceKind::Max:
      return isUnsigned ? llvm::APInt::getMinValue(width)
                        : llvm::APInt::getSignedMinValue(width);
    case ReduceKind::And:
      return llvm::APInt::getAllOnes(width);
    default:
      return llvm::APInt::getZero(width);
    }
  };
  return IntegerAttr::get(element, value());
}

std::optional<int64_t> importer::constantNumber(Value value) {
  auto constant = value.getDefiningOp<stablehlo::ConstantOp>();
  auto dense = constant
                   ? dyn_cast<mlir::DenseIntElementsAttr>(constant.getValue())
                   : mlir::DenseIntElementsAttr();
  if (!dense || dense.getNumElements() != 1)
    return std::nullopt;
  return (*dense.getValues<llvm::APInt>().begin()).getSExtValue();
}

Value Importer::identity(ReduceKind kind, Type element) {
  auto type = RankedTensorType::get({}, element);
  mlir::TypedAttr value = identityAttr(kind, element);
  if (auto number = dyn_cast<IntegerAttr>(value))
    return b.splat(type, number.getValue());
  return b.splat(type, cast<FloatAttr>(value).getValueAsDouble());
}

bool Importer::isIdentity(ReduceKind kind, Value value) {
  DenseElementsAttr constant;
  while (auto moved = value.getDefiningOp<dtensor::BroadcastInDimOp>())
    value = moved.getOperand();
  if (!matchPattern(value, mlir::m_Constant(&constant)) || !constant.isSplat())
    return false;
  Type element = b.elementOf(value);
  mlir::TypedAttr wanted = identityAttr(kind, element);
  if (isa<mlir::ComplexType>(element)) {
    auto number = constant.getSplatValue<std::complex<llvm::APFloat>>();
    return number.imag().isZero() &&
           number.real() == cast<FloatAttr>(wanted).getValue();
  }
  if (auto format = dyn_cast<FloatAttr>(wanted)) {
    auto number = constant.getSplatValue<llvm::APFloat>();
    // -0 + x is x for every x, 0 + x is not for x = -0; both are taken.
    return number.compare(format.getValue()) == llvm::APFloat::cmpEqual;
  }
  return constant.getSplatValue<llvm::APInt>() ==
         cast<IntegerAttr>(wanted).getValue();
}
