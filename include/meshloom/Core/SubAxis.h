// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sub-axes: the parts that an axis of a mesh falls into where a program shards
// over some of it only.
#pragma once

#include "meshloom/Core/Mesh.h"

namespace meshloom {

/// An axis of the user's mesh, or a part of one: `x:(2)4` is `x` seen as
/// [2, 4, rest], of which the middle is meant.
///
/// Meshes have plain axes only. One whose axis `x` of size 8 is needed in parts
/// has the axes `x:(1)2` and `x:(2)4` in its place, in this order, and nothing
/// but names tells that they belong together: layouts over both print as `x`,
/// and `x` reads as both.
///
/// Rejected: a layout that lists sub-axes of the mesh's axes (Shardy's). Every
/// relayout, rule and collective would have to compare overlapping parts; with
/// the mesh cut once, they see axes that are equal or disjoint.
struct SubAxis {
  std::string axis;
  int64_t before = 1; ///< product of what is major to it within the axis
  int64_t size = 0;   ///< 0: all of the axis

  bool isWhole() const { return size == 0; }
  /// "x" or "x:(2)4".
  std::string to_string() const;
  /// Reads to_string's form; nothing if `text` has another.
  static std::optional<SubAxis> parse(std::string_view text);
  bool operator==(const SubAxis &) const = default;
};

/// The axes of `mesh` that `name` stands for, major to minor: itself, or the
/// parts that make up an axis or a sub-axis. Nothing if there are none.
std::optional<std::vector<unsigned>> axesNamed(const Mesh &mesh,
                                               std::string_view name);

/// The names of `axes` in their order, those of neighbouring parts merged:
/// {x:(1)2, x:(2)4, y} gives "x", "y".
std::vector<std::string> mergedNames(const Mesh &mesh,
                                     std::span<const unsigned> axes);

} // namespace meshloom
