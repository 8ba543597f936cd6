// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ReshapeCuts: which factors a reshape has, and where the axes of a mesh are
// cut so that reshapes of dims that lie on them can stay local.
#pragma once

#include "meshloom/Core/ShardingRule.h"

#include <map>
#include <set>

namespace meshloom {

/// The rule of a reshape: "(a b) c -> a (b c)". Both shapes are walked from the
/// major end. The remaining parts of both sides always have the same number of
/// elements, so a common divisor of what is left of the two current dims is a
/// major part of both: a factor. Without one, dims correspond to nothing (and
/// must be whole) until the products of both sides agree again. Linear in the
/// ranks and the logarithm of the sizes. Pending reductions are not looked at.
ShardingRule reshapeRule(const Shape &from, const Shape &to);

/// The part of an axis that is `size` long and minor to `before` others of it.
/// Axes are numbered by whoever asks.
struct AxisPart {
  unsigned axis;
  int64_t before, size;
  auto operator<=>(const AxisPart &) const = default;
};

/// Finds the cuts for all reshapes of a program.
///
/// A dim of 64 on an axis of 8 that becomes 4 x 16 stays where it is if the
/// axis's first 4 go with the 4 and the other 2 with the 16. So, factor by
/// factor, a factor takes axes while they divide what is left of it; an axis
/// that goes on behind a factor is cut there; one that shares only a divisor
/// with the factor is cut at that, which ends the walk. The minor factor takes
/// the rest as it is. The part that a factor has taken lies on the dim that
/// begins with it on the other side, which may be reshaped again: 64 -> 2 x 32
/// -> 2 x 2 x 16 cuts twice.
///
/// Dims are known by their extents only. A cut for a dim that the program never
/// has on that axis does no harm: the parts together are the axis.
class ReshapeCuts {
public:
  void addReshape(const Shape &from, const Shape &to);
  /// Somewhere, a dim of `extent` is on `parts`, major to minor.
  void addDim(int64_t extent, std::vector<AxisPart> parts);
  /// The parts that axes must have.
  std::set<AxisPart> find() const;

private:
  /// A factor of a dim.
  struct Digit {
    int64_t size;
    bool isMinor;
    int64_t
        begins; ///< extent of the other side's dim that it is major in, or 0
    auto operator<=>(const Digit &) const = default;
  };
  /// For dims with several factors, those up to one that must be whole.
  std::map<int64_t, std::set<std::vector<Digit>>> splits;
  std::set<std::pair<int64_t, std::vector<AxisPart>>> dims;
};

} // namespace meshloom
