// MeshUnification: several meshes over the same devices seen as one.
#pragma once

#include "meshloom/Core/SubAxis.h"

namespace meshloom {

/// A mesh as a program declares it: unlike Mesh, its devices may be in any
/// order.
struct SourceMesh {
  std::string name; ///< for messages: "@mesh"
  std::vector<MeshAxis> axes;
  /// Which device is at each position (row-major over the axes); empty: 0, 1,
  /// ...
  std::vector<int64_t> deviceIds = {};
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
/// Axes of size 1 cut nothing and are left out. Cost: O(devices) per mesh.
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
  std::vector<int64_t> devices, positions;
  std::vector<std::vector<std::vector<Digit>>> digits; ///< mesh, axis
  std::vector<int64_t> boundaries;                     ///< ascending
  std::optional<Mesh> unified;
};

} // namespace meshloom
