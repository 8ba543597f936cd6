// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Gradients of the ops between the places of a map, as each place sees them:
// what comes back to a place is the gradient of the sum over all places'
// targets.
#include "GradientRules.h"

#include "meshloom/Dialect/DTensor/Map.h"

namespace meshloom {

namespace {

Value sumOver(OpGradient &g, mlir::ArrayAttr axes, Value value) {
  return g.create<dtensor::AxisReduceOp>(
      g.getLoc(), g.typeOf(value), value, axes,
      dtensor::ReduceKindAttr::get(g.getContext(), ReduceKind::Sum));
}

} // namespace

/// The gradient of a maximum goes to the places that have it, in equal shares.
static void gradientOf(dtensor::AxisReduceOp op, OpGradient &g) {
  Value sum = sumOver(g, op.getAxes(), g.of());
  if (op.getKind() == ReduceKind::Sum)
    return g.give(0, sum);
  if (op.getKind() != ReduceKind::Max && op.getKind() != ReduceKind::Min)
    return g.refuse("a product over places");
  Value mine = g.convert(g.compare(dtensor::ComparisonDirection::EQ,
                                   op.getOperand(), op.getResult()),
                         g.typeOf(sum).getElementType());
  g.give(0, g.divide(g.multiply(sum, mine), sumOver(g, op.getAxes(), mine)));
}

static void gradientOf(dtensor::AxisGatherOp op, OpGradient &g) {
  Value sum = sumOver(g, g.getStrArrayAttr(op.getAxis()), g.of());
  g.give(0, g.create<dtensor::AxisPartOp>(
                g.getLoc(), g.typeOf(op.getOperand()), sum, op.getAxisAttr(),
                op.getDimensionAttr(), op.getSizesAttr()));
}

/// Zeros but for the part of this place.
static void gradientOf(dtensor::AxisPartOp op, OpGradient &g) {
  OpBuilder &b = g;
  RankedTensorType whole = g.typeOf(op.getOperand());
  int64_t dim = op.getDimension(),
          own = g.typeOf(op.getResult()).getDimSize(unsigned(dim));
  SmallVector<int32_t> starts{0};
  if (auto sizes = op.getSizes())
    for (int64_t size : sizes->drop_back())
      starts.push_back(starts.back() + int32_t(size));
  else
    for (int64_t start = own; own && start < whole.getDimSize(unsigned(dim));
         start += own)
      starts.push_back(int32_t(start));
  auto type = RankedTensorType::get(int64_t(starts.size()), b.getI32Type());
  Value allStarts = b.create<dtensor::ConstantOp>(
      g.getLoc(), type, DenseElementsAttr::get(type, ArrayRef(starts)));
  Value mine = b.create<dtensor::AxisPartOp>(
      g.getLoc(), RankedTensorType::get(1, b.getI32Type()), allStarts,
      op.getAxisAttr(), b.getI64IntegerAttr(0), mlir::DenseI64ArrayAttr());
  Value start = g.reshape(mine, {});
  SmallVector<Value> indices(size_t(whole.getRank()), g.like(start, 0));
  indices[size_t(dim)] = start;
  g.give(0, b.create<dtensor::DynamicUpdateSliceOp>(g.getLoc(), g.zeros(whole),
                                                    g.of(), indices));
}

void attachMapGradients(MLIRContext *context) {
  using namespace dtensor;
  attachGradients<AxisReduceOp, AxisGatherOp, AxisPartOp>(context);
}

} // namespace meshloom
