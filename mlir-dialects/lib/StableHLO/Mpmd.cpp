// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The dialect mpmd: its attributes, its type, and the text of its ops.
#include "meshloom/Dialect/StableHLO/Mpmd.h"

#include "Assembly.h"
#include "SdyText.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace meshloom;
using namespace meshloom::mpmd;
using mlir::AsmParser;
using mlir::AsmPrinter;
using mlir::OpAsmParser;
using mlir::OpAsmPrinter;
using mlir::ParseResult;
using mlir::StringAttr;

//===----------------------------------------------------------------------===//
// Attributes and types
//===----------------------------------------------------------------------===//

#include "meshloom/Dialect/StableHLO/MpmdDialect.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "meshloom/Dialect/StableHLO/MpmdAttrs.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "meshloom/Dialect/StableHLO/MpmdTypes.cpp.inc"

Attribute MpmdDialect::parseAttribute(mlir::DialectAsmParser &parser,
                                      Type type) const {
  StringRef mnemonic;
  Attribute attribute;
  if (generatedAttributeParser(parser, &mnemonic, type, attribute).has_value())
    return attribute;
  // The parser skips the text that was not read.
  return NoteAttr::get(getContext(), parser.getFullSymbolSpec());
}

void MpmdDialect::printAttribute(Attribute attribute,
                                 mlir::DialectAsmPrinter &printer) const {
  if (auto note = dyn_cast<NoteAttr>(attribute))
    printer << note.getText();
  else
    (void)generatedAttributePrinter(attribute, printer);
}

/// Reads a string; an attribute would take a colon for the one of its type.
static ParseResult parseName(AsmParser &parser, StringAttr &name) {
  std::string text;
  if (parser.parseString(&text))
    return failure();
  name = StringAttr::get(parser.getContext(), text);
  return success();
}

/// `<"m1": <["x"=2]>>`
static ParseResult parseNamedMesh(AsmParser &parser,
                                  SmallVector<StringAttr> &names,
                                  SmallVector<sdy::MeshAttr> &meshes) {
  return failure(
      parser.parseLess() || parseName(parser, names.emplace_back()) ||
      parser.parseColon() || sdy::parseOne(parser, meshes.emplace_back()) ||
      parser.parseGreater());
}

Attribute TopologyAttr::parse(AsmParser &parser, Type) {
  SmallVector<StringAttr> names;
  SmallVector<sdy::MeshAttr> meshes;
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater, [&] {
        return parseNamedMesh(parser, names, meshes);
      }))
    return {};
  return TopologyAttr::get(parser.getContext(), names, meshes);
}

void TopologyAttr::print(AsmPrinter &printer) const {
  printer << '<';
  llvm::interleaveComma(llvm::zip_equal(getNames(), getMeshes()),
                        printer.getStream(), [&](auto named) {
                          const auto [name, mesh] = named;
                          printer << '<' << name << ": ";
                          mesh.print(printer);
                          printer << '>';
                        });
  printer << '>';
}

Type MeshTensorType::parse(AsmParser &parser) {
  StringAttr mesh, memoryKind;
  RankedTensorType tensor;
  sdy::TensorShardingAttr sharding;
  if (parser.parseLess() || parser.parseAttribute(mesh) ||
      parser.parseComma() || parser.parseType(tensor))
    return {};
  while (succeeded(parser.parseOptionalComma())) {
    StringRef key;
    if (parser.parseKeyword(&key) || parser.parseEqual())
      return {};
    if (key == "sharding" && !sharding && !memoryKind) {
      if (sdy::parseOne(parser, sharding))
        return {};
    } else if (key != "memory_kind" || memoryKind ||
               parser.parseAttribute(memoryKind)) {
      parser.emitError(parser.getCurrentLocation(),
                       "expected sharding=... or memory_kind=\"...\"");
      return {};
    }
  }
  if (parser.parseGreater())
    return {};
  return MeshTensorType::get(parser.getContext(), mesh, tensor, sharding,
                             memoryKind);
}

