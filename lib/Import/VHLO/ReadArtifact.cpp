// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The ops of an artifact: operations, blocks and regions, in the order of the
// program.
#include "meshloom/Import/VHLO/ReadArtifact.h"

#include "Attributes.h"
#include "Translate.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"

#include "llvm/Support/Endian.h"
#include "llvm/Support/raw_ostream.h"

namespace meshloom {

using namespace vhlo;

namespace {

/// How deep regions may be in each other: deeper than any program, and less
/// than the stack holds.
constexpr unsigned deepestRegion = 128;

/// The values that ops of a region may use: operands are numbers of them.
struct ValueScope {
  std::vector<Value> values;
  /// The number of the next value, for each open region.
  std::vector<size_t> next;
};

class OpReader {
public:
  OpReader(const Container &container, Fault &fault, MLIRContext *context)
      : container(container), fault(fault), context(context),
        attributes(container, fault, context), builder(context) {}

  LogicalResult readModule(OwningOpRef<ModuleOp> &module);

private:
  EntryReader readerOf(StringRef bytes) {
    return EntryReader(bytes, fault, attributes);
  }
  LogicalResult readOps(EntryReader &reader, uint64_t count, Block &block,
                        StringRef parent);
  LogicalResult readOp(EntryReader &reader, Block &block, StringRef parent);
  LogicalResult readAttributes(EntryReader &reader, uint8_t parts,
                               OpDescription &op);
  LogicalResult readProperties(EntryReader &reader, OpDescription &op,
                               ArrayRef<StringRef> names);
  LogicalResult readOperands(EntryReader &reader,
                             SmallVectorImpl<Value> &operands);
  LogicalResult readRegions(EntryReader &reader, mlir::Operation *op);
  LogicalResult readIsolatedRegions(EntryReader &reader, mlir::Operation *op);
  LogicalResult readRegion(EntryReader &reader, Region &region,
                           StringRef parent);
  LogicalResult readBlock(EntryReader &reader, Block &block, StringRef parent);
  LogicalResult readArguments(EntryReader &reader, Block &block);
  LogicalResult readLocation(EntryReader &reader, Location &location);
  /// Orders of uses say nothing about what a program computes.
  LogicalResult skipUseListOrders(EntryReader &reader, uint64_t valueCount);
  LogicalResult define(const ByteReader &reader, Value value);

