// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The collectives: syntax, and what all of them share.

#include "meshloom/Dialect/DTensor/KindSyntax.h"
#include "meshloom/Dialect/SPMD/SPMD.h"

#include "mlir/IR/OpImplementation.h"

#include <algorithm>

using namespace meshloom;
using namespace meshloom::spmd;
using dtensor::violates;
using mlir::ArrayAttr, mlir::OpAsmParser, mlir::OpAsmPrinter, mlir::ParseResult;

//===----------------------------------------------------------------------===//
// Syntax
//===----------------------------------------------------------------------===//

static ParseResult parseAxes(OpAsmParser &parser, ArrayAttr &axes) {
  SmallVector<Attribute> names;
  auto parseAxis = [&]() -> ParseResult {
    std::string name;
    if (failed(parser.parseKeywordOrString(&name)))
      return failure();
    names.push_back(parser.getBuilder().getStringAttr(name));
    return success();
  };
  if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Square, parseAxis))
    return failure();
  axes = parser.getBuilder().getArrayAttr(names);
  return success();
}
static void printAxes(OpAsmPrinter &printer, Operation *, ArrayAttr axes) {
  printer << '[';
  llvm::interleaveComma(axes, printer, [&](Attribute axis) {
    printer.printKeywordOrString(cast<StringAttr>(axis).getValue());
  });
  printer << ']';
}

//===----------------------------------------------------------------------===//
// What all collectives share
//===----------------------------------------------------------------------===//

SmallVector<unsigned> spmd::axisIndices(Operation *op) {
  auto collective = cast<CollectiveOpInterface>(op);
  Mesh mesh = layoutOf(op->getOperand(0).getType()).mesh();
  SmallVector<unsigned> indices;
  for (Attribute axis : collective.getAxes())
    indices.push_back(*mesh.axis_index(cast<StringAttr>(axis).getValue()));
  return indices;
}

CollectiveOp spmd::collectiveOf(Operation *op, unsigned index) {
  SmallVector<unsigned> axes = axisIndices(op);
  return {cast<CollectiveOpInterface>(op).getCollectiveKind(),
          std::vector<unsigned>(axes.begin(), axes.end()),
          layoutOf(op->getOperand(index).getType()),
          layoutOf(op->getResult(index).getType())};
}

static int64_t bytesOf(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  return tensor.getNumElements() *
         byteWidth(*dtensor::dtypeOf(tensor.getElementType()));
}

int64_t spmd::transferBytes(CollectiveKind kind, mlir::TypeRange from,
                            mlir::TypeRange to) {
  if (kind != CollectiveKind::HaloExchange) {
    int64_t bytes = 0;
    for (auto [before, after] : llvm::zip_equal(from, to))
      bytes += countedBytes({kind, {}, layoutOf(before), layoutOf(after)},
                            bytesOf(before), bytesOf(after));
    return bytes;
  }
  HaloTraffic traffic;
  for (Type type : to) {
    SmallVector<int64_t> global = globalShape(type);
    traffic.add(layoutOf(type), Shape(global.begin(), global.end()),
                windowsOf(type),
                byteWidth(*dtensor::dtypeOf(dtensor::elementTypeOf(type))));
  }
  return traffic.mostBytes();
}

int64_t spmd::resultBytes(Operation *op) {
  return transferBytes(cast<CollectiveOpInterface>(op).getCollectiveKind(),
                       op->getOperandTypes(), op->getResultTypes());
}

ArrayAttr spmd::axesAttr(dtensor::MeshAttr mesh, ArrayRef<unsigned> axes) {
  SmallVector<Attribute> names;
  for (unsigned axis : axes)
    names.push_back(mesh.getNames()[axis]);
  return ArrayAttr::get(mesh.getContext(), names);
}

