// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The shared text of ops: types, operands, windows, bodies and constants.

#include "Assembly.h"

using namespace meshloom;
using mlir::FunctionType;

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

/// Takes `operands` and `result` from a function type.
static ParseResult takeTypes(OpAsmParser &parser, SMLoc loc, FunctionType type,
                             ArrayRef<Type *> operands, Type &result) {
  if (type.getNumInputs() != operands.size() || type.getNumResults() != 1)
    return parser.emitError(loc)
           << "expected " << operands.size()
           << " operand types and one result type, but got " << type;
  for (auto [operand, input] : llvm::zip_equal(operands, type.getInputs()))
    *operand = input;
  result = type.getResult(0);
  return success();
}

static void printFunctionType(OpAsmPrinter &printer, TypeRange operands,
                              Type result) {
  printer.printFunctionalType(operands, TypeRange(result));
}

ParseResult meshloom::parseSameType(OpAsmParser &parser,
                                    ArrayRef<Type *> operands, Type &result) {
  SMLoc loc = parser.getCurrentLocation();
  Type type;
  if (parser.parseType(type))
    return failure();
  if (auto function = dyn_cast<FunctionType>(type))
    return takeTypes(parser, loc, function, operands, result);
  for (Type *operand : operands)
    *operand = type;
  result = type;
  return success();
}

void meshloom::printSameType(OpAsmPrinter &printer, ArrayRef<Type> operands,
                             Type result) {
  if (llvm::all_of(operands, [&](Type type) { return type == result; }))
    printer.printType(result);
  else
    printFunctionType(printer, operands, result);
}

ParseResult meshloom::parseSameTypes(OpAsmParser &parser,
                                     SmallVectorImpl<Type> &operands,
                                     SmallVectorImpl<Type> &results) {
  if (parser.parseTypeList(operands))
    return failure();
  results.append(operands.begin(), operands.end());
  return success();
}

void meshloom::printSameTypes(OpAsmPrinter &printer, Operation *,
                              TypeRange operands, TypeRange) {
  llvm::interleaveComma(operands, printer);
}

ParseResult meshloom::parseComplexType(OpAsmParser &parser, Type &lhs,
                                       Type &rhs, Type &result) {
  SMLoc loc = parser.getCurrentLocation();
  Type type;
  if (parser.parseType(type))
    return failure();
  if (auto function = dyn_cast<FunctionType>(type))
    return takeTypes(parser, loc, function, {&lhs, &rhs}, result);
  auto tensor = dyn_cast<RankedTensorType>(type);
  auto complex = tensor ? dyn_cast<mlir::ComplexType>(tensor.getElementType())
                        : mlir::ComplexType();
  if (!complex)
    return parser.emitError(loc)
           << "expected a tensor of complex numbers, but got " << type;
  lhs = rhs = tensor.clone(complex.getElementType());
  result = type;
  return success();
}

void meshloom::printComplexType(OpAsmPrinter &printer, Operation *, Type lhs,
                                Type rhs, Type result) {
  auto tensor = dyn_cast<RankedTensorType>(result);
  auto complex = tensor ? dyn_cast<mlir::ComplexType>(tensor.getElementType())
                        : mlir::ComplexType();
  if (complex && lhs == rhs && lhs == tensor.clone(complex.getElementType()))
    printer.printType(result);
  else
    printFunctionType(printer, {lhs, rhs}, result);
}

ParseResult meshloom::parseSelectType(OpAsmParser &parser, Type &pred,
                                      Type &onTrue, Type &onFalse,
                                      Type &result) {
  SMLoc loc = parser.getCurrentLocation();
  Type type;
  if (parser.parseType(type))
    return failure();
  if (auto function = dyn_cast<FunctionType>(type))
    return takeTypes(parser, loc, function, {&pred, &onTrue, &onFalse}, result);
  pred = type;
  if (parser.parseComma() || parser.parseType(type))
    return failure();
  onTrue = onFalse = result = type;
  return success();
}

void meshloom::printSelectType(OpAsmPrinter &printer, Operation *, Type pred,
                               Type onTrue, Type onFalse, Type result) {
  if (onTrue == result && onFalse == result)
    printer << pred << ", " << result;
  else
    printFunctionType(printer, {pred, onTrue, onFalse}, result);
}

ParseResult meshloom::parseTupleType(OpAsmParser &parser,
                                     SmallVectorImpl<Type> &operands,
                                     Type &result) {
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseType(result))
    return failure();
  if (auto function = dyn_cast<FunctionType>(result)) {
    if (function.getNumResults() != 1)
      return parser.emitError(loc) << "expected one result type";
    operands.append(function.getInputs().begin(), function.getInputs().end());
    result = function.getResult(0);
    return success();
  }
  auto tuple = dyn_cast<mlir::TupleType>(result);
  if (!tuple)
    return parser.emitError(loc) << "expected a tuple type, but got " << result;
  operands.append(tuple.begin(), tuple.end());
  return success();
}

void meshloom::printTupleType(OpAsmPrinter &printer, Operation *,
                              TypeRange operands, Type result) {
  auto tuple = dyn_cast<mlir::TupleType>(result);
  if (tuple && TypeRange(tuple.getTypes()) == operands)
    printer.printType(result);
  else
    printFunctionType(printer, operands, result);
}

//===----------------------------------------------------------------------===//
// Operands, attributes and regions
//===----------------------------------------------------------------------===//

