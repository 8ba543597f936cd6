// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Complex numbers in the reference: pairs of doubles, and the functions that
// the C++ library does not have.
#pragma once

#include "meshloom/Interpreter/HostValue.h"

#include <complex>

namespace meshloom::interpreter {

using Complex = std::complex<double>;

Complex product(Complex x, Complex y);
Complex complexExpm1(Complex z);
Complex complexLog1p(Complex z);
Complex complexRsqrt(Complex z);
Complex complexLogistic(Complex z);
Complex complexSign(Complex z);
Complex complexPower(Complex x, Complex y);

Complex complexAt(const HostValue &value, int64_t i);
void setComplex(HostValue &value, int64_t i, Complex z);

} // namespace meshloom::interpreter
