// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Elementary functions of f64 as branch-free arithmetic.
#pragma once

#include "ScalarFormulas.h"

/// They are right for inf, nan, denormals and the ends of their ranges. The
/// names are those of libm.
namespace meshloom::formulas::wide {

Scalar exp(Scalar x);
Scalar expm1(Scalar x);
Scalar log(Scalar x);
Scalar log1p(Scalar x);
Scalar tanh(Scalar x);
Scalar erf(Scalar x);
/// The functions of angles are right for |x| up to 2^49.
Scalar sin(Scalar x);
Scalar cos(Scalar x);
Scalar tan(Scalar x);
Scalar atan2(Scalar y, Scalar x);

} // namespace meshloom::formulas::wide
