// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "EntryWriter.h"

#include "Codes.h"

#include "mlir/IR/Location.h"

#include "llvm/Support/raw_ostream.h"

namespace meshloom::vhlo {

uint64_t EntryWriter::string(StringRef text) {
  auto [entry, isNew] = stringNumbers.try_emplace(text, strings.size());
  if (isNew)
    strings.push_back(entry->getKey());
  return entry->second;
}

uint64_t EntryWriter::add(std::vector<Entry> &entries, ArtifactDialect dialect,
                          const ByteWriter &bytes) {
  entries.push_back({dialect, bytes.bytes()});
  return entries.size() - 1;
}

template <typename T> void EntryWriter::refuse(T value, StringRef reason) {
  if (!firstProblem.empty())
    return;
  llvm::raw_string_ostream(firstProblem) << value << " " << reason;
}

uint64_t EntryWriter::attribute(Attribute attribute, AttributeForm form) {
  const std::pair<Attribute, unsigned> key(attribute, unsigned(form));
  if (auto found = attributeNumbers.find(key); found != attributeNumbers.end())
    return found->second;
  // VHLO has no units and no locations.
  const bool isBuiltin = form == AttributeForm::Builtin ||
                         isa<mlir::UnitAttr, mlir::LocationAttr>(attribute);
  ByteWriter bytes;
  if (form == AttributeForm::ApiVersion) {
    bytes.writeNumber(uint64_t(VhloAttributeCode::CustomCallApiVersion));
    bytes.writeNumber(uint64_t(cast<IntegerAttr>(attribute).getInt()));
  } else if (!(isBuiltin ? writeBuiltin(attribute, bytes)
                         : writeVhlo(attribute, bytes))) {
    refuse(attribute, "is an attribute that portable artifacts do not have");
  }
  return attributeNumbers[key] =
             add(attributes,
                 isBuiltin ? ArtifactDialect::Builtin : ArtifactDialect::Vhlo,
                 bytes);
}

uint64_t EntryWriter::type(Type type, ArtifactDialect dialect) {
  const std::pair<Type, unsigned> key(type, unsigned(dialect));
  if (auto found = typeNumbers.find(key); found != typeNumbers.end())
    return found->second;
  ByteWriter bytes;
  if (!(dialect == ArtifactDialect::Builtin ? writeBuiltin(type, bytes)
                                            : writeVhlo(type, bytes)))
    refuse(type, "is a type that portable artifacts of StableHLO 1." +
                     std::to_string(release) + " do not have");
  return typeNumbers[key] = add(types, dialect, bytes);
}

uint64_t EntryWriter::discardable(DictionaryAttr attributes,
                                  AttributeForm form) {
  ByteWriter bytes;
  bytes.writeNumber(uint64_t(BuiltinAttributeCode::Dictionary));
  writeDictionary(attributes, form, AttributeForm::Builtin, bytes);
  return add(this->attributes, ArtifactDialect::Builtin, bytes);
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

template <typename List>
void EntryWriter::writeAttributes(const List &attributes, AttributeForm form,
                                  ByteWriter &bytes) {
  bytes.writeNumber(attributes.size());
  for (Attribute element : attributes)
    bytes.writeNumber(attribute(element, form));
}

void EntryWriter::writeDictionary(DictionaryAttr dictionary, AttributeForm form,
                                  AttributeForm names, ByteWriter &bytes) {
  bytes.writeNumber(dictionary.size());
  for (NamedAttribute element : dictionary) {
    bytes.writeNumber(attribute(element.getName(), names));
    bytes.writeNumber(attribute(element.getValue(), form));
  }
}

void EntryWriter::writeInteger(const llvm::APInt &value, ByteWriter &bytes) {
  if (value.getBitWidth() <= 8)
    bytes.writeByte(uint8_t(value.getZExtValue()));
  else
    bytes.writeSigned(value.getSExtValue());
}

bool EntryWriter::writeLocation(mlir::LocationAttr location,
                                ByteWriter &bytes) {
  using Code = BuiltinAttributeCode;
  auto write = [&](Code code, ArrayRef<Attribute> parts) {
    bytes.writeNumber(uint64_t(code));
    for (Attribute part : parts)
      bytes.writeNumber(attribute(part, AttributeForm::Builtin));
    return true;
  };
  if (auto file = dyn_cast<mlir::FileLineColLoc>(location)) {
    write(Code::FileLineColLoc, {file.getFilename()});
    bytes.writeNumber(file.getLine());
    bytes.writeNumber(file.getColumn());
    return true;
  }
  if (auto name = dyn_cast<mlir::NameLoc>(location))
    return write(Code::NameLoc, {name.getName(), name.getChildLoc()});
  if (auto call = dyn_cast<mlir::CallSiteLoc>(location))
    return write(Code::CallSiteLoc, {call.getCallee(), call.getCaller()});
  if (auto fused = dyn_cast<mlir::FusedLoc>(location)) {
    write(Code::FusedLoc, {});
    SmallVector<Attribute> parts(fused.getLocations().begin(),
                                 fused.getLocations().end());
    writeAttributes(parts, AttributeForm::Builtin, bytes);
    return true;
  }
  return write(Code::UnknownLoc, {});
}

bool EntryWriter::writeBuiltin(Attribute attribute, ByteWriter &bytes) {
  using Code = BuiltinAttributeCode;
  auto begin = [&](Code code) { bytes.writeNumber(uint64_t(code)); };
  if (auto location = dyn_cast<mlir::LocationAttr>(attribute))
    return writeLocation(location, bytes);
  if (isa<mlir::UnitAttr>(attribute)) {
    begin(Code::Unit);
  } else if (auto text = dyn_cast<StringAttr>(attribute)) {
    begin(Code::String);
    bytes.writeNumber(string(text));
  } else if (auto list = dyn_cast<mlir::ArrayAttr>(attribute)) {
    begin(Code::Array);
    writeAttributes(list, AttributeForm::Builtin, bytes);
  } else if (auto dictionary = dyn_cast<DictionaryAttr>(attribute)) {
    begin(Code::Dictionary);
    writeDictionary(dictionary, AttributeForm::Builtin, AttributeForm::Builtin,
                    bytes);
  } else if (auto integer = dyn_cast<IntegerAttr>(attribute)) {
    begin(Code::Integer);
    bytes.writeNumber(type(integer.getType(), ArtifactDialect::Builtin));
    writeInteger(integer.getValue(), bytes);
  } else {
    return false;
  }
  return true;
}

/// Writes an enumerator of stablehlo, whose numbers are VHLO's; false where the
/// attribute is none of that kind.
template <typename EnumAttr>
static bool writeIf(Attribute attribute, VhloAttributeCode code,
                    ByteWriter &bytes) {
  auto enumerator = dyn_cast<EnumAttr>(attribute);
  if (!enumerator)
    return false;
  bytes.writeNumber(uint64_t(code));
  bytes.writeNumber(uint64_t(enumerator.getValue()));
  return true;
}

static bool writeEnumerator(Attribute attribute, ByteWriter &bytes) {
  using namespace stablehlo;
  using Code = VhloAttributeCode;
  return writeIf<mlir::BoolAttr>(attribute, Code::Boolean, bytes) ||
         writeIf<ComparisonDirectionAttr>(attribute, Code::ComparisonDirection,
                                          bytes) ||
         writeIf<ComparisonTypeAttr>(attribute, Code::ComparisonType, bytes) ||
         writeIf<FftTypeAttr>(attribute, Code::FftType, bytes) ||
         writeIf<PrecisionAttr>(attribute, Code::Precision, bytes) ||
         writeIf<RngAlgorithmAttr>(attribute, Code::RngAlgorithm, bytes) ||
         writeIf<RngDistributionAttr>(attribute, Code::RngDistribution,
                                      bytes) ||
         writeIf<TransposeAttr>(attribute, Code::Transpose, bytes) ||
         writeIf<ResultAccuracyModeAttr>(attribute, Code::ResultAccuracyMode,
                                         bytes);
}

bool EntryWriter::writeElements(Attribute attribute, ByteWriter &bytes) {
  Builder builder(attribute.getContext());
  if (auto list = dyn_cast<DenseI64ArrayAttr>(attribute))
    attribute = builder.getI64TensorAttr(list);
  else if (auto flags = dyn_cast<mlir::DenseBoolArrayAttr>(attribute))
    attribute = DenseElementsAttr::get(
        RankedTensorType::get(flags.size(), builder.getI1Type()),
        flags.asArrayRef());
  auto elements = dyn_cast<mlir::DenseIntOrFPElementsAttr>(attribute);
  if (!elements)
    return false;
  bytes.writeNumber(uint64_t(VhloAttributeCode::Tensor));
  bytes.writeNumber(type(elements.getType()));
  const ArrayRef<char> raw = elements.getRawData();
  bytes.writeBlob(StringRef(raw.data(), raw.size()));
  return true;
}

bool EntryWriter::writeResultAccuracy(stablehlo::ResultAccuracyAttr accuracy,
                                      ByteWriter &bytes) {
  bytes.writeNumber(uint64_t(VhloAttributeCode::ResultAccuracy));
  for (FloatAttr tolerance : {accuracy.getAtol(), accuracy.getRtol()})
    writeInteger(tolerance.getValue().bitcastToAPInt(), bytes);
  bytes.writeSigned(accuracy.getUlps());
  bytes.writeNumber(attribute(stablehlo::ResultAccuracyModeAttr::get(
      accuracy.getContext(), accuracy.getMode())));
  return true;
}

bool EntryWriter::writeVhlo(Attribute attribute, ByteWriter &bytes) {
  using Code = VhloAttributeCode;
  auto begin = [&](Code code) { bytes.writeNumber(uint64_t(code)); };
  if (writeEnumerator(attribute, bytes) || writeElements(attribute, bytes))
    return true;
  if (auto text = dyn_cast<StringAttr>(attribute)) {
    begin(Code::String);
    bytes.writeNumber(string(text));
  } else if (auto symbol = dyn_cast<mlir::FlatSymbolRefAttr>(attribute)) {
    begin(Code::String);
    bytes.writeNumber(string(symbol.getValue()));
  } else if (auto list = dyn_cast<mlir::ArrayAttr>(attribute)) {
    begin(Code::Array);
    writeAttributes(list, AttributeForm::Vhlo, bytes);
  } else if (auto dictionary = dyn_cast<DictionaryAttr>(attribute)) {
    begin(Code::Dictionary);
    writeDictionary(dictionary, AttributeForm::Vhlo, AttributeForm::Vhlo,
                    bytes);
  } else if (auto integer = dyn_cast<IntegerAttr>(attribute)) {
    begin(Code::Integer);
    bytes.writeNumber(type(integer.getType()));
    writeInteger(integer.getValue(), bytes);
  } else if (auto number = dyn_cast<FloatAttr>(attribute)) {
    begin(Code::Float);
    bytes.writeNumber(type(number.getType()));
    writeInteger(number.getValue().bitcastToAPInt(), bytes);
  } else if (auto typed = dyn_cast<mlir::TypeAttr>(attribute)) {
    begin(Code::Type);
    bytes.writeNumber(type(typed.getValue()));
  } else if (auto accuracy =
                 dyn_cast<stablehlo::ResultAccuracyAttr>(attribute)) {
    return writeResultAccuracy(accuracy, bytes);
  } else if (auto alias =
                 dyn_cast<stablehlo::OutputOperandAliasAttr>(attribute)) {
    begin(Code::OutputOperandAlias);
    bytes.writeSignedList(alias.getOutputTupleIndices());
    bytes.writeSigned(alias.getOperandIndex());
    bytes.writeSignedList(alias.getOperandTupleIndices());
  } else if (auto bounds = dyn_cast<stablehlo::TypeExtensionsAttr>(attribute)) {
    begin(Code::TypeExtensions);
    bytes.writeSignedList(bounds.getBounds());
  } else {
    return false;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

bool EntryWriter::writeBuiltin(Type type, ByteWriter &bytes) {
  auto integer = dyn_cast<IntegerType>(type);
  if (!integer)
    return false;
  bytes.writeNumber(uint64_t(BuiltinTypeCode::Integer));
  bytes.writeNumber(uint64_t(integer.getWidth()) << 2 |
                    uint64_t(integer.getSignedness()));
  return true;
}

void EntryWriter::writeTypes(mlir::TypeRange types, ByteWriter &bytes) {
  bytes.writeNumber(types.size());
  for (Type element : types)
    bytes.writeNumber(type(element));
}

bool EntryWriter::writeVhlo(Type type, ByteWriter &bytes) {
  using Code = VhloTypeCode;
  auto begin = [&](Code code) { bytes.writeNumber(uint64_t(code)); };
  for (const SimpleType &simple : simpleTypes(type.getContext()))
    if (simple.type == type && simple.release <= release) {
      bytes.writeNumber(simple.code);
      return true;
    }
  if (auto number = dyn_cast<mlir::ComplexType>(type)) {
    begin(Code::Complex);
    bytes.writeNumber(this->type(number.getElementType()));
  } else if (auto function = dyn_cast<mlir::FunctionType>(type)) {
    begin(Code::Function);
    writeTypes(function.getInputs(), bytes);
    writeTypes(function.getResults(), bytes);
  } else if (auto tuple = dyn_cast<mlir::TupleType>(type)) {
    begin(Code::Tuple);
    writeTypes(tuple.getTypes(), bytes);
  } else if (auto tensor = dyn_cast<RankedTensorType>(type)) {
    Attribute encoding = tensor.getEncoding();
    if (encoding && !isa<stablehlo::TypeExtensionsAttr>(encoding))
      return false;
    begin(encoding ? Code::RankedTensorWithEncoding : Code::RankedTensor);
    if (encoding)
      bytes.writeNumber(attribute(encoding));
    bytes.writeSignedList(tensor.getShape());
    bytes.writeNumber(this->type(tensor.getElementType()));
  } else {
    return false;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Sections
//===----------------------------------------------------------------------===//

void EntryWriter::write(ByteWriter &artifact) const {
  ByteWriter texts, offsets, data;
  texts.writeNumber(strings.size());
  for (StringRef text : llvm::reverse(strings))
    texts.writeNumber(text.size() + 1);
  for (StringRef text : strings) {
    texts.writeBytes(text);
    texts.writeByte(0);
  }
  offsets.writeNumber(attributes.size());
  offsets.writeNumber(types.size());
  for (const std::vector<Entry> *entries : {&attributes, &types})
    for (const Entry &entry : *entries) { // a group of its own
      offsets.writeNumber(uint64_t(entry.dialect));
      offsets.writeNumber(1);
      offsets.writeFlagged(entry.bytes.size(), /*flag=*/true);
      data.writeBytes(entry.bytes);
    }
  artifact.writeSection(Section::Strings, texts);
  artifact.writeSection(Section::Attributes, data);
  artifact.writeSection(Section::AttributeOffsets, offsets);
}

} // namespace meshloom::vhlo
