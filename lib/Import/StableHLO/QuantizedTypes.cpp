// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Values of a uniform quantized type become the integers that they are stored
// as. Ops that only move elements move these integers; other ops compute in the
// expressed type, between a dequantization of their operands and a quantization
// of their results, as StableHLO's specification defines them.
#include "Importer.h"
#include "Prepare.h"

#include "meshloom/Dialect/StableHLO/StableHLO.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Quant/QuantTypes.h"
#include "llvm/ADT/SmallVectorExtras.h"

using namespace meshloom;
using namespace meshloom::importer;
using mlir::func::FuncOp;
using mlir::quant::QuantizedType;
using mlir::quant::UniformQuantizedPerAxisType;
using mlir::quant::UniformQuantizedType;

/// The uniform quantized type of a tensor's elements, or null.
static QuantizedType quantizedOf(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !isa<UniformQuantizedType, UniformQuantizedPerAxisType>(
                     tensor.getElementType()))
    return {};
  return cast<QuantizedType>(tensor.getElementType());
}

static bool holdsQuantized(Type type) {
  if (auto tuple = dyn_cast<mlir::TupleType>(type))
    return llvm::any_of(tuple.getTypes(), holdsQuantized);
  return bool(quantizedOf(type));
}

bool importer::holdsQuantizedTypes(ModuleOp module) {
  auto result = module.walk([](Operation *op) {
    bool found = llvm::any_of(op->getResultTypes(), holdsQuantized);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        found |= llvm::any_of(block.getArgumentTypes(), holdsQuantized);
    return found ? mlir::WalkResult::interrupt() : mlir::WalkResult::advance();
  });
  return result.wasInterrupted();
}

/// Signed integers have no sign in their type, as everywhere in StableHLO.
static IntegerType storageOf(QuantizedType type) {
  return IntegerType::get(type.getContext(), type.getStorageTypeIntegralWidth(),
                          type.isSigned() ? IntegerType::Signless
                                          : IntegerType::Unsigned);
}

/// Returns whether a stored integer comes back unchanged when it is dequantized
/// and quantized again: two roundings of its distance from the zero point,
/// which has a bit more than the integer, are off by less than one half.
static bool survivesRounding(QuantizedType type) {
  auto expressed = cast<FloatType>(type.getExpressedType());
  return type.getStorageTypeIntegralWidth() + 4 <=
         expressed.getFPMantissaWidth();
}

/// The index of the operand whose elements an argument of `op`'s region is
/// about, if the region combines elements.
static std::optional<unsigned> operandOfArgument(Operation *op,
                                                 unsigned argument) {
  if (isa<stablehlo::ReduceOp, stablehlo::ReduceWindowOp, stablehlo::MapOp>(op))
    return argument;
  if (isa<stablehlo::SortOp>(op))
    return argument / 2;
  if (isa<stablehlo::AllReduceOp, stablehlo::ReduceScatterOp,
          stablehlo::SelectAndScatterOp>(op))
    return 0;
  if (auto scatter = dyn_cast<stablehlo::ScatterOp>(op))
    return argument < scatter.getInputs().size() ? argument : argument + 1;
  return std::nullopt;
}

/// Returns whether StableHLO has `op` on values that are quantized along a dim.
static bool takesSlices(Operation *op) {
  if (op->getDialect() && isa<sdy::SdyDialect>(op->getDialect()))
    return true;
  return isa<FuncOp, mlir::CallOpInterface, mlir::func::ReturnOp,
             stablehlo::AddOp, stablehlo::BitcastConvertOp,
             stablehlo::BroadcastInDimOp, stablehlo::CaseOp,
             stablehlo::CompositeOp, stablehlo::ConstantOp,
             stablehlo::ConvolutionOp, stablehlo::CustomCallOp,
             stablehlo::DotGeneralOp, stablehlo::GetTupleElementOp,
             stablehlo::IfOp, stablehlo::OptimizationBarrierOp,
             stablehlo::ReshapeOp, stablehlo::ReturnOp, stablehlo::TransposeOp,
             stablehlo::TupleOp, stablehlo::UniformDequantizeOp,
             stablehlo::UniformQuantizeOp, stablehlo::WhileOp>(op);
}

