// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Placement: in which processes the devices of a program are.
#pragma once

#include "ProgramCompiler.h"

namespace meshloom::plugin {

/// A program has as many devices in each of its processes.
struct Placement {
  std::vector<int64_t> processes; ///< ascending
  /// The position of each partition's process among them.
  std::vector<int64_t> memberOf = {};

  bool isIn(int64_t process) const {
    return std::ranges::find(processes, process) != processes.end();
  }
  int64_t processOf(int64_t partition) const {
    return processes[size_t(memberOf[size_t(partition)])];
  }
  /// Returns the position of the process of each index of a mesh whose devices
  /// are the partitions in `order`; empty: in their own order.
  std::vector<int64_t> membersInOrder(std::span<const int64_t> order) const;
};

/// The placement of partitions on `devices`. There are `processes`, each with
/// `perProcess` devices; fails if a device is none of theirs.
Result<Placement> placementOf(const std::vector<int64_t> &devices,
                              int64_t perProcess, int64_t processes);

/// The partition that each index of the program's mesh is, for each argument
/// and result of the signature; empty where it is as for the program.
struct DeclaredDevices {
  std::vector<std::vector<int64_t>> arguments, results;
};

/// Says which partition each index of the program's mesh is, and which of them
/// are in this process, `self`.
Status placePartitions(LoadedProgram &program, const Placement &placement,
                       int64_t self, const DeclaredDevices &declared);

} // namespace meshloom::plugin
