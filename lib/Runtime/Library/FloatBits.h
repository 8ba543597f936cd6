// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The two 16-bit float types as their bits, to and from f32, rounded to nearest
// even.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace meshloom::library {

struct BFloat16 {
  static float widen(uint16_t bits) {
    return std::bit_cast<float>(uint32_t(bits) << 16);
  }
  static uint16_t narrow(float value) {
    const uint32_t bits = std::bit_cast<uint32_t>(value);
    if (std::isnan(value))
      return uint16_t((bits >> 16) | 0x40);
    return uint16_t((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16);
  }
};

struct Float16 {
  static float widen(uint16_t bits) {
    const uint32_t sign = uint32_t(bits & 0x8000) << 16;
    const uint32_t exponent = (bits >> 10) & 31, mantissa = bits & 1023;
    if (exponent == 31)
      return std::bit_cast<float>(sign | 0x7F800000 | mantissa << 13);
    if (exponent != 0)
      return std::bit_cast<float>(sign | (exponent + 112) << 23 |
                                  mantissa << 13);
    const float value = float(mantissa) * 0x1p-24f;
    return sign ? -value : value;
  }
  static uint16_t narrow(float value) {
    const uint32_t bits = std::bit_cast<uint32_t>(value);
    const uint16_t sign = uint16_t(bits >> 16 & 0x8000);
    const float magnitude = std::fabs(value);
    if (std::isnan(value))
      return uint16_t(sign | 0x7E00);
    if (magnitude >= 65520.f)
      return uint16_t(sign | 0x7C00);
    // Adding 2^13 ulps of the f32 value's f16 grid rounds to that grid.
    if (magnitude < 0x1p-14f) {
      const float shifted = magnitude + 0.5f;
      return uint16_t(sign |
                      uint16_t(std::bit_cast<uint32_t>(shifted) & 0x7FF));
    }
    const uint32_t absolute = bits & 0x7FFFFFFF;
    const uint32_t rounded = absolute + 0xFFF + (absolute >> 13 & 1);
    return uint16_t(sign | ((rounded - (112u << 23)) >> 13));
  }
};

} // namespace meshloom::library
