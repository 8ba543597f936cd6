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
  /// Without branches, so that loops over f16 are vectors on every CPU.
  static float widen(uint16_t bits) {
    const uint32_t magnitude = bits & 0x7fff;
    // The exponent of f32 is 112 more, that of infinities and nan twice 112.
    const uint32_t bias = magnitude < 0x7c00 ? 112u << 23 : 224u << 23;
    const float denormal = float(int32_t(magnitude)) * 0x1p-24f;
    const uint32_t value = magnitude < 0x400 ? std::bit_cast<uint32_t>(denormal)
                                             : (magnitude << 13) + bias;
    return std::bit_cast<float>(value | uint32_t(bits & 0x8000) << 16);
  }
  /// Without branches, too.
  static uint16_t narrow(float value) {
    const uint32_t bits = std::bit_cast<uint32_t>(value);
    const uint32_t magnitude = bits & 0x7fffffff;
    // Adding 2^13 ulps of the f32 value's f16 grid rounds to that grid.
    const uint32_t denormal =
        std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude) + 0.5f) & 0x7ff;
    const uint32_t rounded = magnitude + 0xfff + (magnitude >> 13 & 1);
    uint32_t result = (rounded - (112u << 23)) >> 13;
    result = magnitude < 113u << 23 ? denormal : result; // below 2^-14
    result = magnitude >= 0x477ff000 ? 0x7c00 : result;  // from 65520 on
    result = magnitude > 0x7f800000 ? 0x7e00 : result;   // nan
    return uint16_t(result | (bits >> 16 & 0x8000));
  }
};

} // namespace meshloom
