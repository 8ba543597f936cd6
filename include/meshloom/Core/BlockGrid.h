// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// BlockGrid: the blocks that a layout cuts a tensor into, for looking at many
// windows of it.
#pragma once

#include "meshloom/Core/Window.h"

namespace meshloom {

/// The blocks of a layout, and which of them each device has. The functions of
/// Window.h make one at every call; who looks at hundreds of windows of one
/// value makes it once.
struct BlockGrid {
  BlockGrid(const Layout &layout, const Shape &global);
  /// The smallest windows around both.
  Windows hull(const Windows &a, const Windows &b) const;

  std::vector<std::vector<Interval>> blocks; ///< per dim and shard
  std::vector<std::vector<int64_t>> shards;  ///< per dim and device
  int64_t devices;
};

/// The data that devices send and receive, in any unit; 0 at first.
struct MovedByDevice {
  explicit MovedByDevice(const BlockGrid &grid)
      : sent(size_t(grid.devices)), received(sent.size()) {}
  /// Adds what an exchange to `windows` moves, where an element counts `width`.
  void add(const BlockGrid &grid, const Windows &windows, int64_t width);
  MovedByDevice &operator+=(const MovedByDevice &other);
  MovedByDevice &operator-=(const MovedByDevice &other);
  /// The most that any one device sends or receives.
  int64_t most() const;

  std::vector<int64_t> sent, received; ///< per device
};

} // namespace meshloom
