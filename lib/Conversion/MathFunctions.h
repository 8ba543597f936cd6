// How the math ops of kernel bodies are computed.
#pragma once

#include "mlir/IR/PatternMatch.h"

namespace meshloom {

/// Patterns from math ops on scalars to arithmetic (f32, where a polynomial is
/// accurate to a few ulp) or to calls of libm. What has an LLVM intrinsic that
/// is accurate stays for the math-to-llvm conversion.
void populateMathFunctionPatterns(mlir::RewritePatternSet &patterns);

} // namespace meshloom
