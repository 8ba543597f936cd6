// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products of complex matrices, by products of real ones.
#pragma once

#include "DotTiles.h"

#include <complex>

namespace meshloom::library {

/// out = lhs * rhs. Real: float or double.
template <typename Real>
Status complexProduct(const std::complex<Real> *lhs,
                      const std::complex<Real> *rhs, std::complex<Real> *out,
                      const Contraction &c);

} // namespace meshloom::library
