// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Noise.h"

double meshloom::fuzz::noise(uint64_t seed, uint64_t index) {
  uint64_t z = seed * 0x9E3779B97F4A7C15 + index * 0xD1B54A32D192ED03 + 1;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
  return double((z ^ (z >> 31)) >> 11) * 0x1p-53;
}
