// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The ops of chlo.

#include "Assembly.h"
#include "Constraints.h"

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

/// `(%a) inits(%b) dimension=0 attributes {...} { ... } : functional-type`,
/// with as many carries among the results as there are inits.
ParseResult ScanOp::parse(OpAsmParser &parser, OperationState &state) {
  SmallVector<OpAsmParser::UnresolvedOperand> inputs, inits;
  int64_t dimension;
  mlir::FunctionType type;
  if (parser.parseOperandList(inputs, OpAsmParser::Delimiter::Paren) ||
      parser.parseKeyword("inits") ||
      parser.parseOperandList(inits, OpAsmParser::Delimiter::Paren) ||
      parser.parseKeyword("dimension") || parser.parseEqual() ||
      parser.parseInteger(dimension) ||
      parser.parseOptionalAttrDictWithKeyword(state.attributes) ||
      parser.parseRegion(*state.addRegion()))
    return failure();
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseColonType(type))
    return failure();
  if (type.getNumResults() < inits.size())
    return parser.emitError(loc)
           << "carries " << inits.size() << " values, but has only "
           << type.getNumResults() << " results";
  state.addAttribute(getDimensionAttrName(state.name),
                     parser.getBuilder().getI64IntegerAttr(dimension));
  auto &properties = state.getOrAddProperties<Properties>();
  properties.operandSegmentSizes = {int32_t(inputs.size()),
                                    int32_t(inits.size())};
  properties.resultSegmentSizes = {int32_t(type.getNumResults() - inits.size()),
                                   int32_t(inits.size())};
  state.addTypes(type.getResults());
  inputs.append(inits);
  return parser.resolveOperands(inputs, type.getInputs(), loc, state.operands);
}

void ScanOp::print(OpAsmPrinter &printer) {
  printer << '(' << getInputs() << ") inits(" << getInits()
          << ") dimension=" << getDimension();
  printer.printOptionalAttrDictWithKeyword(
      (*this)->getAttrs(), {getDimensionAttrName(), getOperandSegmentSizeAttr(),
                            getResultSegmentSizeAttr()});
  printer << ' ';
  printer.printRegion(getBody());
  printer << " : ";
  printer.printFunctionalType(*this);
}
