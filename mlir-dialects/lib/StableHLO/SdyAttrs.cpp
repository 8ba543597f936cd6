// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Attributes of sdy: meshes and shardings. SdyRule.cpp has the rules.

#include "Assembly.h"
#include "SdyText.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace meshloom;
using namespace meshloom::sdy;
using mlir::AsmParser;
using mlir::AsmPrinter;

#include "meshloom/Dialect/StableHLO/SdyEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "meshloom/Dialect/StableHLO/SdyAttrs.cpp.inc"

void SdyDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "meshloom/Dialect/StableHLO/SdyAttrs.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// Axes and meshes
//===----------------------------------------------------------------------===//

Attribute MeshAxisAttr::parse(AsmParser &parser, Type) {
  SMLoc loc = parser.getCurrentLocation();
  std::string name;
  int64_t size;
  if (parser.parseString(&name) || parser.parseEqual() ||
      parser.parseInteger(size))
    return {};
  return parser.getChecked<MeshAxisAttr>(loc, parser.getContext(),
                                         StringRef(name), size);
}

void MeshAxisAttr::print(AsmPrinter &printer) const {
  printer.printString(getName());
  printer << '=' << getSize();
}

Attribute MeshAttr::parse(AsmParser &parser, Type) {
  SMLoc loc = parser.getCurrentLocation();
  SmallVector<MeshAxisAttr> axes;
  SmallVector<int64_t> ids;
  if (parser.parseLess() || sdy::parseList(parser, axes))
    return {};
  if (succeeded(parser.parseOptionalComma())) {
    if (parser.parseKeyword("device_ids") || parser.parseEqual())
      return {};
    auto parsed = parseDims(parser);
    if (failed(parsed))
      return {};
    ids = std::move(*parsed);
  }
  if (parser.parseGreater())
    return {};
  auto mesh = parser.getChecked<MeshAttr>(loc, parser.getContext(), axes, ids);
  // Devices that count up are written without ids.
  if (mesh && !axes.empty() &&
      llvm::equal(ids, llvm::seq<int64_t>(0, int64_t(ids.size()))))
    return get(parser.getContext(), axes, {});
  return mesh;
}

void MeshAttr::print(AsmPrinter &printer) const {
  printer << '<';
  sdy::printList(printer, getAxes());
  if (!getDeviceIds().empty()) {
    printer << ", device_ids=";
    printDims(printer, getDeviceIds());
  }
  printer << '>';
}

Attribute SubAxisInfoAttr::parse(AsmParser &parser, Type) {
  int64_t preSize, size;
  if (parser.parseLParen() || parser.parseInteger(preSize) ||
      parser.parseRParen() || parser.parseInteger(size))
    return {};
  return get(parser.getContext(), preSize, size);
}

void SubAxisInfoAttr::print(AsmPrinter &printer) const {
  printer << '(' << getPreSize() << ')' << getSize();
}

Attribute AxisRefAttr::parse(AsmParser &parser, Type) {
  std::string name;
  if (parser.parseString(&name))
    return {};
  SubAxisInfoAttr part;
  if (succeeded(parser.parseOptionalColon())) {
    part = llvm::dyn_cast_or_null<SubAxisInfoAttr>(
        SubAxisInfoAttr::parse(parser, {}));
    if (!part)
      return {};
  }
  return get(parser.getContext(), name, part);
}

void AxisRefAttr::print(AsmPrinter &printer) const {
  printer.printString(getName());
  if (getSubAxisInfo()) {
    printer << ':';
    getSubAxisInfo().print(printer);
  }
}

Attribute AxisRefListAttr::parse(AsmParser &parser, Type) {
  SmallVector<AxisRefAttr> axes;
  if (sdy::parseList(parser, axes, AsmParser::Delimiter::Braces))
    return {};
  return get(parser.getContext(), axes);
}

void AxisRefListAttr::print(AsmPrinter &printer) const {
  sdy::printList(printer, getValue(), '{', '}');
}

