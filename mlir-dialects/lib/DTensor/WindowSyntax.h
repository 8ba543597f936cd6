// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// WindowSyntax: the custom pieces of the syntax of convolutions and windows,
// declared where the generated parsers see them.
#pragma once

#include "meshloom/Dialect/DTensor/DTensor.h"

namespace meshloom::dtensor {

/// `dims [b, 0, 1, f] x [0, 1, i, o] -> [b, 0, 1, f]`.
mlir::ParseResult
parseConvolutionDims(mlir::OpAsmParser &parser, IntegerAttr &inputBatch,
                     IntegerAttr &inputFeature, DenseI64ArrayAttr &inputSpatial,
                     IntegerAttr &kernelInput, IntegerAttr &kernelOutput,
                     DenseI64ArrayAttr &kernelSpatial, IntegerAttr &outputBatch,
                     IntegerAttr &outputFeature,
                     DenseI64ArrayAttr &outputSpatial);
void printConvolutionDims(mlir::OpAsmPrinter &printer, Operation *,
                          IntegerAttr inputBatch, IntegerAttr inputFeature,
                          DenseI64ArrayAttr inputSpatial,
                          IntegerAttr kernelInput, IntegerAttr kernelOutput,
                          DenseI64ArrayAttr kernelSpatial,
                          IntegerAttr outputBatch, IntegerAttr outputFeature,
                          DenseI64ArrayAttr outputSpatial);

/// ` strides [2, 2] padding [..] lhs_dilation [..] rhs_dilation [..] reversal
/// [0, 1] feature_groups 2 batch_groups 2`, each of which may be missing.
mlir::ParseResult parseConvolutionWindow(
    mlir::OpAsmParser &parser, DenseI64ArrayAttr inputSpatial,
    DenseI64ArrayAttr &strides, DenseI64ArrayAttr &padding,
    DenseI64ArrayAttr &lhsDilation, DenseI64ArrayAttr &rhsDilation,
    mlir::DenseBoolArrayAttr &reversal, IntegerAttr &featureGroups,
    IntegerAttr &batchGroups);
void printConvolutionWindow(mlir::OpAsmPrinter &printer, Operation *,
                            DenseI64ArrayAttr inputSpatial,
                            DenseI64ArrayAttr strides,
                            DenseI64ArrayAttr padding,
                            DenseI64ArrayAttr lhsDilation,
                            DenseI64ArrayAttr rhsDilation,
                            mlir::DenseBoolArrayAttr reversal,
                            IntegerAttr featureGroups, IntegerAttr batchGroups);

/// `window [1, 3] strides [..] padding [..] base_dilations [..]
/// window_dilations [..]`, all but the first may be missing.
mlir::ParseResult parseWindow(mlir::OpAsmParser &parser,
                              DenseI64ArrayAttr &dimensions,
                              DenseI64ArrayAttr &strides,
                              DenseI64ArrayAttr &padding,
                              DenseI64ArrayAttr &baseDilations,
                              DenseI64ArrayAttr &windowDilations);
void printWindow(mlir::OpAsmPrinter &printer, Operation *,
                 DenseI64ArrayAttr dimensions, DenseI64ArrayAttr strides,
                 DenseI64ArrayAttr padding, DenseI64ArrayAttr baseDilations,
                 DenseI64ArrayAttr windowDilations);

/// The same without dilations.
mlir::ParseResult parsePlainWindow(mlir::OpAsmParser &parser,
                                   DenseI64ArrayAttr &dimensions,
                                   DenseI64ArrayAttr &strides,
                                   DenseI64ArrayAttr &padding);
void printPlainWindow(mlir::OpAsmPrinter &printer, Operation *,
                      DenseI64ArrayAttr dimensions, DenseI64ArrayAttr strides,
                      DenseI64ArrayAttr padding);

/// A kind of reduction, or nothing.
mlir::ParseResult parseOptionalKind(mlir::OpAsmParser &parser,
                                    ReduceKindAttr &kind);
void printOptionalKind(mlir::OpAsmPrinter &printer, Operation *,
                       ReduceKindAttr kind);
/// ` select max scatter sum`, each of which may be missing.
mlir::ParseResult parseSelectAndScatterKinds(mlir::OpAsmParser &parser,
                                             ReduceKindAttr &select,
                                             ReduceKindAttr &scatter);
void printSelectAndScatterKinds(mlir::OpAsmPrinter &printer, Operation *,
                                ReduceKindAttr select, ReduceKindAttr scatter);

/// A region in braces, or nothing.
mlir::ParseResult parseOptionalBody(mlir::OpAsmParser &parser, Region &body);
void printOptionalBody(mlir::OpAsmPrinter &printer, Operation *, Region &body);
/// ` select {...} scatter {...}`, each of which may be missing.
mlir::ParseResult parseOptionalBodies(mlir::OpAsmParser &parser, Region &select,
                                      Region &scatter);
void printOptionalBodies(mlir::OpAsmPrinter &printer, Operation *,
                         Region &select, Region &scatter);

} // namespace meshloom::dtensor
