// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// FloatMath: series and special functions. The rational approximations are
// those of S. Moshier's Cephes library, the Lanczos series with g = 7 is P.
// Godfrey's, erf_inv's polynomials are M. Giles' ("Approximating the erfinv
// function").
#include "meshloom/Math/FloatMath.h"

#include <cmath>
#include <numbers>

using namespace meshloom;

Value FloatMath::polynomial(Value x, ArrayRef<double> coefficients) {
  Value result = number(x, coefficients.front());
  for (double coefficient : coefficients.drop_front())
    result = add(mul(result, x), coefficient);
  return result;
}

Value FloatMath::chebyshev(Value x, ArrayRef<double> coefficients) {
  // The first terms are less than what f32 has digits for.
  constexpr double least = 0x1p-33;
  if (!b.elementOf(x).isF64())
    while (std::abs(coefficients.front()) < least)
      coefficients = coefficients.drop_front();
  Value b0 = number(x, 0), b1 = b0, b2 = b0;
  for (double coefficient : coefficients) {
    b2 = b1;
    b1 = b0;
    b0 = add(sub(mul(x, b1), b2), coefficient);
  }
  return mul(sub(b0, b2), 0.5);
}

//===----------------------------------------------------------------------===//
// The error function's relatives
//===----------------------------------------------------------------------===//

Value FloatMath::erfc(Value x) {
  // Below 1, 1 - x T(x^2) / U(x^2); exp(-x^2) P(x) / Q(x) from 1 on, and
  // R / S from 8 on. One division serves all of them. Beyond 30 the result is 0
  // in every type; the polynomials would overflow.
  Value whole = abs(x), isSeen = lt(whole, 30);
  Value size = select(isSeen, whole, number(x, 1)), square = mul(size, size);
  Value isNear = lt(whole, 1), isMiddle = lt(size, 8);
  auto choose = [&](Value near, Value middle, Value far) {
    return select(isNear, near, select(isMiddle, middle, far));
  };
  Value numerator = choose(
      mul(x, polynomial(square,
                        {9.60497373987051638749e0, 9.00260197203842689217e1,
                         2.23200534594684319226e3, 7.00332514112805075473e3,
                         5.55923013010394962768e4})),
      polynomial(size, {2.46196981473530512524e-10, 5.64189564831068821977e-1,
                        7.46321056442269912687e0, 4.86371970985681366614e1,
                        1.96520832956077098242e2, 5.26445194995477358631e2,
                        9.34528527171957607540e2, 1.02755188689515710272e3,
                        5.57535335369399327526e2}),
      polynomial(size, {5.64189583547755073984e-1, 1.27536670759978104416e0,
                        5.01905042251180477414e0, 6.16021097993053585195e0,
                        7.40974269950448939160e0, 2.97886665372100240670e0}));
  Value denominator = choose(
      polynomial(square, {1.0, 3.35617141647503099647e1,
                          5.21357949780152679795e2, 4.59432382970980127987e3,
                          2.26290000613890934246e4, 4.92673942608635921086e4}),
      polynomial(size, {1.0, 1.32281951154744992508e1, 8.67072140885989742329e1,
                        3.54937778887819891062e2, 9.75708501743205489753e2,
                        1.82390916687909736289e3, 2.24633760818710981792e3,
                        1.65666309194161350182e3, 5.57535340817727675546e2}),
      polynomial(size, {1.0, 2.26052863220117276590e0, 9.39603524938001434673e0,
                        1.20489539808096656605e1, 1.70814450747565897222e1,
                        9.60896809063285878198e0, 3.36907645100081516050e0}));
  Value quotient = div(numerator, denominator);
  Value tail = mul(exp(neg(square)), quotient);
  tail = select(isSeen, tail, select(ne(x, x), x, 0.0));
  tail = select(lt(x, 0), sub(2, tail), tail);
  return select(isNear, sub(1, quotient), tail);
}

