// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The elementwise ops of stablehlo, and its constants.

#include "Assembly.h"
#include "Constraints.h"

using namespace meshloom;
using namespace meshloom::stablehlo;

#define GET_OP_CLASSES
#include "meshloom/Dialect/StableHLO/StableHLOElementwiseOps.cpp.inc"

void StableHLODialect::registerElementwiseOps() {
  addOperations<
#define GET_OP_LIST
#include "meshloom/Dialect/StableHLO/StableHLOElementwiseOps.cpp.inc"
      >();
}

ParseResult ConstantOp::parse(OpAsmParser &parser, OperationState &state) {
  return parseConstant(parser, state);
}

void ConstantOp::print(OpAsmPrinter &printer) {
  printConstant(printer, *this, getValue());
}
