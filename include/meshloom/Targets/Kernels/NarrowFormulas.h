// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Elementary functions of f32 as branch-free arithmetic, which loops over many
// numbers turn into vector code (Formulas.h). All are right for inf, nan,
// denormals and the ends of their ranges. Polynomials are those of Cephes'
// single precision library (S. Moshier, netlib.org/cephes) unless noted.
// test/Targets/CPU/MathAccuracyTest.cpp holds them to their errors.
#pragma once

#include "meshloom/Targets/Kernels/WideFormulas.h"

/// The names are those of libm.
namespace meshloom::formulas::narrow {

constexpr FloatFormat format = {
    .bits = 32, .mantissaBits = 23, .bias = 127, .smallestNormal = 0x1p-126};
constexpr double ln2High = 0.693359375, ln2Low = -2.12194440e-4;

/// Adding 1.5 * 2^23 rounds to an integer and leaves it in the low bits of the
/// sum.
template <typename Scalar> auto expParts(Scalar x) {
  Scalar magic = x.f(12582912.0);
  Scalar shifted = x * 1.44269504088896341 + magic;
  Scalar n = shifted - magic;
  Scalar r = x - n * ln2High;
  r = r - n * ln2Low;
  Scalar p = polynomial(r, {1.9875691500e-4, 1.3981999507e-3, 8.3334519073e-3,
                            4.1665795894e-2, 1.6666665459e-1, 5.0000001201e-1});
  return ExpParts{shifted.bits() - magic.bits(), p * r * r + r};
}

template <typename Scalar> Scalar exp(Scalar x) {
  // Below ln(2^-150) the result is 0. Products that underflow on the way there
  // take some processors a hundred times as long, and what a mask hides from a
  // softmax is all of that kind.
  auto vanishes = x.less(x.f(-103.98));
  Scalar above = x.f(89.0).less(x).select(x.f(89.0), x);
  auto parts = expParts(vanishes.select(x.f(0), above));
  return vanishes.select(x.f(0), expOf(parts, format));
}

template <typename Scalar> Scalar expm1(Scalar x) {
  return expm1Of(expParts(x.clamp(-18.0, 89.0)), format).withSignOf(x);
}

template <typename Scalar> Scalar log(Scalar x) {
  auto [mantissa, e] =
      logParts(x, format, [](auto integer) { return integer.toF32(); });
  Scalar m = mantissa - 1.0;
  Scalar z = m * m;
  Scalar p =
      polynomial(m, {7.0376836292e-2, -1.1514610310e-1, 1.1676998740e-1,
                     -1.2420140846e-1, 1.4249322787e-1, -1.6668057665e-1,
                     2.0000714765e-1, -2.4999993993e-1, 3.3333331174e-1});
  Scalar y = p * m * z + e * ln2Low - z * 0.5;
  return logWithEnds(x, m + y + e * ln2High);
}

template <typename Scalar> Scalar log1p(Scalar x) {
  return log1pBy(log<Scalar>, x, format);
}

template <typename Scalar> Scalar tanh(Scalar x) {
  Scalar t = expm1(x.clamp(-10.0, 10.0) * 2.0);
  return t / (t + 2.0);
}

/// Rational approximation on [-4, 4], from Eigen's generic_fast_erf.
template <typename Scalar> Scalar erf(Scalar x) {
  Scalar y = x.clamp(-4.0, 4.0);
  Scalar z = y * y;
  Scalar p = polynomial(z, {-2.72614225801306e-10, 2.77068142495902e-8,
                            -2.10102402082508e-6, -5.69250639462346e-5,
                            -7.34990630326855e-4, -2.95459980854025e-3,
                            -1.60960333262415e-2});
  Scalar q = polynomial(z, {-1.45660718464996e-5, -2.13374055278905e-4,
                            -1.68282697438203e-3, -7.37332916720468e-3,
                            -1.42647390514189e-2});
  return y * (p / q); // y * p may be denormal
}

/// Returns the angle that is `r` radians beyond the beginning of `quadrant`.
template <typename Integer, typename Scalar>
Angle<Integer, Scalar> angleOf(Integer quadrant, Scalar r) {
  Scalar z = r * r;
  Scalar sine =
      polynomial(z, {-1.9515295891e-4, 8.3321608736e-3, -1.6666654611e-1}) * z *
          r +
      r;
  Scalar cosine = polynomial(z, {2.443315711809948e-5, -1.388731625493765e-3,
                                 4.166664568298827e-2}) *
                      z * z -
                  z * 0.5 + 1.0;
  return {quadrant, sine.withSignOf(r), cosine};
}

/// Reduced in f64: right for |x| up to 2^50.
template <typename Scalar> auto angleOf(Scalar x) {
  auto wide = x.toF64();
  auto magic = wide.f(0x1.8p52);
  auto shifted = wide * 0.636619772367581343 + magic;
  auto n = shifted - magic;
  auto r = n.multiplyAdd(n.f(-0x1.1a62633145c07p-54),
                         n.multiplyAdd(n.f(-0x1.921fb54442d18p0), wide));
  return angleOf(shifted.bits().toI32(), r.toF32());
}

// The functions of angles are right for arguments of up to hugeAngle.
template <typename Scalar> Scalar sin(Scalar x) {
  return sinOrCos(angleOf(x), false, format);
}
template <typename Scalar> Scalar cos(Scalar x) {
  return sinOrCos(angleOf(x), true, format);
}
template <typename Scalar> Scalar tan(Scalar x) {
  return tangent(angleOf(x));
}

/// The angle in the first half of the first quadrant from the ratio of the
/// sides, by Cephes' atanf; then the octants, as the sides' order and signs
/// tell.
template <typename Scalar> Scalar atan2(Scalar y, Scalar x) {
  Scalar a = x.abs(), b = y.abs();
  auto steep = a.less(b);
  Scalar small = steep.select(a, b), large = steep.select(b, a);
  Scalar ratio = (small.toF64() / large.toF64()).toF32();
  // Both 0 or both infinite.
  ratio = (a + b).equals(x.f(0)).select(x.f(0), ratio);
  Scalar equal = small.equals(x.f(infinite)).select(x.f(1), ratio);
  ratio = large.equals(x.f(infinite)).select(equal, ratio);
  auto wide = x.f(0.414213562373095).less(ratio); // tan(pi / 8)
  Scalar t = wide.select((ratio - 1.0) / (ratio + 1.0), ratio);
  Scalar z = t * t;
  Scalar angle = polynomial(z, {8.05374449538e-2, -1.38776856032e-1,
                                1.99777106478e-1, -3.33329491539e-1}) *
                     z * t +
                 t;
  angle = angle + wide.select(x.f(0.785398163397448310), x.f(0));
  angle = steep.select(x.f(1.57079632679489662) - angle, angle);
  auto behind = x.bits().isNegative();
  angle = behind.select(x.f(3.14159265358979324) - angle, angle);
  return angle.withSignOf(y);
}

/// Two Newton steps in f64 from a third of the exponent, as FreeBSD's cbrtf.
template <typename Scalar> Scalar cbrt(Scalar x) {
  Scalar size = x.abs();
  auto tiny = size.less(size.f(format.smallestNormal));
  auto bits = tiny.select(size * 0x1p24, size).bits();
  auto start =
      unsignedThird(bits) + tiny.select(bits.i(642849266), bits.i(709958130));
  auto t = start.asFloat().toF64(), wide = size.toF64();
  for (int step = 0; step < 2; ++step) {
    auto r = t * t * t;
    t = t * (wide + wide + r) / (wide + r + r);
  }
  Scalar result = t.toF32().withSignOf(x);
  auto ordinary = both(x.f(0).less(size), size.less(x.f(infinite)));
  return ordinary.select(result, x);
}

/// Computed in f64: it has the bits that the product, which may be as large as
/// 104, takes from the fraction of the exponent.
template <typename Scalar> Scalar pow(Scalar base, Scalar exponent) {
  auto x = base.toF64(), y = exponent.toF64();
  auto value = wide::exp(y * wide::log(x.abs()));
  return wide::powerWithSign(x, y, value).toF32();
}

} // namespace meshloom::formulas::narrow
