// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The ops of sdy.

#include "Assembly.h"
#include "SdyText.h"

using namespace meshloom;
using namespace meshloom::sdy;

/// `[<@mesh, [...]>, ...]`
static ParseResult parseShardings(OpAsmParser &parser,
                                  TensorShardingPerValueAttr &shardings) {
  SmallVector<TensorShardingAttr> list;
  if (parseList(parser, list))
    return failure();
  shardings = TensorShardingPerValueAttr::get(parser.getContext(), list);
  return success();
}

static void printShardings(OpAsmPrinter &printer, Operation *,
                           TensorShardingPerValueAttr shardings) {
  printList(printer, shardings.getShardings());
}

#define GET_OP_CLASSES
#include "meshloom/Dialect/StableHLO/SdyOps.cpp.inc"

void SdyDialect::registerOps() {
  addOperations<
#define GET_OP_LIST
#include "meshloom/Dialect/StableHLO/SdyOps.cpp.inc"
      >();
}

ParseResult ConstantOp::parse(OpAsmParser &parser, OperationState &state) {
  return parseConstant(parser, state);
}

void ConstantOp::print(OpAsmPrinter &printer) {
  printConstant(printer, *this, getValue());
}

mlir::LogicalResult ConstantOp::verify() {
  mlir::ShapedType value = getValue().getShapedType();
  auto result = dyn_cast<RankedTensorType>(getOutput().getType());
  if (!result || !result.hasStaticShape())
    return emitOpError("gives a tensor of static shape, not ")
           << getOutput().getType();
  if (value.getShape() != result.getShape() ||
      value.getElementType() != result.getElementType())
    return emitOpError("its value is a ")
           << value << ", its result a " << result;
  return success();
}