/// Giles' polynomials of double precision, with w = -log(1 - x^2):
/// differences with 1 are exact where the logarithm is large.
static Value wideErfInv(FloatMath &m, Value x) {
  Value w = m.neg(m.log(m.mul(m.sub(1, x), m.add(x, 1))));
  Value near = m.polynomial(
      m.add(w, -3.125), {-3.6444120640178196996e-21, -1.685059138182016589e-19,
                         1.2858480715256400167e-18,  1.115787767802518096e-17,
                         -1.333171662854620906e-16,  2.0972767875968561637e-17,
                         6.6376381343583238325e-15,  -4.0545662729752068639e-14,
                         -8.1519341976054721522e-14, 2.6335093153082322977e-12,
                         -1.2975133253453532498e-11, -5.4154120542946279317e-11,
                         1.051212273321532285e-09,   -4.1126339803469836976e-09,
                         -2.9070369957882005086e-08, 4.2347877827932403518e-07,
                         -1.3654692000834678645e-06, -1.3882523362786468719e-05,
                         0.0001867342080340571352,   -0.00074070253416626697512,
                         -0.0060336708714301490533,  0.24015818242558961693,
                         1.6536545626831027356});
  Value isNear = m.lt(w, 6.25), isMiddle = m.lt(w, 16);
  Value root = m.sqrt(m.select(isNear, m.number(x, 6.25), w));
  Value middle = m.polynomial(
      m.add(root, -3.25),
      {2.2137376921775787049e-09, 9.0756561938885390979e-08,
       -2.7517406297064545428e-07, 1.8239629214389227755e-08,
       1.5027403968909827627e-06, -4.013867526981545969e-06,
       2.9234449089955446044e-06, 1.2475304481671778723e-05,
       -4.7318229009055733981e-05, 6.8284851459573175448e-05,
       2.4031110387097893999e-05, -0.0003550375203628474796,
       0.00095328937973738049703, -0.0016882755560235047313,
       0.0024914420961078508066, -0.0037512085075692412107,
       0.005370914553590063617, 1.0052589676941592334, 3.0838856104922207635});
  Value far = m.polynomial(
      m.add(root, -5), {-2.7109920616438573243e-11, -2.5556418169965252055e-10,
                        1.5076572693500548083e-09, -3.7894654401267369937e-09,
                        7.6157012080783393804e-09, -1.4960026627149240478e-08,
                        2.9147953450901080826e-08, -6.7711997758452339498e-08,
                        2.2900482228026654717e-07, -9.9298272942317002539e-07,
                        4.5260625972231537039e-06, -1.9681778105531670567e-05,
                        7.5995277030017761139e-05, -0.00021503011930044477347,
                        -0.00013871931833623122026, 1.0103004648645343977,
                        4.8499064014085844221});
  return m.mul(m.select(isNear, near, m.select(isMiddle, middle, far)), x);
}

/// Giles' polynomials of single precision.
static Value narrowErfInv(FloatMath &m, Value x) {
  Value w = m.neg(m.log1p(m.neg(m.mul(x, x))));
  Value near = m.polynomial(m.add(w, -2.5),
                            {2.81022636e-08, 3.43273939e-07, -3.5233877e-06,
                             -4.39150654e-06, 0.00021858087, -0.00125372503,
                             -0.00417768164, 0.246640727, 1.50140941});
  Value isNear = m.lt(w, 5);
  Value far = m.polynomial(
      m.add(m.sqrt(m.select(isNear, m.number(x, 5), w)), -3),
      {-0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844,
       0.00573950773, -0.0076224613, 0.00943887047, 1.00167406, 2.83297682});
  return m.mul(m.select(isNear, near, far), x);
}

Value FloatMath::erfInv(Value x) {
  Value result = isF64(x) ? wideErfInv(*this, x) : narrowErfInv(*this, x);
  Value infinite = select(lt(x, 0), number(x, -HUGE_VAL), HUGE_VAL);
  return select(eq(abs(x), 1), infinite, select(gt(abs(x), 1), NAN, result));
}

//===----------------------------------------------------------------------===//
// The gamma function's relatives
//===----------------------------------------------------------------------===//

static constexpr double lanczosG = 7;
static constexpr double lanczosFirst = 0.99999999999980993227684700473478;
static constexpr double lanczos[] = {
    676.520368121885098567009190444019, -1259.13921672240287047156078755283,
    771.3234287776530788486528258894,   -176.61502916214059906584551354,
    12.507343278686904814458936853,     -0.13857109526572011689554707,
    9.984369578019570859563e-6,         1.50563273514931155834e-7};

Value FloatMath::lgamma(Value x) {
  // For x >= 1/2, with z = x - 1 and t = z + g + 1/2:
  //   lgamma(x) = log(2 pi) / 2 + (z + 1/2) log t - t + log A(z),
  // below by reflection: log(pi / |sin(pi x)|) - lgamma(1 - x).
  Value reflect = lt(x, 0.5);
  Value z = select(reflect, neg(x), add(x, -1));
  Value a = number(x, lanczosFirst);
  for (auto [i, coefficient] : llvm::enumerate(lanczos))
    a = add(a, div(coefficient, add(z, double(i + 1))));
  Value t = add(z, lanczosG + 0.5);
  // log t = log(g + 1/2) + log1p(z / (g + 1/2)), precise for small z.
  Value logT =
      add(log1p(mul(z, 1 / (lanczosG + 0.5))), std::log(lanczosG + 0.5));
  Value y = add(add(mul(sub(add(z, 0.5), div(t, logT)), logT), log(a)),
                std::log(2 * std::numbers::pi) / 2);
  Value size = abs(x), fraction = sub(size, floor(size));
  fraction = select(gt(fraction, 0.5), sub(1, fraction), fraction);
  fraction = select(reflect, fraction, number(x, 0.25));
  Value logSine = log(sin(mul(fraction, std::numbers::pi)));
  Value reflected = select(
      b.apply<dtensor::IsFiniteOp>(logSine, b.typeOf(x).clone(b.getI1Type())),
      sub(sub(std::log(std::numbers::pi), logSine), y), neg(logSine));
  Value result = select(reflect, reflected, y);
  return select(eq(size, HUGE_VAL), HUGE_VAL, result);
}

