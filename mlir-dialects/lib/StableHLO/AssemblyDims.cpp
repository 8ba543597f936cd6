// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The shared text of dimension numbers: lists, products, convolutions, windows.

#include "Assembly.h"

#include "llvm/ADT/StringExtras.h"

using namespace meshloom;
using mlir::AsmParser;
using mlir::AsmPrinter;
using stablehlo::ConvDimensionNumbersAttr;
using stablehlo::DotAlgorithmAttr;
using stablehlo::DotDimensionNumbersAttr;
using stablehlo::PrecisionAttr;

mlir::FailureOr<SmallVector<int64_t>> meshloom::parseDims(AsmParser &parser) {
  SmallVector<int64_t> dims;
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
        return parser.parseInteger(dims.emplace_back());
      }))
    return failure();
  return dims;
}

void meshloom::printDims(AsmPrinter &printer, ArrayRef<int64_t> dims) {
  printer << '[';
  llvm::interleaveComma(dims, printer.getStream());
  printer << ']';
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// `[0, 1] x [0, 1]`
static ParseResult parsePair(OpAsmParser &parser, SmallVector<int64_t> &lhs,
                             SmallVector<int64_t> &rhs) {
  auto lhsDims = parseDims(parser);
  if (failed(lhsDims) || parser.parseKeyword("x"))
    return failure();
  auto rhsDims = parseDims(parser);
  if (failed(rhsDims))
    return failure();
  lhs = std::move(*lhsDims);
  rhs = std::move(*rhsDims);
  return success();
}

ParseResult meshloom::parseDotDimensions(OpAsmParser &parser,
                                         DotDimensionNumbersAttr &dims) {
  SmallVector<int64_t> lhsBatch, rhsBatch, lhsContract, rhsContract;
  if (succeeded(parser.parseOptionalKeyword("batching_dims")))
    if (parser.parseEqual() || parsePair(parser, lhsBatch, rhsBatch) ||
        parser.parseComma())
      return failure();
  if (parser.parseKeyword("contracting_dims") || parser.parseEqual() ||
      parsePair(parser, lhsContract, rhsContract))
    return failure();
  dims = DotDimensionNumbersAttr::get(parser.getContext(), lhsBatch, rhsBatch,
                                      lhsContract, rhsContract);
  return success();
}

void meshloom::printDotDimensions(OpAsmPrinter &printer, Operation *,
                                  DotDimensionNumbersAttr dims) {
  auto pair = [&](ArrayRef<int64_t> lhs, ArrayRef<int64_t> rhs) {
    printDims(printer, lhs);
    printer << " x ";
    printDims(printer, rhs);
  };
  if (!dims.getLhsBatchingDimensions().empty() ||
      !dims.getRhsBatchingDimensions().empty()) {
    printer << "batching_dims = ";
    pair(dims.getLhsBatchingDimensions(), dims.getRhsBatchingDimensions());
    printer << ", ";
  }
  printer << "contracting_dims = ";
  pair(dims.getLhsContractingDimensions(), dims.getRhsContractingDimensions());
}

/// `= [DEFAULT, HIGHEST]`
static ParseResult parsePrecisionList(OpAsmParser &parser, ArrayAttr &result) {
  SmallVector<Attribute> entries;
  auto one = [&]() -> ParseResult {
    SMLoc loc = parser.getCurrentLocation();
    StringRef name;
    if (parser.parseKeyword(&name))
      return failure();
    auto precision = stablehlo::symbolizePrecision(name);
    if (!precision)
      return parser.emitError(loc)
             << "expected DEFAULT, HIGH or HIGHEST, but got " << name;
    entries.push_back(PrecisionAttr::get(parser.getContext(), *precision));
    return success();
  };
  if (parser.parseEqual() ||
      parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Square, one))
    return failure();
  result = parser.getBuilder().getArrayAttr(entries);
  return success();
}

ParseResult meshloom::parsePrecision(OpAsmParser &parser,
                                     ArrayAttr &precision) {
  if (failed(parser.parseOptionalComma()))
    return success();
  if (parser.parseKeyword("precision"))
    return failure();
  return parsePrecisionList(parser, precision);
}

void meshloom::printPrecision(OpAsmPrinter &printer, Operation *,
                              ArrayAttr precision) {
  if (!precision)
    return;
  printer << ", precision = [";
  llvm::interleaveComma(precision, printer, [&](Attribute attr) {
    if (auto named = dyn_cast<PrecisionAttr>(attr))
      printer << stablehlo::stringifyPrecision(named.getValue());
    else
      printer << attr;
  });
  printer << ']';
}

ParseResult meshloom::parsePrecisionAndAlgorithm(OpAsmParser &parser,
                                                 ArrayAttr &precision,
                                                 DotAlgorithmAttr &algorithm) {
  while (succeeded(parser.parseOptionalComma())) {
    if (!precision && succeeded(parser.parseOptionalKeyword("precision"))) {
      if (parsePrecisionList(parser, precision))
        return failure();
      continue;
    }
    if (parser.parseKeyword("algorithm") || parser.parseEqual() ||
        parser.parseCustomAttributeWithFallback(algorithm))
      return failure();
  }
  return success();
}

