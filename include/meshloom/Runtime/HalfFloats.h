// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// 16-bit floats as f32, which holds every value of both, and back to nearest
// even.
#pragma once

#include <bit>
#include <cstdint>

namespace meshloom {

struct BF16 {
  static float widen(uint16_t bits) {
    return std::bit_cast<float>(uint32_t(bits) << 16);
  }
  static uint16_t narrow(float value) {
    const uint32_t bits = std::bit_cast<uint32_t>(value);
    if ((bits & 0x7fffffff) > 0x7f800000) // nan: keep it one
      return uint16_t(bits >> 16 | 0x40);
    return uint16_t((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
  }
};

struct F16 {
  static float widen(uint16_t bits) {
    return float(std::bit_cast<_Float16>(bits));
  }
  static uint16_t narrow(float value) {
    return std::bit_cast<uint16_t>(_Float16(value));
  }
};

} // namespace meshloom