/// Reports a quantized type whose parameters do not fit it (C7, C12 and C13 of
/// quantized tensor types).
static LogicalResult checkQuantization(Operation *op, Type type) {
  if (auto tuple = dyn_cast<mlir::TupleType>(type))
    return success(llvm::all_of(tuple.getTypes(), [&](Type part) {
      return succeeded(checkQuantization(op, part));
    }));
  QuantizedType element = quantizedOf(type);
  if (!element)
    return success();
  auto tensor = cast<RankedTensorType>(type);
  SmallVector<int64_t> zeroPoints;
  if (auto uniform = dyn_cast<UniformQuantizedType>(element)) {
    zeroPoints.push_back(uniform.getZeroPoint());
  } else {
    auto perAxis = cast<UniformQuantizedPerAxisType>(element);
    llvm::append_range(zeroPoints, perAxis.getZeroPoints());
    const int64_t dim = perAxis.getQuantizedDimension();
    if (dim < 0 || dim >= tensor.getRank())
      return op->emitError("has a value of type ")
             << type << ", which has no dim " << dim
             << " to be quantized along";
    if (tensor.getDimSize(dim) != int64_t(zeroPoints.size()))
      return op->emitError("has a value of type ")
             << type << ", which has " << zeroPoints.size()
             << " scales for a dim of " << tensor.getDimSize(dim)
             << " elements";
    if (!takesSlices(op))
      return op->emitError("is on a value of type ")
             << type << ", which is quantized along a dim; StableHLO has '"
             << op->getName() << "' on values quantized as a whole only";
  }
  for (int64_t zeroPoint : zeroPoints)
    if (zeroPoint < element.getStorageTypeMin() ||
        zeroPoint > element.getStorageTypeMax())
      return op->emitError("has a value of type ")
             << type << ", whose zero point " << zeroPoint << " is not between "
             << element.getStorageTypeMin() << " and "
             << element.getStorageTypeMax();
  return success();
}

namespace {
class QuantizedTypes {
public:
  explicit QuantizedTypes(MLIRContext *context) : b(context) {}

  LogicalResult visit(Operation *op) {
    if (auto func = dyn_cast<FuncOp>(op)) {
      if (failed(visitBodies(op)))
        return failure();
      auto stored = [&](ArrayRef<Type> types) {
        return llvm::map_to_vector(types,
                                   [&](Type type) { return storedType(type); });
      };
      func.setFunctionType(b.getFunctionType(stored(func.getArgumentTypes()),
                                             stored(func.getResultTypes())));
      return success();
    }
    if (!touchesQuantized(op))
      return visitBodies(op);
    if (isa<stablehlo::ConstantOp, sdy::ConstantOp>(op))
      return visitConstant(op);
    if (auto quantize = dyn_cast<stablehlo::UniformQuantizeOp>(op))
      return visitQuantize(quantize);
    if (auto dequantize = dyn_cast<stablehlo::UniformDequantizeOp>(op))
      return visitDequantize(dequantize);
    if (auto bitcast = dyn_cast<stablehlo::BitcastConvertOp>(op))
      return visitBitcast(bitcast);
    if (isa<stablehlo::ConvertOp>(op))
      return op->emitError("convert takes no quantized types; "
                           "uniform_quantize and uniform_dequantize convert "
                           "from and to them");
    if (op->getNumRegions() > 0)
      return visitRegions(op);
    if (actsOnStorage(op)) {
      store(op->getResults());
      return success();
    }
    return compute(op);
  }

private:
  //===--------------------------------------------------------------------===//
  // Types
  //===--------------------------------------------------------------------===//

