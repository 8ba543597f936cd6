// The one table that says what an elementwise dtensor op does to scalars.
// Adding an elementwise op to the compiler is adding a row.
#pragma once

#include "meshloom/Dialect/DTensor/DTensor.h"

namespace meshloom {

/// Roughly how many simple instructions the op takes an element; nothing if it
/// has no row in the table.
std::optional<unsigned> scalarCost(Operation *op);

/// Emits the scalar code of `op` on `operands`, one scalar an operand of `op`,
/// as spmd.kernel's body represents them. `op` must have a row.
Value lowerToScalar(Operation *op, ValueRange operands, OpBuilder &b);

/// StableHLO's convert between element types (with signedness).
Value convertScalar(Value value, Type from, Type to, OpBuilder &b,
                    Location loc);

/// Word `linear % 4` of Philox4x32-10 at counter `linear / 4` (i64) with the
/// two words of the key (i32).
Value philoxScalar(Value linear, Value key0, Value key1, OpBuilder &b,
                   Location loc);

} // namespace meshloom
