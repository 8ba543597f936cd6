// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The reference's arithmetic on complex numbers: the C++ library's functions,
// and where it has none their definitions in long double.
#include "ComplexOps.h"

#include <cmath>

namespace meshloom::interpreter {

using Wide = std::complex<long double>;

static Complex narrow(Wide z) {
  return {double(z.real()), double(z.imag())};
}

/// (ac - bd) + (ad + bc)i also where that is nan and C99 would say infinite.
Complex product(Complex x, Complex y) {
  return {x.real() * y.real() - x.imag() * y.imag(),
          x.real() * y.imag() + x.imag() * y.real()};
}

Complex complexExpm1(Complex z) {
  return narrow(std::exp(Wide(z)) - Wide(1));
}

Complex complexLog1p(Complex z) {
  return narrow(std::log(Wide(z) + Wide(1)));
}

Complex complexRsqrt(Complex z) {
  return Complex(1) / std::sqrt(z);
}

Complex complexLogistic(Complex z) {
  return narrow(Wide(1) / (Wide(1) + std::exp(-Wide(z))));
}

Complex complexSign(Complex z) {
  if (z == Complex(0))
    return z;
  Wide wide(z);
  return narrow(wide / std::abs(wide));
}

/// 0 to any power but 0 is 0.
Complex complexPower(Complex x, Complex y) {
  if (y == Complex(0))
    return 1;
  if (x == Complex(0))
    return 0;
  return narrow(std::exp(Wide(y) * std::log(Wide(x))));
}

Complex complexAt(const HostValue &value, int64_t i) {
  return {value.floats[i], value.imaginaries[i]};
}

void setComplex(HostValue &value, int64_t i, Complex z) {
  value.floats[i] = z.real();
  value.imaginaries[i] = z.imag();
}

} // namespace meshloom::interpreter
