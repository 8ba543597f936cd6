// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How an elementwise dtensor op is computed on scalars: by the op of MLIR's
// math dialect that its declaration names, or by a row of the one table here.
#pragma once

#include "meshloom/Dialect/DTensor/DTensor.h"

namespace meshloom {

/// Returns whether ops of that name are computed so.
bool hasScalarLowering(mlir::OperationName name);

/// Emits the scalar code of `op` on `operands`, one scalar an operand of `op`,
/// as spmd.kernel's body represents them. `op` is one with isPerElement.
Value lowerToScalar(Operation *op, ValueRange operands, OpBuilder &b);

/// StableHLO's convert between element types (with signedness).
Value convertScalar(Value value, Type from, Type to, OpBuilder &b,
                    Location loc);

/// Word `linear % 4` of Philox4x32-10 at counter `linear / 4` (i64) with the
/// two words of the key (i32).
Value philoxScalar(Value linear, Value key0, Value key1, OpBuilder &b,
                   Location loc);

} // namespace meshloom
