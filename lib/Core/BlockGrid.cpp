// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Blocks and windows side by side: unions, and what exchanges send.
#include "meshloom/Core/BlockGrid.h"

#include <algorithm>

namespace meshloom {

BlockGrid::BlockGrid(const Layout &layout, const Shape &global)
    : blocks(global.size()), shards(global.size()),
      devices(layout.mesh().size()) {
  const Mesh &mesh = layout.mesh();
  for (unsigned dim = 0; dim < global.size(); ++dim)
    for (int64_t shard = 0; shard < layout.num_shards(dim); ++shard)
      blocks[dim].push_back(
          blockOf(global[dim], layout.axes(dim), mesh, shard));
  for (int64_t device = 0; device < devices; ++device) {
    const std::vector<int64_t> coords = mesh.coords(device);
    for (unsigned dim = 0; dim < global.size(); ++dim)
      shards[dim].push_back(shardIndex(layout.axes(dim), mesh, coords));
  }
}

Windows BlockGrid::hull(const Windows &a, const Windows &b) const {
  if (a.empty() && b.empty())
    return {};
  Windows both(blocks.size());
  auto has = [](const Windows &windows, size_t dim) {
    return dim < windows.size() && !windows[dim].empty();
  };
  for (size_t dim = 0; dim < both.size(); ++dim) {
    if (!has(a, dim) && !has(b, dim))
      continue;
    const std::vector<Interval> &one = has(a, dim) ? a[dim] : blocks[dim];
    const std::vector<Interval> &other = has(b, dim) ? b[dim] : blocks[dim];
    for (size_t shard = 0; shard < one.size(); ++shard)
      both[dim].push_back(one[shard].hull(other[shard]));
  }
  return both;
}

/// Windows are boxes, so what a device sends and receives is a difference of
/// products over the dims. Searches ask for this very often: dims are gone
/// through once, not once for each device.
void MovedByDevice::add(const BlockGrid &grid, const Windows &windows,
                        int64_t width) {
  /// Counts of a shard of a dim: the elements it holds, how many of them are in
  /// its block, and how many of its block all shards together hold.
  struct Counts {
    int64_t window, inBlock, held;
  };
  std::vector<Counts> product(sent.size(), Counts{width, width, width}), counts;
  for (size_t dim = 0; dim < grid.blocks.size(); ++dim) {
    const bool isWindowed = dim < windows.size() && !windows[dim].empty();
    const std::vector<Interval> &blocks = grid.blocks[dim];
    counts.clear();
    for (size_t shard = 0; shard < blocks.size(); ++shard) {
      const Interval block = blocks[shard];
      counts.push_back({block.size(), block.size(), block.size()});
      if (!isWindowed)
        continue;
      const Interval window = windows[dim][shard];
      counts.back() = {window.size(), window.intersect(block).size(), 0};
      for (Interval other : windows[dim])
        counts.back().held += other.intersect(block).size();
    }
    for (size_t device = 0; device < product.size(); ++device) {
      const Counts &factor = counts[size_t(grid.shards[dim][device])];
      product[device].window *= factor.window;
      product[device].inBlock *= factor.inBlock;
      product[device].held *= factor.held;
    }
  }
  for (size_t device = 0; device < product.size(); ++device) {
    sent[device] += product[device].held - product[device].inBlock;
    received[device] += product[device].window - product[device].inBlock;
  }
}

MovedByDevice &MovedByDevice::operator+=(const MovedByDevice &other) {
  for (size_t device = 0; device < sent.size(); ++device) {
    sent[device] += other.sent[device];
    received[device] += other.received[device];
  }
  return *this;
}

MovedByDevice &MovedByDevice::operator-=(const MovedByDevice &other) {
  for (size_t device = 0; device < sent.size(); ++device) {
    sent[device] -= other.sent[device];
    received[device] -= other.received[device];
  }
  return *this;
}

int64_t MovedByDevice::most() const {
  int64_t most = 0;
  for (size_t device = 0; device < sent.size(); ++device)
    most = std::max({most, sent[device], received[device]});
  return most;
}

} // namespace meshloom
