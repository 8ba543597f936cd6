// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Elementary functions for targets that have no math library.
#pragma once

#include "ScalarFormulas.h"

#include "mlir/IR/PatternMatch.h"

namespace meshloom {

/// Calls the f64 function that libm calls `name`: sin, cos, tan or fmod.
/// The module gets the function when it is first called.
/// LLVM inlines the calls.
formulas::Scalar callDevice(StringRef name, ValueRange arguments,
                            PatternRewriter &rewriter);

} // namespace meshloom
