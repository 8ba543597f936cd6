// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The values between the elements of an image: how much each element counts
// there.
#pragma once

#include "BuiltIn.h"

#include "meshloom/API/Create.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>

namespace meshloom::detail {

/// How much an element counts at a distance, in elements.
using Falloff = double (*)(double);

inline double triangle(double x) {
  return std::max(0.0, 1 - x);
}
/// Keys's cubic, a = -1/2.
inline double cubic(double x) {
  return x < 1   ? ((1.5 * x - 2.5) * x) * x + 1
         : x < 2 ? ((-0.5 * x + 2.5) * x - 4) * x + 2
                 : 0;
}
template <int Radius> double lanczos(double x) {
  constexpr double pi = std::numbers::pi;
  if (x > Radius)
    return 0;
  return x < 1e-3 ? 1
                  : Radius * std::sin(pi * x) * std::sin(pi * x / Radius) /
                        (pi * pi * x * x);
}

/// Returns the falloff of a name; null for "nearest". Throws, and lists the
/// names, where it is not known.
inline Falloff falloffOf(const LayerImpl &layer, const std::string &name) {
  static const auto &falloffs =
      *new std::map<std::string, Falloff, std::less<>>{
          {"nearest", nullptr},
          {"bilinear", triangle},
          {"bicubic", cubic},
          {"lanczos3", lanczos<3>},
          {"lanczos5", lanczos<5>}};
  if (const auto found = falloffs.find(name); found != falloffs.end())
    return found->second;
  std::vector<std::string> names;
  for (auto &[entry, function] : falloffs)
    names.push_back(entry);
  Error(fmt::format("[{}] layer '{}': expected interpolation to be one "
                    "of '{}', got '{}'",
                    layer.class_name(), layer.name(), fmt::join(names, "', '"),
                    name))
      .raise();
}

/// [size, many]: what each element gives to each new one, whose middles are
/// spread evenly over the same extent. `antialiases`: where these are further
/// apart than elements, more of those count for each.
inline Tensor interpolation(int64_t size, int64_t many, Falloff falloff,
                            bool antialiases = false) {
  const double apart = double(size) / double(many);
  const double reach = antialiases ? std::max(apart, 1.0) : 1.0;
  std::vector<float> weights(size_t(size * many));
  for (int64_t to = 0; to < many; ++to) {
    const double place = (double(to) + 0.5) * apart - 0.5;
    double sum = 0;
    for (int64_t from = 0; from < size; ++from)
      sum += falloff(std::abs(place - double(from)) / reach);
    for (int64_t from = 0; from < size; ++from)
      weights[size_t(from * many + to)] =
          float(falloff(std::abs(place - double(from)) / reach) / sum);
  }
  return tensor(weights, {size, many});
}

/// Layers of images, which preprocessingLayers lists among its own.
LayerList imageLayers();
/// Random layers of images, which preprocessingLayers lists among its own.
LayerList augmentationLayers();

} // namespace meshloom::detail