ParseResult meshloom::parseOperandsThenComma(
    OpAsmParser &parser,
    SmallVectorImpl<OpAsmParser::UnresolvedOperand> &operands) {
  while (true) {
    OpAsmParser::UnresolvedOperand operand;
    auto parsed = parser.parseOptionalOperand(operand);
    if (!parsed.has_value())
      return success();
    if (failed(*parsed) || parser.parseComma())
      return failure();
    operands.push_back(operand);
  }
}

void meshloom::printOperandsThenComma(OpAsmPrinter &printer, Operation *,
                                      mlir::OperandRange operands) {
  printer << operands;
  if (!operands.empty())
    printer << ',';
}

ParseResult meshloom::parseSliceRanges(OpAsmParser &parser,
                                       DenseI64ArrayAttr &starts,
                                       DenseI64ArrayAttr &limits,
                                       DenseI64ArrayAttr &strides) {
  SmallVector<int64_t> values[3];
  auto range = [&]() -> ParseResult {
    int64_t start, limit, stride = 1;
    if (parser.parseInteger(start) || parser.parseColon() ||
        parser.parseInteger(limit))
      return failure();
    if (succeeded(parser.parseOptionalColon()) && parser.parseInteger(stride))
      return failure();
    values[0].push_back(start);
    values[1].push_back(limit);
    values[2].push_back(stride);
    return success();
  };
  if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Square, range))
    return failure();
  starts = parser.getBuilder().getDenseI64ArrayAttr(values[0]);
  limits = parser.getBuilder().getDenseI64ArrayAttr(values[1]);
  strides = parser.getBuilder().getDenseI64ArrayAttr(values[2]);
  return success();
}

void meshloom::printSliceRanges(OpAsmPrinter &printer, Operation *,
                                ArrayRef<int64_t> starts,
                                ArrayRef<int64_t> limits,
                                ArrayRef<int64_t> strides) {
  printer << '[';
  for (unsigned i = 0; i < starts.size(); ++i) {
    printer << (i ? ", " : "") << starts[i];
    if (i < limits.size())
      printer << ':' << limits[i];
    if (i < strides.size() && strides[i] != 1)
      printer << ':' << strides[i];
  }
  printer << ']';
}

ParseResult meshloom::parseFloatFormat(OpAsmParser &parser,
                                       mlir::IntegerAttr &exponent,
                                       mlir::IntegerAttr &mantissa) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef text;
  if (parser.parseKeyword(&text))
    return failure();
  StringRef remaining = text;
  int32_t bits[2];
  if (!remaining.consume_front("e") || remaining.consumeInteger(10, bits[0]) ||
      !remaining.consume_front("m") || remaining.consumeInteger(10, bits[1]) ||
      !remaining.empty())
    return parser.emitError(loc)
           << "expected a format such as e5m10, but got " << text;
  exponent = parser.getBuilder().getI32IntegerAttr(bits[0]);
  mantissa = parser.getBuilder().getI32IntegerAttr(bits[1]);
  return success();
}

void meshloom::printFloatFormat(OpAsmPrinter &printer, Operation *,
                                mlir::IntegerAttr exponent,
                                mlir::IntegerAttr mantissa) {
  printer << 'e' << exponent.getInt() << 'm' << mantissa.getInt();
}

ParseResult meshloom::parseCallTarget(OpAsmParser &parser,
                                      mlir::StringAttr &target) {
  return parser.parseSymbolName(target);
}

void meshloom::printCallTarget(OpAsmPrinter &printer, Operation *,
                               mlir::StringAttr target) {
  printer.printSymbolName(target);
}

ParseResult meshloom::parseBodyWithArguments(OpAsmParser &parser,
                                             Region &body) {
  SmallVector<OpAsmParser::Argument> arguments;
  if (parser.parseArgumentList(arguments, OpAsmParser::Delimiter::Paren,
                               /*allowType=*/true) ||
      parser.parseRegion(body, arguments))
    return failure();
  if (body.empty())
    body.emplaceBlock();
  return success();
}

void meshloom::printBodyWithArguments(OpAsmPrinter &printer, Operation *,
                                      Region &body) {
  printer << '(';
  llvm::interleaveComma(
      body.getArguments(), printer,
      [&](mlir::BlockArgument arg) { printer.printRegionArgument(arg); });
  printer << ") ";
  printer.printRegion(body, /*printEntryBlockArgs=*/false);
}

ParseResult meshloom::parseConstant(OpAsmParser &parser,
                                    mlir::OperationState &state) {
  // `() {value = dense<...>} : () -> type`, where the types differ.
  if (succeeded(parser.parseOptionalLParen())) {
    FunctionType type;
    if (parser.parseRParen() ||
        parser.parseOptionalAttrDict(state.attributes) ||
        parser.parseColonType(type))
      return failure();
    state.addTypes(type.getResults());
    return success();
  }
  Attribute attr;
  if (parser.parseOptionalAttrDict(state.attributes))
    return failure();
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseAttribute(attr))
    return failure();
  auto value = dyn_cast<mlir::ElementsAttr>(attr);
  if (!value)
    return parser.emitError(loc)
           << "expected the elements of a tensor, but got " << attr;
  state.addAttribute("value", value);
  state.addTypes(value.getShapedType());
  return success();
}

void meshloom::printConstant(OpAsmPrinter &printer, Operation *op,
                             mlir::ElementsAttr value) {
  Type type = op->getResult(0).getType();
  if (value.getType() != type) {
    printer << "()";
    printer.printOptionalAttrDict(op->getAttrs());
    printer << " : () -> " << type;
    return;
  }
  printer.printOptionalAttrDict(op->getAttrs(), {"value"});
  printer << ' ' << value;
}
