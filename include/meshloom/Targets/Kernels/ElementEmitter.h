// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How one element of an array is read and written: what the code of kernels and
// that of loops that are compiled whole have in common.
#pragma once

#include "meshloom/Support/LLVM.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace meshloom {

/// Where an array lies: its first element, and how many elements are between
/// neighbours along each dim.
struct ArrayPlace {
  Value address;
  SmallVector<int64_t> strides;
};

/// Strides of a row-major array.
SmallVector<int64_t> rowMajorStrides(ArrayRef<int64_t> shape);

class ElementEmitter {
protected:
  ElementEmitter(MLIRContext *context, Location loc)
      : b(context), loc(loc), i64(b.getI64Type()),
        pointer(mlir::LLVM::LLVMPointerType::get(context)) {}

  Value constant(int64_t value);
  /// A guarded operand may not have an element there.
  Value element(Value base, Type type, Value offset, bool exists = true);

  /// i1 is stored as a byte, f16 and bf16 as their bits, complex numbers as
  /// their parts, other types as they are.
  Type storageType(Type type);
  Value imaginaryPart(Value address, Type part);
  Value loadScalar(Value address, Type type);
  Value fromStorage(Value bits, Type type);
  /// A value that is not complex, as it is stored.
  Value toStorage(Value value);
  void storeScalar(Value address, Value value);

  mlir::LLVM::LLVMFuncOp makeFunction(ModuleOp module, StringRef name,
                                      ArrayRef<Type> arguments,
                                      mlir::LLVM::Linkage linkage,
                                      Type result = {});
  /// Entry `index` of argument `argument` of the function that
  /// Runtime/KernelFunction.h describes.
  Value loadArgument(unsigned argument, Type type, unsigned index);

  OpBuilder b;
  Location loc;
  Type i64, pointer;
};

} // namespace meshloom
