// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How convolutions and windows are read and printed: what is one, zero or
// missing everywhere is not written.

#include "WindowSyntax.h"

#include "mlir/IR/OpImplementation.h"

namespace meshloom::dtensor {

using mlir::DenseBoolArrayAttr, mlir::OpAsmParser, mlir::OpAsmPrinter,
    mlir::ParseResult;

//===----------------------------------------------------------------------===//
// Lists behind keywords
//===----------------------------------------------------------------------===//

/// ` KEYWORD [..]`, or `count` times `missing`.
static ParseResult parseList(OpAsmParser &parser, StringRef keyword,
                             DenseI64ArrayAttr &list, size_t count,
                             int64_t missing) {
  if (failed(parser.parseOptionalKeyword(keyword))) {
    list = parser.getBuilder().getDenseI64ArrayAttr(
        SmallVector<int64_t>(count, missing));
    return success();
  }
  list = mlir::dyn_cast_or_null<DenseI64ArrayAttr>(
      DenseI64ArrayAttr::parse(parser, {}));
  return mlir::success(bool(list));
}

static void printList(OpAsmPrinter &printer, StringRef keyword,
                      DenseI64ArrayAttr list, size_t count, int64_t missing) {
  if (size_t(list.size()) == count &&
      llvm::all_of(list.asArrayRef(),
                   [&](int64_t value) { return value == missing; }))
    return;
  printer << ' ' << keyword << ' ';
  list.print(printer);
}

//===----------------------------------------------------------------------===//
// Convolutions
//===----------------------------------------------------------------------===//

namespace {
/// One bracket: the dims that two letters name, and the numbered ones in order.
struct NamedDims {
  int64_t first = -1, second = -1;
  SmallVector<int64_t> spatial;
};
} // namespace

static ParseResult parseNamedDims(OpAsmParser &parser, StringRef first,
                                  StringRef second, NamedDims &dims) {
  llvm::SMLoc loc = parser.getCurrentLocation();
  SmallVector<std::pair<int64_t, int64_t>> numbered;
  int64_t dim = 0;
  auto parseEntry = [&]() -> ParseResult {
    int64_t number;
    mlir::OptionalParseResult parsed = parser.parseOptionalInteger(number);
    if (parsed.has_value()) {
      if (failed(*parsed))
        return failure();
      numbered.push_back({number, dim++});
      return success();
    }
    llvm::SMLoc location = parser.getCurrentLocation();
    StringRef letter;
    if (parser.parseKeyword(&letter))
      return failure();
    int64_t *slot = letter == first    ? &dims.first
                    : letter == second ? &dims.second
                                       : nullptr;
    if (!slot || *slot >= 0)
      return parser.emitError(location, "expected '")
             << first << "' and '" << second
             << "' once each, and numbers of spatial dims";
    *slot = dim++;
    return success();
  };
  if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Square,
                                     parseEntry))
    return failure();
  llvm::sort(numbered);
  for (auto [index, entry] : llvm::enumerate(numbered)) {
    if (entry.first != int64_t(index))
      return parser.emitError(loc, "spatial dims must be numbered from 0, each "
                                   "once");
    dims.spatial.push_back(entry.second);
  }
  if (dims.first < 0 || dims.second < 0)
    return parser.emitError(loc, "expected '")
           << first << "' and '" << second << "' once each";
  return success();
}

static void printNamedDims(OpAsmPrinter &printer, StringRef first,
                           StringRef second, int64_t firstDim,
                           int64_t secondDim, ArrayRef<int64_t> spatial) {
  SmallVector<std::string> entries(spatial.size() + 2, "?");
  // Ops that are not verified are printed, too.
  auto set = [&](int64_t dim, std::string text) {
    if (dim >= 0 && dim < int64_t(entries.size()))
      entries[dim] = std::move(text);
  };
  set(firstDim, first.str());
  set(secondDim, second.str());
  for (auto [index, dim] : llvm::enumerate(spatial))
    set(dim, std::to_string(index));
  printer << '[';
  llvm::interleaveComma(entries, printer);
  printer << ']';
}

