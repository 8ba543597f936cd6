// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Floats of 4 to 8 bits are bytes (ui8), and integers of 2 and 4 bits numbers
// of 8 bits. An op that only moves numbers moves bytes; other ops compute with
// unpacked ones, and their results are packed. The calls that do so are named
// in Prepare.h.
#include "Importer.h"
#include "NarrowFormats.h"
#include "Prepare.h"

#include "meshloom/Dialect/DTensor/Notes.h"
#include "meshloom/Dialect/StableHLO/StableHLO.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Interfaces/CallInterfaces.h"

#include <numeric>

using namespace meshloom;
using namespace meshloom::importer;
using mlir::func::FuncOp;

/// The narrow type that a type's elements have, or null.
static Type narrowOf(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && isNarrow(tensor.getElementType()) ? tensor.getElementType()
                                                     : Type();
}

bool importer::holdsNarrowTypes(ModuleOp module) {
  auto result = module.walk([](Operation *op) {
    bool found = llvm::any_of(op->getResultTypes(), narrowOf);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        found |= llvm::any_of(block.getArgumentTypes(), narrowOf);
    return found ? mlir::WalkResult::interrupt() : mlir::WalkResult::advance();
  });
  return result.wasInterrupted();
}

bool importer::replaces(Region &region) {
  Block &block = region.front();
  Operation *end = block.getTerminator();
  return block.getNumArguments() == 2 && end->getNumOperands() == 1 &&
         end->getOperand(0) == block.getArgument(1);
}

/// Max or Min, if an op finds just that of floats whose bytes can be ordered:
/// it is that of bytes in the order of the numbers, which is what devices send
/// each other.
static std::optional<ReduceKind> extremeOf(Operation *op, Type element) {
  if (!element || !isOrdered(element) ||
      !isa<stablehlo::ReduceOp, stablehlo::ReduceWindowOp,
           stablehlo::AllReduceOp, stablehlo::ReduceScatterOp>(op))
    return std::nullopt;
  auto kind = Importer::kindOf(op->getRegion(0));
  return kind == ReduceKind::Max || kind == ReduceKind::Min ? kind
                                                            : std::nullopt;
}

bool importer::movesElements(Operation *op) {
  if (auto scatter = dyn_cast<stablehlo::ScatterOp>(op))
    return scatter.getUpdateComputation().hasOneBlock() &&
           replaces(scatter.getUpdateComputation());
  if (op->getDialect() && isa<sdy::SdyDialect>(op->getDialect()))
    return true;
  return isa<
      FuncOp, mlir::CallOpInterface, mlir::func::ReturnOp,
      stablehlo::AllGatherOp, stablehlo::AllToAllOp,
      stablehlo::BroadcastInDimOp, stablehlo::BroadcastOp, stablehlo::CaseOp,
      stablehlo::CollectiveBroadcastOp, stablehlo::CollectivePermuteOp,
      stablehlo::CompositeOp, stablehlo::ConcatenateOp, stablehlo::CustomCallOp,
      stablehlo::DynamicSliceOp, stablehlo::DynamicUpdateSliceOp,
      stablehlo::GatherOp, stablehlo::GetTupleElementOp, stablehlo::IfOp,
      stablehlo::OptimizationBarrierOp, stablehlo::PadOp, stablehlo::ReshapeOp,
      stablehlo::ReturnOp, stablehlo::ReverseOp, stablehlo::SelectOp,
      stablehlo::SliceOp, stablehlo::TorchIndexSelectOp, stablehlo::TransposeOp,
      stablehlo::TupleOp, stablehlo::WhileOp>(op);
}

namespace {
class NarrowTypes {
public:
  explicit NarrowTypes(MLIRContext *context) : b(context) {}

