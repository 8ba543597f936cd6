// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The generated part of the ops, and the custom pieces of their syntax.

#include "SplatMath.h"
#include "WindowSyntax.h"

#include "meshloom/Dialect/DTensor/KindSyntax.h"

#include "mlir/IR/OpImplementation.h"

#include <cmath>

using namespace meshloom;
using namespace meshloom::dtensor;
using mlir::OpAsmParser, mlir::OpAsmPrinter, mlir::ParseResult;

//===----------------------------------------------------------------------===//
// `T` where all types are the same, else `(T, ...) -> T`
//===----------------------------------------------------------------------===//

static ParseResult parseSameTypes(OpAsmParser &parser,
                                  ArrayRef<Type *> operands, Type &result) {
  llvm::SMLoc loc = parser.getCurrentLocation();
  Type type;
  if (parser.parseType(type))
    return failure();
  auto function = dyn_cast<mlir::FunctionType>(type);
  if (!function) {
    for (Type *operand : operands)
      *operand = type;
    result = type;
    return success();
  }
  if (function.getNumInputs() != operands.size() ||
      function.getNumResults() != 1)
    return parser.emitError(loc, "expected ")
           << operands.size() << " operand types and one result type";
  for (auto [operand, input] : llvm::zip_equal(operands, function.getInputs()))
    *operand = input;
  result = function.getResult(0);
  return success();
}

static void printSameTypes(OpAsmPrinter &printer, Operation *op) {
  Type result = op->getResult(0).getType();
  if (llvm::all_of(op->getOperandTypes(),
                   [&](Type type) { return type == result; }))
    printer << result;
  else
    printer.printFunctionalType(op);
}

static ParseResult parseSameTypes(OpAsmParser &parser, Type &operand,
                                  Type &result) {
  return parseSameTypes(parser, {&operand}, result);
}
static ParseResult parseSameTypes(OpAsmParser &parser, Type &lhs, Type &rhs,
                                  Type &result) {
  return parseSameTypes(parser, {&lhs, &rhs}, result);
}
static void printSameTypes(OpAsmPrinter &printer, Operation *op, Type, Type) {
  printSameTypes(printer, op);
}
static void printSameTypes(OpAsmPrinter &printer, Operation *op, Type, Type,
                           Type) {
  printSameTypes(printer, op);
}

//===----------------------------------------------------------------------===//
// Attributes as keywords
//===----------------------------------------------------------------------===//

template <typename EnumAttr>
static ParseResult parseEnumKeyword(OpAsmParser &parser, EnumAttr &attr) {
  using Enum = decltype(attr.getValue());
  llvm::SMLoc loc = parser.getCurrentLocation();
  StringRef keyword;
  if (parser.parseKeyword(&keyword))
    return failure();
  std::optional<Enum> value;
  if constexpr (std::is_same_v<Enum, ComparisonDirection>)
    value = symbolizeComparisonDirection(keyword);
  else
    value = symbolizeRngDistribution(keyword);
  if (!value)
    return parser.emitError(loc, "unknown keyword '") << keyword << "'";
  attr = EnumAttr::get(parser.getContext(), *value);
  return success();
}
static void printEnumKeyword(OpAsmPrinter &printer, Operation *,
                             ComparisonDirectionAttr attr) {
  printer << stringifyComparisonDirection(attr.getValue());
}
static void printEnumKeyword(OpAsmPrinter &printer, Operation *,
                             RngDistributionAttr attr) {
  printer << stringifyRngDistribution(attr.getValue());
}

static ParseResult parseDim(OpAsmParser &parser, IntegerAttr &attr) {
  int64_t dim;
  if (parser.parseKeyword("dim") || parser.parseInteger(dim))
    return failure();
  attr = parser.getBuilder().getI64IntegerAttr(dim);
  return success();
}
static void printDim(OpAsmPrinter &printer, Operation *, IntegerAttr attr) {
  printer << "dim " << attr.getInt();
}

static ParseResult parseCount(OpAsmParser &parser, IntegerAttr &attr) {
  int64_t count;
  if (parser.parseKeyword("k") || parser.parseInteger(count))
    return failure();
  attr = parser.getBuilder().getI64IntegerAttr(count);
  return success();
}
static void printCount(OpAsmPrinter &printer, Operation *, IntegerAttr attr) {
  printer << "k " << attr.getInt();
}

//===----------------------------------------------------------------------===//
// Dims of products: ` batching [..] x [..] contracting [..] x [..]`, less what
// is empty
//===----------------------------------------------------------------------===//