ParseResult
parseConvolutionDims(OpAsmParser &parser, IntegerAttr &inputBatch,
                     IntegerAttr &inputFeature, DenseI64ArrayAttr &inputSpatial,
                     IntegerAttr &kernelInput, IntegerAttr &kernelOutput,
                     DenseI64ArrayAttr &kernelSpatial, IntegerAttr &outputBatch,
                     IntegerAttr &outputFeature,
                     DenseI64ArrayAttr &outputSpatial) {
  NamedDims lhs, rhs, result;
  if (parser.parseKeyword("dims") || parseNamedDims(parser, "b", "f", lhs) ||
      parser.parseKeyword("x") || parseNamedDims(parser, "i", "o", rhs) ||
      parser.parseArrow() || parseNamedDims(parser, "b", "f", result))
    return failure();
  Builder &builder = parser.getBuilder();
  inputBatch = builder.getI64IntegerAttr(lhs.first);
  inputFeature = builder.getI64IntegerAttr(lhs.second);
  inputSpatial = builder.getDenseI64ArrayAttr(lhs.spatial);
  kernelInput = builder.getI64IntegerAttr(rhs.first);
  kernelOutput = builder.getI64IntegerAttr(rhs.second);
  kernelSpatial = builder.getDenseI64ArrayAttr(rhs.spatial);
  outputBatch = builder.getI64IntegerAttr(result.first);
  outputFeature = builder.getI64IntegerAttr(result.second);
  outputSpatial = builder.getDenseI64ArrayAttr(result.spatial);
  return success();
}

void printConvolutionDims(OpAsmPrinter &printer, Operation *,
                          IntegerAttr inputBatch, IntegerAttr inputFeature,
                          DenseI64ArrayAttr inputSpatial,
                          IntegerAttr kernelInput, IntegerAttr kernelOutput,
                          DenseI64ArrayAttr kernelSpatial,
                          IntegerAttr outputBatch, IntegerAttr outputFeature,
                          DenseI64ArrayAttr outputSpatial) {
  printer << " dims ";
  printNamedDims(printer, "b", "f", inputBatch.getInt(), inputFeature.getInt(),
                 inputSpatial.asArrayRef());
  printer << " x ";
  printNamedDims(printer, "i", "o", kernelInput.getInt(), kernelOutput.getInt(),
                 kernelSpatial.asArrayRef());
  printer << " -> ";
  printNamedDims(printer, "b", "f", outputBatch.getInt(),
                 outputFeature.getInt(), outputSpatial.asArrayRef());
}

static ParseResult parseCount(OpAsmParser &parser, StringRef keyword,
                              IntegerAttr &attr) {
  int64_t count = 1;
  if (succeeded(parser.parseOptionalKeyword(keyword)) &&
      parser.parseInteger(count))
    return failure();
  attr = parser.getBuilder().getI64IntegerAttr(count);
  return success();
}

ParseResult
parseConvolutionWindow(OpAsmParser &parser, DenseI64ArrayAttr inputSpatial,
                       DenseI64ArrayAttr &strides, DenseI64ArrayAttr &padding,
                       DenseI64ArrayAttr &lhsDilation,
                       DenseI64ArrayAttr &rhsDilation,
                       DenseBoolArrayAttr &reversal, IntegerAttr &featureGroups,
                       IntegerAttr &batchGroups) {
  size_t rank = inputSpatial.size();
  DenseI64ArrayAttr flags;
  if (parseList(parser, "strides", strides, rank, 1) ||
      parseList(parser, "padding", padding, 2 * rank, 0) ||
      parseList(parser, "lhs_dilation", lhsDilation, rank, 1) ||
      parseList(parser, "rhs_dilation", rhsDilation, rank, 1) ||
      parseList(parser, "reversal", flags, rank, 0) ||
      parseCount(parser, "feature_groups", featureGroups) ||
      parseCount(parser, "batch_groups", batchGroups))
    return failure();
  SmallVector<bool> reversed;
  for (int64_t flag : flags.asArrayRef())
    reversed.push_back(flag != 0);
  reversal = parser.getBuilder().getDenseBoolArrayAttr(reversed);
  return success();
}

void printConvolutionWindow(
    OpAsmPrinter &printer, Operation *, DenseI64ArrayAttr inputSpatial,
    DenseI64ArrayAttr strides, DenseI64ArrayAttr padding,
    DenseI64ArrayAttr lhsDilation, DenseI64ArrayAttr rhsDilation,
    DenseBoolArrayAttr reversal, IntegerAttr featureGroups,
    IntegerAttr batchGroups) {
  size_t rank = inputSpatial.size();
  SmallVector<int64_t> flags(reversal.asArrayRef());
  printList(printer, "strides", strides, rank, 1);
  printList(printer, "padding", padding, 2 * rank, 0);
  printList(printer, "lhs_dilation", lhsDilation, rank, 1);
  printList(printer, "rhs_dilation", rhsDilation, rank, 1);
  printList(printer, "reversal",
            DenseI64ArrayAttr::get(reversal.getContext(), flags), rank, 0);
  if (featureGroups.getInt() != 1)
    printer << " feature_groups " << featureGroups.getInt();
  if (batchGroups.getInt() != 1)
    printer << " batch_groups " << batchGroups.getInt();
}

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

