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

} // namespace meshloom::formulas
