// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// reduce: by a plain kind, as argmax and argmin write it, or by any function.
#include "Importer.h"

#include "meshloom/Dialect/DTensor/ElementwiseRegion.h"

using namespace meshloom;
using namespace meshloom::importer;

/// Reduces by `kind` and combines with the init values once.
static SmallVector<Value> plainReduce(Importer &im, ReduceKind kind,
                                      ArrayRef<Value> inputs,
                                      ArrayRef<Value> inits,
                                      ArrayRef<int64_t> dimensions) {
  LaneBuilder &b = im.b;
  SmallVector<Value> results;
  for (auto [input, init] : llvm::zip_equal(inputs, inits)) {
    Value result =
        b.convert(b.reduce(kind, input, dimensions), b.elementOf(init));
    if (!im.isIdentity(kind, init))
      result = b.combine(kind, b.broadcast(init, b.shapeOf(result)), result);
    results.push_back(result);
  }
  return results;
}

/// The directions that a compare of `lhs` and `rhs` may have, if `value` is
/// one.
static bool isCompare(Value value, Value lhs, Value rhs,
                      stablehlo::ComparisonDirection direction) {
  auto compare = value.getDefiningOp<stablehlo::CompareOp>();
  return compare && compare.getLhs() == lhs && compare.getRhs() == rhs &&
         compare.getComparisonDirection() == direction;
}

/// Returns whether a reducer is JAX's for argmax (Max) or argmin (Min): of two
/// values and their indices it keeps the larger value, a nan before numbers,
/// the lower index among equal ones.
static std::optional<ReduceKind> argReducer(Region &region) {
  using Direction = stablehlo::ComparisonDirection;
  Block &block = region.front();
  if (block.getNumArguments() != 4 ||
      block.getTerminator()->getNumOperands() != 2)
    return std::nullopt;
  auto value =
      block.getTerminator()->getOperand(0).getDefiningOp<stablehlo::SelectOp>();
  auto index =
      block.getTerminator()->getOperand(1).getDefiningOp<stablehlo::SelectOp>();
  if (!value || !index)
    return std::nullopt;
  Value x = value.getOnTrue(), y = value.getOnFalse(), xi = index.getOnTrue(),
        yi = index.getOnFalse();
  bool straight = x == block.getArgument(0) && xi == block.getArgument(1) &&
                  y == block.getArgument(2) && yi == block.getArgument(3);
  bool crossed = x == block.getArgument(2) && xi == block.getArgument(3) &&
                 y == block.getArgument(0) && yi == block.getArgument(1);
  if (!straight && !crossed)
    return std::nullopt;

  Value better = value.getPred();
  if (auto either = better.getDefiningOp<stablehlo::OrOp>())
    if (isCompare(either.getRhs(), x, x, Direction::NE))
      better = either.getLhs();
  std::optional<ReduceKind> kind;
  if (isCompare(better, x, y, Direction::GT))
    kind = ReduceKind::Max;
  else if (isCompare(better, x, y, Direction::LT))
    kind = ReduceKind::Min;
  auto lower = index.getPred().getDefiningOp<stablehlo::OrOp>();
  auto tie = lower && lower.getLhs() == value.getPred()
                 ? lower.getRhs().getDefiningOp<stablehlo::AndOp>()
                 : stablehlo::AndOp();
  if (!tie || !isCompare(tie.getLhs(), x, y, Direction::EQ) ||
      !isCompare(tie.getRhs(), xi, yi, Direction::LT))
    return std::nullopt;
  return kind;
}

/// Returns whether `value` counts up from 0 along `dim`.
static bool isIota(Value value, int64_t dim) {
  while (auto moved = value.getDefiningOp<dtensor::BroadcastInDimOp>()) {
    auto dims = moved.getBroadcastDimensions();
    const auto *found = llvm::find(dims, dim);
    if (found == dims.end() ||
        dtensor::globalShape(moved.getType())[dim] !=
            dtensor::globalShape(
                moved.getOperand().getType())[found - dims.begin()])
      return false;
    dim = found - dims.begin();
    value = moved.getOperand();
  }
  auto iota = value.getDefiningOp<dtensor::IotaOp>();
  return iota && int64_t(iota.getIotaDimension()) == dim;
}

