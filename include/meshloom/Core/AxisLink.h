// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// AxisLink: what it costs to talk to the neighbours along a mesh axis.
#pragma once

#include <cstdint>

namespace meshloom {

/// Time in picoseconds.
using Cost = int64_t;

/// The link between devices that are neighbours along a mesh axis.
struct AxisLink {
  int64_t bytesPerSecond = 10'000'000'000;
  Cost latency = 0; ///< per collective
  /// The rate of each device's data to all others at once, where links are
  /// shared with data that others send through; 0: bytesPerSecond.
  int64_t allToAllBytesPerSecond = 0;
  bool operator==(const AxisLink &) const = default;
};

} // namespace meshloom
