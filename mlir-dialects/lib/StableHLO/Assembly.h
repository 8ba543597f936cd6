// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Text that several ops of stablehlo, chlo and sdy share: the custom<...>
// directives of their assembly formats. Parsers accept what any release of JAX
// since 0.4.35 prints; printers print what the newest does.
#pragma once

#include "meshloom/Dialect/StableHLO/StableHLO.h"

namespace meshloom {
using llvm::SMLoc;
using mlir::ArrayAttr;
using mlir::OpAsmParser;
using mlir::OpAsmPrinter;
using mlir::ParseResult;

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

/// `type`, where all are the same, or `(types) -> type`.
ParseResult parseSameType(OpAsmParser &parser, ArrayRef<Type *> operands,
                          Type &result);
void printSameType(OpAsmPrinter &printer, ArrayRef<Type> operands, Type result);

inline ParseResult parseSameType(OpAsmParser &parser, Type &a, Type &result) {
  return parseSameType(parser, {&a}, result);
}
inline ParseResult parseSameType(OpAsmParser &parser, Type &a, Type &b,
                                 Type &result) {
  return parseSameType(parser, {&a, &b}, result);
}
inline ParseResult parseSameType(OpAsmParser &parser, Type &a, Type &b, Type &c,
                                 Type &result) {
  return parseSameType(parser, {&a, &b, &c}, result);
}
inline void printSameType(OpAsmPrinter &printer, Operation *, Type a,
                          Type result) {
  printSameType(printer, {a}, result);
}
inline void printSameType(OpAsmPrinter &printer, Operation *, Type a, Type b,
                          Type result) {
  printSameType(printer, {a, b}, result);
}
inline void printSameType(OpAsmPrinter &printer, Operation *, Type a, Type b,
                          Type c, Type result) {
  printSameType(printer, {a, b, c}, result);
}

/// The types of operands, which are those of the results.
ParseResult parseSameTypes(OpAsmParser &parser, SmallVectorImpl<Type> &operands,
                           SmallVectorImpl<Type> &results);
void printSameTypes(OpAsmPrinter &printer, Operation *, TypeRange operands,
                    TypeRange results);

/// `tensor<complex<f32>>`, for operands of f32.
ParseResult parseComplexType(OpAsmParser &parser, Type &lhs, Type &rhs,
                             Type &result);
void printComplexType(OpAsmPrinter &printer, Operation *, Type lhs, Type rhs,
                      Type result);

/// `tensor<i1>, tensor<f32>`.
ParseResult parseSelectType(OpAsmParser &parser, Type &pred, Type &onTrue,
                            Type &onFalse, Type &result);
void printSelectType(OpAsmPrinter &printer, Operation *, Type pred, Type onTrue,
                     Type onFalse, Type result);

/// `tuple<a, b>`, for operands of types a and b.
ParseResult parseTupleType(OpAsmParser &parser, SmallVectorImpl<Type> &operands,
                           Type &result);
void printTupleType(OpAsmPrinter &printer, Operation *, TypeRange operands,
                    Type result);

//===----------------------------------------------------------------------===//
// Operands, attributes and regions
//===----------------------------------------------------------------------===//

/// `%a, %b,`
ParseResult parseOperandsThenComma(
    OpAsmParser &parser,
    SmallVectorImpl<OpAsmParser::UnresolvedOperand> &operands);
void printOperandsThenComma(OpAsmPrinter &printer, Operation *,
                            mlir::OperandRange operands);

/// `[5:53:2, 0:8]`
ParseResult parseSliceRanges(OpAsmParser &parser,
                             mlir::DenseI64ArrayAttr &starts,
                             mlir::DenseI64ArrayAttr &limits,
                             mlir::DenseI64ArrayAttr &strides);
void printSliceRanges(OpAsmPrinter &printer, Operation *,
                      ArrayRef<int64_t> starts, ArrayRef<int64_t> limits,
                      ArrayRef<int64_t> strides);

/// `e5m10`
ParseResult parseFloatFormat(OpAsmParser &parser, mlir::IntegerAttr &exponent,
                             mlir::IntegerAttr &mantissa);
void printFloatFormat(OpAsmPrinter &printer, Operation *,
                      mlir::IntegerAttr exponent, mlir::IntegerAttr mantissa);

/// `batching_dims = [0] x [0], contracting_dims = [2] x [1]`
ParseResult parseDotDimensions(OpAsmParser &parser,
                               stablehlo::DotDimensionNumbersAttr &dims);
void printDotDimensions(OpAsmPrinter &printer, Operation *,
                        stablehlo::DotDimensionNumbersAttr dims);

/// `, precision = [DEFAULT, HIGHEST]`
ParseResult parsePrecision(OpAsmParser &parser, ArrayAttr &precision);
void printPrecision(OpAsmPrinter &printer, Operation *, ArrayAttr precision);

/// `, precision = [...], algorithm = <...>`
ParseResult parsePrecisionAndAlgorithm(OpAsmParser &parser,
                                       ArrayAttr &precision,
                                       stablehlo::DotAlgorithmAttr &algorithm);
void printPrecisionAndAlgorithm(OpAsmPrinter &printer, Operation *op,
                                ArrayAttr precision,
                                stablehlo::DotAlgorithmAttr algorithm);

/// `[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]`
ParseResult parseConvolutionDimensions(mlir::AsmParser &parser,
                                       stablehlo::ConvDimensionNumbersAttr &);
void printConvolutionDimensions(mlir::AsmPrinter &printer,
                                stablehlo::ConvDimensionNumbersAttr dims);
inline void printConvolutionDimensions(OpAsmPrinter &printer, Operation *,
                                       stablehlo::ConvDimensionNumbersAttr d) {
  printConvolutionDimensions(printer, d);
}

/// `stride = [2, 2], pad = [[0, 1], [0, 1]], lhs_dilate = [1, 1],
///  rhs_dilate = [1, 1], reverse = [false, false]`, any of which may be
///  missing.
ParseResult parseWindow(OpAsmParser &parser, mlir::DenseI64ArrayAttr &strides,
                        mlir::DenseIntElementsAttr &padding,
                        mlir::DenseI64ArrayAttr &lhsDilation,
                        mlir::DenseI64ArrayAttr &rhsDilation,
                        mlir::DenseBoolArrayAttr &reversal);
void printWindow(OpAsmPrinter &printer, Operation *,
                 mlir::DenseI64ArrayAttr strides,
                 mlir::DenseIntElementsAttr padding,
                 mlir::DenseI64ArrayAttr lhsDilation,
                 mlir::DenseI64ArrayAttr rhsDilation,
                 mlir::DenseBoolArrayAttr reversal);
/// Likewise where the padding is an operand.
ParseResult parseUnpaddedWindow(OpAsmParser &parser,
                                mlir::DenseI64ArrayAttr &strides,
                                mlir::DenseI64ArrayAttr &lhsDilation,
                                mlir::DenseI64ArrayAttr &rhsDilation,
                                mlir::DenseBoolArrayAttr &reversal);
void printUnpaddedWindow(OpAsmPrinter &printer, Operation *op,
                         mlir::DenseI64ArrayAttr strides,
                         mlir::DenseI64ArrayAttr lhsDilation,
                         mlir::DenseI64ArrayAttr rhsDilation,
                         mlir::DenseBoolArrayAttr reversal);

/// `@target`
ParseResult parseCallTarget(OpAsmParser &parser, mlir::StringAttr &target);
void printCallTarget(OpAsmPrinter &printer, Operation *,
                     mlir::StringAttr target);

/// `(%a: type, %b: type) { ... }`
ParseResult parseBodyWithArguments(OpAsmParser &parser, Region &body);
void printBodyWithArguments(OpAsmPrinter &printer, Operation *, Region &body);

/// `{attributes} dense<...> : type`, the text of constants; see there.
ParseResult parseConstant(OpAsmParser &parser, mlir::OperationState &state);
void printConstant(OpAsmPrinter &printer, Operation *op,
                   mlir::ElementsAttr value);
} // namespace meshloom
