// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Elementwise ops, constants and conversions: one to one, but for total orders
// and random distributions.
#include "Importer.h"
#include "ScalarMath.h"

#include "mlir/IR/IRMapping.h"

using namespace meshloom;
using namespace meshloom::importer;
using dtensor::ComparisonDirection;

/// Elementwise ops of dtensor say what StableHLO's op of the same meaning is.
static void addSame(Handlers &handlers, MLIRContext *context) {
  for (mlir::RegisteredOperationName to : context->getRegisteredOperations()) {
    auto *elementwise = to.getInterface<dtensor::ElementwiseOpInterface>();
    if (!elementwise)
      continue;
    StringRef name = elementwise->getStableHLOName();
    handlers.add(name.contains('.') ? name.str() : ("stablehlo." + name).str(),
                 [to = to.getStringRef().str()](Importer &im, Operation *op) {
                   const mlir::OperationName same(to, op->getContext());
                   return SmallVector<Value>{
                       im.b.apply(same, im.get(op->getOperands()),
                                  Importer::typeOf(op->getResult(0)))};
                 });
  }
}

static ComparisonDirection
directionOf(stablehlo::ComparisonDirection direction) {
  switch (direction) {
  case stablehlo::ComparisonDirection::EQ:
    return ComparisonDirection::EQ;
  case stablehlo::ComparisonDirection::NE:
    return ComparisonDirection::NE;
  case stablehlo::ComparisonDirection::GE:
    return ComparisonDirection::GE;
  case stablehlo::ComparisonDirection::GT:
    return ComparisonDirection::GT;
  case stablehlo::ComparisonDirection::LE:
    return ComparisonDirection::LE;
  case stablehlo::ComparisonDirection::LT:
    return ComparisonDirection::LT;
  }
  return ComparisonDirection::EQ;
}

Value importer::totalOrderKey(LaneBuilder &b, Value value) {
  auto format = cast<FloatType>(b.elementOf(value));
  unsigned width = format.getWidth();
  Type integer = b.getIntegerType(width);
  Value bits = b.bitcast(value, integer);
  // Negative numbers are ordered backwards by their bits: flip all but the
  // sign.
  Value sign = b.apply<dtensor::ShiftRightArithmeticOp>(
      {bits, b.like(bits, double(width - 1))});
  Value mask = b.apply<dtensor::AndOp>(
      {sign, b.splat(b.typeOf(bits), llvm::APInt::getSignedMaxValue(width))});
  return b.apply<dtensor::XorOp>({bits, mask});
}

static Value importCompare(Importer &im, stablehlo::CompareOp op) {
  LaneBuilder &b = im.b;
  Value lhs = im.get(op.getLhs()), rhs = im.get(op.getRhs());
  if (op.getCompareType() == stablehlo::ComparisonType::TOTALORDER &&
      isa<FloatType>(b.elementOf(lhs)) && isa<FloatType>(b.elementOf(rhs))) {
    lhs = totalOrderKey(b, lhs);
    rhs = totalOrderKey(b, rhs);
  }
  return b.compare(directionOf(op.getComparisonDirection()), lhs, rhs);
}

static Value importClamp(Importer &im, stablehlo::ClampOp op) {
  LaneBuilder &b = im.b;
  Value min = im.get(op.getMin()), operand = im.get(op.getOperand()),
        max = im.get(op.getMax());
  Lanes lanes = b.lanesOf({min, operand, max});
  auto limit = [&](Value value) {
    if (b.rankOf(value) == 0 && b.lanesOf(value).empty())
      return value;
    if (b.rankOf(value) == 0)
      value = b.broadcast(value, b.shapeOf(operand));
    return b.withLanes(value, lanes);
  };
  return b.make<dtensor::ClampOp>(
      {b.typeOf(operand)},
      {limit(min), b.withLanes(operand, lanes), limit(max)}, lanes)[0];
}

/// Float to integer and back is the same; the rest of `convert` too.
static Value importConvert(Importer &im, stablehlo::ConvertOp op) {
  return im.b.convert(im.get(op.getOperand()),
                      Importer::typeOf(op.getResult()).getElementType());
}