void MeshTensorType::print(AsmPrinter &printer) const {
  printer << '<' << getMesh() << ", " << getTensor();
  if (getSharding()) {
    printer << ", sharding=";
    getSharding().print(printer);
  }
  if (getMemoryKind())
    printer << ", memory_kind=" << getMemoryKind();
  printer << '>';
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

/// `"f"`, `"f"(1)`
static ParseResult parseNameAndCount(AsmParser &parser, StringAttr &name,
                                     int64_t &transposes) {
  if (parseName(parser, name))
    return failure();
  if (succeeded(parser.parseOptionalLParen()))
    return failure(parser.parseInteger(transposes) || parser.parseRParen());
  return success();
}

static void printNameAndCount(AsmPrinter &printer, StringAttr name,
                              int64_t transposes) {
  printer << name;
  if (transposes > 0)
    printer << '(' << transposes << ')';
}

static ParseResult parseOrigin(OpAsmParser &parser, StringAttr &name,
                               IntegerAttr &transposes) {
  int64_t count = 0;
  if (parseNameAndCount(parser, name, count))
    return failure();
  transposes = parser.getBuilder().getI64IntegerAttr(count);
  return success();
}

static void printOrigin(OpAsmPrinter &printer, Operation *, StringAttr name,
                        IntegerAttr transposes) {
  printNameAndCount(printer, name, transposes.getInt());
}

static ParseResult parseOrigins(OpAsmParser &parser, mlir::ArrayAttr &names,
                                mlir::DenseI64ArrayAttr &transposes) {
  SmallVector<Attribute> list;
  SmallVector<int64_t> counts;
  if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Square, [&] {
        StringAttr name;
        const ParseResult parsed =
            parseNameAndCount(parser, name, counts.emplace_back(0));
        list.push_back(name);
        return parsed;
      }))
    return failure();
  names = parser.getBuilder().getArrayAttr(list);
  transposes = parser.getBuilder().getDenseI64ArrayAttr(counts);
  return success();
}

static void printOrigins(OpAsmPrinter &printer, Operation *,
                         mlir::ArrayAttr names,
                         mlir::DenseI64ArrayAttr transposes) {
  printer << '[';
  llvm::interleaveComma(
      llvm::zip_equal(names.getAsRange<StringAttr>(), transposes.asArrayRef()),
      printer.getStream(), [&](auto origin) {
        printNameAndCount(printer, std::get<0>(origin), std::get<1>(origin));
      });
  printer << ']';
}

static ParseResult
parseFragmentOptions(OpAsmParser &parser, IntegerAttr &stage,
                     sdy::TensorShardingPerValueAttr &inShardings,
                     sdy::TensorShardingPerValueAttr &outShardings) {
  while (succeeded(parser.parseOptionalComma())) {
    StringRef key;
    const SMLoc location = parser.getCurrentLocation();
    if (parser.parseKeyword(&key) || parser.parseEqual())
      return failure();
    if (key == "stage") {
      int64_t number = 0;
      if (parser.parseInteger(number))
        return failure();
      stage = parser.getBuilder().getI64IntegerAttr(number);
      continue;
    }
    SmallVector<sdy::TensorShardingAttr> shardings;
    if (key != "in_shardings" && key != "out_shardings")
      return parser.emitError(location, "expected stage, in_shardings or "
                                        "out_shardings");
    if (sdy::parseList(parser, shardings))
      return failure();
    (key == "in_shardings" ? inShardings : outShardings) =
        sdy::TensorShardingPerValueAttr::get(parser.getContext(), shardings);
  }
  return success();
}

static void printFragmentOptions(OpAsmPrinter &printer, Operation *,
                                 IntegerAttr stage,
                                 sdy::TensorShardingPerValueAttr inShardings,
                                 sdy::TensorShardingPerValueAttr outShardings) {
  if (stage)
    printer << ", stage=" << stage.getInt();
  auto print = [&](StringRef key, sdy::TensorShardingPerValueAttr shardings) {
    if (!shardings)
      return;
    printer << ", " << key << '=';
    sdy::printList(printer, shardings.getShardings());
  };
  print("in_shardings", inShardings);
  print("out_shardings", outShardings);
}

static ParseResult parseWord(OpAsmParser &parser, StringAttr &word) {
  StringRef text;
  if (parser.parseKeyword(&text))
    return failure();
  word = parser.getBuilder().getStringAttr(text);
  return success();
}

static void printWord(OpAsmPrinter &printer, Operation *, StringAttr word) {
  printer << word.getValue();
}

#define GET_OP_CLASSES
#include "meshloom/Dialect/StableHLO/MpmdOps.cpp.inc"

void MpmdDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "meshloom/Dialect/StableHLO/MpmdAttrs.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "meshloom/Dialect/StableHLO/MpmdTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "meshloom/Dialect/StableHLO/MpmdOps.cpp.inc"
      >();
}
