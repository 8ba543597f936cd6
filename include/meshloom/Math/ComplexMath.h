// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ComplexMath: special functions of complex numbers, as real formulas on their
// parts.
#pragma once

#include "meshloom/Dialect/DTensor/TensorBuilder.h"

namespace meshloom {

/// Returns whether there is a function `name` of complex numbers: acos, acosh,
/// asin, asinh, atan, atanh, cbrt, cosh, sinh of one, atan2, maximum, minimum
/// of two.
bool isComplexFunction(StringRef name, size_t operands);

/// Emits the function of that name on operands of one complex type and shape.
/// Branch cuts and the signs of zeros are those of C99's Annex G. complex<f32>
/// is computed in f64. The larger of two numbers is the one with the larger
/// real part, of equal ones the larger imaginary part.
Value emitComplexFunction(dtensor::TensorBuilder &builder, StringRef name,
                          ValueRange operands);

} // namespace meshloom
