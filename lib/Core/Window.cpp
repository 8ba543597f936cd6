// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Windows of dims: boxes, unions, and what exchanging them sends.
#include "meshloom/Core/Window.h"

#include "meshloom/Core/BlockGrid.h"

#include <algorithm>
#include <fmt/format.h>

namespace meshloom {

Interval blockOf(int64_t extent, std::span<const unsigned> axes,
                 const Mesh &mesh, int64_t shard) {
  int64_t innerShards = 1;
  for (unsigned axis : axes)
    innerShards *= mesh.axis_size(axis);
  Interval block{0, extent};
  for (unsigned axis : axes) {
    const int64_t size = mesh.axis_size(axis);
    innerShards /= size;
    const int64_t coord = shard / innerShards % size;
    const int64_t perShard = (block.size() + size - 1) / size;
    block.begin = std::min(block.begin + coord * perShard, block.end);
    block.end = std::min(block.begin + perShard, block.end);
  }
  return block;
}

int64_t shardIndex(std::span<const unsigned> axes, const Mesh &mesh,
                   std::span<const int64_t> coords) {
  int64_t index = 0;
  for (unsigned axis : axes)
    index = index * mesh.axis_size(axis) + coords[axis];
  return index;
}

/// Returns the interval of dim `dim` that shard `shard` holds.
static Interval held(const Layout &layout, const Shape &global,
                     const Windows &windows, unsigned dim, int64_t shard) {
  if (dim < windows.size() && !windows[dim].empty())
    return windows[dim][size_t(shard)];
  return blockOf(global[dim], layout.axes(dim), layout.mesh(), shard);
}

Box heldBox(const Layout &layout, const Shape &global, const Windows &windows,
            int64_t device) {
  Box box = layout.shard(global, device);
  if (windows.empty())
    return box;
  const std::vector<int64_t> coords = layout.mesh().coords(device);
  for (unsigned dim = 0; dim < windows.size(); ++dim) {
    if (windows[dim].empty())
      continue;
    const Interval window =
        windows[dim]
               [size_t(shardIndex(layout.axes(dim), layout.mesh(), coords))];
    box.offset[dim] = window.begin;
    box.extent[dim] = window.size();
  }
  return box;
}

Shape heldShape(const Layout &layout, const Shape &global,
                const Windows &windows) {
  Shape shape = layout.local_shape(global);
  for (unsigned dim = 0; dim < windows.size(); ++dim) {
    if (windows[dim].empty())
      continue;
    shape[dim] = 0;
    for (Interval window : windows[dim])
      shape[dim] = std::max(shape[dim], window.size());
  }
  return shape;
}

bool covers(const Layout &layout, const Shape &global, const Windows &held,
            const Windows &needed) {
  for (unsigned dim = 0; dim < global.size(); ++dim)
    for (int64_t shard = 0; shard < layout.num_shards(dim); ++shard)
      if (!meshloom::held(layout, global, held, dim, shard)
               .contains(meshloom::held(layout, global, needed, dim, shard)))
        return false;
  return true;
}

bool areWithinBlocks(const Layout &layout, const Shape &global,
                     const Windows &windows) {
  return covers(layout, global, {}, windows);
}

bool isWithinSource(const Layout &from, const Layout &to, const Shape &global,
                    const Windows &windows) {
  for (unsigned dim = 0; dim < windows.size(); ++dim) {
    const int64_t perSource = to.num_shards(dim) / from.num_shards(dim);
    for (int64_t shard = 0; shard < int64_t(windows[dim].size()); ++shard)
      if (!blockOf(global[dim], from.axes(dim), from.mesh(), shard / perSource)
               .contains(windows[dim][size_t(shard)]))
        return false;
  }
  return true;
}

Windows hull(const Layout &layout, const Shape &global, const Windows &a,
             const Windows &b) {
  if (a.empty() && b.empty())
    return {};
  return BlockGrid(layout, global).hull(a, b);
}

Status verifyWindows(const Layout &layout, const Shape &global,
                     const Windows &windows) {
  if (windows.empty())
    return Success();
  if (windows.size() != global.size() || layout.rank() != global.size())
    return Error(fmt::format("windows of {} dims for a tensor of rank {}",
                             windows.size(), global.size()));
  for (unsigned dim = 0; dim < windows.size(); ++dim) {
    if (windows[dim].empty())
      continue;
    if (int64_t(windows[dim].size()) != layout.num_shards(dim))
      return Error(fmt::format("dim {} has {} windows for {} shards", dim,
                               windows[dim].size(), layout.num_shards(dim)));
    for (Interval window : windows[dim])
      if (window.begin < 0 || window.end < window.begin ||
          window.end > global[dim])
        return Error(fmt::format("window {}:{} is not in dim {} of size {}",
                                 window.begin, window.end, dim, global[dim]));
  }
  return Success();
}

std::vector<unsigned> haloAxes(const Layout &layout, const Shape &global,
                               const Windows &windows) {
  std::vector<unsigned> axes;
  for (unsigned dim = 0; dim < windows.size(); ++dim) {
    bool beyond = false;
    for (int64_t shard = 0; shard < int64_t(windows[dim].size()); ++shard)
      beyond |= !blockOf(global[dim], layout.axes(dim), layout.mesh(), shard)
                     .contains(windows[dim][size_t(shard)]);
    if (beyond)
      axes.insert(axes.end(), layout.axes(dim).begin(), layout.axes(dim).end());
  }
  return axes;
}

/// Windows are boxes, so what a device sends and receives is a difference of
/// products over the dims; only the shards of windowed dims are gone through.
int64_t haloElements(const Layout &layout, const Shape &global,
                     const Windows &windows) {
  /// Per shard of a dim: what it holds, how much of that is its own, and how
  /// much of its own block all shards hold together.
  struct Counts {
    int64_t window, inBlock, held;
  };
  std::vector<std::vector<Counts>> dims;
  int64_t others = 1; // of the dims held by their blocks
  const Shape local = layout.local_shape(global);
  for (unsigned dim = 0; dim < global.size(); ++dim) {
    if (dim >= windows.size() || windows[dim].empty()) {
      others *= local[dim];
      continue;
    }
    std::vector<Counts> &counts = dims.emplace_back();
    for (int64_t shard = 0; shard < layout.num_shards(dim); ++shard) {
      const Interval block =
          blockOf(global[dim], layout.axes(dim), layout.mesh(), shard);
      const Interval window = windows[dim][size_t(shard)];
      int64_t held = 0;
      for (Interval other : windows[dim])
        held += other.intersect(block).size();
      counts.push_back({window.size(), window.intersect(block).size(), held});
    }
  }
  int64_t most = 0;
  std::vector<size_t> index(dims.size(), 0);
  while (true) {
    Counts product{1, 1, 1};
    for (size_t d = 0; d < dims.size(); ++d) {
      const Counts &factor = dims[d][index[d]];
      product = {product.window * factor.window,
                 product.inBlock * factor.inBlock, product.held * factor.held};
    }
    most = std::max({most, product.window - product.inBlock,
                     product.held - product.inBlock});
    size_t d = 0;
    while (d < dims.size() && ++index[d] == dims[d].size())
      index[d++] = 0;
    if (d == dims.size())
      return most * others;
  }
}

void HaloTraffic::add(const Layout &layout, const Shape &global,
                      const Windows &windows, int64_t width) {
  const BlockGrid grid(layout, global);
  MovedByDevice moved(grid);
  moved.add(grid, windows, width);
  sent.resize(moved.sent.size());
  received.resize(moved.sent.size());
  for (size_t device = 0; device < sent.size(); ++device) {
    sent[device] += moved.sent[device];
    received[device] += moved.received[device];
  }
}

int64_t HaloTraffic::mostBytes() const {
  int64_t most = 0;
  for (size_t device = 0; device < sent.size(); ++device)
    most = std::max({most, sent[device], received[device]});
  return most;
}

std::string to_string(const Windows &windows) {
  std::string text = "[";
  for (const std::vector<Interval> &dim : windows) {
    if (text.size() > 1)
      text += ", ";
    if (dim.empty())
      text += "*";
    for (size_t i = 0; i < dim.size(); ++i)
      text += fmt::format("{}{}:{}", i ? " " : "", dim[i].begin, dim[i].end);
  }
  return text + "]";
}

} // namespace meshloom
