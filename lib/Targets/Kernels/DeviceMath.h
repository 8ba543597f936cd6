// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Elementary functions for targets that have no math library.
#pragma once

#include "MathScalar.h"

#include "mlir/IR/PatternMatch.h"

namespace meshloom {

/// Calls the f64 function that libm calls `name`: sin, cos, tan, erf, cbrt,
/// atan2, pow or fmod. The module gets the function when it is first called.
/// LLVM inlines the calls.
scalars::Scalar callDevice(StringRef name, ValueRange arguments,
                           PatternRewriter &rewriter);

/// The power of f32 numbers, in f64: it has the bits that the product, which
/// may be as large as 104, takes from the fraction of the exponent.
scalars::Scalar narrowPower(scalars::Scalar base, scalars::Scalar exponent);

} // namespace meshloom
