// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The dialects stablehlo, chlo and sdy: an input vocabulary. This is the one
// header to include; the .td files beside it are the reference. Nothing but the
// import (lib/Import/StableHLO) and the tools that read files know them.
#pragma once

#include "meshloom/Support/LLVM.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/IR/TensorEncoding.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace meshloom {
/// Registers stablehlo, chlo, sdy, and what their programs may refer to.
void registerStableHLODialects(mlir::DialectRegistry &registry);

/// `[0, 2]`, for attributes.
mlir::FailureOr<SmallVector<int64_t>> parseDims(mlir::AsmParser &parser);
void printDims(mlir::AsmPrinter &printer, ArrayRef<int64_t> dims);
} // namespace meshloom

#include "meshloom/Dialect/StableHLO/StableHLOEnums.h.inc"

#include "meshloom/Dialect/StableHLO/CHLODialect.h.inc"
#include "meshloom/Dialect/StableHLO/SdyDialect.h.inc"
#include "meshloom/Dialect/StableHLO/SdyEnums.h.inc"
#include "meshloom/Dialect/StableHLO/StableHLODialect.h.inc"

#define GET_ATTRDEF_CLASSES
#include "meshloom/Dialect/StableHLO/StableHLOAttrs.h.inc"
#define GET_ATTRDEF_CLASSES
#include "meshloom/Dialect/StableHLO/CHLOAttrs.h.inc"
#define GET_ATTRDEF_CLASSES
#include "meshloom/Dialect/StableHLO/SdyAttrs.h.inc"
#define GET_TYPEDEF_CLASSES
#include "meshloom/Dialect/StableHLO/StableHLOTypes.h.inc"

#define GET_OP_CLASSES
#include "meshloom/Dialect/StableHLO/StableHLOElementwiseOps.h.inc"
#define GET_OP_CLASSES
#include "meshloom/Dialect/StableHLO/StableHLOOps.h.inc"
#define GET_OP_CLASSES
#include "meshloom/Dialect/StableHLO/CHLOOps.h.inc"
#define GET_OP_CLASSES
#include "meshloom/Dialect/StableHLO/SdyOps.h.inc"
