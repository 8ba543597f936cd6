// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The common part of the decompositions of different families.
#pragma once

#include "Importer.h"

#include "meshloom/Math/ComplexMath.h"

namespace meshloom::importer {

/// Integers ordered as IEEE 754's total order of the floats `value`: -nan,
/// -inf,
/// ..., -0, 0, ..., inf, nan.
Value totalOrderKey(LaneBuilder &b, Value value);

/// Applies a region on scalars to all elements of tensors of local `shape`.
Imported importElementwiseRegion(Importer &importer, Region &region,
                                 ArrayRef<Value> arguments,
                                 ArrayRef<int64_t> shape);

/// `ToOp`, or of complex numbers, which it does not take, the formula `name`.
template <typename ToOp>
Value applyElementwise(Importer &importer, StringRef name,
                       ValueRange operands) {
  LaneBuilder &b = importer.b;
  return isa<mlir::ComplexType>(b.elementOf(operands[0]))
             ? emitComplexFunction(b, name, operands)
             : b.apply<ToOp>(operands);
}

} // namespace meshloom::importer
