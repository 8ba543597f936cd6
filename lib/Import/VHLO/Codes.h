// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The numbers by which artifacts name attributes and types.
#pragma once

#include "meshloom/Support/LLVM.h"

namespace meshloom::vhlo {

/// The numbers of attributes of VHLO.
enum class VhloAttributeCode : uint8_t {
  Array = 1,
  Boolean = 2,
  ComparisonDirection = 3,
  ComparisonType = 4,
  CustomCallApiVersion = 5,
  Dictionary = 6,
  FftType = 7,
  Float = 8,
  Integer = 9,
  OutputOperandAlias = 10,
  Precision = 11,
  RngAlgorithm = 12,
  RngDistribution = 13,
  String = 14,
  Tensor = 15,
  Transpose = 16,
  Type = 17,
  TypeExtensions = 18,
  ResultAccuracyMode = 19,
  ResultAccuracy = 20,
};

/// The numbers of types of VHLO that have parts.
enum class VhloTypeCode : uint8_t {
  Complex = 1,
  Function = 8,
  RankedTensor = 20,
  RankedTensorWithEncoding = 21,
  Tuple = 23,
  Future = 42,
};

/// The numbers by which MLIR's bytecode names attributes of builtin.
enum class BuiltinAttributeCode : uint8_t {
  Array = 0,
  Dictionary = 1,
  String = 2,
  FlatSymbolRef = 4,
  Type = 6,
  Unit = 7,
  Integer = 8,
  Float = 9,
  CallSiteLoc = 10,
  FileLineColLoc = 11,
  FusedLoc = 12,
  FusedLocWithMetadata = 13,
  NameLoc = 14,
  UnknownLoc = 15,
  DenseArray = 17,
  DenseElements = 18,
  /// Since LLVM 20, in place of FileLineColLoc.
  FileLineColRange = 22,
};

/// The same for types.
enum class BuiltinTypeCode : uint8_t {
  Integer = 0,
  Index = 1,
  Function = 2,
  BF16 = 3,
  F16 = 4,
  F32 = 5,
  F64 = 6,
  Complex = 9,
  None = 12,
  RankedTensor = 13,
  RankedTensorWithEncoding = 14,
  Tuple = 15,
  F8E5M2 = 22,
  F8E4M3 = 23,
  F8E4M3FN = 24,
  F8E5M2FNUZ = 25,
  F8E4M3FNUZ = 26,
  F8E4M3B11FNUZ = 27,
};

/// A type of VHLO that has no parts: its number is the whole entry.
struct SimpleType {
  uint8_t code;
  /// The k of the first release 1.k that has the type; 0: all have.
  unsigned release;
  Type type;
};
SmallVector<SimpleType> simpleTypes(MLIRContext *context);

} // namespace meshloom::vhlo
