// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Short ways to make the HostValues that tests feed and expect, and numbers
// that look random but are a function of (seed, index).
#pragma once

#include "meshloom/Interpreter/HostValue.h"

namespace meshloom::test {

inline HostValue floats(Shape shape, std::vector<double> values,
                        DType type = DType::F64) {
  HostValue value(type, std::move(shape));
  value.floats = std::move(values);
  return value;
}

inline HostValue ints(Shape shape, std::vector<int64_t> values,
                      DType type = DType::I32) {
  HostValue value(type, std::move(shape));
  value.ints = std::move(values);
  return value;
}

/// In [0, 1), of 24 bits: exact in f32.
inline double noise(uint32_t index, uint32_t seed) {
  uint32_t h = index * 0x9E3779B1u + seed * 0x85EBCA77u;
  h ^= h >> 15;
  h *= 0x2C1B3C6Du;
  h ^= h >> 12;
  h *= 0x297A2D39u;
  h ^= h >> 15;
  return (h >> 8) * 0x1p-24;
}

/// Floats in [low, high), or integers in [0, 8) (booleans in {0, 1}).
inline HostValue random(DType type, Shape shape, uint32_t seed, double low = -1,
                        double high = 1) {
  HostValue value(type, std::move(shape));
  for (size_t i = 0; i < value.floats.size(); ++i)
    value.floats[i] =
        roundToType(type, low + (high - low) * noise(uint32_t(i), seed));
  for (size_t i = 0; i < value.imaginaries.size(); ++i)
    value.imaginaries[i] =
        roundToType(type, low + (high - low) * noise(uint32_t(i), seed + 1000));
  for (size_t i = 0; i < value.ints.size(); ++i)
    value.ints[i] =
        int64_t(noise(uint32_t(i), seed) * (type == DType::I1 ? 2 : 8));
  return value;
}

} // namespace meshloom::test