  Type storedType(Type type) {
    if (auto tuple = dyn_cast<mlir::TupleType>(type))
      return mlir::TupleType::get(
          type.getContext(),
          llvm::map_to_vector(tuple.getTypes(),
                              [&](Type part) { return storedType(part); }));
    QuantizedType element = quantizedOf(type);
    return element ? cast<RankedTensorType>(type).clone(storageOf(element))
                   : type;
  }
  /// The values are integers from now on, and `quantized` says of which type.
  void store(ValueRange values) {
    for (Value value : values) {
      if (QuantizedType element = quantizedOf(value.getType()))
        quantized[value] = element;
      value.setType(storedType(value.getType()));
    }
  }
  bool touchesQuantized(Operation *op) {
    return llvm::any_of(op->getOperands(),
                        [&](Value value) { return quantized.count(value); }) ||
           llvm::any_of(op->getResultTypes(), holdsQuantized);
  }
  /// The one quantized type of all operands and results, else null.
  QuantizedType onlyType(Operation *op) {
    QuantizedType only;
    bool differ = false;
    auto meet = [&](QuantizedType type) {
      differ |= type && only && type != only;
      if (type)
        only = type;
    };
    for (Value operand : op->getOperands())
      meet(quantized.lookup(operand));
    for (Type type : op->getResultTypes())
      meet(quantizedOf(type));
    return differ ? QuantizedType() : only;
  }

  /// Returns whether `op` does with stored integers what it does with the
  /// numbers that they express: it moves elements, or looks at their order
  /// alone.
  bool actsOnStorage(Operation *op) {
    if (isa<stablehlo::SelectOp>(op))
      return onlyType(op) != nullptr;
    if (movesElements(op))
      return true;
    if (!isa<stablehlo::MaxOp, stablehlo::MinOp, stablehlo::ClampOp,
             stablehlo::CompareOp, chlo::TopKOp>(op))
      return false;
    QuantizedType only = onlyType(op);
    if (!only || !survivesRounding(only))
      return false;
    if (auto compare = dyn_cast<stablehlo::CompareOp>(op)) {
      if (isa<UniformQuantizedPerAxisType>(only))
        return false;
      compare.removeCompareTypeAttr();
    }
    return true;
  }

  //===--------------------------------------------------------------------===//
  // Arithmetic
  //===--------------------------------------------------------------------===//

  Attribute elementFor(Type type, double number) {
    return isa<FloatType>(type)
               ? Attribute(b.getFloatAttr(type, number))
               : Attribute(b.getIntegerAttr(type, int64_t(number)));
  }
  Value splat(Location loc, RankedTensorType type, double number) {
    Attribute element = elementFor(type.getElementType(), number);
    return b.create<stablehlo::ConstantOp>(
        loc, type, DenseElementsAttr::get(type, element));
  }

  /// A number for each element of `type`: `whole` of a type quantized per
  /// tensor, else one of `ofSlices` for each slice along the quantized dim.
  template <typename T>
  Value parameter(Location loc, RankedTensorType type, QuantizedType element,
                  T (UniformQuantizedType::*whole)() const,
                  ArrayRef<T> (UniformQuantizedPerAxisType::*ofSlices)()
                      const) {
    if (auto uniform = dyn_cast<UniformQuantizedType>(element))
      return splat(loc, type, double((uniform.*whole)()));
    auto perAxis = cast<UniformQuantizedPerAxisType>(element);
    SmallVector<Attribute> list;
    for (T number : (perAxis.*ofSlices)())
      list.push_back(elementFor(type.getElementType(), double(number)));
    auto listType =
        RankedTensorType::get(int64_t(list.size()), type.getElementType());
    Value values = b.create<stablehlo::ConstantOp>(
        loc, listType, DenseElementsAttr::get(listType, list));
    return b.create<stablehlo::BroadcastInDimOp>(
        loc, type, values, ArrayRef{int64_t(perAxis.getQuantizedDimension())});
  }
  Value scales(Location loc, RankedTensorType type, QuantizedType element) {
    return parameter<double>(loc, type, element,
                             &UniformQuantizedType::getScale,
                             &UniformQuantizedPerAxisType::getScales);
  }
  Value zeroPoints(Location loc, RankedTensorType type, QuantizedType element) {
    return parameter<int64_t>(loc, type, element,
                              &UniformQuantizedType::getZeroPoint,
                              &UniformQuantizedPerAxisType::getZeroPoints);
  }
  static bool hasZeroPoint(QuantizedType element) {
    if (auto uniform = dyn_cast<UniformQuantizedType>(element))
      return uniform.getZeroPoint() != 0;
    return llvm::any_of(
        cast<UniformQuantizedPerAxisType>(element).getZeroPoints(),
        [](int64_t zeroPoint) { return zeroPoint != 0; });
  }