  const Container &container;
  Fault &fault;
  MLIRContext *context;
  Attributes attributes;
  OpBuilder builder;
  std::vector<ValueScope> scopes;
  unsigned depth = 0;
};

LogicalResult OpReader::define(const ByteReader &reader, Value value) {
  ValueScope &scope = scopes.back();
  size_t &next = scope.next.back();
  if (next >= scope.values.size())
    return reader.fail("a region has more values than its header says");
  scope.values[next++] = value;
  return success();
}

LogicalResult OpReader::readLocation(EntryReader &reader, Location &location) {
  mlir::LocationAttr read;
  if (failed(reader.read(read)))
    return failure();
  location = read;
  return success();
}

LogicalResult OpReader::skipUseListOrders(EntryReader &reader,
                                          uint64_t valueCount) {
  uint64_t count = 1, number = 0;
  if (valueCount > 1 && failed(reader.readCount(count)))
    return failure();
  for (uint64_t i = 0; i < count; ++i) {
    uint64_t numbers = 0;
    bool arePairs = false;
    if ((valueCount > 1 && failed(reader.readNumber(number))) ||
        failed(reader.readFlagged(numbers, arePairs)))
      return failure();
    for (uint64_t k = 0; k < numbers; ++k)
      if (failed(reader.readNumber(number)))
        return failure();
  }
  return success();
}

LogicalResult OpReader::readProperties(EntryReader &reader, OpDescription &op,
                                       ArrayRef<StringRef> names) {
  uint64_t number = 0;
  if (failed(reader.readNumber(number)))
    return failure();
  if (number >= container.properties.size())
    return reader.fail("there are no properties of number " +
                       llvm::Twine(number));
  EntryReader properties = readerOf(container.properties[size_t(number)]);
  for (StringRef name : names) {
    const bool isOptional = name.consume_back("?");
    Attribute value;
    if (failed(isOptional ? properties.readOptional(value)
                          : properties.readAttribute(value)))
      return failure();
    if (value)
      op.attributes.append(name, value);
  }
  return properties.atEnd()
             ? success()
             : properties.fail(op.name +
                               " has more attributes than can be read");
}

LogicalResult OpReader::readAttributes(EntryReader &reader, uint8_t parts,
                                       OpDescription &op) {
  const OpFacts *facts = factsOf(op.name);
  if (!facts)
    return reader.fail("there is no op " + op.name + " in StableHLO 1.22 or " +
                       "older; the artifact's writer is " + container.producer);
  if (parts & HasAttributes) {
    mlir::DictionaryAttr dictionary;
    if (failed(reader.read(dictionary)))
      return failure();
    // Before format 5 an op's own attributes are among the others.
    for (mlir::NamedAttribute attribute : dictionary) {
      const bool isOfOp = llvm::any_of(facts->attributes, [&](StringRef name) {
        return name.rtrim('?') == attribute.getName();
      });
      (isOfOp ? op.attributes : op.discardable).push_back(attribute);
    }
  }
  if (parts & HasProperties)
    return readProperties(reader, op, facts->attributes);
  return success();
}

LogicalResult OpReader::readOperands(EntryReader &reader,
                                     SmallVectorImpl<Value> &operands) {
  uint64_t count = 0;
  if (failed(reader.readCount(count)))
    return failure();
  const ValueScope &scope = scopes.back();
  for (uint64_t i = 0; i < count; ++i) {
    uint64_t number = 0;
    if (failed(reader.readNumber(number)))
      return failure();
    if (number >= scope.values.size() || !scope.values[size_t(number)])
      return reader.fail("an operand is not a value that was computed before");
    operands.push_back(scope.values[size_t(number)]);
  }
  return success();
}

LogicalResult OpReader::readOp(EntryReader &reader, Block &block,
                               StringRef parent) {
  uint64_t name = 0;
  uint8_t parts = 0;
  Location location = builder.getUnknownLoc();
  if (failed(reader.readNumber(name)) || failed(reader.readByte(parts)) ||
      failed(readLocation(reader, location)))
    return failure();
  if (name >= container.opNames.size())
    return reader.fail("there is no name of an op of number " +
                       llvm::Twine(name));
  OpDescription op{container.opNames[size_t(name)], {}, {}};
  SmallVector<Type> types;
  SmallVector<Value> operands;
  if (failed(readAttributes(reader, parts, op)) ||
      (parts & HasResults && failed(reader.readTypes(types))) ||
      (parts & HasOperands && failed(readOperands(reader, operands))))
    return failure();
  if (parts & HasSuccessors)
    return reader.fail("an op branches to other blocks, which no op of "
                       "StableHLO does");
  if (parts & HasUseListOrders &&
      failed(skipUseListOrders(reader, types.size())))
    return failure();
  // Between types of VHLO and of other dialects, which are the same here.
  if (op.name == "builtin.unrealized_conversion_cast") {
    if (operands.size() != types.size() || parts & HasRegions)
      return reader.fail(
          "a conversion has different numbers of operands and results");
    for (Value operand : operands)
      if (failed(define(reader, operand)))
        return failure();
    return success();
  }
  if (failed(translate(op, parent, context, reader)))
    return failure();
  mlir::OperationState state(location, op.name);
  state.addOperands(operands);
  state.addTypes(types);
  for (mlir::NamedAttribute attribute : op.discardable)
    if (op.attributes.get(attribute.getName()))
      return reader.fail(op.name + " has the attribute '" +
                         attribute.getName().getValue() + "' twice");
  state.addAttributes(op.attributes);
  state.addAttributes(op.discardable);
  uint64_t regionCount = 0;
  bool areIsolated = false;
  if (parts & HasRegions &&
      failed(reader.readFlagged(regionCount, areIsolated)))
    return failure();
  if (regionCount > reader.remaining())
    return reader.fail(op.name + " has more regions than can be");
  for (uint64_t i = 0; i < regionCount; ++i)
    state.addRegion();
  builder.setInsertionPointToEnd(&block);
  mlir::Operation *created = builder.create(state);
  for (Value result : created->getResults())
    if (failed(define(reader, result)))
      return failure();
  if (regionCount == 0)
    return success();
  if (++depth > deepestRegion)
    return reader.fail("regions are too deep in each other");
  if (failed(areIsolated ? readIsolatedRegions(reader, created)
                         : readRegions(reader, created)))
    return failure();
  --depth;
  return success();
}

LogicalResult OpReader::readRegions(EntryReader &reader, mlir::Operation *op) {
  const StringRef name = op->getName().getStringRef();
  for (Region &region : op->getRegions())
    if (failed(readRegion(reader, region, name)))
      return failure();
  return success();
}

/// The regions of an op that use no values of the ops around.
LogicalResult OpReader::readIsolatedRegions(EntryReader &reader,
                                            mlir::Operation *op) {
  scopes.emplace_back();
  if (container.version < format::sectionsOfIsolatedRegions) {
    if (failed(readRegions(reader, op)))
      return failure();
  } else {
    uint8_t kind = 0;
    StringRef contents;
    if (failed(reader.readSection(kind, contents)))
      return failure();
    if (kind != uint8_t(Section::IR))
      return reader.fail("expected a section of ops");
    EntryReader regions = readerOf(contents);
    if (failed(readRegions(regions, op)))
      return failure();
    if (!regions.atEnd())
      return regions.fail("the regions of an op have bytes behind them");
  }
  scopes.pop_back();
  return success();
}

LogicalResult OpReader::readRegion(EntryReader &reader, Region &region,
                                   StringRef parent) {
  uint64_t blockCount = 0, valueCount = 0;
  if (failed(reader.readCount(blockCount)))
    return failure();
  if (blockCount == 0)
    return success();
  if (blockCount > 1)
    return reader.fail("a region has several blocks, which no op of StableHLO "
                       "has");
  if (failed(reader.readCount(valueCount)))
    return failure();
  ValueScope &scope = scopes.back();
  const size_t before = scope.values.size();
  scope.next.push_back(before);
  scope.values.resize(before + size_t(valueCount));
  if (failed(readBlock(reader, region.emplaceBlock(), parent)))
    return failure();
  scopes.back().values.resize(before);
  scopes.back().next.pop_back();
  return success();
}

LogicalResult OpReader::readBlock(EntryReader &reader, Block &block,
                                  StringRef parent) {
  uint64_t count = 0;
  bool hasArguments = false;
  if (failed(reader.readFlagged(count, hasArguments)) ||
      (hasArguments && failed(readArguments(reader, block))))
    return failure();
  return readOps(reader, count, block, parent);
}

LogicalResult OpReader::readArguments(EntryReader &reader, Block &block) {
  uint64_t count = 0;
  if (failed(reader.readCount(count)))
    return failure();
  for (uint64_t i = 0; i < count; ++i) {
    uint64_t typeNumber = 0;
    bool hasLocation = true;
    Type type;
    Location location = builder.getUnknownLoc();
    if (failed(container.version >= format::optionalArgumentLocations
                   ? reader.readFlagged(typeNumber, hasLocation)
                   : reader.readNumber(typeNumber)) ||
        failed(attributes.type(reader, typeNumber, type)) ||
        (hasLocation && failed(readLocation(reader, location))) ||
        failed(define(reader, block.addArgument(type, location))))
      return failure();
  }
  uint8_t parts = 0;
  if (container.version >= format::useListOrders &&
      failed(reader.readByte(parts)))
    return failure();
  return parts & HasUseListOrders ? skipUseListOrders(reader, count)
                                  : success();
}

LogicalResult OpReader::readOps(EntryReader &reader, uint64_t count,
                                Block &block, StringRef parent) {
  for (uint64_t i = 0; i < count; ++i)
    if (failed(readOp(reader, block, parent)))
      return failure();
  return success();
}

LogicalResult OpReader::readModule(OwningOpRef<ModuleOp> &module) {
  EntryReader reader = readerOf(container.ir);
  uint64_t count = 0;
  bool hasArguments = false;
  if (failed(reader.readFlagged(count, hasArguments)))
    return failure();
  Block block;
  scopes.emplace_back().next.push_back(0);
  if (count != 1 || hasArguments)
    return reader.fail("expected one module");
  if (failed(readOps(reader, count, block, "")))
    return failure();
  auto read = dyn_cast<ModuleOp>(block.front());
  if (!read || !reader.atEnd())
    return reader.fail("expected one module");
  read->remove();
  module = read;
  return success();
}

/// The bytes of the module in what JAX's `exported.serialize()` returns: the
/// vector in slot 13 of a FlatBuffer's root table.
std::optional<StringRef> exportedModule(StringRef bytes) {
  constexpr uint64_t slot = 13;
  auto number = [&](uint64_t position, auto &value) {
    using T = std::remove_reference_t<decltype(value)>;
    if (position > bytes.size() || bytes.size() - position < sizeof(T))
      return false;
    value = llvm::support::endian::read<T, llvm::endianness::little>(
        bytes.data() + position);
    return true;
  };
  uint32_t table = 0, vector = 0, length = 0;
  int32_t back = 0;
  uint16_t size = 0, field = 0;
  if (!number(0, table) || !number(table, back))
    return std::nullopt;
  const int64_t slots = int64_t(table) - back;
  if (slots < 0 || !number(uint64_t(slots), size) ||
      size < 4 + 2 * (slot + 1) ||
      !number(uint64_t(slots) + 4 + 2 * slot, field) || field == 0 ||
      !number(uint64_t(table) + field, vector))
    return std::nullopt;
  const uint64_t start = uint64_t(table) + field + vector;
  if (!number(start, length) || bytes.size() - start - 4 < length)
    return std::nullopt;
  return bytes.substr(size_t(start) + 4, length);
}

/// Whether the bytes begin as those of an artifact: MLIR's bytecode, whose
/// writer is StableHLO's serializer.
bool isArtifact(StringRef bytes) {
  if (!bytes.consume_front("ML\xefR"))
    return false;
  Fault fault{bytes.data(), {}};
  ByteReader reader(bytes, fault);
  uint64_t version = 0;
  StringRef producer;
  constexpr llvm::StringLiteral writer = "StableHLO_v";
  return succeeded(reader.readNumber(version)) &&
         succeeded(reader.readBytes(writer.size(), producer)) &&
         producer == writer;
}

} // namespace

std::optional<StringRef> artifactIn(StringRef bytes) {
  if (isArtifact(bytes))
    return bytes;
  const std::optional<StringRef> exported = exportedModule(bytes);
  return exported && isArtifact(*exported) ? exported : std::nullopt;
}

Result<OwningOpRef<ModuleOp>> readArtifact(StringRef artifact,
                                           const std::string &path,
                                           MLIRContext *context) {
  for (StringRef dialect : {"func", "sdy", "stablehlo"})
    if (!context->getOrLoadDialect(dialect))
      return Error("cannot read an artifact without the dialect '" +
                       dialect.str() + "'",
                   ErrorCode::INTERNAL);
  Fault fault{artifact.data(), {}};
  Container container;
  OwningOpRef<ModuleOp> module;
  std::string diagnostics;
  mlir::ScopedDiagnosticHandler handler(
      context, [&](mlir::Diagnostic &diagnostic) {
        llvm::raw_string_ostream stream(diagnostics);
        stream << diagnostic.getLocation() << ": " << diagnostic << "\n";
        return success();
      });
  if (succeeded(Container::read(artifact, container, fault)) &&
      succeeded(OpReader(container, fault, context).readModule(module)) &&
      succeeded(mlir::verify(*module)))
    return module;
  const std::string message =
      fault.message.empty() ? diagnostics : fault.message;
  return Error(path + ": error: cannot read the artifact: " + message,
               ErrorCode::INVALID_ARGUMENT, path);
}

} // namespace meshloom