Value FloatMath::digamma(Value x) {
  // The derivative of the above: log t + A'(z) / A(z) - g / t, and
  // digamma(x) = digamma(1 - x) - pi / tan(pi x).
  Value reflect = lt(x, 0.5);
  Value z = select(reflect, neg(x), add(x, -1));
  Value a = number(x, lanczosFirst), slope = number(x, 0);
  for (auto [i, coefficient] : llvm::enumerate(lanczos)) {
    Value shifted = add(z, double(i + 1));
    slope = sub(slope, div(coefficient, mul(shifted, shifted)));
    a = add(a, div(coefficient, shifted));
  }
  Value t = add(z, lanczosG + 0.5);
  Value logT =
      add(log1p(mul(z, 1 / (lanczosG + 0.5))), std::log(lanczosG + 0.5));
  Value y = sub(add(logT, div(slope, a)), div(lanczosG, t));
  // The tangent of a small angle: from x to the nearest integer.
  Value angle = mul(add(x, abs(floor(add(x, 0.5)))), std::numbers::pi);
  Value reflected = sub(y, div(mul(cos(angle), std::numbers::pi), sin(angle)));
  Value pole = both(le(x, 0), eq(x, floor(x)));
  Value result = select(reflect, reflected, y);
  result = select(pole, NAN, result);
  return select(eq(x, 0), neg(div(1, x)), result);
}

Value FloatMath::zeta(Value x, Value q) {
  // Euler and Maclaurin's sum: the first terms, an integral, and derivatives at
  // q + N with Bernoulli numbers B_2k / (2k)!.
  static constexpr int terms = 9;
  static constexpr double bernoulli[] = {12.0,
                                         -720.0,
                                         30240.0,
                                         -1209600.0,
                                         47900160.0,
                                         -1307674368000.0 / 691,
                                         74724249600.0,
                                         -10670622842880000.0 / 3617,
                                         5109094217170944000.0 / 43867,
                                         -802857662698291200000.0 / 174611,
                                         14101100039391805440000.0 / 77683,
                                         -1693824136731743669452800000.0 /
                                             236364091};
  Value negative = neg(x), at = q, sum = pow(q, negative);
  for (int i = 0; i < terms; ++i) {
    at = add(at, 1);
    sum = add(sum, pow(at, negative));
  }
  Value power = pow(at, negative);
  sum = add(sum, div(mul(power, at), add(x, -1)));
  sum = sub(sum, mul(power, 0.5));
  Value factor = number(x, 1);
  for (auto [i, divisor] : llvm::enumerate(bernoulli)) {
    double k = 2 * double(i);
    factor = mul(factor, add(x, k));
    power = div(power, at);
    sum = add(sum, mul(mul(factor, power), 1 / divisor));
    factor = mul(factor, add(x, k + 1));
    power = div(power, at);
  }
  Value isInteger = eq(q, floor(q));
  Value pole = both(le(q, 0), isInteger);
  // For other q <= 0 the sum is real only where x is an even integer.
  Value evenX = eq(x, mul(floor(mul(x, 0.5)), 2));
  sum = select(pole, select(evenX, HUGE_VAL, number(x, NAN)), sum);
  sum = select(
      both(both(le(q, 0), b.apply<dtensor::NotOp>(isInteger)), ne(x, floor(x))),
      NAN, sum);
  return select(eq(x, 1), HUGE_VAL, select(lt(x, 1), NAN, sum));
}

Value FloatMath::polygamma(Value n, Value x) {
  // (-1)^(n+1) n! zeta(n + 1, x)
  Value odd = eq(n, add(mul(floor(mul(n, 0.5)), 2), 1));
  Value up = add(n, 1);
  Value size = mul(exp(lgamma(up)), zeta(up, x));
  Value result = select(odd, size, neg(size));
  result = select(eq(n, 0), digamma(x), result);
  return select(either(lt(n, 0), ne(n, floor(n))), NAN, result);
}

