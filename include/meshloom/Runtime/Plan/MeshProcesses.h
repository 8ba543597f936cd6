// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// MeshProcesses: which process drives which devices of a mesh, and what a
// process whose devices share memory holds of a buffer.
#pragma once

#include "meshloom/Core/Program.h"
#include "meshloom/Runtime/Plan/Region.h"

namespace meshloom::plan {

/// A mesh over processes: each drives as many devices. They all work this out
/// alike.
struct MeshProcesses {
  Mesh mesh; ///< axes only
  int64_t count = 1, self = 0;
  int64_t devicesPerProcess;
  /// Per axis: devices along it in one process, where the devices of each are a
  /// box of the mesh; else empty.
  std::vector<int64_t> inner;
  /// Where there are several processes, the indices of the first one's devices,
  /// then those of the second one's, and so on.
  std::vector<int64_t> indices = {};

  /// All devices are here.
  explicit MeshProcesses(const Mesh &mesh);
  /// The processes of a mesh with an assignment; this is process `self` of
  /// `count`. Fails unless all devices are here, or those that are an equal
  /// part.
  static Result<MeshProcesses> of(const Mesh &bound, int64_t self,
                                  int64_t count);

  bool several() const { return count > 1; }
  /// Returns whether the devices of each process are a box of the mesh.
  bool aligned() const { return !inner.empty(); }
  /// Returns whether devices along the axis are in several processes.
  bool crosses(unsigned axis) const {
    return inner.empty() ? several() : inner[axis] < mesh.axis_size(axis);
  }
  /// The indices of a process's devices, ascending.
  std::span<const int64_t> devicesOf(int64_t process) const {
    return several()
               ? std::span(indices).subspan(size_t(process * devicesPerProcess),
                                            size_t(devicesPerProcess))
               : mesh.local_indices();
  }
  /// The indices of the devices of this process.
  std::span<const int64_t> devicesHere() const { return devicesOf(self); }
  /// The position of a process among processes along each axis; aligned ones.
  std::vector<int64_t> coordsOf(int64_t process) const;

  /// Returns the part of a buffer that the devices of a process hold, all
  /// addends together.
  Region regionOf(const BufferDecl &decl, int64_t process) const;
  /// The smallest box around it: the array of the buffer in the process's
  /// memory.
  Box hullOf(const BufferDecl &decl, int64_t process) const;
};

/// A part of the work of a step in one process.
struct IterationPiece {
  Box box; ///< of all loops, in global indices
  /// The devices whose work it is (of some of it, at least).
  std::vector<int64_t> devices;
};
/// The iterations of `devices`, each once: what several do is done once, and
/// neighbours' parts are joined. Nothing, where the pieces of reductions that
/// belong together are not a box: then there is no call that makes all of a
/// result.
std::optional<std::vector<IterationPiece>>
iterationPieces(std::span<const Loop> loops, const Mesh &mesh,
                std::span<const int64_t> devices);

} // namespace meshloom::plan
