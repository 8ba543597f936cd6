// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Random numbers that are the same on every platform and with every standard
// library (std::shuffle and std's distributions are not).
#pragma once

#include <cstdint>

namespace meshloom::data {

/// SplitMix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number
/// generators", OOPSLA 2014).
class Random {
public:
  explicit Random(uint64_t seed) : state(seed) {}
  /// An independent sequence for each (seed, stream).
  Random(uint64_t seed, uint64_t stream)
      : state(Random(seed).next() ^ Random(~stream).next()) {}

  uint64_t next() {
    uint64_t z = (state += 0x9e3779b97f4a7c15ull);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
  }
  /// In [0, bound); bias below bound / 2^64.
  uint64_t below(uint64_t bound) {
    return uint64_t((__uint128_t(next()) * bound) >> 64);
  }
  /// In [low, high).
  double uniform(double low, double high) {
    return low + (high - low) * double(next() >> 11) * 0x1p-53;
  }
  /// Sum of four uniform numbers: mean 0, deviation 1, within 3.5; no libm, so
  /// that it is the same everywhere.
  double normal() {
    double sum = 0;
    for (int i = 0; i < 4; ++i)
      sum += uniform(-1, 1);
    return sum * 0.8660254037844386;
  }

private:
  uint64_t state;
};

} // namespace meshloom::data