static FailureOr<Value> importConstant(Importer &im, mlir::ElementsAttr value,
                                       RankedTensorType type) {
  auto dense = dyn_cast<DenseElementsAttr>(value);
  if (!dense)
    return im.error("the value of a constant must be written out (dense<...>)");
  if (dense.getElementType() != type.getElementType() ||
      dense.getNumElements() != type.getNumElements())
    return im.error("a constant of type ")
           << type << " has a value of type " << dense.getType();
  if (dense.getType() != type)
    dense = dense.reshape(type);
  return im.b.constant(cast<mlir::ElementsAttr>(Attribute(dense)));
}

template <typename OpTy> static void addConstant(Handlers &handlers) {
  handlers.add<OpTy>([](Importer &im, OpTy op) {
    return importConstant(im, op.getValue(), Importer::typeOf(op.getOutput()));
  });
}

static Value importReducePrecision(Importer &im,
                                   stablehlo::ReducePrecisionOp op) {
  LaneBuilder &b = im.b;
  return b.apply<dtensor::ReducePrecisionOp>(
      im.get(op.getOperand()), {},
      {b.named("exponent_bits", b.getI64IntegerAttr(op.getExponentBits())),
       b.named("mantissa_bits", b.getI64IntegerAttr(op.getMantissaBits()))});
}

/// A function of scalars, applied to tensors.
static Imported importMap(Importer &im, stablehlo::MapOp op) {
  if (op.getInputs().empty())
    return im.error("map needs at least one operand");
  SmallVector<Value> inputs = im.get(op.getInputs());
  return importElementwiseRegion(im, op.getComputation(), inputs,
                                 im.b.shapeOf(inputs[0]));
}

Imported importer::importElementwiseRegion(Importer &im, Region &region,
                                           ArrayRef<Value> arguments,
                                           ArrayRef<int64_t> shape) {
  LaneBuilder &b = im.b;
  // Import once as scalars, then rebuild each op on tensors.
  Region scalars;
  LogicalResult read = im.importScalarRegion(region, scalars);
  im.forget(scalars);
  if (failed(read))
    return failure();
  Block &block = scalars.front();
  if (block.getNumArguments() != arguments.size())
    return im.error("the region has ")
           << block.getNumArguments() << " arguments for " << arguments.size()
           << " values";
  mlir::IRMapping mapping;
  for (auto [argument, value] :
       llvm::zip_equal(block.getArguments(), arguments))
    mapping.map(argument, value);
  for (Operation &op : block.without_terminator()) {
    SmallVector<Value> operands;
    for (Value operand : op.getOperands())
      operands.push_back(mapping.lookupOrDefault(operand));
    if (isa<dtensor::ConstantOp, dtensor::IotaOp>(op)) {
      Value scalar = b.insert(op.clone())->getResult(0);
      mapping.map(op.getResult(0), b.broadcast(scalar, shape));
      continue;
    }
    if (op.getNumRegions() || op.getNumResults() != 1)
      return im.error("an elementwise region holds ") << op.getName();
    operands = b.aligned(operands);
    Lanes lanes = b.lanesOf(operands);
    Type element = dtensor::elementTypeOf(op.getResult(0).getType());
    OperationState state(b.getLoc(), op.getName());
    state.addOperands(operands);
    state.addTypes(b.laned(RankedTensorType::get(shape, element), lanes));
    state.addAttributes(op.getAttrs());
    Operation *created = b.create(state);
    mapping.map(op.getResult(0), b.note(created->getResult(0), lanes));
  }
  SmallVector<Value> results;
  for (Value value : block.getTerminator()->getOperands())
    results.push_back(mapping.lookup(value));
  return results;
}

void importer::addElementwise(Handlers &handlers, MLIRContext *context) {
  addSame(handlers, context);
  handlers.add<stablehlo::CompareOp>(importCompare);
  handlers.add<stablehlo::ClampOp>(importClamp);
  handlers.add<stablehlo::ConvertOp>(importConvert);
  handlers.add<stablehlo::ReducePrecisionOp>(importReducePrecision);
  handlers.add<stablehlo::MapOp>(importMap);
  handlers.add<stablehlo::SelectOp>([](Importer &im, stablehlo::SelectOp op) {
    return im.b.select(im.get(op.getPred()), im.get(op.getOnTrue()),
                       im.get(op.getOnFalse()));
  });
  addConstant<stablehlo::ConstantOp>(handlers);
  addConstant<chlo::ConstantOp>(handlers);
  addConstant<sdy::ConstantOp>(handlers);
  handlers.add<stablehlo::IotaOp>([](Importer &im, stablehlo::IotaOp op) {
    return im.b.iota(Importer::typeOf(op.getOutput()), op.getIotaDimension());
  });
}