ParseResult parsePlainWindow(OpAsmParser &parser, DenseI64ArrayAttr &dimensions,
                             DenseI64ArrayAttr &strides,
                             DenseI64ArrayAttr &padding) {
  if (parser.parseKeyword("window"))
    return failure();
  dimensions = mlir::dyn_cast_or_null<DenseI64ArrayAttr>(
      DenseI64ArrayAttr::parse(parser, {}));
  if (!dimensions)
    return failure();
  size_t rank = dimensions.size();
  if (parseList(parser, "strides", strides, rank, 1) ||
      parseList(parser, "padding", padding, 2 * rank, 0))
    return failure();
  return success();
}

void printPlainWindow(OpAsmPrinter &printer, Operation *,
                      DenseI64ArrayAttr dimensions, DenseI64ArrayAttr strides,
                      DenseI64ArrayAttr padding) {
  size_t rank = dimensions.size();
  printer << " window ";
  dimensions.print(printer);
  printList(printer, "strides", strides, rank, 1);
  printList(printer, "padding", padding, 2 * rank, 0);
}

ParseResult parseWindow(OpAsmParser &parser, DenseI64ArrayAttr &dimensions,
                        DenseI64ArrayAttr &strides, DenseI64ArrayAttr &padding,
                        DenseI64ArrayAttr &baseDilations,
                        DenseI64ArrayAttr &windowDilations) {
  if (parsePlainWindow(parser, dimensions, strides, padding))
    return failure();
  size_t rank = dimensions.size();
  if (parseList(parser, "base_dilations", baseDilations, rank, 1) ||
      parseList(parser, "window_dilations", windowDilations, rank, 1))
    return failure();
  return success();
}

void printWindow(OpAsmPrinter &printer, Operation *op,
                 DenseI64ArrayAttr dimensions, DenseI64ArrayAttr strides,
                 DenseI64ArrayAttr padding, DenseI64ArrayAttr baseDilations,
                 DenseI64ArrayAttr windowDilations) {
  size_t rank = dimensions.size();
  printPlainWindow(printer, op, dimensions, strides, padding);
  printList(printer, "base_dilations", baseDilations, rank, 1);
  printList(printer, "window_dilations", windowDilations, rank, 1);
}

//===----------------------------------------------------------------------===//
// Kinds and regions
//===----------------------------------------------------------------------===//

ParseResult parseOptionalKind(OpAsmParser &parser, ReduceKindAttr &kind) {
  llvm::SMLoc loc = parser.getCurrentLocation();
  StringRef keyword;
  if (failed(parser.parseOptionalKeyword(&keyword)))
    return success();
  std::optional<ReduceKind> value = meshloom::parseReduceKind(keyword);
  if (!value)
    return parser.emitError(loc, "unknown kind of reduction '")
           << keyword << "'; expected sum, prod, min, max, and, or";
  kind = ReduceKindAttr::get(parser.getContext(), *value);
  return success();
}

void printOptionalKind(OpAsmPrinter &printer, Operation *,
                       ReduceKindAttr kind) {
  if (kind)
    printer << name(kind.getValue());
}

ParseResult parseSelectAndScatterKinds(OpAsmParser &parser,
                                       ReduceKindAttr &select,
                                       ReduceKindAttr &scatter) {
  if (succeeded(parser.parseOptionalKeyword("select")) &&
      parseOptionalKind(parser, select))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("scatter")) &&
      parseOptionalKind(parser, scatter))
    return failure();
  return success();
}

void printSelectAndScatterKinds(OpAsmPrinter &printer, Operation *op,
                                ReduceKindAttr select, ReduceKindAttr scatter) {
  if (select) {
    printer << " select ";
    printOptionalKind(printer, op, select);
  }
  if (scatter) {
    printer << " scatter ";
    printOptionalKind(printer, op, scatter);
  }
}

ParseResult parseOptionalBody(OpAsmParser &parser, Region &body) {
  mlir::OptionalParseResult parsed = parser.parseOptionalRegion(body);
  return parsed.has_value() ? *parsed : success();
}

void printOptionalBody(OpAsmPrinter &printer, Operation *, Region &body) {
  if (body.empty())
    return;
  printer << ' ';
  printer.printRegion(body);
}

ParseResult parseOptionalBodies(OpAsmParser &parser, Region &select,
                                Region &scatter) {
  if (succeeded(parser.parseOptionalKeyword("select")) &&
      parser.parseRegion(select))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("scatter")) &&
      parser.parseRegion(scatter))
    return failure();
  return success();
}

void printOptionalBodies(OpAsmPrinter &printer, Operation *, Region &select,
                         Region &scatter) {
  if (!select.empty()) {
    printer << " select ";
    printer.printRegion(select);
  }
  if (!scatter.empty()) {
    printer << " scatter ";
    printer.printRegion(scatter);
  }
}

} // namespace meshloom::dtensor
