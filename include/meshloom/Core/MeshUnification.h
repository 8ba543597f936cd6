// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// MeshUnification: several meshes over the same devices seen as one.
#pragma once

#include "meshloom/Core/Layout.h"
#include "meshloom/Core/SubAxis.h"

namespace meshloom {

/// A mesh as a program declares it: unlike Mesh, its devices may be in any
/// order. One without axes has the one device of `deviceIds`, or device 0.
struct SourceMesh {
  std::string name; ///< for messages: "@mesh"; empty: it has none
  std::vector<MeshAxis> axes;
  /// Which device is at each position (row-major over the axes); empty: 0, 1,
  /// ...
  std::vector<int64_t> deviceIds = {};

  /// Returns "@mesh <x=2, y=4>", and the devices where they are listed.
  std::string to_string() const;
};

/// A use of an axis, or a part of one, of a SourceMesh.
struct AxisUse {
  size_t mesh; ///< index
  SubAxis axis;
};

/// The common refinement of several meshes: one Mesh of which every axis, and
/// every part of an axis that is used, is a sequence of axes.
///
/// Number the devices by their positions in the first mesh. An axis of a mesh
/// is then one or more *digits* of the device's number: a digit of size k and
/// stride s takes the values of floor(number / s) mod k. A mesh is a mixed
/// radix notation of the numbers, and so is refined by another one exactly if
/// the boundaries s and s*k of its digits are among the other's. The refinement
/// has all boundaries of all meshes and uses; it exists exactly if each
/// boundary divides the next larger one.
///
/// Example: @a = <x=2, y=4> and @b = <p=4, q=2> have boundaries {1, 4, 8} and
/// {1, 2, 8}. The refinement, {1, 2, 4, 8}, is <x=2, y:(1)2=2, y:(2)2=2>; p is
/// {x, y:(1)2} and q is y:(2)2. A mesh over devices 0, 4, 1, 5, 2, 6, 3, 7 has
/// axes that are the same digits in another order. Sizes 2x3 and 3x2 have no
/// refinement: 2 does not divide 3.
///
/// Axes of size 1 cut nothing and are left out, and a mesh of one device fits
/// beside any other. Cost: O(devices) per mesh.
class MeshUnification {
public:
  /// Fails, naming what is at odds, on: no or malformed meshes, different sets
  /// of devices, uses of axes or parts that do not exist, parts that cannot
  /// coexist, and orders of devices that are not made of digits.
  static Result<MeshUnification> of(std::vector<SourceMesh> meshes,
                                    const std::vector<AxisUse> &uses = {});

  const Mesh &mesh() const { return *unified; }
  /// The unified mesh's axes that make up an axis of a source mesh or a part of
  /// one, major to minor. `use` must be a whole axis or have been given to
  /// of().
  std::vector<unsigned> axes(const AxisUse &use) const;
  /// Device at a position of the unified mesh, as the source meshes number
  /// them, and back.
  int64_t deviceAt(int64_t position) const { return devices[position]; }
  int64_t positionOf(int64_t device) const { return positions[device]; }
  /// Returns whether `source` numbers its devices as the unified mesh does:
  /// position i of both is the same device.
  bool isAligned(size_t source) const;

private:
  struct Digit {
    int64_t stride, size;
  };
  MeshUnification() = default;
  /// Digits of one axis of a mesh, minor to major.
  Result<std::vector<Digit>> digitsOf(const SourceMesh &mesh,
                                      size_t axis) const;
  Status checkDevices(const SourceMesh &mesh) const;
  Status checkOrder(const SourceMesh &mesh,
                    const std::vector<std::vector<Digit>> &digits) const;

  std::vector<SourceMesh> sources;
  size_t base = 0; ///< the source whose positions count
  std::vector<int64_t> devices, positions;
  std::vector<std::vector<std::vector<Digit>>> digits; ///< mesh, axis
  std::vector<int64_t> boundaries;                     ///< ascending
  std::optional<Mesh> unified;
};

/// `mesh` without its axes of one device, which cut nothing. If all axes have
/// one device the first axis stays: every mesh has one.
Mesh withoutAxesOfOne(const Mesh &mesh);

/// `layout` in axes of `mesh`, which numbers its devices alike: every device
/// has the same place along every dim, and among the addends. Nothing where no
/// axes of `mesh` cut so. Blocks may differ where extents do not divide: see
/// haveSameShards.
///
/// Example: [y] on <x=2, y=4> is [{r, s}] on <x=2, r=2, s=2>, and [q] on
/// <p=2, q=4>; on <p=4, q=2> it is nothing.
std::optional<Layout> layoutOn(const Layout &layout, const Mesh &mesh);

/// Axes of `to` that number devices as `axes` of `from`, in this order, do.
std::optional<std::vector<unsigned>>
axesOn(const Mesh &from, std::span<const unsigned> axes, const Mesh &to);

/// Returns whether every device holds the same part, or addend, of an array of
/// shape `shape` under both layouts, whose meshes number their devices alike.
/// Cost: O(rank) where all extents divide, else O(devices).
bool haveSameShards(const Layout &one, const Layout &other, const Shape &shape);

} // namespace meshloom
