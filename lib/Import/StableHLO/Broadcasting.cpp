// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// chlo's binary ops that broadcast: operands are given the result's shape.
#include "ScalarMath.h"
#include "meshloom/Math/FloatMath.h"

using namespace meshloom;
using namespace meshloom::importer;

/// `value` as `shape`: its dims are the last ones, or for the one of lower rank
/// `dimensions`.
static FailureOr<Value>
broadcastTo(Importer &im, Value value, ArrayRef<int64_t> shape,
            std::optional<ArrayRef<int64_t>> dimensions) {
  LaneBuilder &b = im.b;
  int64_t rank = b.rankOf(value), target = int64_t(shape.size());
  if (ArrayRef<int64_t>(b.shapeOf(value)) == shape)
    return value;
  SmallVector<int64_t> dims;
  if (dimensions && int64_t(dimensions->size()) == rank && rank < target)
    dims.assign(dimensions->begin(), dimensions->end());
  else
    for (int64_t dim = 0; dim < rank; ++dim)
      dims.push_back(dim + target - rank);
  for (auto [dim, size] : llvm::zip_equal(dims, b.shapeOf(value)))
    if (dim < 0 || dim >= target || (size != 1 && size != shape[dim]))
      return im.error("cannot broadcast a ")
             << b.typeOf(value) << " to the result's shape";
  return b.broadcast(value, shape, dims);
}

using Combine =
    std::function<Value(Importer &, ArrayRef<Value>, RankedTensorType)>;

template <typename OpTy>
static void addBroadcast(Handlers &handlers, const Combine &combine) {
  handlers.add<OpTy>([combine](Importer &im, OpTy op) -> FailureOr<Value> {
    RankedTensorType type = Importer::typeOf(op.getResult());
    SmallVector<Value> operands;
    for (Value operand : im.get({op.getLhs(), op.getRhs()})) {
      auto value = broadcastTo(im, operand, type.getShape(),
                               op.getBroadcastDimensions());
      if (failed(value))
        return failure();
      operands.push_back(*value);
    }
    return combine(im, operands, type);
  });
}

template <typename From, typename To> static void same(Handlers &handlers) {
  addBroadcast<From>(handlers, [](Importer &im, ArrayRef<Value> operands,
                                  RankedTensorType type) {
    return im.b.apply<To>(operands, type);
  });
}

/// One that has a formula of its own for complex numbers.
template <typename From, typename To>
static void special(Handlers &handlers, StringRef name) {
  addBroadcast<From>(handlers, [name](Importer &im, ArrayRef<Value> operands,
                                      RankedTensorType) {
    return applyElementwise<To>(im, name, operands);
  });
}

static FailureOr<Value> importBroadcastCompare(Importer &im,
                                               chlo::BroadcastCompareOp op) {
  using From = chlo::ComparisonDirection;
  using To = dtensor::ComparisonDirection;
  RankedTensorType type = Importer::typeOf(op.getResult());
  auto lhs = broadcastTo(im, im.get(op.getLhs()), type.getShape(),
                         op.getBroadcastDimensions());
  auto rhs = broadcastTo(im, im.get(op.getRhs()), type.getShape(),
                         op.getBroadcastDimensions());
  if (failed(lhs) || failed(rhs))
    return failure();
  auto direction = [&] {
    switch (op.getComparisonDirection()) {
    case From::EQ:
      return To::EQ;
    case From::NE:
      return To::NE;
    case From::GE:
      return To::GE;
    case From::GT:
      return To::GT;
    case From::LE:
      return To::LE;
    case From::LT:
      return To::LT;
    }
    return To::EQ;
  };
  return im.b.compare(direction(), *lhs, *rhs);
}

static FailureOr<Value> importBroadcastSelect(Importer &im,
                                              chlo::BroadcastSelectOp op) {
  RankedTensorType type = Importer::typeOf(op.getResult());
  auto onTrue =
      broadcastTo(im, im.get(op.getOnTrue()), type.getShape(), std::nullopt);
  auto onFalse =
      broadcastTo(im, im.get(op.getOnFalse()), type.getShape(), std::nullopt);
  auto pred =
      broadcastTo(im, im.get(op.getPred()), type.getShape(), std::nullopt);
  if (failed(onTrue) || failed(onFalse) || failed(pred))
    return failure();
  return im.b.select(*pred, *onTrue, *onFalse);
}

void importer::addBroadcasting(Handlers &handlers) {
  same<chlo::BroadcastAddOp, dtensor::AddOp>(handlers);
  same<chlo::BroadcastAndOp, dtensor::AndOp>(handlers);
  special<chlo::BroadcastAtan2Op, dtensor::Atan2Op>(handlers, "atan2");
  same<chlo::BroadcastComplexOp, dtensor::ComplexOp>(handlers);
  same<chlo::BroadcastDivOp, dtensor::DivideOp>(handlers);
  special<chlo::BroadcastMaxOp, dtensor::MaximumOp>(handlers, "maximum");
  special<chlo::BroadcastMinOp, dtensor::MinimumOp>(handlers, "minimum");
  same<chlo::BroadcastMulOp, dtensor::MultiplyOp>(handlers);
  same<chlo::BroadcastOrOp, dtensor::OrOp>(handlers);
  same<chlo::BroadcastPowOp, dtensor::PowerOp>(handlers);
  same<chlo::BroadcastRemOp, dtensor::RemainderOp>(handlers);
  same<chlo::BroadcastShiftLeftOp, dtensor::ShiftLeftOp>(handlers);
  same<chlo::BroadcastShiftRightArithmeticOp, dtensor::ShiftRightArithmeticOp>(
      handlers);
  same<chlo::BroadcastShiftRightLogicalOp, dtensor::ShiftRightLogicalOp>(
      handlers);
  same<chlo::BroadcastSubOp, dtensor::SubtractOp>(handlers);
  same<chlo::BroadcastXorOp, dtensor::XorOp>(handlers);
  addBroadcast<chlo::BroadcastNextAfterOp>(
      handlers, [](Importer &im, ArrayRef<Value> operands, RankedTensorType) {
        return FloatMath(im.b).nextAfter(operands[0], operands[1]);
      });
  addBroadcast<chlo::BroadcastPolygammaOp>(
      handlers,
      [](Importer &im, ArrayRef<Value> operands, RankedTensorType type) {
        FloatMath m(im.b);
        return m.finish(
            m.polygamma(m.compute(operands[0]), m.compute(operands[1])),
            type.getElementType());
      });
  addBroadcast<chlo::BroadcastZetaOp>(
      handlers,
      [](Importer &im, ArrayRef<Value> operands, RankedTensorType type) {
        FloatMath m(im.b);
        return m.finish(m.zeta(m.compute(operands[0]), m.compute(operands[1])),
                        type.getElementType());
      });
  handlers.add<chlo::BroadcastCompareOp>(importBroadcastCompare);
  handlers.add<chlo::BroadcastSelectOp>(importBroadcastSelect);
}
