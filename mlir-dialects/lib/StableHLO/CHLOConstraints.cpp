// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Verifiers of chlo, which has no specification: constraints are numbered here,
// and say what StableHLO's own definition of the dialect demands.

#include "Constraints.h"

using namespace meshloom;
using namespace meshloom::chlo;
using mlir::ShapedType;

//===----------------------------------------------------------------------===//
// Tests of floats
//===----------------------------------------------------------------------===//

template <typename OpTy> static LogicalResult verifyTest(OpTy op) {
  return success(Constraints(op).sameShape(
      "C1", {op.getOperand().getType(), op.getType()}));
}

LogicalResult IsInfOp::verify() {
  return verifyTest(*this);
}
LogicalResult IsNegInfOp::verify() {
  return verifyTest(*this);
}
LogicalResult IsPosInfOp::verify() {
  return verifyTest(*this);
}

//===----------------------------------------------------------------------===//
// Broadcasts
//===----------------------------------------------------------------------===//

/// The shape that values of these shapes are broadcast to, the last dims of
/// which meet; nothing where they do not.
static std::optional<SmallVector<int64_t>>
broadcastShape(ArrayRef<ArrayRef<int64_t>> shapes) {
  size_t rank = 0;
  for (ArrayRef<int64_t> shape : shapes)
    rank = std::max(rank, shape.size());
  SmallVector<int64_t> result(rank, 1);
  for (ArrayRef<int64_t> shape : shapes)
    for (auto [i, size] : llvm::enumerate(llvm::reverse(shape))) {
      int64_t &met = result[rank - 1 - i];
      if (met == 1 || (ShapedType::isDynamic(met) && size != 1))
        met = size;
      else if (size != 1 && !agree(met, size))
        return std::nullopt;
    }
  return result;
}

/// The shapes of `operands` give that of the result (C2); only where there are
/// two, of different rank, are there `dimensions` (C1).
static bool broadcasts(const Constraints &c, ValueRange operands, Type result,
                       std::optional<ArrayRef<int64_t>> dimensions) {
  SmallVector<ArrayRef<int64_t>> shapes;
  for (Value operand : operands)
    shapes.push_back(shapeOf(operand));
  SmallVector<int64_t> expanded;
  // Where the dims of the operand of lower rank are, if they are not the last.
  if (dimensions && shapes[0].size() != shapes[1].size()) {
    bool leftIsSmall = shapes[0].size() < shapes[1].size();
    ArrayRef<int64_t> &small = leftIsSmall ? shapes[0] : shapes[1];
    ArrayRef<int64_t> large = leftIsSmall ? shapes[1] : shapes[0];
    if (!c.size("C1", "broadcast_dimensions", dimensions->size(),
                int64_t(small.size())) ||
        !c.inRange("C1", "broadcast_dimensions", *dimensions, 0,
                   int64_t(large.size())) ||
        !c.unique("C1", "broadcast_dimensions", *dimensions) ||
        !c.sorted("C1", "broadcast_dimensions", *dimensions))
      return false;
    expanded.assign(large.size(), 1);
    for (auto [dim, size] : llvm::zip_equal(*dimensions, small))
      expanded[dim] = size;
    small = expanded;
  }
  auto shape = broadcastShape(shapes);
  if (!shape) {
    c.violates("C2") << "cannot broadcast (" << operands.getTypes()
                     << ") to one shape";
    return false;
  }
  return c.shape("C2", "the result", result, *shape);
}

LogicalResult
meshloom::verifyBroadcast(Operation *op,
                          std::optional<ArrayRef<int64_t>> dimensions) {
  Constraints c(op);
  Type operand = op->getOperand(0).getType(),
       result = op->getResult(0).getType();
  if (!c.sameElement("C3", op->getOperandTypes()) ||
      !broadcasts(c, op->getOperands(), result, dimensions))
    return failure();
  if (!isa<BroadcastComplexOp>(op))
    return success(c.sameElement("C4", {operand, result}));
  auto complex = dyn_cast<mlir::ComplexType>(elementOf(result));
  return success(
      c.require(bool(complex), "C4", "the result must be of complex numbers") &&
      c.sameElement("C4", {complex.getElementType(), elementOf(operand)}));
}

LogicalResult BroadcastCompareOp::verify() {
  Constraints c(*this);
  return success(
      c.sameElement("C3", getOperandTypes()) &&
      broadcasts(c, getOperands(), getType(), getBroadcastDimensions()) &&
      c.require(elementOf(getType()).isInteger(1), "C4",
                "the result must be of i1"));
}

