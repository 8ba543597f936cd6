// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From scalar regions to kernels without loops.
#include "ScalarFunctions.h"

#include "meshloom/Targets/Kernels/ScalarLowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/IR/AffineMap.h"

using namespace meshloom;
using namespace meshloom::dtensor;
using spmd::KernelOp;
namespace arith = mlir::arith;

/// Returns whether the op changes nothing of a scalar.
static bool isIdentity(Operation *op) {
  return isa<ReshapeOp, BroadcastInDimOp, TransposeOp, ReverseOp, SliceOp>(op);
}

namespace {
/// Emits what values of a scalar region depend on, each value once.
class ScalarEmitter {
public:
  ScalarEmitter(OpBuilder &builder) : b(builder) {}

  void set(Value value, Value scalar) { scalars[value] = scalar; }

  FailureOr<Value> get(Value value) {
    if (Value scalar = scalars.lookup(value))
      return scalar;
    Operation *op = value.getDefiningOp();
    auto scalar = op ? emit(op) : FailureOr<Value>(failure());
    if (succeeded(scalar))
      scalars[value] = *scalar;
    return scalar;
  }

private:
  FailureOr<Value> emit(Operation *op) {
    if (auto constant = dyn_cast<ConstantOp>(op))
      return emitConstant(constant);
    if (!isIdentity(op) && !isPerElement(op)) {
      op->emitOpError("cannot be part of a function of scalars");
      return failure();
    }
    SmallVector<Value> operands;
    for (Value operand : op->getOperands()) {
      auto scalar = get(operand);
      if (failed(scalar))
        return failure();
      operands.push_back(*scalar);
    }
    if (isIdentity(op))
      return operands.front();
    return lowerToScalar(op, operands, b);
  }

  FailureOr<Value> emitConstant(ConstantOp op) {
    Type type =
        KernelOp::scalarType(dtensor::elementTypeOf(op.getResult().getType()));
    auto value = cast<DenseElementsAttr>(op.getValue());
    if (auto complex = dyn_cast<mlir::ComplexType>(type)) {
      auto number = *value.getValues<std::complex<llvm::APFloat>>().begin();
      Type part = complex.getElementType();
      return b
          .create<mlir::complex::ConstantOp>(
              op.getLoc(), complex,
              b.getArrayAttr({FloatAttr::get(part, number.real()),
                              FloatAttr::get(part, number.imag())}))
          .getResult();
    }
    mlir::TypedAttr attr;
    if (isa<FloatType>(type))
      attr = FloatAttr::get(type, *value.getValues<llvm::APFloat>().begin());
    else
      attr = IntegerAttr::get(type, *value.getValues<llvm::APInt>().begin());
    return b.create<arith::ConstantOp>(op.getLoc(), attr).getResult();
  }

  OpBuilder &b;
  DenseMap<Value, Value> scalars;
};
} // namespace

LogicalResult meshloom::buildScalarFunction(ValueRange arguments,
                                            ValueRange results, MeshAttr mesh,
                                            Region &into) {
  MLIRContext *context = into.getContext();
  Location loc = into.getLoc();
  LayoutAttr scalar = LayoutAttr::replicated(mesh, 0);
  auto shardOf = [&](Value value) {
    return spmd::shardType({}, dtensor::elementTypeOf(value.getType()), scalar);
  };
  Block *outer = new Block;
  into.push_back(outer);
  SmallVector<Type> types;
  for (Value argument : arguments)
    outer->addArgument(shardOf(argument), loc);
  for (Value result : results)
    types.push_back(shardOf(result));

  OpBuilder b = OpBuilder::atBlockEnd(outer);
  auto map = mlir::AffineMapAttr::get(mlir::AffineMap::get(0, 0, context));
  auto none = b.getArrayAttr({});
  auto kernel = b.create<KernelOp>(
      loc, types, outer->getArguments(), b.getDenseI64ArrayAttr({}),
      b.getDenseBoolArrayAttr({}), none,
      b.getArrayAttr(
          SmallVector<Attribute>(arguments.size() + results.size(), map)),
      b.getDenseI32ArrayAttr(
          SmallVector<int32_t>(results.size(), int32_t(spmd::Reducer::None))),
      b.getDenseI32ArrayAttr(SmallVector<int32_t>(results.size(), -1)),
      mlir::ArrayAttr(), mlir::DenseBoolArrayAttr());
  b.create<spmd::YieldOp>(loc, kernel.getOutputs());

  Block *body = new Block;
  kernel.getBody().push_back(body);
  OpBuilder inner = OpBuilder::atBlockEnd(body);
  ScalarEmitter emitter(inner);
  for (Value argument : arguments)
    emitter.set(argument,
                body->addArgument(KernelOp::scalarType(dtensor::elementTypeOf(
                                      argument.getType())),
                                  loc));
  SmallVector<Value> yielded;
  for (Value result : results) {
    auto value = emitter.get(result);
    if (failed(value))
      return failure();
    yielded.push_back(*value);
  }
  inner.create<spmd::YieldOp>(loc, yielded);
  return success();
}
