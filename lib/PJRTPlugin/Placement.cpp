// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Partitions, their devices, and the processes that these are in.
#include "Placement.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

using namespace meshloom;
using namespace meshloom::plugin;

std::vector<int64_t>
Placement::membersInOrder(std::span<const int64_t> order) const {
  std::vector<int64_t> members;
  for (int64_t partition : order)
    members.push_back(memberOf[size_t(partition)]);
  return order.empty() ? memberOf : members;
}

Result<Placement> plugin::placementOf(const std::vector<int64_t> &devices,
                                      int64_t perProcess, int64_t processes) {
  std::map<int64_t, int64_t> counts; // of each process's devices
  for (int64_t device : devices) {
    if (device < 0 || device >= perProcess * processes)
      return Error(fmt::format("the program is compiled for device {}; there "
                               "are {}: 0 to {}",
                               device, perProcess * processes,
                               perProcess * processes - 1));
    ++counts[device / perProcess];
  }
  Placement placement;
  std::vector<std::string> texts;
  for (const auto &[process, count] : counts) {
    placement.processes.push_back(process);
    texts.push_back(fmt::format("{} of process {}", count, process));
  }
  if (std::ranges::any_of(counts, [&](const auto &entry) {
        return entry.second != counts.begin()->second;
      }))
    return Error(fmt::format("a program must be on as many devices of each of "
                             "its processes; this one is on {}",
                             fmt::join(texts, ", ")),
                 ErrorCode::UNIMPLEMENTED);
  for (int64_t device : devices)
    placement.memberOf.push_back(
        std::ranges::find(placement.processes, device / perProcess) -
        placement.processes.begin());
  return placement;
}

namespace {
/// The places of a value whose mesh has the partitions in `order`; empty: in
/// theirs.
PartPlaces placesFor(const std::vector<int64_t> &order,
                     const LoadedProgram &program) {
  const int64_t size = program.executable->signature().mesh.size();
  PartPlaces places{order, {}, {}};
  for (int64_t i = std::ssize(order); i < size; ++i)
    places.partitionOf.push_back(i);
  places.indexOf.resize(size_t(size));
  for (int64_t i = 0; i < size; ++i)
    places.indexOf[size_t(places.partitionOf[size_t(i)])] = i;
  if (size == 1) {
    places.indicesHere.push_back({0, 0});
    return places;
  }
  const std::vector<int64_t> &here = program.partitionsHere;
  for (int64_t i = 0; i < size; ++i) {
    const auto found = std::ranges::find(here, places.partitionOf[size_t(i)]);
    if (found != here.end())
      places.indicesHere.push_back({i, size_t(found - here.begin())});
  }
  return places;
}
} // namespace

Status plugin::placePartitions(LoadedProgram &program,
                               const Placement &placement, int64_t self,
                               const DeclaredDevices &declared) {
  const Signature &signature = program.executable->signature();
  const int64_t size = signature.mesh.size();
  const int64_t partitions = int64_t(program.request.devices.size());
  if (size != 1 && size != partitions)
    return Error(fmt::format("the program's mesh {} has {} devices, and it is "
                             "compiled for {}",
                             signature.mesh.spec_string(), size, partitions));
  for (int64_t partition = 0; partition < partitions; ++partition)
    if (placement.processOf(partition) == self)
      program.partitionsHere.push_back(partition);
  program.places.push_back(placesFor(signature.deviceOrder, program));
  const auto members = placement.membersInOrder(signature.deviceOrder);
  auto place = [&](std::vector<ValueType> &values,
                   const std::vector<int> &positions,
                   const std::vector<std::vector<int64_t>> &devices) {
    for (size_t i = 0; i < values.size(); ++i) {
      if (positions[i] < 0 || devices[size_t(positions[i])].empty())
        continue;
      const std::vector<int64_t> &order = devices[size_t(positions[i])];
      values[i].places = program.places.size();
      PartPlaces &places =
          program.places.emplace_back(placesFor(order, program));
      if (program.processes && placement.membersInOrder(order) != members)
        places.elsewhere =
            DeviceAssignment::among(placement.membersInOrder(order),
                                    program.processes->communicator->rank());
    }
  };
  place(program.interface.arguments, program.argumentAt, declared.arguments);
  place(program.interface.results, program.resultAt, declared.results);
  return Success();
}
