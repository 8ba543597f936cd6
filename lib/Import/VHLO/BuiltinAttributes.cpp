// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Attributes and types of MLIR's builtin dialect that artifacts have.
#include "Attributes.h"
#include "Codes.h"

#include "llvm/Support/MathExtras.h"

namespace meshloom::vhlo {

namespace {

LogicalResult readFile(EntryReader &reader, bool isRange,
                       Attribute &attribute) {
  StringAttr file;
  uint64_t line = 0, column = 0;
  if (failed(reader.read(file)))
    return failure();
  uint64_t count = 2; // of numbers: line, column, then where the range ends
  if (isRange && failed(reader.readCount(count)))
    return failure();
  for (uint64_t i = 0; i < count; ++i) {
    uint64_t number = 0;
    if (failed(reader.readNumber(number)))
      return failure();
    if (i < 2)
      (i == 0 ? line : column) = number;
  }
  attribute = mlir::FileLineColLoc::get(file, unsigned(line), unsigned(column));
  return success();
}

/// A list of integers or floats, or of bools with a byte for each.
LogicalResult readArray(EntryReader &reader, Attribute &attribute) {
  Type type;
  uint64_t count = 0;
  StringRef bytes;
  if (failed(reader.readType(type)) || failed(reader.readNumber(count)) ||
      failed(reader.readBlob(bytes)))
    return failure();
  const bool isListed = type.isInteger(1) || type.isInteger(8) ||
                        type.isInteger(16) || type.isInteger(32) ||
                        type.isInteger(64) || type.isF32() || type.isF64();
  if (!isListed || count > bytes.size() ||
      count * llvm::divideCeil(type.getIntOrFloatBitWidth(), 8) != bytes.size())
    return reader.fail("a list of " + llvm::Twine(count) + " numbers has " +
                       llvm::Twine(bytes.size()) + " bytes");
  attribute = mlir::DenseArrayAttr::get(type, int64_t(count),
                                        ArrayRef(bytes.data(), bytes.size()));
  return success();
}

LogicalResult readFused(EntryReader &reader, bool hasMetadata,
                        Attribute &attribute) {
  SmallVector<mlir::LocationAttr> attributes;
  Attribute metadata;
  if (failed(reader.readList(attributes)) ||
      (hasMetadata && failed(reader.readAttribute(metadata))))
    return failure();
  SmallVector<Location> locations(attributes.begin(), attributes.end());
  attribute = mlir::FusedLoc::get(locations, metadata, reader.context());
  return success();
}

} // namespace

LogicalResult readBuiltin(EntryReader &reader, Attribute &attribute) {
  MLIRContext *context = reader.context();
  uint64_t code = 0;
  if (failed(reader.readNumber(code)))
    return failure();
  switch (BuiltinAttributeCode(std::min<uint64_t>(code, 0xff))) {
  case BuiltinAttributeCode::Array: {
    SmallVector<Attribute> elements;
    if (failed(reader.readList(elements)))
      return failure();
    attribute = mlir::ArrayAttr::get(context, elements);
    return success();
  }
  case BuiltinAttributeCode::Dictionary:
    return reader.readDictionary(attribute);
  case BuiltinAttributeCode::String: {
    StringRef text;
    if (failed(reader.readString(text)))
      return failure();
    attribute = StringAttr::get(context, text);
    return success();
  }
  case BuiltinAttributeCode::FlatSymbolRef: {
    StringAttr name;
    if (failed(reader.read(name)))
      return failure();
    attribute = mlir::FlatSymbolRefAttr::get(name);
    return success();
  }
  case BuiltinAttributeCode::Type: {
    Type type;
    if (failed(reader.readType(type)))
      return failure();
    attribute = mlir::TypeAttr::get(type);
    return success();
  }
  case BuiltinAttributeCode::Unit:
    attribute = mlir::UnitAttr::get(context);
    return success();
  case BuiltinAttributeCode::Integer:
    return reader.readNumberAttribute(/*isFloat=*/false, attribute);
  case BuiltinAttributeCode::Float:
    return reader.readNumberAttribute(/*isFloat=*/true, attribute);
  case BuiltinAttributeCode::CallSiteLoc: {
    mlir::LocationAttr callee, caller;
    if (failed(reader.read(callee)) || failed(reader.read(caller)))
      return failure();
    attribute = mlir::CallSiteLoc::get(callee, caller);
    return success();
  }
  case BuiltinAttributeCode::FileLineColLoc:
    return readFile(reader, /*isRange=*/false, attribute);
  case BuiltinAttributeCode::FileLineColRange:
    return readFile(reader, /*isRange=*/true, attribute);
  case BuiltinAttributeCode::FusedLoc:
    return readFused(reader, /*hasMetadata=*/false, attribute);
  case BuiltinAttributeCode::FusedLocWithMetadata:
    return readFused(reader, /*hasMetadata=*/true, attribute);
  case BuiltinAttributeCode::NameLoc: {
    StringAttr name;
    mlir::LocationAttr child;
    if (failed(reader.read(name)) || failed(reader.read(child)))
      return failure();
    attribute = mlir::NameLoc::get(name, child);
    return success();
  }
  case BuiltinAttributeCode::UnknownLoc:
    attribute = mlir::UnknownLoc::get(context);
    return success();
  case BuiltinAttributeCode::DenseArray:
    return readArray(reader, attribute);
  case BuiltinAttributeCode::DenseElements:
    return reader.readElements(attribute);
  }
  return reader.fail("cannot read attribute " + llvm::Twine(code) +
                     " of MLIR's builtin dialect");
}

LogicalResult readBuiltin(EntryReader &reader, Type &type) {
  mlir::Builder builder(reader.context());
  uint64_t code = 0;
  if (failed(reader.readNumber(code)))
    return failure();
  switch (BuiltinTypeCode(std::min<uint64_t>(code, 0xff))) {
  case BuiltinTypeCode::Integer: {
    uint64_t number = 0; // the width, and two bits for the sign
    if (failed(reader.readNumber(number)))
      return failure();
    constexpr auto signless = mlir::IntegerType::Signless;
    constexpr auto last = mlir::IntegerType::Unsigned;
    const uint64_t width = number >> 2;
    if ((number & 3) < signless || (number & 3) > last || width < 1 ||
        width > 64)
      return reader.fail("cannot read an integer type of " +
                         llvm::Twine(width) + " bits");
    type = mlir::IntegerType::get(
        reader.context(), unsigned(width),
        mlir::IntegerType::SignednessSemantics(number & 3));
    return success();
  }
  case BuiltinTypeCode::Index:
    type = builder.getIndexType();
    return success();
  case BuiltinTypeCode::Function: {
    SmallVector<Type> inputs, results;
    if (failed(reader.readTypes(inputs)) || failed(reader.readTypes(results)))
      return failure();
    type = builder.getFunctionType(inputs, results);
    return success();
  }
  case BuiltinTypeCode::BF16:
    type = builder.getBF16Type();
    return success();
  case BuiltinTypeCode::F16:
    type = builder.getF16Type();
    return success();
  case BuiltinTypeCode::F32:
    type = builder.getF32Type();
    return success();
  case BuiltinTypeCode::F64:
    type = builder.getF64Type();
    return success();
  case BuiltinTypeCode::F8E5M2:
    type = builder.getFloat8E5M2Type();
    return success();
  case BuiltinTypeCode::F8E4M3:
    type = builder.getFloat8E4M3Type();
    return success();
  case BuiltinTypeCode::F8E4M3FN:
    type = builder.getFloat8E4M3FNType();
    return success();
  case BuiltinTypeCode::F8E5M2FNUZ:
    type = builder.getFloat8E5M2FNUZType();
    return success();
  case BuiltinTypeCode::F8E4M3FNUZ:
    type = builder.getFloat8E4M3FNUZType();
    return success();
  case BuiltinTypeCode::F8E4M3B11FNUZ:
    type = builder.getFloat8E4M3B11FNUZType();
    return success();
  case BuiltinTypeCode::Complex:
    return reader.readComplex(type);
  case BuiltinTypeCode::None:
    type = builder.getNoneType();
    return success();
  case BuiltinTypeCode::RankedTensor:
    return reader.readRankedTensor(/*hasEncoding=*/false, type);
  case BuiltinTypeCode::RankedTensorWithEncoding:
    return reader.readRankedTensor(/*hasEncoding=*/true, type);
  case BuiltinTypeCode::Tuple: {
    SmallVector<Type> elements;
    if (failed(reader.readTypes(elements)))
      return failure();
    type = mlir::TupleType::get(reader.context(), elements);
    return success();
  }
  }
  return reader.fail("cannot read type " + llvm::Twine(code) +
                     " of MLIR's builtin dialect");
}

} // namespace meshloom::vhlo
