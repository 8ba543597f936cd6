// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The width of the vectors that this CPU has.
#pragma once

namespace meshloom::library {

#if defined(__x86_64__)
/// Returns the bits of a vector on this CPU: 512 where it has AVX-512's F, DQ
/// and VL, 256 where it has AVX2 and FMA, else 128.
inline int vectorBits() {
  static const int bits = []() {
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") &&
        __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl"))
      return 512;
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")
               ? 256
               : 128;
  }();
  return bits;
}
#endif

} // namespace meshloom::library