void meshloom::printPrecisionAndAlgorithm(OpAsmPrinter &printer, Operation *op,
                                          ArrayAttr precision,
                                          DotAlgorithmAttr algorithm) {
  printPrecision(printer, op, precision);
  if (!algorithm)
    return;
  printer << ", algorithm = ";
  printer.printStrippedAttrOrType(algorithm);
}

//===----------------------------------------------------------------------===//
// Convolutions
//===----------------------------------------------------------------------===//

namespace {
/// The dims of one tensor of a convolution: two named ones and spatial ones.
struct ConvTensorDims {
  int64_t first = -1, second = -1;
  SmallVector<int64_t> spatial;
};
} // namespace

/// `[b, 0, 1, f]`, where the named dims are `first` and `second`.
static ParseResult parseConvTensor(AsmParser &parser, StringRef first,
                                   StringRef second, ConvTensorDims &dims) {
  SMLoc loc = parser.getCurrentLocation();
  SmallVector<std::pair<int64_t, int64_t>> spatial;
  int64_t position = 0;
  auto entry = [&]() -> ParseResult {
    SMLoc here = parser.getCurrentLocation();
    int64_t index;
    auto number = parser.parseOptionalInteger(index);
    StringRef name;
    if (number.has_value()) {
      if (failed(*number))
        return failure();
      spatial.emplace_back(index, position);
    } else if (failed(parser.parseKeyword(&name))) {
      return failure();
    } else if (name == first && dims.first < 0) {
      dims.first = position;
    } else if (name == second && dims.second < 0) {
      dims.second = position;
    } else {
      return parser.emitError(here)
             << "expected a spatial dim's number, " << first << " or " << second
             << ", each once, but got " << name;
    }
    ++position;
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, entry))
    return failure();
  dims.spatial.assign(spatial.size(), -1);
  for (auto [index, place] : spatial) {
    if (index < 0 || index >= int64_t(spatial.size()) ||
        dims.spatial[index] >= 0)
      return parser.emitError(loc) << "spatial dims are numbered 0 to "
                                   << spatial.size() - 1 << ", each once";
    dims.spatial[index] = place;
  }
  if (dims.first < 0 || dims.second < 0)
    return parser.emitError(loc) << "expected both " << first << " and "
                                 << second << " among the dims";
  return success();
}

static void printConvTensor(AsmPrinter &printer, char first, int64_t firstDim,
                            char second, int64_t secondDim,
                            ArrayRef<int64_t> spatial) {
  SmallVector<std::string> entries(spatial.size() + 2, "?");
  auto set = [&](int64_t dim, std::string text) {
    if (dim >= 0 && dim < int64_t(entries.size()))
      entries[dim] = std::move(text);
  };
  set(firstDim, std::string(1, first));
  set(secondDim, std::string(1, second));
  for (auto [index, dim] : llvm::enumerate(spatial))
    set(dim, std::to_string(index));
  printer << '[' << llvm::join(entries, ", ") << ']';
}

ParseResult
meshloom::parseConvolutionDimensions(AsmParser &parser,
                                     ConvDimensionNumbersAttr &result) {
  ConvTensorDims input, kernel, output;
  if (parseConvTensor(parser, "b", "f", input) || parser.parseKeyword("x") ||
      parseConvTensor(parser, "i", "o", kernel) || parser.parseArrow() ||
      parseConvTensor(parser, "b", "f", output))
    return failure();
  result = ConvDimensionNumbersAttr::get(
      parser.getContext(), input.first, input.second, input.spatial,
      kernel.first, kernel.second, kernel.spatial, output.first, output.second,
      output.spatial);
  return success();
}

void meshloom::printConvolutionDimensions(AsmPrinter &printer,
                                          ConvDimensionNumbersAttr dims) {
  printConvTensor(printer, 'b', dims.getInputBatchDimension(), 'f',
                  dims.getInputFeatureDimension(),
                  dims.getInputSpatialDimensions());
  printer << 'x';
  printConvTensor(printer, 'i', dims.getKernelInputFeatureDimension(), 'o',
                  dims.getKernelOutputFeatureDimension(),
                  dims.getKernelSpatialDimensions());
  printer << "->";
  printConvTensor(printer, 'b', dims.getOutputBatchDimension(), 'f',
                  dims.getOutputFeatureDimension(),
                  dims.getOutputSpatialDimensions());
}

/// `[[0, 1], [2, 3]]`
static ParseResult parsePadding(OpAsmParser &parser,
                                mlir::DenseIntElementsAttr &padding) {
  SmallVector<int64_t> flat;
  int64_t rows = 0;
  auto row = [&]() -> ParseResult {
    int64_t low, high;
    if (parser.parseLSquare() || parser.parseInteger(low) ||
        parser.parseComma() || parser.parseInteger(high) ||
        parser.parseRSquare())
      return failure();
    flat.append({low, high});
    ++rows;
    return success();
  };
  if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Square, row))
    return failure();
  auto type =
      RankedTensorType::get({rows, 2}, parser.getBuilder().getI64Type());
  padding = mlir::DenseIntElementsAttr::get(type, flat);
  return success();
}

