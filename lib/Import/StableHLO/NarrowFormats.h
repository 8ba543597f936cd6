// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Numbers of less than a byte or of one byte that no op computes with: floats
// of 4 to 8 bits in their kinds, bytes of ui8, and integers of 2 and 4 bits,
// numbers of 8 bits.
#pragma once

#include "meshloom/Dialect/DTensor/TensorBuilder.h"

namespace meshloom::importer {

/// Returns whether `element` is such a type.
bool isNarrow(Type element);
/// The bits of a number of a narrow type, or of another type of numbers.
unsigned bitsOf(Type element);
/// Returns the type that arithmetic on it is done in: f32, i8 or ui8.
Type wideTypeOf(Type element);

/// The numbers of type `element` in `bytes`, as wide ones. Only the lower bits
/// of a byte count.
Value emitUnpack(dtensor::TensorBuilder &builder, Value bytes, Type element);
/// The nearest numbers of type `element` as they are stored, ties to even;
/// `value` has the wide type, or is f64. A value that is too large becomes
/// infinite where the kind has infinities, else nan, and the largest number
/// where the kind has neither; integers wrap around.
Value emitPack(dtensor::TensorBuilder &builder, Value value, Type element);

/// Returns whether there are emitOrder() and emitUnorder() for a type.
bool isOrdered(Type element);
/// Bytes that are in the order of the numbers of type `element` that `bytes`
/// are, a nan before or after all others: of the largest or the smallest of
/// numbers, which a nan always is.
Value emitOrder(dtensor::TensorBuilder &builder, Value bytes, Type element,
                bool nanIsLargest);
/// The bytes that emitOrder() has ordered.
Value emitUnorder(dtensor::TensorBuilder &builder, Value order, Type element,
                  bool nanIsLargest);

/// A number's byte.
uint8_t packedByte(const llvm::APFloat &number);
/// The number of a float type that a byte is.
float unpackedByte(uint8_t byte, Type element);

} // namespace meshloom::importer
