// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The inputs that every peer program makes, as functions of (seed, index): see
// benchmark/peers/common.py. Losses can be compared across all of them.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

namespace meshloom::peers {

inline uint32_t hash(uint32_t index, uint32_t seed) {
  uint32_t h = index * 0x9E3779B1u + seed * 0x85EBCA77u;
  h = (h ^ (h >> 15)) * 0x2C1B3C6Du;
  h = (h ^ (h >> 12)) * 0x297A2D39u;
  return h ^ (h >> 15);
}

inline std::vector<float> uniform(int64_t count, uint32_t seed, float low,
                                  float high) {
  std::vector<float> values(static_cast<size_t>(count));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] =
        float(hash(uint32_t(i), seed) >> 8) * 0x1p-24f * (high - low) + low;
  return values;
}

inline std::vector<int32_t> labels(int64_t count, uint32_t seed) {
  std::vector<int32_t> values(static_cast<size_t>(count));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = int32_t(hash(uint32_t(i), seed) % 10);
  return values;
}

inline std::vector<float> glorot(int64_t in, int64_t out, uint32_t seed) {
  float limit = std::sqrt(6.0f / float(in + out));
  return uniform(in * out, seed, -limit, limit);
}

/// x [batch, features] in [0, 1.5), y [batch] in [0, 10): each class brightens
/// its own stripe of features.
struct Batch {
  std::vector<float> x;
  std::vector<int32_t> y;
};
inline Batch learnableBatch(int64_t batch, int64_t features, uint32_t seed) {
  Batch data{uniform(batch * features, seed, 0, 1), labels(batch, seed + 1)};
  int64_t stripe = features / 10;
  for (int64_t r = 0; r < batch; ++r)
    for (int64_t c = 0; c < stripe; ++c)
      data.x[size_t(r * features + data.y[size_t(r)] * stripe + c)] += 0.5f;
  return data;
}

} // namespace meshloom::peers
