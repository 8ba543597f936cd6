// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See ProcessMachine.h.
#include "meshloom/Core/ProcessMachine.h"

#include "meshloom/Core/SubAxis.h"

#include <algorithm>
#include <map>
#include <set>

namespace meshloom {
namespace {

/// Between processes that share memory, and by TCP over Ethernet of 10 Gbit/s.
constexpr AxisLink sharedMemory{.bytesPerSecond = 3'000'000'000,
                                .latency = 20'000'000};
constexpr AxisLink network{.bytesPerSecond = 1'100'000'000,
                           .latency = 60'000'000};

/// The link of a ring of `size` devices that lie in `outer` processes, between
/// which is `between`. Each device is priced with (size - 1) / size of the
/// data; what is sent is (outer - 1) / outer of them.
AxisLink linkOf(int64_t size, int64_t outer, const AxisLink &between) {
  AxisLink link = between;
  link.bytesPerSecond =
      link.bytesPerSecond / size * (size - 1) / (outer - 1) * outer;
  return link;
}

/// The processes over which part [before, before * size) of an axis lies, whose
/// `outer` major elements are processes'; 1: it is inside of each.
int64_t processesOf(int64_t before, int64_t size, int64_t outer) {
  if (before >= outer)
    return 1;
  const int64_t outside = outer / before;
  // Where the border is inside of neither, none of it is taken to be inside.
  return outer % before == 0 && size % outside == 0 ? outside : size;
}

/// Which processes have the devices of a mesh, and which of them share memory.
class Hosts {
public:
  Hosts(const Mesh &mesh, std::span<const int64_t> processes,
        std::span<const int> groups)
      : mesh(mesh), processes(processes), groups(groups) {
    std::map<int, int64_t> sizes;
    for (int group : groups)
      most = std::max(most, ++sizes[group]);
    areSeveral = sizes.size() > 1;
  }

  /// Returns the link between the processes along part [before, before * size)
  /// of an axis.
  AxisLink between(unsigned axis, int64_t before, int64_t size) const {
    if (!areSeveral)
      return sharedMemory;
    int64_t inner = mesh.axis_size(axis) / (before * size);
    for (unsigned other = axis + 1; other < mesh.rank(); ++other)
      inner *= mesh.axis_size(other);
    AxisLink slowest = sharedMemory;
    for (int64_t first = 0; first < mesh.size(); ++first) {
      if (first / inner % size != 0)
        continue;
      std::set<int64_t> ring;
      for (int64_t i = 0; i < size; ++i)
        ring.insert(processes[size_t(first + i * inner)]);
      std::map<int, int64_t> ofGroups;
      // Processes that do not divide the mesh are refused when it is loaded.
      for (int64_t process : ring)
        ++ofGroups[groups[size_t(process) % groups.size()]];
      if (ofGroups.size() < 2)
        continue;
      // A process sends the same bytes to all others of the ring; a host's
      // processes send at once.
      int64_t least = std::ssize(ring);
      for (const auto &[group, count] : ofGroups)
        least = std::min(least, count);
      AxisLink link = network;
      link.bytesPerSecond = link.bytesPerSecond * (std::ssize(ring) - 1) /
                            (most * (std::ssize(ring) - least));
      if (link.bytesPerSecond < slowest.bytesPerSecond)
        slowest = link;
    }
    return slowest;
  }

  /// Says whether there are processes that do not share memory.
  bool areSeveral = false;

private:
  const Mesh &mesh;
  const std::span<const int64_t> processes;
  const std::span<const int> groups;
  int64_t most = 1; ///< processes of a group
};

} // namespace

std::vector<int64_t> blocksOfProcesses(int64_t devices, int64_t devicesEach) {
  std::vector<int64_t> processes(size_t(std::max<int64_t>(devices, 0)));
  for (size_t i = 0; i < processes.size(); ++i)
    processes[i] = int64_t(i) / std::max<int64_t>(devicesEach, 1);
  return processes;
}

std::vector<int64_t> devicesInside(const Mesh &mesh,
                                   std::span<const int64_t> processes) {
  std::vector<int64_t> inside;
  const std::vector<int64_t> strides = mesh.strides();
  for (unsigned axis = 0; axis < mesh.rank(); ++axis) {
    auto isInOne = [&](int64_t row) {
      for (int64_t i = 0; i < mesh.size(); ++i) {
        const int64_t before = i / strides[axis] % row;
        if (processes[size_t(i)] !=
            processes[size_t(i - before * strides[axis])])
          return false;
      }
      return true;
    };
    int64_t row = mesh.axis_size(axis);
    while (mesh.axis_size(axis) % row != 0 || !isInOne(row))
      --row;
    inside.push_back(row);
  }
  return inside;
}

MachineModel machineOfProcesses(const MachineModel &machine, const Mesh &mesh,
                                std::span<const int64_t> processes,
                                std::span<const int> memoryGroups) {
  MachineModel model = *MachineModel::preset("ring-latency");
  model.name = "processes";
  model.flopsPerSecond = machine.flopsPerSecond;
  model.memoryBytesPerSecond = machine.memoryBytesPerSecond;
  model.defaultLink = {.bytesPerSecond = machine.cacheBytesPerSecond,
                       .latency = machine.phaseBoundary};
  const Hosts hosts(mesh, processes, memoryGroups);
  const std::vector<int64_t> inside = devicesInside(mesh, processes);
  for (unsigned axis = 0; axis < mesh.rank(); ++axis) {
    const int64_t size = mesh.axis_size(axis);
    const std::string &name = mesh.axes()[axis].name;
    const int64_t inner = inside[axis], outer = size / inner;
    if (outer == 1)
      continue;
    model.links[name] = linkOf(size, outer, hosts.between(axis, 1, size));
    if (inner == 1 && !hosts.areSeveral)
      continue;
    // Parts that only it has as a part of several meshes.
    for (int64_t before = 1; before < size; ++before)
      for (int64_t part = 2; before * part <= size; ++part)
        if (size % (before * part) == 0 && part < size) {
          const int64_t over = processesOf(before, part, outer);
          model.links[SubAxis{name, before, part}.to_string()] =
              over == 1 ? model.defaultLink
                        : linkOf(part, over, hosts.between(axis, before, part));
        }
  }
  return model;
}

} // namespace meshloom
