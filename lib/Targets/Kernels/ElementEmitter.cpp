// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Elements of arrays in memory.
#include "meshloom/Targets/Kernels/ElementEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"

using namespace meshloom;
namespace arith = mlir::arith;
namespace LLVM = mlir::LLVM;

SmallVector<int64_t> meshloom::rowMajorStrides(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> strides(shape.size());
  int64_t stride = 1;
  for (size_t dim = shape.size(); dim-- > 0;) {
    strides[dim] = stride;
    stride *= shape[dim];
  }
  return strides;
}

Value ElementEmitter::constant(int64_t value) {
  return b.create<arith::ConstantIntOp>(loc, value, 64);
}

Value ElementEmitter::element(Value base, Type type, Value offset,
                              bool exists) {
  return b.create<LLVM::GEPOp>(loc, pointer, type, base,
                               ArrayRef<LLVM::GEPArg>{offset},
                               /*inbounds=*/exists);
}

Type ElementEmitter::storageType(Type type) {
  if (type.isBF16() || type.isF16())
    return b.getI16Type();
  if (auto complex = dyn_cast<mlir::ComplexType>(type))
    return LLVM::LLVMArrayType::get(complex.getElementType(), 2);
  if (auto integer = dyn_cast<IntegerType>(type))
    return b.getIntegerType(std::max(8u, integer.getWidth()));
  return type;
}

Value ElementEmitter::imaginaryPart(Value address, Type part) {
  return b.create<LLVM::GEPOp>(loc, pointer, part, address,
                               ArrayRef<LLVM::GEPArg>{1}, /*inbounds=*/true);
}

Value ElementEmitter::loadScalar(Value address, Type type) {
  if (auto complex = dyn_cast<mlir::ComplexType>(type)) {
    Type part = complex.getElementType();
    Value real = b.create<LLVM::LoadOp>(loc, part, address);
    Value imaginary =
        b.create<LLVM::LoadOp>(loc, part, imaginaryPart(address, part));
    return b.create<mlir::complex::CreateOp>(loc, complex, real, imaginary);
  }
  return fromStorage(b.create<LLVM::LoadOp>(loc, storageType(type), address),
                     type);
}

Value ElementEmitter::fromStorage(Value bits, Type type) {
  if (type.isBF16() || type.isF16())
    return b.create<arith::BitcastOp>(loc, type, bits);
  if (type.isInteger(1)) {
    Value no = b.create<arith::ConstantIntOp>(loc, 0, 8);
    return b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::ne, bits, no);
  }
  return bits;
}

void ElementEmitter::storeScalar(Value address, Value value) {
  if (auto complex = dyn_cast<mlir::ComplexType>(value.getType())) {
    Value real = b.createOrFold<mlir::complex::ReOp>(loc, value);
    Value imaginary = b.createOrFold<mlir::complex::ImOp>(loc, value);
    b.create<LLVM::StoreOp>(loc, real, address);
    b.create<LLVM::StoreOp>(loc, imaginary,
                            imaginaryPart(address, complex.getElementType()));
    return;
  }
  b.create<LLVM::StoreOp>(loc, toStorage(value), address);
}

Value ElementEmitter::toStorage(Value value) {
  Type type = storageType(value.getType());
  if (value.getType().isBF16() || value.getType().isF16())
    return b.create<arith::BitcastOp>(loc, type, value);
  if (value.getType().isInteger(1))
    return b.create<arith::ExtUIOp>(loc, type, value);
  return value;
}

LLVM::LLVMFuncOp ElementEmitter::makeFunction(ModuleOp module, StringRef name,
                                              ArrayRef<Type> arguments,
                                              LLVM::Linkage linkage,
                                              Type result) {
  b.setInsertionPointToEnd(module.getBody());
  if (!result)
    result = LLVM::LLVMVoidType::get(b.getContext());
  auto type = LLVM::LLVMFunctionType::get(result, arguments);
  auto func = b.create<LLVM::LLVMFuncOp>(loc, name, type, linkage);
  func.setPassthroughAttr(b.getArrayAttr({b.getStringAttr("nounwind")}));
  b.setInsertionPointToStart(func.addEntryBlock(b));
  return func;
}

Value ElementEmitter::loadArgument(unsigned argument, Type type,
                                   unsigned index) {
  Value address = b.create<LLVM::GEPOp>(
      loc, pointer, type, b.getBlock()->getArgument(argument),
      ArrayRef<LLVM::GEPArg>{int32_t(index)}, /*inbounds=*/true);
  return b.create<LLVM::LoadOp>(loc, type, address);
}
