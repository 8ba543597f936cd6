// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Elementary functions of f64 as branch-free arithmetic (Formulas.h). They are
// right for inf, nan, denormals and the ends of their ranges. Polynomials are
// those of Cephes' double precision library (S. Moshier, netlib.org/cephes)
// unless noted. test/Targets/CPU/MathAccuracyTest.cpp holds the functions to
// their errors.
#pragma once

#include "meshloom/Targets/Kernels/Formulas.h"

/// The names are those of libm.
namespace meshloom::formulas::wide {

constexpr FloatFormat format = {
    .bits = 64, .mantissaBits = 52, .bias = 1023, .smallestNormal = 0x1p-1022};

/// The polynomials interpolate (e^r - 1 - r) / r^2 at the Chebyshev nodes of
/// their ranges; they are off by at most a twentieth of the last bit.
/// `keepsSmall`: n is 0 for |x| < 1/2.
template <typename Scalar> auto expParts(Scalar x, bool keepsSmall = false) {
  Scalar magic = x.f(0x1.8p52);
  Scalar shifted = x * 1.4426950408889634073599 + magic;
  if (keepsSmall)
    shifted = x.abs().less(x.f(0.5)).select(magic, shifted);
  Scalar n = shifted - magic;
  Scalar r = x - n * 6.93145751953125e-1;
  r = r - n * 1.42860682030941723212e-6;
  Scalar p =
      keepsSmall
          ? polynomial(r, {1.6116554080595165e-10, 2.096304220500867e-9,
                           2.5051946385757939e-8, 2.7557076150475454e-7,
                           2.7557319434250467e-6, 2.4801587617091177e-5,
                           1.98412698411465e-4, 1.388888888870381e-3,
                           8.3333333333333592e-3, 4.1666666666667067e-2,
                           1.6666666666666666e-1, 0.5})
          : polynomial(r, {2.0914717341716378e-9, 2.5105259538448494e-8,
                           2.755727357010214e-7, 2.7557255297969643e-6,
                           2.4801587325605324e-5, 1.984126987490126e-4,
                           1.388888888888373e-3, 8.333333333326112e-3,
                           4.166666666666667e-2, 1.666666666666667e-1, 0.5});
  return ExpParts{shifted.bits() - magic.bits(), p * (r * r) + r};
}

/// e^x for |x| < 700 and nan.
template <typename Scalar> Scalar moderateExp(Scalar x) {
  auto parts = expParts(x);
  return (parts.expm1r + 1.0) * powerOf2(parts.n, format);
}

template <typename Scalar> Scalar exp(Scalar x) {
  // Below ln(2^-1075) the result is 0.
  auto vanishes = x.less(x.f(-745.14));
  Scalar above = x.f(710.0).less(x).select(x.f(710.0), x);
  auto parts = expParts(vanishes.select(x.f(0), above));
  return vanishes.select(x.f(0), expOf(parts, format));
}

template <typename Scalar> Scalar expm1(Scalar x) {
  auto parts = expParts(x.clamp(-40.0, 710.0), /*keepsSmall=*/true);
  return expm1Of(parts, format).withSignOf(x);
}

template <typename Scalar> Scalar log(Scalar x) {
  // The exponent as a float: the low bits of one that is large enough.
  auto [mantissa, e] = logParts(x, format, [&](auto integer) {
    constexpr double magic = 0x1.8p52;
    return (integer + x.f(magic).bits()).asFloat() - magic;
  });
  Scalar m = mantissa - 1.0;
  Scalar z = m * m;
  Scalar p =
      polynomial(m, {1.01875663804580931796e-4, 4.97494994976747001425e-1,
                     4.70579119878881725854e0, 1.44989225341610930846e1,
                     1.79368678507819816313e1, 7.70838733755885391666e0});
  Scalar q =
      polynomial(m, {1.0, 1.12873587189167450590e1, 4.52279145837532221105e1,
                     8.29875266912776603211e1, 7.11544750618563894466e1,
                     2.31251620126765340583e1});
  Scalar y = m * (z * p / q) - e * 2.121944400546905827679e-4 - z * 0.5;
  return logWithEnds(x, m + y + e * 0.693359375);
}

template <typename Scalar> Scalar log1p(Scalar x) {
  return log1pBy(log<Scalar>, x, format);
}

/// With y = 2 |x| = n ln 2 + r and e^r = 1 + r + p r^2, tanh |x| is
/// 1 - 2 / (e^y + 1). Below 0.58, where n is 0 and p = 1/2 + q r, it is
/// |x| + |x| y^2 (2 q - p) / (e^y + 1). The coefficients of q are those whose
/// largest effect on tanh is least. ln 2 is one number: its error matters where
/// e^y is large, but 2 / (e^y + 1) is small there.
template <typename Scalar> Scalar tanh(Scalar x) {
  Scalar size = x.abs();
  // nan is not below, and stays in the exponential.
  auto isNear = size.less(x.f(0.58));
  Scalar limited = x.f(20).less(size).select(x.f(20), size);
  Scalar y = limited + limited, magic = x.f(0x1.8p52);
  Scalar shifted = isNear.select(magic, y * 1.4426950408889634073599 + magic);
  Scalar r = y - (shifted - magic) * 0.69314718055994530942;
  // The odd and the even powers of q, in two chains that run at once.
  Scalar z = r * r;
  Scalar even = polynomial(z, {2.3512404397658577e-10, 2.5223633100531224e-8,
                               2.7557188463299216e-6, 0.00019841269450726523,
                               0.0083333333337651909, 0.16666666666665708});
  Scalar odd = polynomial(z, {1.9220753537787805e-9, 2.7550190990446383e-7,
                              2.4801608355629258e-5, 0.001388888887482917,
                              0.041666666666688473});
  Scalar q = odd * r + even, p = q * r + 0.5;
  Scalar power = powerOf2(shifted.bits() - magic.bits(), format);
  Scalar quotient = isNear.select(z * (q * 2.0 - p), x.f(-2)) /
                    (power * (p * z + r) + (power + 1.0));
  Scalar scale = isNear.select(size, x.f(1));
  return (scale * quotient + scale).withSignOf(x);
}

template <typename Scalar> Scalar erf(Scalar x) {
  // x T / U up to 1, else 1 - e^-z P / Q, which is 1 from 6 on.
  Scalar size = x.abs();
  size = x.f(6).less(size).select(x.f(6), size);
  Scalar z = size * size;
  Scalar t = polynomial(z, {9.60497373987051638749e0, 9.00260197203842689217e1,
                            2.23200534594684319226e3, 7.00332514112805075473e3,
                            5.55923013010394962768e4});
  Scalar u =
      polynomial(z, {1.0, 3.35617141647503099647e1, 5.21357949780152679795e2,
                     4.59432382970980127987e3, 2.26290000613890934246e4,
                     4.92673942608635921086e4});
  Scalar p =
      polynomial(size, {2.46196981473530512524e-10, 5.64189564831068821977e-1,
                        7.46321056442269912687e0, 4.86371970985681366614e1,
                        1.96520832956077098242e2, 5.26445194995477358631e2,
                        9.34528527171957607540e2, 1.02755188689515710272e3,
                        5.57535335369399327526e2});
  Scalar q =
      polynomial(size, {1.0, 1.32281951154744992508e1, 8.67072140885989742329e1,
                        3.54937778887819891062e2, 9.75708501743205489753e2,
                        1.82390916687909736289e3, 2.24633760818710981792e3,
                        1.65666309194161350182e3, 5.57535340817727675546e2});
  auto isNear = size.less(x.f(1));
  Scalar tail = moderateExp(z * -1.0) * p;
  Scalar quotient = isNear.select(size * t, tail * -1.0) / isNear.select(u, q);
  Scalar value = isNear.select(quotient, quotient + 1.0);
  return value.withSignOf(x);
}

/// Invariant: r + low is x - n pi/2 to about 2^-112. pi/2 is three numbers, of
/// 159 bits; the first difference is exact, since both terms are multiples of
/// 2^-52. `lost` is what the second product and difference round away; the
/// product is an addition of zero, which is not joined with the difference.
template <typename Scalar> auto angleOf(Scalar x) {
  Scalar magic = x.f(0x1.8p52);
  Scalar shifted = x * 0.636619772367581343 + magic;
  Scalar n = shifted - magic;
  constexpr double second = 0x1.1a62633145c07p-54;
  Scalar first = n.multiplyAdd(n.f(-0x1.921fb54442d18p0), x);
  Scalar product = n.multiplyAdd(n.f(second), x.f(0));
  Scalar near = first - product;
  Scalar lost =
      ((first - near) - product) + n.multiplyAdd(n.f(-second), product);
  lost = n.multiplyAdd(n.f(0x1.f1976b7ed8fbcp-110), lost);
  Scalar r = near + lost, low = (near - r) + lost;
  Scalar z = r * r;
  Scalar s =
      polynomial(z, {1.58962301576546568060e-10, -2.50507477628578072866e-8,
                     2.75573136213857245213e-6, -1.98412698295895385996e-4,
                     8.33333333332211858878e-3, -1.66666666666666307295e-1});
  Scalar c =
      polynomial(z, {-1.13585365213876817300e-11, 2.08757008419747316778e-9,
                     -2.75573141792967388112e-7, 2.48015872888517045348e-5,
                     -1.38888888888730564116e-3, 4.16666666666665929218e-2});
  // sin(r + low) = sin r + low cos r, cos(r + low) = cos r - low sin r.
  Scalar half = z * 0.5, one = x.f(1) - half;
  Scalar sine = r + (s * z * r + low * one);
  Scalar cosine = one + (((x.f(1) - one) - half) + (c * (z * z) - r * low));
  return Angle{shifted.bits(), sine, cosine};
}

template <typename Scalar> Scalar sin(Scalar x) {
  // The zero of the sum has lost the sign of x.
  return x.equals(x.f(0)).select(x, sinOrCos(angleOf(x), false, format));
}

template <typename Scalar> Scalar cos(Scalar x) {
  return sinOrCos(angleOf(x), true, format);
}

template <typename Scalar> Scalar tan(Scalar x) {
  return x.equals(x.f(0)).select(x, tangent(angleOf(x)));
}

/// The angle in the first half of the first quadrant from the ratio of the
/// sides, then the octants, as the sides' order and signs tell: a multiple of
/// pi / 4, plus or minus an angle of at most atan 0.66.
template <typename Scalar> Scalar atan2(Scalar y, Scalar x) {
  Scalar a = x.abs(), b = y.abs();
  auto steep = a.less(b);
  Scalar small = steep.select(a, b), large = steep.select(b, a);
  // Scaled so that the sum of both does not overflow, and the comparison of
  // denormal numbers is exact.
  Scalar up = large.less(x.f(0x1p-900)).select(x.f(0x1p100), x.f(1));
  Scalar factor = x.f(0x1p1000).less(large).select(x.f(0x1p-60), up);
  Scalar infinity = x.f(infinite);
  auto isInfinite = large.equals(infinity);
  auto areInfinite = both(isInfinite, small.equals(infinity));
  large = isInfinite.select(x.f(1), large * factor);
  small = isInfinite.select(areInfinite.select(x.f(1), x.f(0)), small * factor);
  // Beyond 0.66 the angle from pi / 4 on.
  auto wide = (large * 0.66).less(small);
  Scalar across = wide.select(small - large, small);
  Scalar along = wide.select(small + large, large);
  Scalar t = across / along.equals(x.f(0)).select(x.f(1), along);
  Scalar z = t * t;
  Scalar p =
      polynomial(z, {-8.750608600031904122785e-1, -1.615753718733365076637e1,
                     -7.500855792314704667340e1, -1.228866684490136173410e2,
                     -6.485021904942025371773e1});
  Scalar q =
      polynomial(z, {1.0, 2.485846490142306297962e1, 1.650270098316988542046e2,
                     4.328810604912902668951e2, 4.853903996359136964868e2,
                     1.945506571482613964425e2});
  Scalar angle = t + t * (z * p / q);
  Scalar eighths = wide.select(x.f(1), x.f(0));
  auto behind = x.bits().isNegative();
  auto reflect = [&](auto condition, double from) {
    eighths = condition.select(x.f(from) - eighths, eighths);
    angle = condition.select(angle * -1.0, angle);
  };
  reflect(steep, 2);
  reflect(behind, 4);
  angle = eighths.multiplyAdd(
      x.f(0x1.921fb54442d18p-1),
      eighths.multiplyAdd(x.f(0x1.1a62633145c07p-55), angle));
  angle = both(x.equals(x), y.equals(y)).select(angle, x.f(notANumber));
  return angle.withSignOf(y);
}

/// Three Halley steps from a third of the exponent.
template <typename Scalar> Scalar cbrt(Scalar x) {
  Scalar size = x.abs();
  auto isTiny = size.less(size.f(0x1p-1000));
  size = isTiny.select(size * 0x1p54, size);
  auto third = unsignedThird(size.bits());
  Scalar root = (third + third.i(int64_t(715094163) << 32)).asFloat();
  Scalar quarter = size * 0.25; // sums of whole ones may be infinite
  for (int step = 0; step < 3; ++step) {
    Scalar cube = (root * 0.25) * root * root;
    root = root.multiplyAdd((quarter - cube) / (quarter + cube + cube), root);
  }
  root = root * isTiny.select(x.f(0x1p-18), x.f(1));
  auto isOrdinary = both(x.f(0).less(x.abs()), x.abs().less(x.f(infinite)));
  return isOrdinary.select(root.withSignOf(x), x);
}

/// A number of more bits than an f64 has: the sum of two.
template <typename Scalar> struct Sum {
  Scalar high, low;
};

/// Returns x y, exactly.
template <typename Scalar> Sum<Scalar> product(Scalar x, Scalar y) {
  Scalar high = x * y;
  return {high, x.multiplyAdd(y, -high)};
}
/// Returns x + y, exactly, where x is the larger one or 0.
template <typename Scalar> Sum<Scalar> sum(Scalar x, Scalar y) {
  Scalar high = x + y;
  return {high, (x - high) + y};
}

/// Returns the logarithm of a finite x > 0, to about 2^-64 of its size: that of
/// the mantissa m is 2 artanh(s) with s = (m - 1) / (m + 1), whose series is
/// 2 s (1 + s^2 / 3 + s^4 / 5 + ...).
template <typename Scalar> Sum<Scalar> preciseLog(Scalar x) {
  auto [m, exponent] =
      logParts(x, format, [](auto integer) { return integer.toF64(); });
  Scalar above = m - 1.0;
  Sum<Scalar> below = sum(m.f(2), above);
  Scalar s = above / below.high;
  Scalar remaining =
      (-s).multiplyAdd(below.low, (-s).multiplyAdd(below.high, above));
  Scalar sLow = remaining / below.high;
  Sum<Scalar> z = product(s, s);
  z.low = (s + s).multiplyAdd(sLow, z.low);
  Scalar others =
      z.high * z.high *
      exactPolynomial(z.high, {1.0 / 27, 1.0 / 25, 1.0 / 23, 1.0 / 21, 1.0 / 19,
                               1.0 / 17, 1.0 / 15, 1.0 / 13, 1.0 / 11, 1.0 / 9,
                               1.0 / 7, 1.0 / 5});
  Scalar third = m.f(0x1.5555555555555p-2);
  Sum<Scalar> square = product(z.high, third);
  square.low = z.high.multiplyAdd(m.f(0x1.5555555555555p-56),
                                  z.low.multiplyAdd(third, square.low));
  Sum<Scalar> series = sum(square.high, others);
  series.low = series.low + square.low;
  Scalar twice = s + s, twiceLow = sLow + sLow;
  Sum<Scalar> correction = product(twice, series.high);
  correction.low = twiceLow.multiplyAdd(
      series.high, twice.multiplyAdd(series.low, correction.low));
  Sum<Scalar> logM = sum(twice, correction.high);
  logM.low = logM.low + (twiceLow + correction.low);
  // ln 2 in two parts, of which the first one times an exponent is exact.
  Sum<Scalar> log = sum(exponent * 0x1.62e42fefa3800p-1, logM.high);
  log.low =
      log.low + exponent.multiplyAdd(m.f(0x1.ef35793c76730p-45), logM.low);
  return sum(log.high, log.low);
}

/// Returns x^y, where `value` is |x|^y for ordinary numbers.
template <typename Scalar>
Scalar powerWithSign(Scalar x, Scalar y, Scalar value) {
  Scalar size = x.abs();
  // Where the product is 0 times infinity.
  value = size.equals(x.f(1)).select(x.f(1), value);
  // Negative numbers have powers of whole exponents only, odd ones' with their
  // sign.
  Scalar half = y * 0.5;
  Scalar odd = half.floor().equals(half).select(x.f(0), x.f(1));
  odd = y.floor().equals(y).select(odd, x.f(2)); // 2: no whole number
  Scalar nan = x.f(notANumber);
  Scalar ofNegative = odd.equals(x.f(2)).select(nan, value);
  ofNegative = size.less(x.f(infinite)).select(ofNegative, value);
  value = x.less(x.f(0)).select(ofNegative, value);
  Scalar signedValue = x.bits().isNegative().select(value * -1.0, value);
  value = odd.equals(x.f(1)).select(signedValue, value);
  // nan is its own sign, and no exception but for these two.
  value = x.equals(x).select(value, nan);
  value = y.equals(y).select(value, nan);
  value = x.equals(x.f(1)).select(x.f(1), value);
  return y.equals(x.f(0)).select(x.f(1), value);
}

/// Computes e^(y log |x|), where the product's low part l adds e^l - 1, or l,
/// with a logarithm of twice the precision.
template <typename Scalar> Scalar pow(Scalar x, Scalar y) {
  Scalar size = x.abs();
  Sum<Scalar> log = preciseLog(size);
  Scalar high = size.equals(x.f(0)).select(x.f(-infinite), log.high);
  high = size.less(x.f(infinite)).select(high, size);
  Sum<Scalar> exponent = product(y, high);
  exponent.low = y.multiplyAdd(log.low, exponent.low);
  // All powers are 0 or infinite behind these.
  constexpr double most = 800;
  auto isInRange = exponent.high.abs().less(x.f(most));
  Scalar low = isInRange.select(exponent.low, x.f(0));
  Scalar value = exp(exponent.high.clamp(-most, most));
  value =
      value.less(x.f(infinite)).select(value.multiplyAdd(low, value), value);
  return powerWithSign(x, y, value);
}

} // namespace meshloom::formulas::wide