  /// (storage - zero point) * scale. The difference is computed in integers
  /// that hold it.
  Value dequantize(Location loc, Value stored, QuantizedType element) {
    auto type = cast<RankedTensorType>(stored.getType());
    RankedTensorType expressed = type.clone(element.getExpressedType());
    Value distance = stored;
    if (hasZeroPoint(element)) {
      RankedTensorType wide = type.clone(b.getIntegerType(
          element.getStorageTypeIntegralWidth() < 32 ? 32 : 64));
      distance = b.create<stablehlo::ConvertOp>(loc, wide, stored);
      distance = b.create<stablehlo::SubtractOp>(
          loc, wide, distance, zeroPoints(loc, wide, element));
    }
    Value number = b.create<stablehlo::ConvertOp>(loc, expressed, distance);
    return b.create<stablehlo::MulOp>(loc, expressed, number,
                                      scales(loc, expressed, element));
  }

  /// round(clamp(number / scale + zero point)), as an integer of the storage.
  Value quantize(Location loc, Value number, QuantizedType element) {
    auto type = cast<RankedTensorType>(number.getType());
    Value scaled = b.create<stablehlo::DivOp>(loc, type, number,
                                              scales(loc, type, element));
    if (hasZeroPoint(element))
      scaled = b.create<stablehlo::AddOp>(loc, type, scaled,
                                          zeroPoints(loc, type, element));
    Value clamped = b.create<stablehlo::ClampOp>(
        loc, type, splat(loc, type, double(element.getStorageTypeMin())),
        scaled, splat(loc, type, double(element.getStorageTypeMax())));
    Value rounded = b.create<stablehlo::RoundNearestEvenOp>(loc, type, clamped);
    Value stored = b.create<stablehlo::ConvertOp>(
        loc, type.clone(storageOf(element)), rounded);
    quantized[stored] = element;
    return stored;
  }

  Value requantize(Location loc, Value stored, QuantizedType to) {
    return quantize(loc, dequantize(loc, stored, quantized.lookup(stored)), to);
  }

  /// Computes in the expressed types.
  LogicalResult compute(Operation *op) {
    b.setInsertionPoint(op);
    for (mlir::OpOperand &operand : op->getOpOperands())
      if (QuantizedType element = quantized.lookup(operand.get()))
        operand.set(dequantize(op->getLoc(), operand.get(), element));
    b.setInsertionPointAfter(op);
    for (Value result : op->getResults()) {
      QuantizedType element = quantizedOf(result.getType());
      if (!element)
        continue;
      result.setType(cast<RankedTensorType>(result.getType())
                         .clone(element.getExpressedType()));
      SmallVector<mlir::OpOperand *> uses(
          llvm::make_pointer_range(result.getUses()));
      Value stored = quantize(op->getLoc(), result, element);
      for (mlir::OpOperand *use : uses)
        use->set(stored);
    }
    return success();
  }

  //===--------------------------------------------------------------------===//
  // Ops
  //===--------------------------------------------------------------------===//

  LogicalResult visitBodies(Operation *op) {
    for (Region &region : op->getRegions())
      for (Block &block : region) {
        store(block.getArguments());
        for (Operation &inner : llvm::make_early_inc_range(block))
          if (failed(visit(&inner)))
            return failure();
      }
    return success();
  }

