// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Placement: in which processes the devices of a program are.
#pragma once

#include "ProgramCompiler.h"

namespace meshloom::plugin {

/// A program has as many devices in each of its processes. Its mesh must have
/// the devices of each process one after the other.
struct Placement {
  std::vector<int64_t> processes; ///< in the order of the mesh
  /// The partitions in that order; empty where they have it already.
  std::vector<int64_t> order = {};

  bool isIn(int64_t process) const {
    return std::ranges::find(processes, process) != processes.end();
  }
};

/// The placement of partitions on `devices`, of which each process has
/// `perProcess`.
Result<Placement> placementOf(const std::vector<int64_t> &devices,
                              int64_t perProcess);

/// The partition that each index of the program's mesh is, for each argument
/// and result of the signature; empty where it is as for the program.
struct DeclaredDevices {
  std::vector<std::vector<int64_t>> arguments, results;
};

/// Says which partition each index of the program's mesh is, and which of them
/// are in this process, `self`.
Status placePartitions(LoadedProgram &program, int64_t self, int64_t perProcess,
                       const DeclaredDevices &declared);

} // namespace meshloom::plugin
