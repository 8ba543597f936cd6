// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The links of a mesh whose devices are in several processes.
#pragma once

#include "meshloom/Core/MachineModel.h"

#include <span>
#include <vector>

namespace meshloom {

/// Returns the process of each of `devices` indices, where each process has the
/// next `devicesEach` ones.
std::vector<int64_t> blocksOfProcesses(int64_t devices, int64_t devicesEach);

/// Returns, per axis, how many devices in a row are always in one process:
/// `processes` has that of each index of the mesh. The devices of each process
/// are a box of the mesh where the product is their number.
std::vector<int64_t> devicesInside(const Mesh &mesh,
                                   std::span<const int64_t> processes);

/// `machine`, which is that of one process, where `processes` has the process
/// of each index of the mesh: the devices of one process are linked as fast as
/// its memory is; axes that leave it are messages.
///
/// An axis of which a process has a part is an inner and an outer one: its
/// collectives reduce inside, exchange between processes and spread inside, so
/// that it costs what the outer part's messages do; parts of it that are inside
/// (x:(4)2) are as fast as memory.
///
/// `memoryGroups` has a number for each process, the same for those that share
/// memory (Transport::memoryGroups); empty: all do. An axis, or a part of one,
/// along which processes of several groups lie is a network, which those of a
/// group have together.
MachineModel machineOfProcesses(const MachineModel &machine, const Mesh &mesh,
                                std::span<const int64_t> processes,
                                std::span<const int> memoryGroups = {});

} // namespace meshloom
