// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The ops of an artifact, as ReadArtifact.cpp reads them.
#include "meshloom/Import/VHLO/WriteArtifact.h"

#include "Describe.h"
#include "EntryWriter.h"
#include "meshloom/Import/VHLO/ClientOps.h"

#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OwningOpRef.h"

namespace meshloom {

using namespace vhlo;

Result<StableHLORelease> StableHLORelease::parse(StringRef text) {
  constexpr unsigned newest = 17;
  StableHLORelease release;
  auto [major, numbers] = text.split('.');
  auto [minor, patch] = numbers.split('.');
  if (major != "1" || minor.getAsInteger(10, release.minor) ||
      patch.getAsInteger(10, release.patch) || release.minor > newest ||
      (release.minor == newest && release.patch > 0))
    return Error("portable artifacts are written for releases of StableHLO "
                 "from 1.0.0 to 1.17.0, and not for '" +
                 text.str() + "'");
  return release;
}

namespace {

class OpWriter {
public:
  explicit OpWriter(unsigned release) : release(release), entries(release) {}

  FailureOr<std::string> write(ModuleOp module, StringRef producer);

private:
  LogicalResult writeOp(Operation *op, ByteWriter &bytes);
  LogicalResult writeRegions(Operation *op, size_t firstValue,
                             ByteWriter &bytes);
  LogicalResult writeRegion(Region &region, size_t firstValue,
                            ByteWriter &bytes);
  void writeArguments(Block &block, ByteWriter &bytes);
  uint64_t nameNumber(StringRef name);
  uint64_t propertiesNumber(const OpDescription &description,
                            const OpFacts &facts);
  uint64_t location(Location location) {
    return entries.attribute(location, AttributeForm::Builtin);
  }
  void writeNames(ByteWriter &artifact);
  void writeProperties(ByteWriter &artifact) const;

