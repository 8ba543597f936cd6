// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Gradient rules of the elementwise ops. Where a derivative does not exist they
// give what JAX gives: half to each side of a tie of maximum and minimum, 0 for
// abs at 0.
#include "GradientRules.h"

#include <numbers>

namespace meshloom {

using dtensor::ComparisonDirection;

//===----------------------------------------------------------------------===//
// Unary: y = f(x)
//===----------------------------------------------------------------------===//

static bool isComplex(Value value) {
  return isa<mlir::ComplexType>(dtensor::elementTypeOf(value.getType()));
}

static void gradientOf(dtensor::NegateOp op, OpGradient &g) {
  g.give(0, g.negate(g.of()));
}

/// The gradient of a complex number points along the way to it: z / |z|.
static void gradientOf(dtensor::AbsOp op, OpGradient &g) {
  if (isComplex(op.getOperand())) {
    Value sign = g.apply<dtensor::SignOp>(op.getOperand());
    Value wide = g.convert(g.of(), g.typeOf(sign).getElementType());
    return g.give(0, g.multiply(wide, sign));
  }
  g.give(0, g.multiply(g.of(), g.apply<dtensor::SignOp>(op.getOperand())));
}

// Piecewise constant: the gradient exists and is 0.
static void giveZero(OpGradient &g) {
  g.give(0, g.like(g.of(), 0));
}
/// The gradient of a complex number is the part that turns it, s i Im(conj(s)
/// g) / |z|; 0 at 0.
static void gradientOf(dtensor::SignOp op, OpGradient &g) {
  if (!isComplex(op.getOperand()))
    return giveZero(g);
  Value sign = op.getResult(), size = g.apply<dtensor::AbsOp>(op.getOperand());
  Value turn = g.apply<dtensor::ImagOp>(g.multiply(g.conjugate(sign), g.of()));
  Value none = g.compare(ComparisonDirection::EQ, size, g.like(size, 0));
  Value rate = g.divide(turn, g.select(none, g.like(size, 1), size));
  Value turning = g.apply<dtensor::ComplexOp>(g.like(rate, 0), rate);
  g.give(0, g.multiply(sign, turning));
}
static void gradientOf(dtensor::RoundNearestAfzOp, OpGradient &g) {
  giveZero(g);
}
static void gradientOf(dtensor::FloorOp, OpGradient &g) {
  giveZero(g);
}
static void gradientOf(dtensor::CeilOp, OpGradient &g) {
  giveZero(g);
}
static void gradientOf(dtensor::RoundOp, OpGradient &g) {
  giveZero(g);
}

static void gradientOf(dtensor::ExpOp op, OpGradient &g) {
  g.give(0, g.multiply(g.of(), op.getResult()));
}

static void gradientOf(dtensor::Expm1Op op, OpGradient &g) {
  g.give(0, g.multiply(g.of(), g.add(op.getResult(), 1)));
}

static void gradientOf(dtensor::LogOp op, OpGradient &g) {
  g.give(0, g.divide(g.of(), op.getOperand()));
}

static void gradientOf(dtensor::Log1pOp op, OpGradient &g) {
  g.give(0, g.divide(g.of(), g.add(op.getOperand(), 1)));
}

static void gradientOf(dtensor::SqrtOp op, OpGradient &g) {
  g.give(0, g.divide(g.multiply(g.of(), 0.5), op.getResult()));
}

/// -1/2 x^(-3/2)
static void gradientOf(dtensor::RsqrtOp op, OpGradient &g) {
  g.give(0, g.multiply(
                g.of(),
                g.multiply(g.divide(op.getResult(), op.getOperand()), -0.5)));
}

/// 1/3 x^(-2/3)
static void gradientOf(dtensor::CbrtOp op, OpGradient &g) {
  Value y = op.getResult();
  g.give(0, g.divide(g.multiply(g.of(), 1.0 / 3), g.multiply(y, y)));
}

static void gradientOf(dtensor::TanhOp op, OpGradient &g) {
  Value y = op.getResult(), one = g.like(y, 1);
  g.give(0, g.multiply(g.of(), g.multiply(g.subtract(one, y), g.add(one, y))));
}

static void gradientOf(dtensor::LogisticOp op, OpGradient &g) {
  Value y = op.getResult();
  g.give(0, g.multiply(g.of(), g.multiply(y, g.subtract(g.like(y, 1), y))));
}

static void gradientOf(dtensor::SineOp op, OpGradient &g) {
  g.give(0, g.multiply(g.of(), g.apply<dtensor::CosineOp>(op.getOperand())));
}

static void gradientOf(dtensor::CosineOp op, OpGradient &g) {
  g.give(0, g.negate(
                g.multiply(g.of(), g.apply<dtensor::SineOp>(op.getOperand()))));
}

/// 1 + y^2
static void gradientOf(dtensor::TanOp op, OpGradient &g) {
  Value y = op.getResult();
  g.give(0, g.multiply(g.of(), g.add(g.multiply(y, y), 1)));
}

/// The gradient is as if nothing was rounded.
static void gradientOf(dtensor::ReducePrecisionOp op, OpGradient &g) {
  g.give(0, g.of());
}

static void gradientOf(dtensor::RealOp op, OpGradient &g) {
  g.give(0, g.convert(g.of(), g.typeOf(op.getOperand()).getElementType()));
}

static void gradientOf(dtensor::ImagOp op, OpGradient &g) {
  Value zero = g.like(g.of(), 0);
  g.give(0, !isComplex(op.getOperand())
                ? zero
                : g.apply<dtensor::ComplexOp>(zero, g.of()));
}

/// 2 / sqrt(pi) exp(-x^2)
static void gradientOf(dtensor::ErfOp op, OpGradient &g) {
  Value x = op.getOperand();
  Value density = g.apply<dtensor::ExpOp>(g.negate(g.multiply(x, x)));
  g.give(0,
         g.multiply(g.of(), g.multiply(density, 2 * std::numbers::inv_sqrtpi)));
}

static void gradientOf(dtensor::ConvertOp op, OpGradient &g) {
  g.give(0, g.convert(g.of(), g.typeOf(op.getOperand()).getElementType()));
}

//===----------------------------------------------------------------------===//
// Binary: z = f(x, y)
//===----------------------------------------------------------------------===//

static void gradientOf(dtensor::AddOp op, OpGradient &g) {
  g.give(0, g.of());
  g.give(1, g.of());
}

static void gradientOf(dtensor::SubtractOp op, OpGradient &g) {
  g.give(0, g.of());
  if (g.wants(1))
    g.give(1, g.negate(g.of()));
}

static void gradientOf(dtensor::MultiplyOp op, OpGradient &g) {
  if (g.wants(0))
    g.give(0, g.multiply(g.of(), op.getRhs()));
  if (g.wants(1))
    g.give(1, g.multiply(g.of(), op.getLhs()));
}

static void gradientOf(dtensor::ComplexOp op, OpGradient &g) {
  if (g.wants(0))
    g.give(0, g.apply<dtensor::RealOp>(g.of()));
  if (g.wants(1))
    g.give(1, g.apply<dtensor::ImagOp>(g.of()));
}

/// dy = g x / (x^2 + y^2), dx = -g y / (x^2 + y^2)
static void gradientOf(dtensor::Atan2Op op, OpGradient &g) {
  Value y = op.getLhs(), x = op.getRhs();
  Value rate = g.divide(g.of(), g.add(g.multiply(x, x), g.multiply(y, y)));
  if (g.wants(0))
    g.give(0, g.multiply(rate, x));
  if (g.wants(1))
    g.give(1, g.negate(g.multiply(rate, y)));
}

/// dx = g / y, dy = -g x / y^2
static void gradientOf(dtensor::DivideOp op, OpGradient &g) {
  Value overY = g.divide(g.of(), op.getRhs());
  g.give(0, overY);
  if (g.wants(1))
    g.give(1, g.negate(g.multiply(overY, op.getResult())));
}

/// x - y trunc(x / y)
static void gradientOf(dtensor::RemainderOp op, OpGradient &g) {
  g.give(0, g.of());
  if (!g.wants(1))
    return;
  Value ratio = g.divide(op.getLhs(), op.getRhs());
  Value whole =
      g.multiply(g.apply<dtensor::SignOp>(ratio),
                 g.apply<dtensor::FloorOp>(g.apply<dtensor::AbsOp>(ratio)));
  g.give(1, g.negate(g.multiply(g.of(), whole)));
}

/// dx = g y x^(y - 1), 0 where y is 0; dy = g x^y log x, 0 where x is 0.
static void gradientOf(dtensor::PowerOp op, OpGradient &g) {
  Value x = op.getLhs(), y = op.getRhs();
  if (g.wants(0)) {
    Value zero = g.like(y, 0), one = g.like(y, 1);
    Value none = g.compare(ComparisonDirection::EQ, y, zero);
    Value exponent = g.select(none, one, g.subtract(y, one));
    Value slope = g.multiply(y, g.apply<dtensor::PowerOp>(x, exponent));
    g.give(0, g.multiply(g.of(), g.select(none, zero, slope)));
  }
  if (g.wants(1)) {
    Value none = g.compare(ComparisonDirection::EQ, x, g.like(x, 0));
    Value log = g.apply<dtensor::LogOp>(g.select(none, g.like(x, 1), x));
    g.give(1, g.multiply(g.of(), g.multiply(op.getResult(), log)));
  }
}

/// All to the side that won, half to each at a tie.
template <typename Op>
static void extremeGradient(Op op, OpGradient &g, ComparisonDirection wins) {
  Value sides[] = {op.getLhs(), op.getRhs()};
  for (unsigned i : {0, 1}) {
    if (!g.wants(i))
      continue;
    Value tie = g.compare(ComparisonDirection::EQ, sides[i], sides[1 - i]);
    Value won = g.compare(wins, sides[i], sides[1 - i]);
    g.give(i, g.select(won, g.of(), g.keepIf(tie, g.multiply(g.of(), 0.5))));
  }
}
static void gradientOf(dtensor::MaximumOp op, OpGradient &g) {
  extremeGradient(op, g, ComparisonDirection::GT);
}
static void gradientOf(dtensor::MinimumOp op, OpGradient &g) {
  extremeGradient(op, g, ComparisonDirection::LT);
}

//===----------------------------------------------------------------------===//
// Choice
//===----------------------------------------------------------------------===//

static void gradientOf(dtensor::SelectOp op, OpGradient &g) {
  Value zero = g.like(g.of(), 0);
  if (g.wants(1))
    g.give(1, g.select(op.getPred(), g.of(), zero));
  if (g.wants(2))
    g.give(2, g.select(op.getPred(), zero, g.of()));
}

/// The operand's gradient passes strictly between the bounds; a bound gets it
/// where it was exceeded.
static void gradientOf(dtensor::ClampOp op, OpGradient &g) {
  Value x = op.getOperand();
  auto spread = [&](Value bound) {
    return g.typeOf(bound) == g.typeOf(x)
               ? bound
               : g.broadcast(bound, g.typeOf(x).getShape(), {});
  };
  Value low = spread(op.getMin()), high = spread(op.getMax());
  if (g.wants(1)) {
    Value above = g.compare(ComparisonDirection::GT, x, low);
    Value below = g.compare(ComparisonDirection::LT, x, high);
    g.give(1, g.keepIf(above, g.keepIf(below, g.of())));
  }
  auto giveBound = [&](unsigned i, Value bound, Value spreadBound,
                       ComparisonDirection exceeded) {
    if (!g.wants(i))
      return;
    Value gradient = g.keepIf(g.compare(exceeded, x, spreadBound), g.of());
    if (g.typeOf(bound) != g.typeOf(x))
      gradient =
          g.sum(gradient,
                llvm::to_vector(llvm::seq<int64_t>(0, g.typeOf(x).getRank())));
    g.give(i, gradient);
  };
  giveBound(0, op.getMin(), low, ComparisonDirection::LT);
  giveBound(2, op.getMax(), high, ComparisonDirection::GT);
}

void attachElementwiseGradients(MLIRContext *context) {
  using namespace dtensor;
  attachGradients<NegateOp, AbsOp, SignOp, RoundNearestAfzOp, FloorOp, CeilOp,
                  RoundOp, CbrtOp, ReducePrecisionOp, RealOp, ImagOp, ErfOp,
                  ConvertOp, AddOp, SubtractOp, ComplexOp, Atan2Op, RemainderOp,
                  MaximumOp, MinimumOp, SelectOp, ClampOp>(context);
  attachDerivatives<ExpOp, Expm1Op, LogOp, Log1pOp, SqrtOp, RsqrtOp, TanhOp,
                    LogisticOp, SineOp, CosineOp, TanOp, MultiplyOp, DivideOp,
                    PowerOp>(context);
}

} // namespace meshloom