  LogicalResult visit(Operation *op) {
    if (auto func = dyn_cast<FuncOp>(op)) {
      if (failed(visitBody(op)))
        return failure();
      auto stored = [&](ArrayRef<Type> types) {
        return llvm::to_vector(llvm::map_range(
            types, [&](Type type) { return storedType(type); }));
      };
      for (auto [i, type] : llvm::enumerate(func.getArgumentTypes()))
        if (Type narrow = narrowOf(type); narrow && bitsOf(narrow) <= 4)
          func.setArgAttr(unsigned(i), dtensor::bitsAttr,
                          b.getI64IntegerAttr(bitsOf(narrow)));
      func.setFunctionType(b.getFunctionType(stored(func.getArgumentTypes()),
                                             stored(func.getResultTypes())));
      return success();
    }
    if (isa<stablehlo::ConstantOp, sdy::ConstantOp>(op))
      return visitConstant(op);
    if (isa<stablehlo::BitcastConvertOp>(op) && touchesNarrow(op))
      return visitBitcast(cast<stablehlo::BitcastConvertOp>(op));
    if (movesElements(op)) {
      for (Value result : op->getResults())
        store(result);
      return visitBody(op);
    }
    if (!touchesNarrow(op))
      return visitBody(op);
    if (op->getNumOperands() > 0)
      if (auto kind = extremeOf(op, narrow.lookup(op->getOperand(0))))
        return findExtreme(op, *kind == ReduceKind::Max);
    return compute(op);
  }

private:
  LogicalResult visitBody(Operation *op) {
    for (Region &region : op->getRegions())
      for (Block &block : region) {
        for (Value argument : block.getArguments())
          store(argument);
        for (Operation &inner : llvm::make_early_inc_range(block))
          if (failed(visit(&inner)))
            return failure();
      }
    return success();
  }

  /// Returns the type that a value of a narrow type is stored as.
  RankedTensorType bytes(Type type) {
    return isa<IntegerType>(narrowOf(type))
               ? wide(type)
               : cast<RankedTensorType>(type).clone(
                     b.getIntegerType(8, /*isSigned=*/false));
  }
  RankedTensorType wide(Type type) {
    return cast<RankedTensorType>(type).clone(wideTypeOf(narrowOf(type)));
  }
  Type storedType(Type type) {
    if (auto tuple = dyn_cast<mlir::TupleType>(type)) {
      SmallVector<Type> elements;
      for (Type element : tuple.getTypes())
        elements.push_back(storedType(element));
      return mlir::TupleType::get(type.getContext(), elements);
    }
    return narrowOf(type) ? bytes(type) : type;
  }
  /// The value is a byte from now on, and `narrow` says of what.
  void store(Value value) {
    if (Type element = narrowOf(value.getType()))
      narrow[value] = element;
    value.setType(storedType(value.getType()));
  }

  bool touchesNarrow(Operation *op) {
    return llvm::any_of(op->getOperands(),
                        [&](Value value) { return narrow.count(value); }) ||
           llvm::any_of(op->getResultTypes(), narrowOf);
  }

  Value call(StringRef target, Type type, Value operand, Type element) {
    OperationState state(
        operand.getLoc(), "stablehlo.custom_call", operand, type,
        {b.getNamedAttr("call_target_name", b.getStringAttr(target)),
         b.getNamedAttr(narrowFormatName, mlir::TypeAttr::get(element))});
    return b.create(state)->getResult(0);
  }

  LogicalResult visitConstant(Operation *op) {
    Value result = op->getResult(0);
    Type element = narrowOf(result.getType());
    if (!element)
      return success();
    auto dense = dyn_cast_or_null<DenseElementsAttr>(op->getAttr("value"));
    if (isa<stablehlo::MinifloatType>(element)) { // is of bytes already
      store(result);
      return success();
    }
    if (!dense || dense.getElementType() != element)
      return op->emitError("the value of a constant must be written out "
                           "(dense<...>), in its type");
    const bool isUnsigned = element.isUnsignedInteger();
    const Type stored = bytes(result.getType()).getElementType();
    store(result);
    op->setAttr("value", mapped(
                             dense, stored,
                             [isUnsigned](const llvm::APInt &number) {
                               return isUnsigned ? number.zext(8)
                                                 : number.sext(8);
                             },
                             [](const llvm::APFloat &number) {
                               return llvm::APInt(8, packedByte(number));
                             }));
    return success();
  }

  /// Between types of 8 bits the bytes stay; those of fewer bits have the sign
  /// of their type.
  LogicalResult visitBitcast(stablehlo::BitcastConvertOp op) {
    Value operand = op.getOperand(), result = op.getResult();
    Type from = narrow.lookup(operand), to = narrowOf(result.getType());
    unsigned fromWidth =
        bitsOf(from ? from : mlir::getElementTypeOrSelf(operand.getType()));
    unsigned toWidth = bitsOf(mlir::getElementTypeOrSelf(result.getType()));
    bool ofBytes = fromWidth % 8 == 0 && toWidth % 8 == 0;
    if (fromWidth != toWidth && !ofBytes) {
      castBits(op, fromWidth, toWidth);
      return success();
    }
    if (from && to && toWidth < 8 && from != to) {
      b.setInsertionPoint(op);
      // The bits above those of a float are 0.
      const Type bits =
          isa<IntegerType>(to) ? to : integer(toWidth, /*isSigned=*/false);
      Value same = call(unpackTarget, bytes(result.getType()), operand, bits);
      narrow[same] = to;
      result.replaceAllUsesWith(same);
      op.erase();
      return success();
    }
    store(result);
    if (operand.getType() == result.getType()) {
      if (to)
        narrow[operand] = from ? from : to;
      Value same = operand;
      if (to && to != from) { // the same bytes, of another type
        b.setInsertionPoint(op);
        OperationState state(op.getLoc(), "stablehlo.reshape", operand,
                             operand.getType());
        same = b.create(state)->getResult(0);
        narrow[same] = to;
      }
      result.replaceAllUsesWith(same);
      op.erase();
    }
    return success();
  }

