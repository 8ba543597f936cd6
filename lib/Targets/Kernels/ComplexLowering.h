// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Elementwise ops on complex numbers as arithmetic on their two parts.
#pragma once

#include "meshloom/Support/LLVM.h"

#include "mlir/IR/Builders.h"

namespace meshloom {

/// A complex scalar's parts while code for it is made. A scalar of complex type
/// in a kernel's body is `complex.create` of them, which reading a part folds
/// away, so no complex arithmetic is left for LLVM.
struct ComplexParts {
  Value real, imaginary;
};
ComplexParts partsOf(Value complex, OpBuilder &b, Location loc);
Value joinParts(ComplexParts parts, OpBuilder &b, Location loc);

/// (ac - bd) + (ad + bc)i, in the parts' type, without a care for infinities.
ComplexParts multiplyComplex(ComplexParts x, ComplexParts y, OpBuilder &b,
                             Location loc);

/// Emits the scalar code of `op`, an elementwise dtensor op that takes or gives
/// complex numbers, on scalars; null where it has none.
Value lowerComplex(Operation *op, ValueRange operands, OpBuilder &b);

} // namespace meshloom
