// Numbers of less than a byte or of one byte that no op computes with: f8 in
// its kinds and integers of 2 and 4 bits, each in a byte of its own.
#pragma once

#include "meshloom/Math/ElementwiseBuilder.h"

namespace meshloom {

/// Whether `element` is such a type.
bool isNarrow(Type element);
/// What arithmetic on it is done in: f32, i8 or ui8.
Type wideTypeOf(Type element);

/// The numbers of type `element` in `bytes` (ui8), as wide ones. Of an integer
/// the lower bits count.
Value emitUnpack(ElementwiseBuilder &builder, Value bytes, Type element);
/// The nearest numbers of type `element` as bytes, ties to even; `value` has
/// the wide type, or is f64. What is too large becomes infinite where the kind
/// has infinities, else nan; integers wrap around.
Value emitPack(ElementwiseBuilder &builder, Value value, Type element);

/// A number's byte.
uint8_t packedByte(const llvm::APFloat &number);

} // namespace meshloom
