// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The words that formulas of elementary functions are written with. Formulas
// are templates over the scalar, so that one text gives both the code of
// compiled kernels, where a scalar is a value of the IR
// (lib/Targets/Kernels/ScalarFormulas.h), and loops of this program, where it
// is a number (lib/Targets/CPU/FormulaLanes.cpp). A scalar has
//
//   f(number), i(integer)             a constant of its own type
//   + - * /                           floats and integers
//   & | ^ shiftLeft shiftRight        integers
//   bits(), asFloat()                 the same bits as another type
//   toF32(), toF64(), toI32()
//   less, equals, isZero, isNegative  conditions
//   both, select                      of conditions
//   abs, floor, withSignOf, clamp, multiplyAdd, unsignedThird
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

namespace meshloom::formulas {

constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr double notANumber = std::numeric_limits<double>::quiet_NaN();

/// The formulas of sine, cosine and tangent are right for arguments of up to
/// this size. Neighbouring floats are many periods apart there.
constexpr double hugeAngle = 0x1p49;

/// Returns coefficients[0] * x^(count - 1) + ... + coefficients[count - 1].
template <typename Scalar, size_t count>
Scalar polynomial(Scalar x, const double (&coefficients)[count]) {
  Scalar sum = x.f(coefficients[0]);
  for (size_t i = 1; i < count; ++i)
    sum = sum * x + coefficients[i];
  return sum;
}

/// Returns the polynomial's value where each product is added without being
/// rounded.
template <typename Scalar, size_t count>
Scalar exactPolynomial(Scalar x, const double (&coefficients)[count]) {
  Scalar sum = x.f(coefficients[0]);
  for (size_t i = 1; i < count; ++i)
    sum = sum.multiplyAdd(x, x.f(coefficients[i]));
  return sum;
}

//===----------------------------------------------------------------------===//
// Parts of formulas, for f32 and f64
//===----------------------------------------------------------------------===//

/// The bits of a float: its sign, the sum of its exponent and `bias`, and
/// `mantissaBits` bits of its mantissa.
struct FloatFormat {
  int bits, mantissaBits;
  int64_t bias;
  double smallestNormal; ///< 2^(1 - bias)
};

/// Returns 2^n for an integer n with -bias < n <= bias.
template <typename Integer>
auto powerOf2(Integer n, const FloatFormat &format) {
  return shiftLeft(n + n.i(format.bias), format.mantissaBits).asFloat();
}

/// x = n ln 2 + r with |r| <= ln 2 / 2, and e^r - 1.
template <typename Integer, typename Scalar> struct ExpParts {
  Integer n;
  Scalar expm1r;
};

/// Returns e^x. In two factors: 2^n alone is out of range at both ends.
template <typename Integer, typename Scalar>
Scalar expOf(const ExpParts<Integer, Scalar> &x, const FloatFormat &format) {
  Integer half = shiftRight(x.n, 1);
  return (x.expm1r + 1.0) * powerOf2(half, format) *
         powerOf2(x.n - half, format);
}

/// Returns e^x - 1 as 2^n (e^r - 1) + (2^n - 1), all halved so that an n of
/// bias + 1 is in range.
template <typename Integer, typename Scalar>
Scalar expm1Of(const ExpParts<Integer, Scalar> &x, const FloatFormat &format) {
  Scalar h = powerOf2(x.n - x.n.i(1), format);
  return (h * x.expm1r + (h - 0.5)) * 2.0;
}

/// x = mantissa 2^exponent, and the mantissa is from sqrt(1/2) to sqrt(2).
template <typename Scalar> struct LogParts {
  Scalar mantissa, exponent;
};

/// Splits a finite x > 0. toFloat(integer) is that integer as a Scalar.
template <typename Scalar, typename ToFloat>
LogParts<Scalar> logParts(Scalar x, const FloatFormat &format,
                          const ToFloat &toFloat) {
  const int64_t one = int64_t(1) << format.mantissaBits,
                ofHalf = format.bias - 1;
  auto tiny = x.less(x.f(format.smallestNormal));
  auto bits = tiny.select(x * double(one), x).bits();
  Scalar e = toFloat(shiftRight(bits, format.mantissaBits) - bits.i(ofHalf));
  e = e - tiny.select(x.f(format.mantissaBits), x.f(0));
  // The mantissa in [1/2, 1), and then from sqrt(1/2) on.
  Scalar m = ((bits & (one - 1)) | bits.i(ofHalf * one)).asFloat();
  auto low = m.less(m.f(0.70710678118654752440));
  return {low.select(m + m, m), e - low.select(x.f(1), x.f(0))};
}

/// Returns log x, which is `value` for a finite x > 0: inf and nan as they are,
/// -inf for 0 and nan below it.
template <typename Scalar> Scalar logWithEnds(Scalar x, Scalar value) {
  value = x.less(x.f(infinite)).select(value, x);
  value = x.equals(x.f(0)).select(x.f(-infinite), value);
  return x.less(x.f(0)).select(x.f(notANumber), value);
}

/// Returns log(u) with u = 1 + x rounded, plus what the rounding lost.
template <typename Scalar, typename Log>
Scalar log1pBy(const Log &log, Scalar x, const FloatFormat &format) {
  Scalar u = x + 1.0;
  Scalar correction = (x - (u - 1.0)) / u;
  auto inRange = x.abs().less(x.f(double(int64_t(2) << format.mantissaBits)));
  Scalar notMinusOne = u.equals(u.f(0)).select(u.f(0), correction);
  return (log(u) + inRange.select(notMinusOne, x.f(0))).withSignOf(x);
}

/// x = n pi/2 + r, by n as an integer and sine and cosine of r.
template <typename Integer, typename Scalar> struct Angle {
  Integer quadrant;
  Scalar sine, cosine;
};

template <typename Integer, typename Scalar>
Scalar sinOrCos(const Angle<Integer, Scalar> &angle, bool isCosine,
                const FloatFormat &format) {
  Integer quadrant = angle.quadrant;
  if (isCosine)
    quadrant = quadrant + quadrant.i(1);
  Scalar value = (quadrant & 1).isZero().select(angle.sine, angle.cosine);
  Integer sign = shiftLeft(quadrant & 2, format.bits - 2);
  return (value.bits() ^ sign).asFloat();
}

/// Returns sin r / cos r, in odd quadrants -cos r / sin r.
template <typename Integer, typename Scalar>
Scalar tangent(const Angle<Integer, Scalar> &angle) {
  auto even = (angle.quadrant & 1).isZero();
  Scalar minusCosine = angle.cosine * -1.0;
  return even.select(angle.sine, minusCosine) /
         even.select(angle.cosine, angle.sine);
}

} // namespace meshloom::formulas
