// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Attributes and types of VHLO, as those of builtin and stablehlo that they
// stand for.
#include "Attributes.h"

#include "meshloom/Dialect/StableHLO/StableHLO.h"

namespace meshloom::vhlo {

namespace {

/// The numbers by which artifacts name attributes of VHLO.
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

/// The same for types.
enum class VhloTypeCode : uint8_t {
  Boolean = 0,
  Complex = 1,
  BF16 = 2,
  F16 = 3,
  F32 = 4,
  F64 = 5,
  F8E4M3FN = 6,
  F8E5M2 = 7,
  Function = 8,
  Index = 9,
  I4 = 10,
  I8 = 11,
  I16 = 12,
  I32 = 13,
  I64 = 14,
  UI4 = 15,
  UI8 = 16,
  UI16 = 17,
  UI32 = 18,
  UI64 = 19,
  RankedTensor = 20,
  RankedTensorWithEncoding = 21,
  Token = 22,
  Tuple = 23,
  F8E4M3FNUZ = 27,
  F8E5M2FNUZ = 28,
  F8E4M3B11FNUZ = 29,
  I2 = 31,
  UI2 = 32,
  None = 33,
  F8E4M3 = 35,
};

/// An enumerator of stablehlo, whose numbers are VHLO's.
template <typename EnumAttr, typename Enum>
LogicalResult readEnum(EntryReader &reader,
                       std::optional<Enum> (*symbolize)(uint32_t),
                       Attribute &attribute) {
  uint64_t number = 0;
  if (failed(reader.readNumber(number)))
    return failure();
  const std::optional<Enum> value =
      symbolize(uint32_t(std::min<uint64_t>(number, UINT32_MAX)));
  if (!value)
    return reader.fail("there is no enumerator " + llvm::Twine(number));
  attribute = EnumAttr::get(reader.context(), *value);
  return success();
}

LogicalResult readAlias(EntryReader &reader, Attribute &attribute) {
  SmallVector<int64_t> results, operands;
  int64_t operand = 0;
  if (failed(reader.readSignedList(results)) ||
      failed(reader.readSigned(operand)) ||
      failed(reader.readSignedList(operands)))
    return failure();
  attribute = stablehlo::OutputOperandAliasAttr::get(reader.context(), results,
                                                     operand, operands);
  return success();
}

LogicalResult readResultAccuracy(EntryReader &reader, Attribute &attribute) {
  const auto type = mlir::Float64Type::get(reader.context());
  llvm::APFloat absolute(0.0), relative(0.0);
  int64_t ulps = 0;
  stablehlo::ResultAccuracyModeAttr mode;
  if (failed(reader.readFloat(type, absolute)) ||
      failed(reader.readFloat(type, relative)) ||
      failed(reader.readSigned(ulps)) || failed(reader.read(mode)))
    return failure();
  attribute = stablehlo::ResultAccuracyAttr::getChecked(
      reader.emitter(), reader.context(), FloatAttr::get(type, absolute),
      FloatAttr::get(type, relative), ulps, mode.getValue());
  return attribute ? success() : reader.fail("a result accuracy is not valid");
}

} // namespace

LogicalResult readVhlo(EntryReader &reader, Attribute &attribute) {
  mlir::Builder builder(reader.context());
  uint64_t code = 0;
  if (failed(reader.readNumber(code)))
    return failure();
  switch (VhloAttributeCode(std::min<uint64_t>(code, 0xff))) {
  case VhloAttributeCode::Array: {
    SmallVector<Attribute> elements;
    if (failed(reader.readList(elements)))
      return failure();
    attribute = builder.getArrayAttr(elements);
    return success();
  }
  case VhloAttributeCode::Boolean: {
    uint64_t value = 0;
    if (failed(reader.readNumber(value)))
      return failure();
    attribute = builder.getBoolAttr(value != 0);
    return success();
  }
  case VhloAttributeCode::ComparisonDirection:
    return readEnum<stablehlo::ComparisonDirectionAttr>(
        reader, stablehlo::symbolizeComparisonDirection, attribute);
  case VhloAttributeCode::ComparisonType:
    return readEnum<stablehlo::ComparisonTypeAttr>(
        reader, stablehlo::symbolizeComparisonType, attribute);
  case VhloAttributeCode::CustomCallApiVersion: {
    uint64_t version = 0;
    if (failed(reader.readNumber(version)))
      return failure();
    attribute = builder.getI32IntegerAttr(int32_t(version));
    return success();
  }
  case VhloAttributeCode::Dictionary:
    return reader.readDictionary(attribute);
  case VhloAttributeCode::FftType:
    return readEnum<stablehlo::FftTypeAttr>(reader, stablehlo::symbolizeFftType,
                                            attribute);
  case VhloAttributeCode::Float:
    return reader.readNumberAttribute(/*isFloat=*/true, attribute);
  case VhloAttributeCode::Integer:
    return reader.readNumberAttribute(/*isFloat=*/false, attribute);
  case VhloAttributeCode::OutputOperandAlias:
    return readAlias(reader, attribute);
  case VhloAttributeCode::Precision:
    return readEnum<stablehlo::PrecisionAttr>(
        reader, stablehlo::symbolizePrecision, attribute);
  case VhloAttributeCode::RngAlgorithm:
    return readEnum<stablehlo::RngAlgorithmAttr>(
        reader, stablehlo::symbolizeRngAlgorithm, attribute);
  case VhloAttributeCode::RngDistribution:
    return readEnum<stablehlo::RngDistributionAttr>(
        reader, stablehlo::symbolizeRngDistribution, attribute);
  case VhloAttributeCode::String: {
    StringRef text;
    if (failed(reader.readString(text)))
      return failure();
    attribute = builder.getStringAttr(text);
    return success();
  }
  case VhloAttributeCode::Tensor:
    return reader.readElements(attribute);
  case VhloAttributeCode::Transpose:
    return readEnum<stablehlo::TransposeAttr>(
        reader, stablehlo::symbolizeTranspose, attribute);
  case VhloAttributeCode::Type: {
    Type type;
    if (failed(reader.readType(type)))
      return failure();
    attribute = mlir::TypeAttr::get(type);
    return success();
  }
  case VhloAttributeCode::TypeExtensions: {
    SmallVector<int64_t> bounds;
    if (failed(reader.readSignedList(bounds)))
      return failure();
    attribute = stablehlo::TypeExtensionsAttr::get(reader.context(), bounds);
    return success();
  }
  case VhloAttributeCode::ResultAccuracyMode:
    return readEnum<stablehlo::ResultAccuracyModeAttr>(
        reader, stablehlo::symbolizeResultAccuracyMode, attribute);
  case VhloAttributeCode::ResultAccuracy:
    return readResultAccuracy(reader, attribute);
  }
  return reader.fail("cannot read attribute " + llvm::Twine(code) +
                     " of VHLO: ask the artifact's writer for an older target "
                     "version of StableHLO, such as 1.13.3");
}

LogicalResult readVhlo(EntryReader &reader, Type &type) {
  MLIRContext *context = reader.context();
  mlir::Builder builder(context);
  uint64_t code = 0;
  if (failed(reader.readNumber(code)))
    return failure();
  auto integer = [&](unsigned width) {
    type = builder.getIntegerType(width);
    return success();
  };
  auto unsignedInteger = [&](unsigned width) {
    type = builder.getIntegerType(width, /*isSigned=*/false);
    return success();
  };
  auto simple = [&](Type read) {
    type = read;
    return success();
  };
  switch (VhloTypeCode(std::min<uint64_t>(code, 0xff))) {
  case VhloTypeCode::Boolean:
    return integer(1);
  case VhloTypeCode::Complex:
    return reader.readComplex(type);
  case VhloTypeCode::BF16:
    return simple(builder.getBF16Type());
  case VhloTypeCode::F16:
    return simple(builder.getF16Type());
  case VhloTypeCode::F32:
    return simple(builder.getF32Type());
  case VhloTypeCode::F64:
    return simple(builder.getF64Type());
  case VhloTypeCode::F8E4M3FN:
    return simple(builder.getFloat8E4M3FNType());
  case VhloTypeCode::F8E5M2:
    return simple(builder.getFloat8E5M2Type());
  case VhloTypeCode::F8E4M3FNUZ:
    return simple(builder.getFloat8E4M3FNUZType());
  case VhloTypeCode::F8E5M2FNUZ:
    return simple(builder.getFloat8E5M2FNUZType());
  case VhloTypeCode::F8E4M3B11FNUZ:
    return simple(builder.getFloat8E4M3B11FNUZType());
  case VhloTypeCode::F8E4M3:
    return simple(builder.getFloat8E4M3Type());
  case VhloTypeCode::Function: {
    SmallVector<Type> inputs, results;
    if (failed(reader.readTypes(inputs)) || failed(reader.readTypes(results)))
      return failure();
    return simple(builder.getFunctionType(inputs, results));
  }
  case VhloTypeCode::Index:
    return simple(builder.getIndexType());
  case VhloTypeCode::I2:
    return integer(2);
  case VhloTypeCode::I4:
    return integer(4);
  case VhloTypeCode::I8:
    return integer(8);
  case VhloTypeCode::I16:
    return integer(16);
  case VhloTypeCode::I32:
    return integer(32);
  case VhloTypeCode::I64:
    return integer(64);
  case VhloTypeCode::UI2:
    return unsignedInteger(2);
  case VhloTypeCode::UI4:
    return unsignedInteger(4);
  case VhloTypeCode::UI8:
    return unsignedInteger(8);
  case VhloTypeCode::UI16:
    return unsignedInteger(16);
  case VhloTypeCode::UI32:
    return unsignedInteger(32);
  case VhloTypeCode::UI64:
    return unsignedInteger(64);
  case VhloTypeCode::RankedTensor:
    return reader.readRankedTensor(/*hasEncoding=*/false, type);
  case VhloTypeCode::RankedTensorWithEncoding:
    return reader.readRankedTensor(/*hasEncoding=*/true, type);
  case VhloTypeCode::Token:
    return simple(stablehlo::TokenType::get(context));
  case VhloTypeCode::Tuple: {
    SmallVector<Type> elements;
    if (failed(reader.readTypes(elements)))
      return failure();
    return simple(mlir::TupleType::get(context, elements));
  }
  case VhloTypeCode::None:
    return simple(builder.getNoneType());
  }
  return reader.fail("cannot read type " + llvm::Twine(code) +
                     " of VHLO, which Meshloom has no elements of");
}

LogicalResult readStableHLO(EntryReader &reader, Type &type) {
  constexpr uint64_t token = 0;
  uint64_t code = 0;
  if (failed(reader.readNumber(code)))
    return failure();
  if (code != token)
    return reader.fail("cannot read type " + llvm::Twine(code) +
                       " of stablehlo");
  type = stablehlo::TokenType::get(reader.context());
  return success();
}

} // namespace meshloom::vhlo
