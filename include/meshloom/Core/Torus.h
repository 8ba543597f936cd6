// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Torus: chips on a grid, linked to their neighbours, and what that gives the
// axes of a mesh.
#pragma once

#include "meshloom/Core/AxisLink.h"
#include "meshloom/Core/Mesh.h"

#include <memory>

namespace meshloom {

/// Chips on a grid of one to three dims. Each has a link to its neighbours in
/// either direction of each dim; along a dim that wraps the last is the first's
/// neighbour too. Device i of a mesh is on the i-th of `chips`, so how far the
/// members of a mesh axis are from each other depends on which axis it is.
///
/// Example: 16x16 chips that wrap, and a mesh <a=16, b=4, c=4>. Devices along a
/// are neighbours in y, and a ring of them uses each link once in each
/// direction: 100 GB/s where a link carries 50. Members along c are neighbours
/// in x, but the fourth is three links from the first, and both ways use the
/// same links: 50 GB/s. Members along b are four links apart and there are four
/// rings interleaved: 25 GB/s.
///
/// Rejected: a table of link speeds for each axis of each shape of mesh. It is
/// what this works out, and is wrong as soon as a mesh cuts a dim in two.
///
/// An immutable value, cheap to copy, usable from any thread.
class Torus {
public:
  struct Description {
    std::vector<int64_t> shape; ///< chips along x, y, z
    std::vector<bool> wraps;    ///< for each dim
    int64_t devicesPerChip = 1;
    int64_t linkBytesPerSecond = 50'000'000'000; ///< one link, one direction
    Cost hopLatency = 0;                         ///< of one link
    /// Between devices of one chip.
    int64_t chipBytesPerSecond = 100'000'000'000;
    /// The coordinates of each device's chip, x first; empty: chip after chip,
    /// x fastest, each with all its devices.
    std::vector<std::vector<int64_t>> chips;
    bool operator==(const Description &) const = default;
  };
  /// Fails on dims or rates below 1, other than one to three dims, and chips
  /// that are outside or whose number is not that of the devices.
  static Result<Torus> get(Description description);

  /// With all chips.
  const Description &description() const;
  /// Returns whether the chips are in the order that an empty list stands for.
  bool isInOrder() const;
  /// Number of devices.
  int64_t size() const;

  /// The link of a mesh of size() devices along one of its axes. Rings go
  /// through the members of each group in order, both ways at once, half the
  /// data each; data takes a shortest way, first along x; all groups of the
  /// axis run at the same time, and the busiest link sets the pace. The latency
  /// is that of the way between the members that are farthest apart.
  ///
  /// It leaves out that a collective over several axes has the links of all of
  /// them and is priced at the slowest one's.
  AxisLink link(const Mesh &mesh, unsigned axis) const;

  bool operator==(const Torus &other) const {
    return description() == other.description();
  }

private:
  struct Impl;
  explicit Torus(std::shared_ptr<const Impl> impl) : impl(std::move(impl)) {}
  std::shared_ptr<const Impl> impl;
};

} // namespace meshloom
