// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Complex functions by their textbook formulas on real parts. complex<f32> is
// computed in f64, where nothing overflows and cancellation costs nothing that
// is seen; only +, - and * stay in f32. For complex<f64> the formulas are
// arranged so that they neither overflow early nor cancel (W. Kahan, "Branch
// cuts for complex elementary functions", 1987). They are straight-line code:
// what must not be computed is selected away.
#include "ComplexLowering.h"

#include "meshloom/Dialect/DTensor/DTensor.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

#include <cmath>
#include <limits>

using namespace meshloom;
using namespace meshloom::dtensor;
namespace arith = mlir::arith;
namespace math = mlir::math;

namespace {
constexpr double infinity = std::numeric_limits<double>::infinity();

/// A float scalar with operators, so that formulas read as formulas.
struct Real {
  OpBuilder *b;
  Location loc;
  Value v;
  /// Says that this number, or those that it was computed of, were f32: f64 has
  /// the squares and the quotients of all such.
  bool isWidened = false;

  Real with(Value value) const { return {b, loc, value, isWidened}; }
  Real number(double value) const {
    return with(
        b->create<arith::ConstantOp>(loc, b->getFloatAttr(v.getType(), value)));
  }
  template <typename Op> Real apply() const {
    return with(b->create<Op>(loc, v));
  }
  template <typename Op> Real apply(Real y) const {
    return with(b->create<Op>(loc, v, y.v));
  }
  Real abs() const { return apply<math::AbsFOp>(); }
  Real withSignOf(Real y) const { return apply<math::CopySignOp>(y); }
  Real test(arith::CmpFPredicate predicate, Real y) const {
    return with(b->create<arith::CmpFOp>(loc, predicate, v, y.v));
  }
  /// This condition's choice.
  Real select(Real yes, Real no) const {
    return with(b->create<arith::SelectOp>(loc, v, yes.v, no.v));
  }
  Real both(Real other) const { return apply<arith::AndIOp>(other); }
  Real either(Real other) const { return apply<arith::OrIOp>(other); }
};
Real operator+(Real x, Real y) {
  return x.apply<arith::AddFOp>(y);
}
Real operator-(Real x, Real y) {
  return x.apply<arith::SubFOp>(y);
}
Real operator*(Real x, Real y) {
  return x.apply<arith::MulFOp>(y);
}
Real operator/(Real x, Real y) {
  return x.apply<arith::DivFOp>(y);
}
Real operator-(Real x) {
  return x.apply<arith::NegFOp>();
}
Real operator+(Real x, double y) {
  return x + x.number(y);
}
Real operator-(Real x, double y) {
  return x - x.number(y);
}
Real operator*(Real x, double y) {
  return x * x.number(y);
}
Real operator<(Real x, Real y) {
  return x.test(arith::CmpFPredicate::OLT, y);
}
Real operator<(Real x, double y) {
  return x < x.number(y);
}
Real equals(Real x, Real y) {
  return x.test(arith::CmpFPredicate::OEQ, y);
}
Real equals(Real x, double y) {
  return equals(x, x.number(y));
}
Real isNan(Real x) {
  return x.test(arith::CmpFPredicate::UNO, x);
}
Real isInfinite(Real x) {
  return equals(x.abs(), infinity);
}
Real exp(Real x) {
  return x.apply<math::ExpOp>();
}
Real expm1(Real x) {
  return x.apply<math::ExpM1Op>();
}
Real log(Real x) {
  return x.apply<math::LogOp>();
}
Real log1p(Real x) {
  return x.apply<math::Log1pOp>();
}
Real sqrt(Real x) {
  return x.apply<math::SqrtOp>();
}
Real sin(Real x) {
  return x.apply<math::SinOp>();
}
Real cos(Real x) {
  return x.apply<math::CosOp>();
}
Real tan(Real x) {
  return x.apply<math::TanOp>();
}
Real atan2(Real y, Real x) {
  return y.apply<math::Atan2Op>(x);
}

struct Pair {
  Real re, im;
};
Pair operator+(Pair x, Pair y) {
  return {x.re + y.re, x.im + y.im};
}
Pair operator-(Pair x, Pair y) {
  return {x.re - y.re, x.im - y.im};
}
Pair operator*(Pair x, Pair y) {
  return {x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re};
}
Pair operator-(Pair x) {
  return {-x.re, -x.im};
}
Pair choose(Real condition, Pair yes, Pair no) {
  return {condition.select(yes.re, no.re), condition.select(yes.im, no.im)};
}
Pair timesI(Pair z) {
  return {-z.im, z.re};
}

/// The larger and the smaller of the parts' magnitudes.
struct Sizes {
  Real large, small;
};
Sizes sizesOf(Pair z) {
  Real a = z.re.abs(), b = z.im.abs();
  Real swap = a < b;
  return {swap.select(b, a), swap.select(a, b)};
}

Real squaredAbsolute(Pair z) {
  return z.re * z.re + z.im * z.im;
}

/// C's hypot: infinite where a part is, whatever the other one is.
Real absolute(Pair z) {
  if (z.re.isWidened) {
    Real size = sqrt(squaredAbsolute(z));
    Real infinite = isInfinite(z.re).either(isInfinite(z.im));
    return infinite.select(size.number(infinity), size);
  }
  auto [large, small] = sizesOf(z);
  Real ratio = small / large;
  Real size = large * sqrt(ratio * ratio + 1.0);
  size = equals(large, 0).select(small, size); // 0, or nan beside a 0
  Real infinite = isInfinite(z.re).either(isInfinite(z.im));
  return infinite.select(size.number(infinity), size);
}

/// By Smith's method, where the square of |y| may be out of range.
Pair quotientOf(Pair x, Pair y) {
  if (x.re.isWidened) {
    Real inverse = y.re.number(1) / squaredAbsolute(y);
    return {(x.re * y.re + x.im * y.im) * inverse,
            (x.im * y.re - x.re * y.im) * inverse};
  }
  Real c = y.re, d = y.im;
  Real wide = d.abs() < c.abs();
  Real ratio = wide.select(d, c) / wide.select(c, d);
  Real denominator = wide.select(c + d * ratio, c * ratio + d);
  return {wide.select(x.re + x.im * ratio, x.re * ratio + x.im) / denominator,
          wide.select(x.im - x.re * ratio, x.im * ratio - x.re) / denominator};
}

/// The quotient, then what C99's Annex G recovers from nan.
Pair divide(Pair x, Pair y) {
  Real c = y.re, d = y.im;
  Pair quotient = quotientOf(x, y);
  Real lost = isNan(quotient.re).both(isNan(quotient.im));
  Real infinite = isInfinite(x.re).either(isInfinite(x.im));
  Real divisorInfinite = isInfinite(c).either(isInfinite(d));
  auto isFinite = [](Pair z) {
    return (z.re.abs() < infinity).both(z.im.abs() < infinity);
  };
  auto unit = [](Real v) { // 1 for an infinity, else 0, with the sign
    return isInfinite(v).select(v.number(1), v.number(0)).withSignOf(v);
  };
  // By zero: infinite, unless both parts are nan.
  Real zero = equals(c, 0).both(equals(d, 0));
  Real huge = c.number(infinity).withSignOf(c);
  Pair result = choose(lost.both(zero), {huge * x.re, huge * x.im}, quotient);
  // Infinite by finite, finite by infinite.
  Pair a = {unit(x.re), unit(x.im)};
  Pair overflow = {(a.re * c + a.im * d) * infinity,
                   (a.im * c - a.re * d) * infinity};
  result = choose(lost.both(infinite).both(isFinite(y)), overflow, result);
  Pair s = {unit(c), unit(d)};
  Pair underflow = {(x.re * s.re + x.im * s.im) * 0.0,
                    (x.im * s.re - x.re * s.im) * 0.0};
  return choose(lost.both(divisorInfinite).both(isFinite(x)), underflow,
                result);
}

/// The value of a part that is a constant.
std::optional<double> constantOf(Real part) {
  FloatAttr number;
  if (!matchPattern(part.v, mlir::m_Constant(&number)))
    return std::nullopt;
  return number.getValueAsDouble();
}

/// The quotient by a number on the real axis, `divisor`, whose imaginary part
/// is `zero`: its parts are those of x over the number. As in divide(), a part
/// is nan beside an infinite one, unless it is infinite as well.
Pair divideByReal(Pair x, double divisor, double zero) {
  Pair signedX = divisor < 0 ? -x : x;
  auto part = [&](Real direct, Real crossed) {
    return isInfinite(direct).select(direct, crossed) /
           direct.number(std::abs(divisor));
  };
  return {part(signedX.re, signedX.re + x.im * zero),
          part(signedX.im, signedX.im - x.re * zero)};
}

/// e^a (cos b + i sin b), in two halves as e^a alone may overflow.
Pair exponential(Pair z) {
  Real half = exp(z.re * 0.5);
  Real real = equals(z.im, 0); // inf * 0 is none
  Real im = half * sin(z.im) * half;
  return {half * real.select(half.number(1), cos(z.im)) * half,
          real.select(z.im, im)};
}

/// log|z|: near 1 by log1p of |z|^2 - 1, which does not cancel.
Real logAbsolute(Pair z) {
  auto [large, small] = sizesOf(z);
  Real near = (large * 0.5 < 1.0).both(large.number(0.5) < large);
  Real excess = (large - 1.0) * (large + 1.0) + small * small;
  if (z.re.isWidened) {
    // One logarithm for both, and what 1 + excess has lost of the excess. That
    // is seen only where the sum is next to 1.
    Real square = near.select(excess + 1.0, squaredAbsolute(z));
    Real lost = near.select(excess - (square - 1.0), square.number(0));
    Real result = (log(square) + lost) * 0.5;
    Real infinite = isInfinite(z.re).either(isInfinite(z.im));
    return infinite.select(result.number(infinity), result);
  }
  Real ratio = equals(large, 0).select(large, small / large);
  Real far = log(large) + log1p(ratio * ratio) * 0.5;
  Real result = near.select(log1p(excess) * 0.5, far);
  Real infinite = isInfinite(z.re).either(isInfinite(z.im));
  return infinite.select(result.number(infinity), result);
}

Pair logarithm(Pair z) {
  return {logAbsolute(z), atan2(z.im, z.re)};
}

Pair logarithm1p(Pair z) {
  auto [large, small] = sizesOf(z);
  Real excess = z.re * (z.re + 2.0) + z.im * z.im;
  Pair shifted = {z.re + 1.0, z.im};
  Real re = (large < 0.5).select(log1p(excess) * 0.5, logAbsolute(shifted));
  return {re, atan2(z.im, shifted.re)};
}

/// e^z - 1 = (e^a - 1) cos b - 2 sin^2(b / 2) + i e^a sin b
Pair exponentialM1(Pair z) {
  Real s = sin(z.im * 0.5);
  Pair whole = exponential(z);
  Real re = expm1(z.re) * cos(z.im) - s * s * 2.0;
  re = equals(z.im, 0).select(expm1(z.re), re);
  // Far from 0 the 1 is nothing, and e^a may be infinite.
  return {(z.re.number(40) < z.re).select(whole.re, re), whole.im};
}

/// The root in the right half plane, of z times a power of 4 in mid range.
Pair squareRoot(Pair z) {
  auto [large, small] = sizesOf(z);
  Real big = large.number(0x1p900) < large, tiny = large < 0x1p-900;
  auto scale = [&](double down, double up) {
    return big.select(large.number(down),
                      tiny.select(large.number(up), large.number(1)));
  };
  Real factor = scale(0x1p-200, 0x1p200), back = scale(0x1p100, 0x1p-100);
  Pair scaled = {z.re * factor, z.im * factor};
  Real t = sqrt((scaled.re.abs() + absolute(scaled)) * 0.5);
  Real other = scaled.im / (t * 2.0);
  other = equals(t, 0).select(z.im, other);
  Real isLeft = z.re < 0;
  Pair root = {isLeft.select(other.abs(), t) * back,
               isLeft.select(t.withSignOf(z.im), other) * back};
  return choose(isInfinite(z.im), {z.re.number(infinity), z.im}, root);
}

/// x cosh b and y sinh b.
Pair hyperbolic(Real x, Real y, Real angle) {
  Real size = angle.abs();
  Real half = exp(size * 0.5), small = half.number(0.5) / half / half;
  Real em1 = expm1((size < 1.0).select(size, size.number(1)));
  Real near = (em1 + em1 / (em1 + 1.0)) * 0.5;
  Real far = half * y * 0.5 * half - y * small;
  Real sinh = (size < 1.0).select(y * near, far);
  return {half * x * 0.5 * half + x * small,
          sinh * size.number(1).withSignOf(angle)};
}

Pair sine(Pair z) {
  return hyperbolic(sin(z.re), cos(z.re), z.im);
}
Pair cosine(Pair z) {
  return hyperbolic(cos(z.re), -sin(z.re), z.im);
}

/// Kahan's: with t = tan b, s = sinh a, beta = 1 + t^2:
/// (beta s sqrt(1 + s^2) + i t) / (1 + beta s^2).
Pair hyperbolicTangent(Pair z) {
  Real size = z.re.abs();
  Real limited = (size < 20.0).select(z.re, size.number(0));
  Real one = size.number(1);
  Real s = hyperbolic(one, one, limited).im, t = tan(z.im);
  Real beta = t * t + 1.0, denominator = beta * s * s + 1.0;
  Pair near = {beta * s * sqrt(s * s + 1.0) / denominator, t / denominator};
  Real decay = exp(size * -2.0) * sin(z.im) * cos(z.im) * 4.0;
  Real finite = z.im.abs() < infinity;
  decay = isInfinite(size).select(finite.select(decay, size.number(0)), decay);
  Pair far = {one.withSignOf(z.re) + decay * 0.0, decay}; // NaN in both parts
  Pair result = choose(size < 20.0, near, far);
  // A number on the real axis has a result there, be it nan.
  return {result.re, equals(z.im, 0).select(z.im, result.im)};
}

/// tan z = -i tanh(iz)
Pair tangent(Pair z) {
  return -timesI(hyperbolicTangent(timesI(z)));
}

/// Through e^z or e^-z, whichever is small.
Pair logistic(Pair z) {
  Real negative = z.re < 0;
  Pair e = exponential(choose(negative, z, -z));
  Pair one = {e.re.number(1), e.re.number(0)};
  return divide(choose(negative, e, one), one + e);
}

Pair power(Pair x, Pair y) {
  Pair result = exponential(y * logarithm(x));
  Pair zero = {y.re.number(0), y.re.number(0)}, one = {y.re.number(1), zero.re};
  Real isZero = equals(x.re, 0).both(equals(x.im, 0));
  Real isOne = equals(y.re, 0).both(equals(y.im, 0));
  return choose(isOne, one, choose(isZero, zero, result));
}

/// z / |z|, part by part; z where it is 0.
Pair sign(Pair z) {
  Real large = sizesOf(z).large;
  Pair scaled = {z.re / large, z.im / large};
  Real size = absolute(scaled);
  Pair unit = {scaled.re / size, scaled.im / size};
  // An infinite part is nan, and a finite one beside it 0.
  Real infinite = isInfinite(z.re).either(isInfinite(z.im));
  Pair far = {z.re / z.re.number(infinity), z.im / z.im.number(infinity)};
  Real zero = equals(z.re, 0).both(equals(z.im, 0));
  return choose(zero, z, choose(infinite, far, unit));
}

Pair reciprocalRoot(Pair z) {
  Real one = z.re.number(1), zero = z.re.number(0);
  return divide({one, zero}, squareRoot(z));
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

using Unary = Pair (*)(Pair);
Unary unaryOf(Operation *op) {
  return llvm::TypeSwitch<Operation *, Unary>(op)
      .Case([](ExpOp) { return exponential; })
      .Case([](Expm1Op) { return exponentialM1; })
      .Case([](LogOp) { return logarithm; })
      .Case([](Log1pOp) { return logarithm1p; })
      .Case([](SqrtOp) { return squareRoot; })
      .Case([](RsqrtOp) { return reciprocalRoot; })
      .Case([](TanhOp) { return hyperbolicTangent; })
      .Case([](LogisticOp) { return logistic; })
      .Case([](SineOp) { return sine; })
      .Case([](CosineOp) { return cosine; })
      .Case([](TanOp) { return tangent; })
      .Case([](SignOp) { return sign; })
      .Default(Unary());
}

/// One op being lowered.
struct ComplexLowering {
  OpBuilder &b;
  Location loc;

  Real real(Value value) { return {&b, loc, value}; }
  Pair pair(Value complex) {
    ComplexParts parts = partsOf(complex, b, loc);
    return {real(parts.real), real(parts.imaginary)};
  }
  Value join(Pair z) { return joinParts({z.re.v, z.im.v}, b, loc); }

  static bool isNarrow(Pair z) { return z.re.v.getType().isF32(); }
  Pair widen(Pair z) {
    auto wide = [&](Real v) {
      return Real{&b, loc, b.create<arith::ExtFOp>(loc, b.getF64Type(), v.v),
                  /*isWidened=*/true};
    };
    return isNarrow(z) ? Pair{wide(z.re), wide(z.im)} : z;
  }
  Real narrow(Real v, bool narrows) {
    return narrows ? real(b.create<arith::TruncFOp>(loc, b.getF32Type(), v.v))
                   : v;
  }
  Pair narrow(Pair z, bool narrows) {
    return {narrow(z.re, narrows), narrow(z.im, narrows)};
  }
};
} // namespace

ComplexParts meshloom::partsOf(Value complex, OpBuilder &b, Location loc) {
  if (auto created = complex.getDefiningOp<mlir::complex::CreateOp>())
    return {created.getReal(), created.getImaginary()};
  return {b.create<mlir::complex::ReOp>(loc, complex),
          b.create<mlir::complex::ImOp>(loc, complex)};
}

Value meshloom::joinParts(ComplexParts parts, OpBuilder &b, Location loc) {
  return b.create<mlir::complex::CreateOp>(
      loc, mlir::ComplexType::get(parts.real.getType()), parts.real,
      parts.imaginary);
}

ComplexParts meshloom::multiplyComplex(ComplexParts x, ComplexParts y,
                                       OpBuilder &b, Location loc) {
  auto pair = [&](ComplexParts z) {
    return Pair{{&b, loc, z.real}, {&b, loc, z.imaginary}};
  };
  Pair product = pair(x) * pair(y);
  return {product.re.v, product.im.v};
}

Value meshloom::lowerComplex(Operation *op, ValueRange operands, OpBuilder &b) {
  ComplexLowering lower{b, op->getLoc()};
  auto x = [&](unsigned i) { return lower.pair(operands[i]); };
  if (isa<ComplexOp>(op))
    return joinParts({operands[0], operands[1]}, b, op->getLoc());
  if (auto compare = dyn_cast<CompareOp>(op)) {
    Pair a = x(0), c = x(1);
    Value same = equals(a.re, c.re).both(equals(a.im, c.im)).v;
    if (compare.getDirection() == ComparisonDirection::EQ)
      return same;
    Value yes = b.create<arith::ConstantIntOp>(op->getLoc(), 1, 1);
    return b.create<arith::XOrIOp>(op->getLoc(), same, yes);
  }
  if (isa<SelectOp>(op))
    return lower.join(choose(lower.real(operands[0]), x(1), x(2)));
  if (isa<RealOp>(op))
    return x(0).re.v;
  if (isa<ImagOp>(op))
    return x(0).im.v;
  if (isa<NegateOp>(op))
    return lower.join(-x(0));
  if (isa<AddOp>(op))
    return lower.join(x(0) + x(1));
  if (isa<SubtractOp>(op))
    return lower.join(x(0) - x(1));
  if (isa<MultiplyOp>(op))
    return lower.join(x(0) * x(1));
  if (isa<DivideOp>(op)) {
    const auto divisor = constantOf(x(1).re), zero = constantOf(x(1).im);
    if (divisor && zero && std::isnormal(*divisor) && *zero == 0)
      return lower.join(divideByReal(x(0), *divisor, *zero));
  }
  bool narrows = lower.isNarrow(x(0));
  Pair z = lower.widen(x(0));
  if (isa<AbsOp>(op))
    return lower.narrow(absolute(z), narrows).v;
  if (isa<DivideOp>(op))
    return lower.join(lower.narrow(divide(z, lower.widen(x(1))), narrows));
  if (isa<PowerOp>(op))
    return lower.join(lower.narrow(power(z, lower.widen(x(1))), narrows));
  if (Unary function = unaryOf(op))
    return lower.join(lower.narrow(function(z), narrows));
  return {};
}