LogicalResult BroadcastSelectOp::verify() {
  Constraints c(*this);
  return success(c.require(elementOf(getPred().getType()).isInteger(1), "C3",
                           "pred must be of i1") &&
                 broadcasts(c, getOperands(), getType(), std::nullopt) &&
                 c.sameElement("C4", {getOnTrue().getType(),
                                      getOnFalse().getType(), getType()}));
}

//===----------------------------------------------------------------------===//
// Constants, top_k
//===----------------------------------------------------------------------===//

LogicalResult ConstantOp::verify() {
  return success(
      Constraints(*this).require(getValue().getType() == getType(), "C1",
                                 "the value and the result differ in type"));
}

LogicalResult ConstantLikeOp::verify() {
  Constraints c(*this);
  return success(c.require(getValue().getType() == elementOf(getType()), "C1",
                           "the value and the result differ in element type") &&
                 c.sameShape("C2", {getOperand().getType(), getType()}));
}

LogicalResult TopKOp::verify() {
  Constraints c(*this);
  int64_t k = int64_t(getK()), rank = rankOf(getOperand());
  if (!c.atLeast("C1", "the rank", rank, 1) || !c.atLeast("C2", "k", k, 0))
    return failure();
  SmallVector<int64_t> expected(shapeOf(getOperand()));
  if (!ShapedType::isDynamic(expected.back()) && k > expected.back())
    return c.violates("C2")
           << "asks for " << k << " of " << expected.back() << " elements";
  expected.back() = k;
  return success(
      c.sameElement("C3", {getOperand().getType(), getValues().getType()}) &&
      c.shape("C3", "values", getValues().getType(), expected) &&
      c.require(isa<IntegerType>(elementOf(getIndices().getType())), "C4",
                "indices must be integers") &&
      c.shape("C4", "indices", getIndices().getType(), expected));
}

//===----------------------------------------------------------------------===//
// scan
//===----------------------------------------------------------------------===//

/// A tensor's type without `dim`.
static RankedTensorType without(Type type, int64_t dim) {
  auto tensor = cast<RankedTensorType>(type);
  SmallVector<int64_t> shape(tensor.getShape());
  shape.erase(shape.begin() + dim);
  return RankedTensorType::get(shape, tensor.getElementType());
}

LogicalResult ScanOp::verify() {
  Constraints c(*this);
  int64_t dim = int64_t(getDimension());
  SmallVector<Type> scanned(getInputs().getTypes());
  llvm::append_range(scanned, getOutputs().getTypes());
  if (!c.require(!scanned.empty(), "C1", "expected an input or an output"))
    return failure();
  int64_t extent = ShapedType::kDynamic;
  if (auto size = getScanDimSize())
    extent = int64_t(*size);
  for (Type type : scanned) {
    auto tensor = cast<RankedTensorType>(type);
    if (!c.inRange("C2", "dimension", dim, 0, tensor.getRank()))
      return failure();
    if (!agree(tensor.getDimSize(dim), extent))
      return c.violates("C3") << "steps along dim " << dim << " of a " << type
                              << ", but there are " << extent << " steps";
    if (ShapedType::isDynamic(extent))
      extent = tensor.getDimSize(dim);
  }
  if (!agree(getInits().getTypes(), getCarries().getTypes()))
    return c.violates("C4")
           << "begins with (" << getInits().getTypes() << "), but ends with ("
           << getCarries().getTypes() << ")";
  return success();
}

LogicalResult ScanOp::verifyRegions() {
  Constraints c(*this);
  auto values = c.returned("C6", getBody());
  if (!values)
    return failure();
  int64_t dim = int64_t(getDimension());
  SmallVector<Type> taken, made;
  for (Type type : getInputs().getTypes())
    taken.push_back(without(type, dim));
  llvm::append_range(taken, getInits().getTypes());
  for (Type type : getOutputs().getTypes())
    made.push_back(without(type, dim));
  llvm::append_range(made, getCarries().getTypes());
  if (!agree(getBody().getArgumentTypes(), taken))
    return c.violates("C5")
           << "the body takes (" << getBody().getArgumentTypes()
           << "), expected (" << taken << ")";
  if (!agree(values->getTypes(), made))
    return c.violates("C6") << "the body returns (" << values->getTypes()
                            << "), expected (" << made << ")";
  return success();
}
