// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Attributes and types of VHLO, as those of builtin and stablehlo that they
// stand for.
#include "Attributes.h"
#include "Codes.h"

#include "meshloom/Dialect/StableHLO/StableHLO.h"

namespace meshloom::vhlo {

namespace {

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

SmallVector<SimpleType> simpleTypes(MLIRContext *context) {
  mlir::Builder builder(context);
  auto unsignedType = [&](unsigned width) {
    return builder.getIntegerType(width, /*isSigned=*/false);
  };
  using Format = stablehlo::MinifloatFormat;
  auto minifloat = [&](Format format) {
    return stablehlo::MinifloatType::get(context, format);
  };
  return {{0, 0, builder.getI1Type()},
          {2, 0, builder.getBF16Type()},
          {3, 0, builder.getF16Type()},
          {4, 0, builder.getF32Type()},
          {5, 0, builder.getF64Type()},
          {6, 0, builder.getFloat8E4M3FNType()},
          {7, 0, builder.getFloat8E5M2Type()},
          {9, 0, builder.getIndexType()},
          {10, 0, builder.getIntegerType(4)},
          {11, 0, builder.getI8Type()},
          {12, 0, builder.getI16Type()},
          {13, 0, builder.getI32Type()},
          {14, 0, builder.getI64Type()},
          {15, 0, unsignedType(4)},
          {16, 0, unsignedType(8)},
          {17, 0, unsignedType(16)},
          {18, 0, unsignedType(32)},
          {19, 0, unsignedType(64)},
          {22, 0, stablehlo::TokenType::get(context)},
          {27, 0, builder.getFloat8E4M3FNUZType()},
          {28, 0, builder.getFloat8E5M2FNUZType()},
          {29, 0, builder.getFloat8E4M3B11FNUZType()},
          {31, 2, builder.getIntegerType(2)},
          {32, 2, unsignedType(2)},
          {33, 0, builder.getNoneType()},
          {35, 7, builder.getFloat8E4M3Type()},
          {36, 7, minifloat(Format::F8E3M4)},
          {37, 8, minifloat(Format::F4E2M1FN)},
          {38, 8, minifloat(Format::F6E2M3FN)},
          {39, 8, minifloat(Format::F6E3M2FN)},
          {40, 8, minifloat(Format::F8E8M0FNU)}};
}

LogicalResult readVhlo(EntryReader &reader, Type &type) {
  MLIRContext *context = reader.context();
  mlir::Builder builder(context);
  uint64_t code = 0;
  if (failed(reader.readNumber(code)))
    return failure();
  switch (VhloTypeCode(std::min<uint64_t>(code, 0xff))) {
  case VhloTypeCode::Complex:
    return reader.readComplex(type);
  case VhloTypeCode::Function: {
    SmallVector<Type> inputs, results;
    if (failed(reader.readTypes(inputs)) || failed(reader.readTypes(results)))
      return failure();
    type = builder.getFunctionType(inputs, results);
    return success();
  }
  case VhloTypeCode::RankedTensor:
    return reader.readRankedTensor(/*hasEncoding=*/false, type);
  case VhloTypeCode::RankedTensorWithEncoding:
    return reader.readRankedTensor(/*hasEncoding=*/true, type);
  case VhloTypeCode::Tuple: {
    SmallVector<Type> elements;
    if (failed(reader.readTypes(elements)))
      return failure();
    type = mlir::TupleType::get(context, elements);
    return success();
  }
  case VhloTypeCode::Future: {
    SmallVector<Type> results;
    if (failed(reader.readTypes(results)))
      return failure();
    if (results.size() != 1)
      return reader.fail("a future is of " + llvm::Twine(results.size()) +
                         " values, and must be of one");
    type = stablehlo::FutureType::get(context, results.front());
    return success();
  }
  }
  for (const SimpleType &simple : simpleTypes(context))
    if (simple.code == code) {
      type = simple.type;
      return success();
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
