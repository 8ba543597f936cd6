// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Partitions, their devices, and the processes that these are in.
#include "Placement.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

using namespace meshloom;
using namespace meshloom::plugin;

Result<Placement> plugin::placementOf(const std::vector<int64_t> &devices,
                                      int64_t perProcess) {
  Placement placement;
  std::map<int64_t, std::vector<int64_t>> partitions; // of each process
  for (size_t partition = 0; partition < devices.size(); ++partition) {
    const int64_t process = devices[partition] / perProcess;
    if (!placement.isIn(process))
      placement.processes.push_back(process);
    partitions[process].push_back(int64_t(partition));
  }
  const size_t equal = devices.size() / partitions.size();
  std::vector<std::string> counts;
  for (int64_t process : placement.processes) {
    const std::vector<int64_t> &members = partitions[process];
    counts.push_back(fmt::format("{} of process {}", members.size(), process));
    placement.order.insert(placement.order.end(), members.begin(),
                           members.end());
  }
  if (std::ranges::any_of(partitions, [&](const auto &entry) {
        return entry.second.size() != equal;
      }))
    return Error(fmt::format("a program must be on as many devices of each of "
                             "its processes; this one is on {}",
                             fmt::join(counts, ", ")),
                 ErrorCode::UNIMPLEMENTED);
  if (std::ranges::is_sorted(placement.order))
    placement.order.clear();
  return placement;
}

Status plugin::placePartitions(LoadedProgram &program, int64_t self,
                               int64_t perProcess) {
  const Signature &signature = program.executable->signature();
  const int64_t size = signature.mesh.size();
  const int64_t partitions = int64_t(program.request.devices.size());
  if (size != 1 && size != partitions)
    return Error(fmt::format("the program's mesh {} has {} devices, and it is "
                             "compiled for {}",
                             signature.mesh.spec_string(), size, partitions));
  program.partitionOf = signature.deviceOrder;
  if (program.partitionOf.empty())
    for (int64_t i = 0; i < size; ++i)
      program.partitionOf.push_back(i);
  program.indexOf.resize(size_t(size));
  for (int64_t i = 0; i < size; ++i)
    program.indexOf[size_t(program.partitionOf[size_t(i)])] = i;
  std::vector<int64_t> &here = program.partitionsHere;
  for (int64_t partition = 0; partition < partitions; ++partition)
    if (program.request.devices[size_t(partition)] / perProcess == self)
      here.push_back(partition);
  if (size == 1) {
    program.indicesHere.push_back({0, 0});
    return Success();
  }
  for (int64_t index : devicesHere(signature.mesh)) {
    const int64_t partition = program.partitionOf[size_t(index)];
    const auto found = std::ranges::find(here, partition);
    if (found == here.end())
      return Error(fmt::format("the mesh {} has device {} where it must have "
                               "one of process {}: devices of a process must "
                               "be one after the other in all meshes of a "
                               "program",
                               signature.mesh.spec_string(),
                               program.request.devices[size_t(partition)],
                               self),
                   ErrorCode::UNIMPLEMENTED);
    program.indicesHere.push_back({index, size_t(found - here.begin())});
  }
  return Success();
}