Attribute ListOfAxisRefListsAttr::parse(AsmParser &parser, Type) {
  SmallVector<AxisRefListAttr> lists;
  if (sdy::parseList(parser, lists))
    return {};
  return get(parser.getContext(), lists);
}

void ListOfAxisRefListsAttr::print(AsmPrinter &printer) const {
  sdy::printList(printer, getValue());
}

Attribute ManualAxesAttr::parse(AsmParser &parser, Type) {
  SmallVector<StringAttr> axes;
  auto axis = [&]() -> ParseResult {
    std::string name;
    if (parser.parseString(&name))
      return failure();
    axes.push_back(parser.getBuilder().getStringAttr(name));
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Braces, axis))
    return {};
  return get(parser.getContext(), axes);
}

void ManualAxesAttr::print(AsmPrinter &printer) const {
  printer << '{';
  llvm::interleaveComma(getValue(), printer.getStream(), [&](StringAttr axis) {
    printer.printString(axis.getValue());
  });
  printer << '}';
}

Attribute AllToAllParamAttr::parse(AsmParser &parser, Type) {
  SmallVector<AxisRefAttr> axes;
  int64_t source, target;
  if (sdy::parseList(parser, axes, AsmParser::Delimiter::Braces) ||
      parser.parseColon() || parser.parseInteger(source) ||
      parser.parseArrow() || parser.parseInteger(target))
    return {};
  return get(parser.getContext(), axes, source, target);
}

void AllToAllParamAttr::print(AsmPrinter &printer) const {
  sdy::printList(printer, getAxes(), '{', '}');
  printer << ": " << getSrcDim() << "->" << getTgtDim();
}

Attribute AllToAllParamListAttr::parse(AsmParser &parser, Type) {
  SmallVector<AllToAllParamAttr> params;
  if (sdy::parseList(parser, params))
    return {};
  return get(parser.getContext(), params);
}

void AllToAllParamListAttr::print(AsmPrinter &printer) const {
  sdy::printList(printer, getValue());
}

//===----------------------------------------------------------------------===//
// Shardings
//===----------------------------------------------------------------------===//

Attribute DimensionShardingAttr::parse(AsmParser &parser, Type) {
  SmallVector<AxisRefAttr> axes;
  bool closed = true;
  auto entry = [&]() -> ParseResult {
    if (!closed)
      return parser.emitError(parser.getCurrentLocation())
             << "`?` is the last entry of a dim";
    if (succeeded(parser.parseOptionalQuestion())) {
      closed = false;
      return success();
    }
    return parseOne(parser, axes.emplace_back());
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Braces, entry))
    return {};
  std::optional<int64_t> priority;
  SMLoc loc = parser.getCurrentLocation();
  StringRef text;
  if (succeeded(parser.parseOptionalKeyword(&text))) {
    int64_t number;
    StringRef digits = text;
    if (!digits.consume_front("p") || digits.getAsInteger(10, number) ||
        (digits.size() > 1 && digits.front() == '0')) {
      parser.emitError(loc)
          << "expected a priority such as p1, but got " << text;
      return {};
    }
    priority = number;
  }
  return get(parser.getContext(), axes, closed, priority);
}

void DimensionShardingAttr::print(AsmPrinter &printer) const {
  printer << '{';
  llvm::interleaveComma(getAxes(), printer.getStream(),
                        [&](AxisRefAttr axis) { axis.print(printer); });
  if (!getIsClosed())
    printer << (getAxes().empty() ? "?" : ", ?");
  printer << '}';
  if (getPriority())
    printer << 'p' << *getPriority();
}

StringRef TensorShardingAttr::getMeshName() const {
  auto ref = llvm::dyn_cast<mlir::FlatSymbolRefAttr>(getMeshOrRef());
  return ref ? ref.getValue() : StringRef();
}

/// `@mesh` or `mesh<["x"=2]>`.
static Attribute parseMeshOrRef(AsmParser &parser) {
  if (succeeded(parser.parseOptionalKeyword("mesh")))
    return MeshAttr::parse(parser, {});
  StringAttr name;
  if (parser.parseSymbolName(name))
    return {};
  return mlir::FlatSymbolRefAttr::get(name);
}

