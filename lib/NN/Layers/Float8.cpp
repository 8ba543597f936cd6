// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Eight-bit floats, see Float8.h.
//
// A magnitude of binade k, from 0 (where also the subnormal numbers are) to 14,
// is m 2^(k - 9) with an integer m of at most 16, and its byte is 8 k + m: an m
// of 16 is the first number of the next binade.
#include "Float8.h"

#include <cmath>

namespace meshloom::detail {
namespace {

constexpr double largest = 448;
constexpr int binades = 15;

/// For each magnitude `ofBinade` of its binade.
template <typename F> Tensor byBinade(const Tensor &magnitude, F &&ofBinade) {
  Tensor value = zeros_like(magnitude) + ofBinade(0);
  for (int k = 1; k < binades; ++k)
    value = where(greater_equal(magnitude, std::ldexp(1.0, k - 6)), ofBinade(k),
                  value);
  return value;
}
Tensor distanceIn(const Tensor &magnitude) {
  return byBinade(magnitude, [](int k) { return std::ldexp(1.0, k - 9); });
}
Tensor magnitudeOf(const Tensor &x) {
  return minimum(abs(x), largest);
}

} // namespace

Tensor float8Scale(const Tensor &x) {
  const Tensor most = reduce_max(abs(x));
  return where(greater(most, 0), most / largest, 1);
}

Tensor roundedToFloat8(const Tensor &x) {
  const Tensor magnitude = magnitudeOf(x);
  const Tensor distance = distanceIn(magnitude);
  const Tensor rounded = round(magnitude / distance) * distance;
  return where(less(x, 0), -rounded, rounded);
}

Tensor codesOfFloat8(const Tensor &x) {
  const Tensor magnitude = magnitudeOf(x);
  const Tensor code = cast(byBinade(magnitude, [](int k) { return 8.0 * k; }) +
                               round(magnitude / distanceIn(magnitude)),
                           DType::I32);
  return cast(where(less(x, 0), code + 128, code), DType::UI8);
}

Tensor valuesOfFloat8(const Tensor &codes, DType type) {
  const Tensor code = cast(codes, DType::I32);
  const Tensor mantissa = code % 8, exponent = code / 8 % 16;
  // 2^exponent, exactly: a factor for each of its bits.
  const Tensor isNormal = greater(exponent, 0);
  Tensor value =
      cast(where(isNormal, mantissa + 8, mantissa), type) *
      cast(where(isNormal, std::ldexp(1.0, -10), std::ldexp(1.0, -9)), type);
  for (int bit : {1, 2, 4, 8})
    value = where(equal(exponent / bit % 2, 1), value * std::ldexp(1.0, bit),
                  value);
  return where(greater_equal(code, 128), -value, value);
}

} // namespace meshloom::detail