  Value build(Location loc, StringRef name, ValueRange operands, Type type,
              ArrayRef<mlir::NamedAttribute> attributes = {}) {
    OperationState state(loc, name, operands, type, attributes);
    return b.create(state)->getResult(0);
  }
  Value splat(Location loc, RankedTensorType type, uint64_t value) {
    const unsigned width = type.getElementTypeBitWidth();
    return build(loc, "stablehlo.constant", {}, type,
                 b.getNamedAttr("value", DenseElementsAttr::get(
                                             type, llvm::APInt(width, value))));
  }

  /// A bitcast where one side has 2 or 4 bits and the other has more. The
  /// numbers of fewer bits are along the last dim, lowest bits first. Works on
  /// unsigned numbers as wide as the wider side, at least bytes.
  void castBits(stablehlo::BitcastConvertOp op, unsigned fromWidth,
                unsigned toWidth) {
    b.setInsertionPoint(op);
    Location loc = op.getLoc();
    Value operand = op.getOperand(), result = op.getResult();
    const bool joins = fromWidth < toWidth;
    const unsigned fewer = std::min(fromWidth, toWidth);
    Type to = narrowOf(result.getType());
    auto operandType = cast<RankedTensorType>(operand.getType()),
         resultType = cast<RankedTensorType>(result.getType());
    const Type word = b.getIntegerType(std::max({8U, fromWidth, toWidth}),
                                       /*isSigned=*/false);
    // The shape `apart` has the last dim, and `together` lacks it.
    RankedTensorType apart = (joins ? operandType : resultType).clone(word);
    RankedTensorType together = (joins ? resultType : operandType).clone(word);

    Value bits = operand;
    if (joins || narrow.count(operand))
      bits = build(loc, "stablehlo.convert", bits, operandType.clone(word));
    else
      bits = build(loc, "stablehlo.bitcast_convert", bits, together);
    if (!joins) {
      SmallVector<int64_t> dims(size_t(together.getRank()));
      std::iota(dims.begin(), dims.end(), 0);
      bits = build(
          loc, "stablehlo.broadcast_in_dim", bits, apart,
          b.getNamedAttr("broadcast_dimensions", b.getDenseI64ArrayAttr(dims)));
    }
    Value place =
        build(loc, "stablehlo.iota", {}, apart,
              b.getNamedAttr("iota_dimension",
                             b.getI64IntegerAttr(apart.getRank() - 1)));
    place = build(loc, "stablehlo.multiply", {place, splat(loc, apart, fewer)},
                  apart);
    Value mask = splat(loc, apart, (uint64_t(1) << fewer) - 1);
    if (joins) {
      bits = build(loc, "stablehlo.and", {bits, mask}, apart);
      bits = build(loc, "stablehlo.shift_left", {bits, place}, apart);
      bits = sumOfLastDim(loc, bits, together);
    } else {
      bits = build(loc, "stablehlo.shift_right_logical", {bits, place}, apart);
      bits = build(loc, "stablehlo.and", {bits, mask}, apart);
    }
    Value cast = bits;
    if (to) {
      auto byte = resultType.clone(b.getIntegerType(8, /*isSigned=*/false));
      if (bits.getType() != byte)
        bits = build(loc, "stablehlo.convert", bits, byte);
      cast = isa<IntegerType>(to)
                 ? call(unpackTarget, wide(resultType), bits, to)
                 : bits;
    } else if (bits.getType() != resultType) {
      cast = build(loc, "stablehlo.bitcast_convert", bits, resultType);
    }
    if (to)
      narrow[cast] = to;
    result.replaceAllUsesWith(cast);
    op.erase();
  }

