// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Windows: the parts of a tensor's dims that devices hold where an op needs
// more (or less) than each device's own block, as a convolution needs the rows
// beside its own.
#pragma once

#include "meshloom/Core/Layout.h"

namespace meshloom {

/// The indices begin <= i < end of one dim; empty where end <= begin.
struct Interval {
  int64_t begin = 0, end = 0;

  int64_t size() const { return end > begin ? end - begin : 0; }
  bool empty() const { return end <= begin; }
  bool contains(Interval other) const {
    return other.empty() || (begin <= other.begin && other.end <= end);
  }
  Interval intersect(Interval other) const {
    return {std::max(begin, other.begin), std::min(end, other.end)};
  }
  /// The smallest around both; an empty one adds nothing.
  Interval hull(Interval other) const {
    return other.empty() ? *this
           : empty()     ? other
                         : Interval{std::min(begin, other.begin),
                                std::max(end, other.end)};
  }
  bool operator==(const Interval &) const = default;
};

/// The parts that are held along each dim of a tensor: one interval a shard of
/// the dim, by the shard's index over the dim's axes, major to minor. A dim
/// without intervals is held by its blocks; no dims at all: every dim is.
///
/// Example: [10] on x = 2, of which each device needs its block and one element
/// to both sides: {{{0, 6}, {4, 10}}}.
using Windows = std::vector<std::vector<Interval>>;

/// The block that shard `shard` of a dim of size `extent` on `axes` is.
Interval blockOf(int64_t extent, std::span<const unsigned> axes,
                 const Mesh &mesh, int64_t shard);
/// Which shard along `axes` the device at `coords` has.
int64_t shardIndex(std::span<const unsigned> axes, const Mesh &mesh,
                   std::span<const int64_t> coords);

/// The part of the global array that `device` holds.
Box heldBox(const Layout &layout, const Shape &global, const Windows &windows,
            int64_t device);
/// The shape that every device allocates: the largest window (block) of each
/// dim.
Shape heldShape(const Layout &layout, const Shape &global,
                const Windows &windows);
/// Returns whether every device's window is part of its own block: nothing is
/// sent.
bool areWithinBlocks(const Layout &layout, const Shape &global,
                     const Windows &windows);
/// Returns whether every device that has a block of `from` has its window of
/// `to`, whose dims are on the same axes and perhaps more, minor ones.
bool isWithinSource(const Layout &from, const Layout &to, const Shape &global,
                    const Windows &windows);
/// Returns whether every device that holds `held` has what `needed` says.
bool covers(const Layout &layout, const Shape &global, const Windows &held,
            const Windows &needed);
/// The smallest windows around both.
Windows hull(const Layout &layout, const Shape &global, const Windows &a,
             const Windows &b);
/// Fails, naming dim and shard, unless there is one interval a shard, inside
/// the dim.
Status verifyWindows(const Layout &layout, const Shape &global,
                     const Windows &windows);

/// The mesh axes that a halo exchange to `windows` runs over: those of the dims
/// with windows beyond their blocks, in the dims' order.
std::vector<unsigned> haloAxes(const Layout &layout, const Shape &global,
                               const Windows &windows);
/// The elements that a halo exchange to `windows` moves: the most that any one
/// device sends or receives.
int64_t haloElements(const Layout &layout, const Shape &global,
                     const Windows &windows);

/// The traffic of one exchange of several values. Devices that have little to
/// do for one value may have much for another: the sum of each one's most would
/// count too much.
class HaloTraffic {
public:
  /// `width`: bytes of an element.
  void add(const Layout &layout, const Shape &global, const Windows &windows,
           int64_t width);
  /// The most bytes that any one device sends or receives.
  int64_t mostBytes() const;

private:
  std::vector<int64_t> sent, received; ///< per device, bytes
};

/// "[*, 0:6 4:10]".
std::string to_string(const Windows &windows);

} // namespace meshloom
