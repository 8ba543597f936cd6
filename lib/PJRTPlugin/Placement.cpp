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

namespace {
/// Fails unless the devices of process `self`, this one, are where its part of
/// the mesh is.
Result<PartPlaces> placesFor(std::vector<int64_t> partitionOf,
                             const LoadedProgram &program, int64_t self) {
  const Mesh &mesh = program.executable->signature().mesh;
  PartPlaces places{std::move(partitionOf), {}, {}};
  places.indexOf.resize(places.partitionOf.size());
  for (size_t i = 0; i < places.partitionOf.size(); ++i)
    places.indexOf[size_t(places.partitionOf[i])] = int64_t(i);
  if (mesh.size() == 1) {
    places.indicesHere.push_back({0, 0});
    return places;
  }
  const std::vector<int64_t> &here = program.partitionsHere;
  for (int64_t index : devicesHere(mesh)) {
    const int64_t partition = places.partitionOf[size_t(index)];
    const auto found = std::ranges::find(here, partition);
    if (found == here.end())
      return Error(fmt::format("the mesh {} has device {} where it must have "
                               "one of process {}: devices of a process must "
                               "be one after the other in all meshes of a "
                               "program",
                               mesh.spec_string(),
                               program.request.devices[size_t(partition)],
                               self),
                   ErrorCode::UNIMPLEMENTED);
    places.indicesHere.push_back({index, size_t(found - here.begin())});
  }
  return places;
}
} // namespace

Status plugin::placePartitions(LoadedProgram &program, int64_t self,
                               int64_t perProcess,
                               const DeclaredDevices &declared) {
  const Signature &signature = program.executable->signature();
  const int64_t size = signature.mesh.size();
  const int64_t partitions = int64_t(program.request.devices.size());
  if (size != 1 && size != partitions)
    return Error(fmt::format("the program's mesh {} has {} devices, and it is "
                             "compiled for {}",
                             signature.mesh.spec_string(), size, partitions));
  for (int64_t partition = 0; partition < partitions; ++partition)
    if (program.request.devices[size_t(partition)] / perProcess == self)
      program.partitionsHere.push_back(partition);
  std::vector<int64_t> partitionOf = signature.deviceOrder;
  for (int64_t i = int64_t(partitionOf.size()); i < size; ++i)
    partitionOf.push_back(i);
  auto places = placesFor(std::move(partitionOf), program, self);
  if (!places)
    return places.error();
  program.places.push_back(std::move(*places));
  auto place = [&](std::vector<ValueType> &values,
                   const std::vector<int> &positions,
                   const std::vector<std::vector<int64_t>> &devices) -> Status {
    for (size_t i = 0; i < values.size(); ++i) {
      if (positions[i] < 0 || devices[size_t(positions[i])].empty())
        continue;
      auto found = placesFor(devices[size_t(positions[i])], program, self);
      if (!found)
        return found.error();
      values[i].places = program.places.size();
      program.places.push_back(std::move(*found));
    }
    return Success();
  };
  Status placed = place(program.interface.arguments, program.argumentAt,
                        declared.arguments);
  return placed ? place(program.interface.results, program.resultAt,
                        declared.results)
                : placed;
}