  /// No two addends have a bit in common.
  Value sumOfLastDim(Location loc, Value value, RankedTensorType type) {
    Type word = type.getElementType();
    auto scalar = RankedTensorType::get({}, word);
    OperationState state(
        loc, "stablehlo.reduce", {value, splat(loc, scalar, 0)}, type,
        b.getNamedAttr("dimensions", b.getDenseI64ArrayAttr({type.getRank()})));
    Block &body = state.addRegion()->emplaceBlock();
    body.addArguments({scalar, scalar}, {loc, loc});
    Operation *reduce = b.create(state);
    mlir::OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(&reduce->getRegion(0).front());
    Block &inside = reduce->getRegion(0).front();
    Value sum = build(loc, "stablehlo.add", inside.getArguments(), scalar);
    OperationState end(loc, "stablehlo.return", sum, {});
    b.create(end);
    return reduce->getResult(0);
  }

  /// The largest or the smallest of bytes that are put in order before.
  LogicalResult findExtreme(Operation *op, bool isMax) {
    b.setInsertionPoint(op);
    for (mlir::OpOperand &operand : op->getOpOperands())
      if (Type element = narrow.lookup(operand.get()))
        operand.set(call(isMax ? orderForMax : orderForMin,
                         operand.get().getType(), operand.get(), element));
    op->getRegion(0).walk([&](Block *block) {
      for (Value argument : block->getArguments())
        argument.setType(storedType(argument.getType()));
      for (Operation &inner : *block)
        for (Value result : inner.getResults())
          result.setType(storedType(result.getType()));
    });
    b.setInsertionPointAfter(op);
    for (Value result : op->getResults()) {
      Type element = narrowOf(result.getType());
      result.setType(bytes(result.getType()));
      Value number = call(isMax ? unorderForMax : unorderForMin,
                          result.getType(), result, element);
      narrow[number] = element;
      result.replaceAllUsesExcept(number, number.getDefiningOp());
    }
    return success();
  }

  /// Unpacks the operands, and all of an op's regions; packs the results.
  LogicalResult compute(Operation *op) {
    const std::optional<bool> hasSign = signOf(op);
    b.setInsertionPoint(op);
    for (mlir::OpOperand &operand : op->getOpOperands()) {
      Type element = narrow.lookup(operand.get());
      if (!element)
        continue;
      Type type = RankedTensorType::get(
          cast<RankedTensorType>(operand.get().getType()).getShape(), element);
      Type unpackedAs = element;
      if (hasSign)
        unpackedAs = integer(element.getIntOrFloatBitWidth(), *hasSign);
      type = cast<RankedTensorType>(type).clone(unpackedAs);
      operand.set(call(unpackTarget, wide(type), operand.get(), unpackedAs));
    }
    for (Region &region : op->getRegions())
      region.walk([&](Operation *inner) { return widen(inner); });
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (Value argument : block.getArguments())
          if (narrowOf(argument.getType()))
            argument.setType(wide(argument.getType()));
    b.setInsertionPointAfter(op);
    for (Value result : op->getResults()) {
      Type element = narrowOf(result.getType());
      if (!element)
        continue;
      RankedTensorType type = wide(result.getType()),
                       stored = bytes(result.getType());
      if (hasSign)
        type = type.clone(integer(8, *hasSign));
      // A number of 64 bits is rounded once.
      if (isa<stablehlo::ConvertOp>(op) && !isa<IntegerType>(element) &&
          mlir::getElementTypeOrSelf(op->getOperand(0).getType())
                  .getIntOrFloatBitWidth() > 16 &&
          !mlir::getElementTypeOrSelf(op->getOperand(0).getType()).isF32())
        type = type.clone(b.getF64Type());
      result.setType(type);
      const Value number = inFewerBits(op, result, element);
      Value packed = call(packTarget, stored, number, element);
      narrow[packed] = element;
      result.replaceAllUsesExcept(packed, number == result
                                              ? packed.getDefiningOp()
                                              : number.getDefiningOp());
    }
    return success();
  }