/// C3: one mesh, and every name one of its axes.
static LogicalResult verifyAxes(Operation *op, ArrayAttr axes) {
  dtensor::MeshAttr mesh =
      dtensor::layoutAttrOf(op->getOperand(0).getType()).getMeshAttr();
  for (mlir::TypeRange types : {mlir::TypeRange(op->getOperandTypes()),
                                mlir::TypeRange(op->getResultTypes())})
    for (Type type : types)
      if (dtensor::layoutAttrOf(type).getMeshAttr() != mesh)
        return violates(op, 3) << "layouts of two meshes in one op";
  for (Attribute axis : axes)
    if (!llvm::is_contained(mesh.getNames(), axis))
      return violates(op, 3) << "axis " << axis << " is not in " << mesh;
  return success();
}

/// C4 of the windows in the types.
static LogicalResult verifyWindowsOf(Operation *op, unsigned index) {
  auto collective = cast<CollectiveOpInterface>(op);
  auto from = cast<RankedTensorType>(op->getOperand(index).getType());
  auto to = cast<RankedTensorType>(op->getResult(index).getType());
  bool isHalo = collective.getCollectiveKind() == CollectiveKind::HaloExchange;
  if (!windowsOf(from).empty())
    return violates(op, 4) << "operand #" << index << " has windows";
  Windows windows = windowsOf(to);
  SmallVector<int64_t> global = globalShape(to);
  if (collective.getCollectiveKind() == CollectiveKind::Slice) {
    if (isWithinSource(layoutOf(from), layoutOf(to),
                       Shape(global.begin(), global.end()), windows))
      return success();
    return violates(op, 4) << "the windows of result #" << index
                           << " are not in the parts that devices have";
  }
  if (!isHalo && !windows.empty())
    return violates(op, 4) << "result #" << index << " has windows";
  if (!isHalo)
    return success();
  std::vector<unsigned> axes =
      haloAxes(layoutOf(to), Shape(global.begin(), global.end()), windows);
  if (!std::ranges::is_permutation(axes, axisIndices(op)))
    return violates(op, 4) << "the windows of result #" << index
                           << " reach over other axes than "
                           << collective.getAxes();
  return success();
}

LogicalResult spmd::verifyCollective(Operation *op) {
  auto collective = cast<CollectiveOpInterface>(op);
  if (op->getNumOperands() == 0 || op->getNumOperands() != op->getNumResults())
    return violates(op, 1) << "there are " << op->getNumOperands()
                           << " operands and " << op->getNumResults()
                           << " results";
  for (auto [from, to] :
       llvm::zip_equal(op->getOperandTypes(), op->getResultTypes()))
    if (dtensor::undecided(from) != dtensor::undecided(to))
      return violates(op, 2)
             << "the operand is a global " << dtensor::undecided(from)
             << ", the result a " << dtensor::undecided(to);
  if (failed(verifyAxes(op, collective.getAxes())))
    return failure();
  std::optional<ReduceKind> kind = collective.getReduceKind();
  for (unsigned index = 0; index < op->getNumOperands(); ++index) {
    CollectiveOp step = collectiveOf(op, index);
    if (Status ok = verify(step); !ok)
      return violates(op, 4) << ok.error().message();
    if (failed(verifyWindowsOf(op, index)))
      return failure();
    if (!kind)
      continue;
    for (Partial pending : step.from.partial())
      if (llvm::is_contained(step.axes, pending.axis) && pending.kind != *kind)
        return violates(op, 6) << "operand #" << index << " is partial by "
                               << meshloom::name(pending.kind) << ", not "
                               << meshloom::name(*kind);
  }
  int64_t bytes = resultBytes(op);
  if (collective.getBytes() && int64_t(*collective.getBytes()) != bytes)
    return violates(op, 5) << "the results take " << bytes << " bytes, not "
                           << int64_t(*collective.getBytes());
  return success();
}

#include "meshloom/Dialect/SPMD/CollectiveOpInterface.cpp.inc"

#define GET_OP_CLASSES
#include "meshloom/Dialect/SPMD/SPMDOps.cpp.inc"