  /// A region that combines elements may be about a different quantized type
  /// than the operands are, as it may be about wider numbers.
  LogicalResult visitRegions(Operation *op) {
    b.setInsertionPoint(op);
    for (Region &region : op->getRegions())
      for (mlir::BlockArgument argument : region.getArguments()) {
        auto index = operandOfArgument(op, argument.getArgNumber());
        QuantizedType wanted = quantizedOf(argument.getType());
        if (!wanted || !index || *index >= op->getNumOperands())
          continue;
        mlir::OpOperand &operand = op->getOpOperand(*index);
        QuantizedType stored = quantized.lookup(operand.get());
        if (stored && stored != wanted)
          operand.set(requantize(op->getLoc(), operand.get(), wanted));
      }
    store(op->getResults());
    return visitBodies(op);
  }

  LogicalResult visitConstant(Operation *op) {
    Value result = op->getResult(0);
    QuantizedType element = quantizedOf(result.getType());
    auto value =
        dyn_cast_or_null<mlir::DenseIntElementsAttr>(op->getAttr("value"));
    if (!value || value.getElementType().getIntOrFloatBitWidth() !=
                      element.getStorageTypeIntegralWidth())
      return op->emitError("the value of a constant of type ")
             << result.getType() << " must be dense integers of type "
             << storageOf(element);
    op->setAttr("value",
                value.mapValues(storageOf(element),
                                [](const llvm::APInt &bits) { return bits; }));
    store(result);
    return success();
  }

  LogicalResult visitQuantize(stablehlo::UniformQuantizeOp op) {
    b.setInsertionPoint(op);
    QuantizedType to = quantizedOf(op.getType());
    Value operand = op.getOperand();
    replace(op, quantized.count(operand) ? requantize(op.getLoc(), operand, to)
                                         : quantize(op.getLoc(), operand, to));
    return success();
  }

  LogicalResult visitDequantize(stablehlo::UniformDequantizeOp op) {
    b.setInsertionPoint(op);
    replace(op, dequantize(op.getLoc(), op.getOperand(),
                           quantized.lookup(op.getOperand())));
    return success();
  }

  /// The integers stay; their type may have a different sign.
  LogicalResult visitBitcast(stablehlo::BitcastConvertOp op) {
    Value operand = op.getOperand(), result = op.getResult();
    if (operand.getType() != storedType(result.getType())) {
      store(result);
      return success();
    }
    b.setInsertionPoint(op);
    Value same =
        b.create<stablehlo::ReshapeOp>(op.getLoc(), operand.getType(), operand);
    if (QuantizedType to = quantizedOf(result.getType()))
      quantized[same] = to;
    replace(op, same);
    return success();
  }

  /// `value` is what a new op gives. It gets the annotations of `op`.
  static void replace(Operation *op, Value value) {
    value.getDefiningOp()->setDiscardableAttrs(
        op->getDiscardableAttrDictionary());
    op->getResult(0).replaceAllUsesWith(value);
    op->erase();
  }

  OpBuilder b;
  DenseMap<Value, QuantizedType> quantized; ///< types of stored integers
};
} // namespace

LogicalResult importer::storeQuantizedTypes(ModuleOp module) {
  auto checked = module.walk([](Operation *op) -> mlir::WalkResult {
    SmallVector<Type> types(op->getOperandTypes());
    llvm::append_range(types, op->getResultTypes());
    for (Region &region : op->getRegions())
      for (Block &block : region)
        llvm::append_range(types, block.getArgumentTypes());
    return success(llvm::all_of(types, [&](Type type) {
      return succeeded(checkQuantization(op, type));
    }));
  });
  if (checked.wasInterrupted())
    return failure();
  QuantizedTypes types(module.getContext());
  for (auto func : module.getOps<FuncOp>())
    if (!func.isExternal() && failed(types.visit(func)))
      return failure();
  return success();
}
