// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Elementary functions for targets that have no math library, and those that
// vectors compute faster than a library computes each number.
#pragma once

#include "ScalarFormulas.h"

#include "mlir/IR/PatternMatch.h"

namespace meshloom {

/// Calls the f64 function that libm calls `name`: sin, cos, tan, cbrt, pow
/// or fmod. The module gets the function when it is first called.
/// LLVM inlines the calls.
formulas::Scalar callDevice(StringRef name, ValueRange arguments,
                            PatternRewriter &rewriter);

/// The power of f32 numbers, in f64: it has the bits that the product, which
/// may be as large as 104, takes from the fraction of the exponent.
formulas::Scalar narrowPower(formulas::Scalar base, formulas::Scalar exponent);

/// The same of f64 numbers, with a logarithm of twice their precision.
formulas::Scalar widePower(formulas::Scalar base, formulas::Scalar exponent);

/// The cube root of an f64 number.
formulas::Scalar wideCubeRoot(formulas::Scalar x);

} // namespace meshloom
