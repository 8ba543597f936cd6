// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Words of random bits made of ordinary ops, from a key and a counter that is
// an element's index: the bits are the same under every layout.
#pragma once

#include "meshloom/Lanes/LaneBuilder.h"

#include <array>

namespace meshloom::lanes {

using Pair = std::array<Value, 2>;
using Quad = std::array<Value, 4>;

/// Arithmetic on words of 32 and 64 bits, all of one shape.
struct Words {
  LaneBuilder &b;
  SmallVector<int64_t> shape;
  Type word = b.getIntegerType(32, false), wide = b.getIntegerType(64, false);

  Value constant(uint64_t value, Type type) {
    return b.splat(RankedTensorType::get(shape, type),
                   llvm::APInt(type.getIntOrFloatBitWidth(), value));
  }
  Value add(Value x, Value y) { return b.apply<dtensor::AddOp>({x, y}); }
  Value multiply(Value x, Value y) {
    return b.apply<dtensor::MultiplyOp>({x, y});
  }
  Value exclusiveOr(Value x, Value y) {
    return b.apply<dtensor::XorOp>({x, y});
  }
  Value either(Value x, Value y) { return b.apply<dtensor::OrOp>({x, y}); }
  Value shiftRight(Value x, unsigned bits) {
    return b.apply<dtensor::ShiftRightLogicalOp>({x, b.like(x, bits)});
  }
  Value shiftLeft(Value x, unsigned bits) {
    return b.apply<dtensor::ShiftLeftOp>({x, b.like(x, bits)});
  }
  Value rotate(Value x, unsigned bits) {
    return either(shiftLeft(x, bits), shiftRight(x, 32 - bits));
  }
  /// The two words of a wide one, and back.
  Pair split(Value x) {
    return {b.convert(x, word), b.convert(shiftRight(x, 32), word)};
  }
  Value join(Value low, Value high) {
    return either(b.convert(low, wide), shiftLeft(b.convert(high, wide), 32));
  }
  /// Row-major index of each element in `shape`, where dim `halved` counts half
  /// as fast (-1: none).
  Value index(int64_t halved) {
    Value result = constant(0, wide);
    int64_t stride = 1;
    for (int64_t dim = int64_t(shape.size()) - 1; dim >= 0; --dim) {
      Value position = b.iota(RankedTensorType::get(shape, wide), dim);
      int64_t extent = shape[dim];
      if (dim == halved) {
        position = shiftRight(position, 1);
        extent = (extent + 1) / 2;
      }
      result =
          add(result, multiply(position, constant(uint64_t(stride), wide)));
      stride *= extent;
    }
    return result;
  }
};

/// Philox4x32-10. (Salmon et al., "Parallel random numbers: as easy as 1, 2,
/// 3", SC 2011.)
Quad philox(Words &words, Quad counter, Pair key);

/// Returns the bits that dtensor.rng gives for a seed, a vector of two words,
/// that differs from place to place.
Value randomBits(LaneBuilder &b, ArrayRef<int64_t> shape, Value seed);

} // namespace meshloom::lanes
