// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How the math ops of kernel bodies are computed.
#pragma once

#include "meshloom/Targets/Kernels/KernelLowering.h"

#include "mlir/IR/PatternMatch.h"

namespace meshloom {

/// Whether `op` is a function whose formula is wrong for huge arguments: sine,
/// cosine, tangent, and the f32 remainder of huge quotients.
bool losesHugeArguments(Operation *op);
/// The size of the argument of such a function as an i32: an unsigned maximum
/// of several tells whether one was too large for the formula.
Value argumentSize(OpBuilder &builder, Operation *op);
constexpr uint32_t largestArgumentSize = 2 * 0x58000000u; // of 2^49
/// On such a function: use its formula for other arguments only.
constexpr StringRef exactAttr = "meshloom.exact";

/// Patterns from math ops on scalars to arithmetic (f32, where a polynomial is
/// accurate to a few ulp; f64 for some) or to calls of `library`. Functions
/// with an accurate LLVM intrinsic stay for the math-to-llvm conversion, and
/// without a library those without a formula stay too.
void populateMathFunctionPatterns(mlir::RewritePatternSet &patterns,
                                  MathLibrary library);
/// A pattern from divisions by constants to products, for targets that
/// multiply and add in one instruction.
void populateDivisionPatterns(mlir::RewritePatternSet &patterns);

} // namespace meshloom
