// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Special functions as dtensor ops: the one place that knows their formulas,
// for the importer and for the user API.
#pragma once

#include "meshloom/Dialect/DTensor/TensorBuilder.h"

namespace meshloom {

/// Returns whether there is a function `name` of `operands` operands: chlo's
/// names (acos, acosh, asin, asinh, atan, atanh, bessel_i1e, cosh, digamma,
/// erf_inv, erfc, lgamma, sinh; next_after, polygamma, zeta).
bool isSpecialFunction(StringRef name, size_t operands);

/// Emits the function of that name on operands of one float type and shape. f16
/// and bf16 are computed in f32.
Value emitSpecialFunction(dtensor::TensorBuilder &builder, StringRef name,
                          ValueRange operands);
Value emitSpecialFunction(OpBuilder &builder, Location loc, StringRef name,
                          ValueRange operands);

} // namespace meshloom