  /// Returns the result of an op on bytes as the op has it on integers of fewer
  /// bits. The result's only user is the returned value's owner, if another.
  Value inFewerBits(Operation *op, Value result, Type element) {
    if (!isa<IntegerType>(element))
      return result;
    Location loc = op->getLoc();
    auto type = cast<RankedTensorType>(result.getType());
    const unsigned width = element.getIntOrFloatBitWidth();
    if (isa<stablehlo::ClzOp>(op)) // without the zeros above the number
      return build(loc, "stablehlo.subtract",
                   {result, splat(loc, type, 8 - width)}, type);
    if (!isa<stablehlo::ConvertOp>(op) ||
        !isa<FloatType>(mlir::getElementTypeOrSelf(op->getOperand(0))))
      return result;
    // Floats out of range become the nearest integer, as those of 8 bits do.
    const bool isUnsigned = element.isUnsignedInteger();
    auto least = isUnsigned ? llvm::APInt::getMinValue(width).zext(8)
                            : llvm::APInt::getSignedMinValue(width).sext(8);
    auto largest = isUnsigned ? llvm::APInt::getMaxValue(width).zext(8)
                              : llvm::APInt::getSignedMaxValue(width).sext(8);
    return build(loc, "stablehlo.clamp",
                 {splat(loc, type, least.getZExtValue()), result,
                  splat(loc, type, largest.getZExtValue())},
                 type);
  }
  /// Signless integers are the signed ones.
  Type integer(unsigned width, bool isSigned) {
    return isSigned ? b.getIntegerType(width)
                    : b.getIntegerType(width, /*isSigned=*/false);
  }
  /// Returns whether an op takes integers as numbers with or without a sign,
  /// where their types do not say it: the bits above a number are copies of its
  /// highest one, or 0.
  static std::optional<bool> signOf(Operation *op) {
    if (isa<stablehlo::ShiftRightArithmeticOp>(op))
      return true;
    if (isa<stablehlo::ShiftRightLogicalOp, stablehlo::PopulationCountOp,
            stablehlo::ClzOp>(op))
      return false;
    return std::nullopt;
  }

  /// An op inside a region that computes with unpacked numbers.
  mlir::WalkResult widen(Operation *inner) {
    for (Value result : inner->getResults()) {
      if (!narrowOf(result.getType()))
        continue;
      RankedTensorType type = wide(result.getType());
      if (auto constant = dyn_cast<stablehlo::ConstantOp>(inner))
        if (auto dense = dyn_cast<DenseElementsAttr>(constant.getValue()))
          constant->setAttr("value",
                            widened(dense, narrowOf(result.getType()), type));
      result.setType(type);
    }
    return mlir::WalkResult::advance();
  }
  static Attribute widened(DenseElementsAttr dense, Type element,
                           RankedTensorType type) {
    return mapped(
        dense, type.getElementType(),
        [&](const llvm::APInt &number) {
          if (!isa<IntegerType>(element)) // a byte
            return llvm::APFloat(
                       unpackedByte(uint8_t(number.getZExtValue()), element))
                .bitcastToAPInt();
          return element.isUnsignedInteger() ? number.zext(8) : number.sext(8);
        },
        [](llvm::APFloat number) {
          bool loses;
          number.convert(llvm::APFloat::IEEEsingle(),
                         llvm::APFloat::rmNearestTiesToEven, &loses);
          return number.bitcastToAPInt();
        });
  }
  /// `dense` with the bits of an `element` for each number. One number that
  /// stands for all, or for none, stays one.
  static DenseElementsAttr
  mapped(DenseElementsAttr dense, Type element,
         function_ref<llvm::APInt(const llvm::APInt &)> ofInteger,
         function_ref<llvm::APInt(const llvm::APFloat &)> ofFloat) {
    if (auto integers = dyn_cast<mlir::DenseIntElementsAttr>(dense))
      return integers.mapValues(element, ofInteger);
    return cast<mlir::DenseFPElementsAttr>(dense).mapValues(element, ofFloat);
  }

  OpBuilder b;
  DenseMap<Value, Type> narrow; ///< of bytes: what they are
};
} // namespace

/// Gives a region its own copies of the constants outside that it uses, as
/// jaxlib moves constants there. A region that computes with unpacked numbers
/// needs them unpacked, too.
static void copyConstantsIntoRegions(ModuleOp module) {
  module.walk([](stablehlo::ConstantOp constant) {
    if (!narrowOf(constant.getType()))
      return;
    for (mlir::OpOperand &use :
         llvm::make_early_inc_range(constant->getUses())) {
      Block *block = use.getOwner()->getBlock();
      if (block != constant->getBlock())
        use.set(OpBuilder::atBlockBegin(block).clone(*constant)->getResult(0));
    }
  });
}

LogicalResult importer::unpackNarrowTypes(ModuleOp module) {
  copyConstantsIntoRegions(module);
  NarrowTypes types(module.getContext());
  for (auto func : module.getOps<FuncOp>())
    if (!func.isExternal() && failed(types.visit(func)))
      return failure();
  return success();
}