static ParseResult parseDimPairs(OpAsmParser &parser, StringRef keyword,
                                 DenseI64ArrayAttr &lhs,
                                 DenseI64ArrayAttr &rhs) {
  if (failed(parser.parseOptionalKeyword(keyword))) {
    lhs = rhs = parser.getBuilder().getDenseI64ArrayAttr({});
    return success();
  }
  auto parseDims = [&](DenseI64ArrayAttr &attr) -> ParseResult {
    attr = mlir::dyn_cast_or_null<DenseI64ArrayAttr>(
        DenseI64ArrayAttr::parse(parser, {}));
    return mlir::success(bool(attr));
  };
  if (parseDims(lhs) || parser.parseKeyword("x") || parseDims(rhs))
    return failure();
  return success();
}
static void printDimPairs(OpAsmPrinter &printer, StringRef keyword,
                          DenseI64ArrayAttr lhs, DenseI64ArrayAttr rhs) {
  if (lhs.empty() && rhs.empty())
    return;
  printer << ' ' << keyword << ' ';
  lhs.print(printer);
  printer << " x ";
  rhs.print(printer);
}

static ParseResult parseDotDims(OpAsmParser &parser,
                                DenseI64ArrayAttr &lhsBatching,
                                DenseI64ArrayAttr &rhsBatching,
                                DenseI64ArrayAttr &lhsContracting,
                                DenseI64ArrayAttr &rhsContracting) {
  if (parseDimPairs(parser, "batching", lhsBatching, rhsBatching))
    return failure();
  return parseDimPairs(parser, "contracting", lhsContracting, rhsContracting);
}
static void printDotDims(OpAsmPrinter &printer, Operation *,
                         DenseI64ArrayAttr lhsBatching,
                         DenseI64ArrayAttr rhsBatching,
                         DenseI64ArrayAttr lhsContracting,
                         DenseI64ArrayAttr rhsContracting) {
  printDimPairs(printer, "batching", lhsBatching, rhsBatching);
  printDimPairs(printer, "contracting", lhsContracting, rhsContracting);
}

//===----------------------------------------------------------------------===//
// Slices: `[start:limit, start:limit:stride]`
//===----------------------------------------------------------------------===//

static ParseResult parseSliceRanges(OpAsmParser &parser,
                                    DenseI64ArrayAttr &start,
                                    DenseI64ArrayAttr &limit,
                                    DenseI64ArrayAttr &strides) {
  SmallVector<int64_t> starts, limits, steps;
  auto parseRange = [&]() -> ParseResult {
    if (parser.parseInteger(starts.emplace_back()) || parser.parseColon() ||
        parser.parseInteger(limits.emplace_back()))
      return failure();
    steps.push_back(1);
    if (succeeded(parser.parseOptionalColon()))
      return parser.parseInteger(steps.back());
    return success();
  };
  if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Square,
                                     parseRange))
    return failure();
  Builder &builder = parser.getBuilder();
  start = builder.getDenseI64ArrayAttr(starts);
  limit = builder.getDenseI64ArrayAttr(limits);
  strides = builder.getDenseI64ArrayAttr(steps);
  return success();
}

static void printSliceRanges(OpAsmPrinter &printer, Operation *,
                             DenseI64ArrayAttr start, DenseI64ArrayAttr limit,
                             DenseI64ArrayAttr strides) {
  printer << '[';
  for (size_t i = 0; i < size_t(start.size()); ++i) {
    printer << (i ? ", " : "") << start[i] << ':' << limit[i];
    if (strides[i] != 1)
      printer << ':' << strides[i];
  }
  printer << ']';
}

//===----------------------------------------------------------------------===//
// Constants: `dense<...> : T`, and `-> T` where the result has an encoding
//===----------------------------------------------------------------------===//

ParseResult ConstantOp::parse(OpAsmParser &parser,
                              mlir::OperationState &state) {
  llvm::SMLoc loc = parser.getCurrentLocation();
  mlir::ElementsAttr value;
  if (parser.parseOptionalAttrDict(state.attributes) ||
      parser.parseAttribute(value))
    return failure();
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type)
    return parser.emitError(loc, "expected a tensor constant");
  Type result = type;
  if (type.getEncoding()) {
    auto dense = dyn_cast<DenseElementsAttr>(value);
    if (!dense || isShard(type))
      return parser.emitError(loc, "expected a value without encoding");
    value = dense.reshape(undecided(type));
  }
  if (succeeded(parser.parseOptionalArrow()) && parser.parseType(result))
    return failure();
  state.getOrAddProperties<Properties>().value = value;
  state.addTypes(result);
  return success();
}

void ConstantOp::print(OpAsmPrinter &printer) {
  printer << ' ';
  printer.printOptionalAttrDict((*this)->getAttrs(), {"value"});
  if ((*this)->getAttrs().size() > 1)
    printer << ' ';
  printer << getValue();
  if (getType() != getValue().getType())
    printer << " -> " << getType();
}

#define GET_OP_CLASSES
#include "meshloom/Dialect/DTensor/DTensorOps.cpp.inc"