  const unsigned release;
  EntryWriter entries;
  llvm::StringMap<uint64_t> nameNumbers;
  std::vector<StringRef> names; ///< "vhlo.add_v1"
  std::vector<std::string> properties;
  /// The numbers of values in their scope, and where those of the regions in a
  /// region begin.
  DenseMap<Value, size_t> values;
  size_t valuesEnd = 0;
};

uint64_t OpWriter::nameNumber(StringRef name) {
  auto [entry, isNew] = nameNumbers.try_emplace(name, names.size());
  if (isNew)
    names.push_back(entry->getKey());
  return entry->second;
}

uint64_t OpWriter::propertiesNumber(const OpDescription &description,
                                    const OpFacts &facts) {
  ByteWriter bytes;
  for (StringRef name : facts.attributes) {
    const bool isOptional = name.consume_back("?");
    Attribute value = description.attributes.get(name);
    if (isOptional && !value)
      bytes.writeNumber(0);
    else if (isOptional)
      bytes.writeFlagged(entries.attribute(value, AttributeForm::Builtin),
                         /*flag=*/true);
    else
      bytes.writeNumber(entries.attribute(value, name == "api_version"
                                                     ? AttributeForm::ApiVersion
                                                     : AttributeForm::Vhlo));
  }
  properties.push_back(bytes.bytes());
  return properties.size() - 1;
}

/// Describes the module, which is the only op of its dialect.
OpDescription describeModule(ModuleOp module) {
  OpDescription description{"builtin.module", {}, {}};
  description.discardable.append(module->getDiscardableAttrDictionary());
  if (auto attributes =
          dyn_cast_or_null<DictionaryAttr>(module->getPropertiesAsAttribute()))
    description.attributes.append(attributes);
  return description;
}

LogicalResult OpWriter::writeOp(Operation *op, ByteWriter &bytes) {
  auto module = dyn_cast<ModuleOp>(op);
  FailureOr<OpDescription> description =
      module ? describeModule(module) : describe(op, release);
  if (failed(description))
    return failure();
  const OpFacts &facts = *factsOf(description->name);
  uint8_t parts = 0;
  auto has = [&](OpPart part, bool isPresent) {
    parts |= isPresent ? part : 0;
    return isPresent;
  };
  ByteWriter body;
  body.writeNumber(location(op->getLoc()));
  if (has(HasAttributes, !description->discardable.empty()))
    body.writeNumber(entries.discardable(
        description->discardable.getDictionary(op->getContext()),
        module ? AttributeForm::Builtin : AttributeForm::Vhlo));
  if (has(HasProperties, !facts.attributes.empty()))
    body.writeNumber(propertiesNumber(*description, facts));
  if (has(HasResults, op->getNumResults() > 0)) {
    body.writeNumber(op->getNumResults());
    for (Type type : op->getResultTypes())
      body.writeNumber(entries.type(type));
  }
  if (has(HasOperands, op->getNumOperands() > 0)) {
    body.writeNumber(op->getNumOperands());
    for (Value operand : op->getOperands())
      body.writeNumber(values.at(operand));
  }
  if (!entries.problem().empty())
    return op->emitOpError() << "cannot be written: " << entries.problem();
  if (has(HasRegions, op->getNumRegions() > 0)) {
    const bool isIsolated = op->hasTrait<mlir::OpTrait::IsIsolatedFromAbove>();
    body.writeFlagged(op->getNumRegions(), isIsolated);
    ByteWriter regions;
    if (failed(writeRegions(op, isIsolated ? 0 : valuesEnd, regions)))
      return failure();
    if (isIsolated)
      body.writeSection(Section::IR, regions);
    else
      body.writeBytes(regions.bytes());
  }
  bytes.writeNumber(nameNumber(description->name));
  bytes.writeByte(parts);
  bytes.writeBytes(body.bytes());
  return success();
}

LogicalResult OpWriter::writeRegions(Operation *op, size_t firstValue,
                                     ByteWriter &bytes) {
  const size_t end = valuesEnd;
  for (Region &region : op->getRegions())
    if (failed(writeRegion(region, firstValue, bytes)))
      return failure();
  valuesEnd = end;
  return success();
}

LogicalResult OpWriter::writeRegion(Region &region, size_t firstValue,
                                    ByteWriter &bytes) {
  if (region.empty()) {
    bytes.writeNumber(0);
    return success();
  }
  if (!region.hasOneBlock())
    return region.getParentOp()->emitOpError()
           << "has several blocks, which no op of StableHLO has";
  Block &block = region.front();
  valuesEnd = firstValue;
  for (BlockArgument argument : block.getArguments())
    values[argument] = valuesEnd++;
  for (Operation &op : block)
    for (Value result : op.getResults())
      values[result] = valuesEnd++;
  bytes.writeNumber(1); // block
  bytes.writeNumber(valuesEnd - firstValue);
  bytes.writeFlagged(block.getOperations().size(), block.getNumArguments() > 0);
  if (block.getNumArguments() > 0)
    writeArguments(block, bytes);
  for (Operation &op : block)
    if (failed(writeOp(&op, bytes)))
      return failure();
  return success();
}

void OpWriter::writeArguments(Block &block, ByteWriter &bytes) {
  bytes.writeNumber(block.getNumArguments());
  for (BlockArgument argument : block.getArguments()) {
    bytes.writeFlagged(entries.type(argument.getType()), /*flag=*/true);
    bytes.writeNumber(location(argument.getLoc()));
  }
  bytes.writeByte(0); // no orders of uses
}

void OpWriter::writeNames(ByteWriter &artifact) {
  constexpr StringRef dialects[] = {"builtin", "vhlo"}; // as ArtifactDialect
  ByteWriter bytes;
  bytes.writeNumber(std::size(dialects));
  for (StringRef dialect : dialects)
    bytes.writeFlagged(entries.string(dialect), /*flag=*/false);
  bytes.writeNumber(names.size());
  for (StringRef name : names) { // a group of its own
    auto [dialect, op] = name.split('.');
    bytes.writeNumber(size_t(llvm::find(dialects, dialect) - dialects));
    bytes.writeNumber(1);
    bytes.writeFlagged(entries.string(op), /*flag=*/true);
  }
  artifact.writeSection(Section::Dialects, bytes);
}

void OpWriter::writeProperties(ByteWriter &artifact) const {
  ByteWriter bytes;
  bytes.writeNumber(properties.size());
  for (const std::string &entry : properties)
    bytes.writeBlob(entry);
  artifact.writeSection(Section::Properties, bytes);
}

FailureOr<std::string> OpWriter::write(ModuleOp module, StringRef producer) {
  ByteWriter ops, artifact;
  ops.writeFlagged(1, /*flag=*/false);
  if (failed(writeOp(module, ops)))
    return failure();
  artifact.writeBytes("ML\xefR");
  artifact.writeNumber(format::newest);
  artifact.writeBytes(producer);
  artifact.writeByte(0);
  writeNames(artifact);
  entries.write(artifact);
  artifact.writeSection(Section::IR, ops);
  writeProperties(artifact);
  return artifact.bytes();
}

} // namespace

FailureOr<std::string> writeArtifact(ModuleOp module,
                                     StableHLORelease release) {
  const std::string producer = "StableHLO_v1." + std::to_string(release.minor) +
                               "." + std::to_string(release.patch);
  mlir::OwningOpRef<ModuleOp> written = module.clone();
  replaceClientOps(*written);
  return OpWriter(release.minor).write(*written, producer);
}

} // namespace meshloom