Attribute TensorShardingAttr::parse(AsmParser &parser, Type) {
  if (parser.parseLess())
    return {};
  Attribute mesh = parseMeshOrRef(parser);
  SmallVector<DimensionShardingAttr> dims;
  if (!mesh || parser.parseComma() || sdy::parseList(parser, dims))
    return {};
  SmallVector<AxisRefAttr> replicated, unreduced;
  ReductionOp kind = ReductionOp::SUM;
  bool hasReplicated = false, hasUnreduced = false;
  while (succeeded(parser.parseOptionalComma())) {
    SMLoc loc = parser.getCurrentLocation();
    StringRef name;
    if (parser.parseKeyword(&name) || parser.parseEqual())
      return {};
    bool isReplicated = name == "replicated";
    if (!isReplicated && name != "unreduced") {
      parser.emitError(loc)
          << "expected replicated or unreduced, but got " << name;
      return {};
    }
    if (std::exchange(isReplicated ? hasReplicated : hasUnreduced, true)) {
      parser.emitError(loc) << name << " is given twice";
      return {};
    }
    if (!isReplicated) {
      loc = parser.getCurrentLocation();
      StringRef text;
      if (succeeded(parser.parseOptionalKeyword(&text))) {
        auto parsed = symbolizeReductionOp(text);
        if (!parsed) {
          parser.emitError(loc) << "expected sum, max or min, but got " << text;
          return {};
        }
        kind = *parsed;
      }
    }
    if (sdy::parseList(parser, isReplicated ? replicated : unreduced,
                       AsmParser::Delimiter::Braces))
      return {};
  }
  if (parser.parseGreater())
    return {};
  return get(parser.getContext(), mesh, dims, replicated, unreduced, kind);
}

void TensorShardingAttr::print(AsmPrinter &printer) const {
  printer << '<';
  if (auto mesh = llvm::dyn_cast<MeshAttr>(getMeshOrRef())) {
    printer << "mesh";
    mesh.print(printer);
  } else {
    printer << getMeshOrRef();
  }
  printer << ", ";
  sdy::printList(printer, getDimShardings());
  if (!getReplicatedAxes().empty()) {
    printer << ", replicated=";
    sdy::printList(printer, getReplicatedAxes(), '{', '}');
  }
  if (!getUnreducedAxes().empty()) {
    printer << ", unreduced=";
    if (getReductionOp() != ReductionOp::SUM)
      printer << stringifyReductionOp(getReductionOp());
    sdy::printList(printer, getUnreducedAxes(), '{', '}');
  }
  printer << '>';
}

/// `<@mesh, [...]>`, or with its name, `#sdy.sharding<@mesh, [...]>`.
static ParseResult parseSharding(AsmParser &parser,
                                 TensorShardingAttr &sharding) {
  SMLoc loc = parser.getCurrentLocation();
  Attribute named;
  mlir::OptionalParseResult hasName = parser.parseOptionalAttribute(named);
  if (!hasName.has_value())
    return parseOne(parser, sharding);
  if (failed(*hasName))
    return failure();
  sharding = llvm::dyn_cast<TensorShardingAttr>(named);
  if (!sharding)
    return parser.emitError(loc) << "expected a sharding, got " << named;
  return success();
}

Attribute TensorShardingPerValueAttr::parse(AsmParser &parser, Type) {
  SmallVector<TensorShardingAttr> shardings;
  if (parser.parseLess() ||
      parser.parseCommaSeparatedList(
          AsmParser::Delimiter::Square,
          [&] { return parseSharding(parser, shardings.emplace_back()); }) ||
      parser.parseGreater())
    return {};
  return get(parser.getContext(), shardings);
}

void TensorShardingPerValueAttr::print(AsmPrinter &printer) const {
  printer << '<';
  sdy::printList(printer, getShardings());
  printer << '>';
}