static std::optional<SmallVector<Value>> argReduce(Importer &im,
                                                   stablehlo::ReduceOp op,
                                                   ArrayRef<Value> inputs,
                                                   ArrayRef<Value> inits) {
  LaneBuilder &b = im.b;
  if (inputs.size() != 2 || op.getDimensions().size() != 1)
    return std::nullopt;
  std::optional<ReduceKind> kind = argReducer(op.getBody());
  int64_t dim = op.getDimensions()[0];
  Type element = b.elementOf(inputs[1]);
  bool fits =
      kind &&
      (element.isSignlessInteger(32) || element.isSignlessInteger(64)) &&
      !isa<mlir::ComplexType>(b.elementOf(inputs[0])) &&
      !b.elementOf(inputs[0]).isInteger(1) && b.lanesOf(inputs[1]).empty() &&
      isIota(inputs[1], dim) && im.isIdentity(*kind, inits[0]) &&
      im.isIdentity(ReduceKind::Sum, inits[1]) && b.shapeOf(inputs[0])[dim] > 0;
  if (!fits)
    return std::nullopt;
  Lanes lanes(b.lanesOf(inputs[0]));
  Value values = b.reduce(*kind, inputs[0], dim);
  NamedAttribute dimension = b.number("dimension", dim);
  auto type = b.typeOf(values).clone(element);
  Value indices =
      *kind == ReduceKind::Max
          ? b.make<dtensor::ArgMaxOp>({type}, inputs[0], lanes, dimension)[0]
          : b.make<dtensor::ArgMinOp>({type}, inputs[0], lanes, dimension)[0];
  return SmallVector<Value>{values, indices};
}

static Imported importReduce(Importer &im, stablehlo::ReduceOp op) {
  LaneBuilder &b = im.b;
  SmallVector<Value> inputs = im.get(op.getInputs()),
                     inits = im.get(op.getInitValues());
  if (inputs.empty())
    return im.error("reduce needs at least one operand");
  const std::optional<ReduceKind> kind =
      inputs.size() == 1 ? Importer::kindOf(op.getBody()) : std::nullopt;
  // The largest of numbers is one of them: no wider type is to be sent.
  if (kind != ReduceKind::Max && kind != ReduceKind::Min)
    inputs = im.promoted(op.getBody(), inputs);
  inits = im.promoted(op.getBody(), inits);
  for (int64_t dim : op.getDimensions())
    if (dim < 0 || dim >= b.rankOf(inputs[0]))
      return im.error("reduces dim ")
             << dim << " of a tensor of rank " << b.rankOf(inputs[0]);
  for (Value init : inits)
    if (b.rankOf(init) != 0)
      return im.error("init values of reduce must be scalars");
  if (kind)
    return plainReduce(im, *kind, inputs, inits, op.getDimensions());
  if (auto results = argReduce(im, op, inputs, inits))
    return *results;

  inputs = b.aligned(inputs);
  Lanes lanes = b.lanesOf(inputs);
  SmallVector<RankedTensorType> types;
  for (Value result : op->getResults())
    types.push_back(Importer::typeOf(result));
  if (!b.lanesOf(inits).empty())
    return im.error("this reducer's init values differ from device to device; "
                    "only sum, prod, min, max, and, or take such ones");
  SmallVector<Value> operands = inputs;
  llvm::append_range(operands, inits);
  SmallVector<Value> results = b.make<dtensor::GenericReduceOp>(
      types, operands, lanes, b.list("dimensions", op.getDimensions()));
  Operation *reduction = results[0].getDefiningOp();
  reduction->setAttr(dtensor::associativeAttrName, b.getUnitAttr());
  if (failed(im.importScalarRegion(op.getBody(), reduction->getRegion(0))))
    return failure();
  return results;
}

void importer::addReductions(Handlers &handlers) {
  handlers.add<stablehlo::ReduceOp>(importReduce);
}