static ParseResult parseFlags(OpAsmParser &parser,
                              mlir::DenseBoolArrayAttr &flags) {
  SmallVector<bool> values;
  auto flag = [&]() -> ParseResult {
    int64_t number;
    auto parsed = parser.parseOptionalInteger(number);
    if (parsed.has_value()) {
      values.push_back(number != 0);
      return *parsed;
    }
    bool value = succeeded(parser.parseOptionalKeyword("true"));
    if (!value && parser.parseKeyword("false"))
      return failure();
    values.push_back(value);
    return success();
  };
  if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Square, flag))
    return failure();
  flags = parser.getBuilder().getDenseBoolArrayAttr(values);
  return success();
}

ParseResult meshloom::parseWindow(OpAsmParser &parser,
                                  DenseI64ArrayAttr &strides,
                                  mlir::DenseIntElementsAttr &padding,
                                  DenseI64ArrayAttr &lhsDilation,
                                  DenseI64ArrayAttr &rhsDilation,
                                  mlir::DenseBoolArrayAttr &reversal) {
  auto list = [&](DenseI64ArrayAttr &attr) -> ParseResult {
    auto dims = parseDims(parser);
    if (failed(dims))
      return failure();
    attr = parser.getBuilder().getDenseI64ArrayAttr(*dims);
    return success();
  };
  // An empty window prints nothing between its braces.
  StringRef name;
  SMLoc loc = parser.getCurrentLocation();
  if (failed(parser.parseOptionalKeyword(&name)))
    return success();
  do {
    if (parser.parseEqual())
      return failure();
    ParseResult parsed = failure();
    if (name == "stride")
      parsed = list(strides);
    else if (name == "pad")
      parsed = parsePadding(parser, padding);
    else if (name == "lhs_dilate")
      parsed = list(lhsDilation);
    else if (name == "rhs_dilate")
      parsed = list(rhsDilation);
    else if (name == "reverse")
      parsed = parseFlags(parser, reversal);
    else
      return parser.emitError(loc) << "expected stride, pad, lhs_dilate, "
                                      "rhs_dilate or reverse, but got "
                                   << name;
    if (parsed)
      return failure();
    if (failed(parser.parseOptionalComma()))
      return success();
    loc = parser.getCurrentLocation();
  } while (succeeded(parser.parseKeyword(&name)));
  return failure();
}

void meshloom::printWindow(OpAsmPrinter &printer, Operation *,
                           DenseI64ArrayAttr strides,
                           mlir::DenseIntElementsAttr padding,
                           DenseI64ArrayAttr lhsDilation,
                           DenseI64ArrayAttr rhsDilation,
                           mlir::DenseBoolArrayAttr reversal) {
  StringRef separator = "";
  auto begin = [&](StringRef name) {
    printer << separator << name << " = ";
    separator = ", ";
  };
  auto list = [&](StringRef name, DenseI64ArrayAttr attr) {
    if (!attr)
      return;
    begin(name);
    printDims(printer, attr);
  };
  list("stride", strides);
  if (padding) {
    begin("pad");
    SmallVector<int64_t> flat(padding.getValues<int64_t>());
    printer << '[';
    for (size_t i = 0; i + 1 < flat.size(); i += 2)
      printer << (i ? ", " : "") << '[' << flat[i] << ", " << flat[i + 1]
              << ']';
    printer << ']';
  }
  list("lhs_dilate", lhsDilation);
  list("rhs_dilate", rhsDilation);
  if (reversal) {
    begin("reverse");
    printer << '[';
    llvm::interleaveComma(reversal.asArrayRef(), printer,
                          [&](bool b) { printer << (b ? "true" : "false"); });
    printer << ']';
  }
}

ParseResult meshloom::parseUnpaddedWindow(OpAsmParser &parser,
                                          DenseI64ArrayAttr &strides,
                                          DenseI64ArrayAttr &lhsDilation,
                                          DenseI64ArrayAttr &rhsDilation,
                                          mlir::DenseBoolArrayAttr &reversal) {
  mlir::DenseIntElementsAttr padding;
  SMLoc loc = parser.getCurrentLocation();
  if (parseWindow(parser, strides, padding, lhsDilation, rhsDilation, reversal))
    return failure();
  if (padding)
    return parser.emitError(loc, "the padding is the third operand, and not in "
                                 "the window");
  return success();
}

void meshloom::printUnpaddedWindow(OpAsmPrinter &printer, Operation *op,
                                   DenseI64ArrayAttr strides,
                                   DenseI64ArrayAttr lhsDilation,
                                   DenseI64ArrayAttr rhsDilation,
                                   mlir::DenseBoolArrayAttr reversal) {
  printWindow(printer, op, strides, /*padding=*/{}, lhsDilation, rhsDilation,
              reversal);
}
