// The ops of chlo.

#include "Assembly.h"

using namespace meshloom;
using namespace meshloom::chlo;

#define GET_OP_CLASSES
#include "meshloom/Dialect/StableHLO/CHLOOps.cpp.inc"

void CHLODialect::registerOps() {
  addOperations<
#define GET_OP_LIST
#include "meshloom/Dialect/StableHLO/CHLOOps.cpp.inc"
      >();
}

ParseResult ConstantOp::parse(OpAsmParser &parser, OperationState &state) {
  return parseConstant(parser, state);
}

void ConstantOp::print(OpAsmPrinter &printer) {
  printConstant(printer, *this, getValue());
}