//===----------------------------------------------------------------------===//
// Others
//===----------------------------------------------------------------------===//

Value FloatMath::besselI1e(Value x) {
  // Chebyshev series of exp(-x) I1(x) / x on [0, 8], and of exp(-x) sqrt(x)
  // I1(x) in 32 / x beyond.
  static constexpr double near[] = {
      2.77791411276104639959e-18, -2.11142121435816608115e-17,
      1.55363195773620046921e-16, -1.10559694773538630805e-15,
      7.60068429473540693410e-15, -5.04218550472791168711e-14,
      3.22379336594557470981e-13, -1.98397439776494371520e-12,
      1.17361862988909016308e-11, -6.66348972350202774223e-11,
      3.62559028155211703701e-10, -1.88724975172282928790e-9,
      9.38153738649577178388e-9,  -4.44505912879632808065e-8,
      2.00329475355213526229e-7,  -8.56872026469545474066e-7,
      3.47025130813767847674e-6,  -1.32731636560394358279e-5,
      4.78156510755005422638e-5,  -1.61760815825896745588e-4,
      5.12285956168575772895e-4,  -1.51357245063125314899e-3,
      4.15642294431288815669e-3,  -1.05640848946261981558e-2,
      2.47264490306265168283e-2,  -5.29459812080949914269e-2,
      1.02643658689847095384e-1,  -1.76416518357834055153e-1,
      2.52587186443633654823e-1};
  static constexpr double far[] = {
      4.3076653355456073e-16,  3.1530333899354444e-16,  -1.9984014443252818e-15,
      -3.697042672001771e-15,  1.0311751452718453e-14,  4.281131005257066e-14,
      -2.106981256133622e-14,  -4.0839998050046233e-13, -7.199463247786752e-13,
      2.035711599290835e-12,   1.4125833835976209e-11,  3.2526026316759274e-11,
      -1.8974946058847308e-11, -5.589743556910776e-10,  -3.8353804576729544e-09,
      -2.6314688366113614e-08, -2.512236238816357e-07,  -3.8825648088369746e-06,
      -0.00011058893876265907, -0.009761097491361425,   0.7785762350182802};
  Value size = abs(x), isNear = le(size, 8), border = number(x, 8);
  Value low = select(isNear, size, border);
  Value small = mul(chebyshev(add(mul(low, 0.5), -2), near), x);
  Value high = select(isNear, border, size);
  Value large =
      mul(div(chebyshev(add(div(32, high), -2), far), sqrt(high)), sign(x));
  return select(isNear, small, large);
}

Value FloatMath::sinh(Value x) {
  // Near 0 by expm1, elsewhere so that exp(x) / 2 does not overflow early.
  Value isNear = lt(abs(x), 1);
  Value e = expm1(select(isNear, x, number(x, 0)));
  Value near = mul(add(e, div(e, add(e, 1))), 0.5);
  double half = std::log(0.5);
  Value far = sub(exp(add(x, half)), exp(add(neg(x), half)));
  return select(isNear, near, far);
}

Value FloatMath::nextAfter(Value x, Value y) {
  // Neighbouring floats are neighbouring integers, by size.
  unsigned width = b.elementOf(x).getIntOrFloatBitWidth();
  Type integer = b.getIntegerType(width);
  Value bits = b.bitcast(x, integer);
  auto word = [&](const llvm::APInt &value) {
    return b.splat(b.typeOf(bits), value);
  };
  Value signMask = word(llvm::APInt::getSignMask(width));
  Value one = word(llvm::APInt(width, 1));
  Value sizeBits = b.apply<dtensor::AndOp>(
      {bits, word(llvm::APInt::getSignedMaxValue(width))});
  Value ySize = b.apply<dtensor::AndOp>(
      {b.bitcast(y, integer), word(llvm::APInt::getSignedMaxValue(width))});
  Value xSign = b.apply<dtensor::AndOp>({bits, signMask});
  Value ySign = b.apply<dtensor::AndOp>({b.bitcast(y, integer), signMask});
  Value zero = word(llvm::APInt::getZero(width));
  // Towards 0 where y is smaller or on the other side.
  Value inwards =
      either(test(Direction::LT, ySize, sizeBits), ne(xSign, ySign));
  Value moved = add(bits, select(inwards, neg(one), one));
  // From 0: the smallest number of y's sign.
  moved =
      select(eq(sizeBits, zero), b.apply<dtensor::OrOp>({ySign, one}), moved);
  Value result = b.bitcast(moved, b.elementOf(x));
  result = select(eq(x, y), y, result);
  return select(either(ne(x, x), ne(y, y)), NAN, result);
}
