// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Boxes of the devices of a process, put together.
#include "meshloom/Runtime/Plan/MeshProcesses.h"

#include "meshloom/Core/ProcessMachine.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <numeric>

using namespace meshloom;
using namespace meshloom::plan;

MeshProcesses::MeshProcesses(const Mesh &mesh)
    : mesh(mesh.without_devices()), devicesPerProcess(mesh.size()) {
  for (const MeshAxis &axis : mesh.axes())
    inner.push_back(axis.size);
}

Result<MeshProcesses> MeshProcesses::of(const Mesh &bound, int64_t self,
                                        int64_t count) {
  MeshProcesses processes(bound);
  const std::span<const int64_t> here = bound.local_indices();
  const int64_t size = bound.size();
  if (std::ssize(here) == size)
    return processes;
  if (count < 2)
    return Error(fmt::format("the mesh {} has {} of its {} devices in other "
                             "processes, but this one runs alone: call "
                             "initialize() first",
                             bound.to_string(), size - std::ssize(here), size));
  processes.count = count;
  processes.self = self;
  processes.devicesPerProcess = size / count;
  std::vector<int64_t> processOf = bound.assignment().processes;
  if (processOf.empty())
    processOf = blocksOfProcesses(size, processes.devicesPerProcess);
  for (int64_t process = 0; process < count; ++process)
    for (int64_t index = 0; index < size; ++index)
      if (processOf[size_t(index)] == process)
        processes.indices.push_back(index);
  if (size % count != 0 || std::ssize(processes.indices) != size ||
      !std::ranges::equal(here, processes.devicesHere()))
    return Error(fmt::format(
        "the mesh {} must be on all {} processes alike: {} devices on each, "
        "which are the next ones in the order of processes; process {} has {} "
        "of {}",
        bound.to_string(), count,
        size % count == 0 ? std::to_string(size / count) : "as many", self,
        here.size(), size));
  processes.inner = devicesInside(bound, processOf);
  if (std::accumulate(processes.inner.begin(), processes.inner.end(),
                      int64_t(1),
                      std::multiplies<>()) != processes.devicesPerProcess)
    processes.inner.clear();
  return processes;
}

std::vector<int64_t> MeshProcesses::coordsOf(int64_t process) const {
  std::vector<int64_t> coords = mesh.coords(devicesOf(process).front());
  for (unsigned axis = 0; axis < coords.size(); ++axis)
    coords[axis] /= inner[axis];
  return coords;
}

static std::vector<Box> boxesOf(const BufferDecl &decl,
                                std::span<const int64_t> devices) {
  std::vector<Box> boxes;
  boxes.reserve(devices.size());
  for (int64_t device : devices)
    boxes.push_back(decl.box(device));
  return boxes;
}

Region MeshProcesses::regionOf(const BufferDecl &decl, int64_t process) const {
  if (!several())
    return {Box::whole(decl.shape)};
  return unionOf(boxesOf(decl, devicesOf(process)));
}

Box MeshProcesses::hullOf(const BufferDecl &decl, int64_t process) const {
  if (!several())
    return Box::whole(decl.shape);
  return plan::hullOf(boxesOf(decl, devicesOf(process)), decl.shape.size());
}

std::optional<std::vector<IterationPiece>>
plan::iterationPieces(std::span<const Loop> loops, const Mesh &mesh,
                      std::span<const int64_t> devices) {
  std::vector<unsigned> parallel, reduced, held;
  for (unsigned l = 0; l < loops.size(); ++l)
    (loops[l].held        ? held
     : loops[l].reduction ? reduced
                          : parallel)
        .push_back(l);
  auto project = [](const Box &box, const std::vector<unsigned> &dims) {
    Box part;
    for (unsigned dim : dims) {
      part.offset.push_back(box.offset[dim]);
      part.extent.push_back(box.extent[dim]);
    }
    return part;
  };
  using Key = std::pair<Shape, Shape>;
  auto keyOf = [](const Box &box) { return Key(box.offset, box.extent); };

  // Collects the reduced iterations for each box of results, then the boxes of
  // results that have the same ones.
  std::vector<Box> boxes;
  boxes.reserve(devices.size());
  std::map<Key, std::vector<Box>> reductions;
  for (int64_t device : devices) {
    boxes.push_back(iterationBox(loops, mesh, device));
    const Box results = project(boxes.back(), parallel);
    if (!results.empty())
      reductions[keyOf(results)].push_back(project(boxes.back(), reduced));
  }
  std::map<Key, std::vector<Box>> results;
  for (auto &[key, parts] : reductions) {
    Box none = parts.front();
    Region sum = unionOf(std::move(parts));
    if (sum.size() > 1)
      return std::nullopt;
    results[keyOf(sum.empty() ? none : sum.front())].push_back(
        {key.first, key.second});
  }
  std::vector<IterationPiece> pieces;
  Region before;
  for (auto &[reduction, parts] : results) {
    const Region region = unionOf(std::move(parts));
    for (const Box &part : region) {
      if (!plan::intersect(before, part).empty())
        return std::nullopt;
      IterationPiece piece{{Shape(loops.size()), Shape(loops.size())}, {}};
      auto set = [&](const std::vector<unsigned> &dims, const Shape &offset,
                     const Shape &extent) {
        for (size_t d = 0; d < dims.size(); ++d) {
          piece.box.offset[dims[d]] = offset[d];
          piece.box.extent[dims[d]] = extent[d];
        }
      };
      set(parallel, part.offset, part.extent);
      set(reduced, reduction.first, reduction.second);
      std::vector<Box> there;
      for (size_t d = 0; d < devices.size(); ++d)
        if (!project(boxes[d], parallel).intersect(part).empty()) {
          piece.devices.push_back(devices[d]);
          there.push_back(boxes[d]);
        }
      // A held loop may be empty where others are not.
      for (unsigned l : held) {
        Interval around;
        for (const Box &box : there)
          around = around.hull({box.offset[l], box.offset[l] + box.extent[l]});
        set({l}, {around.begin}, {around.size()});
      }
      pieces.push_back(std::move(piece));
    }
    before.insert(before.end(), region.begin(), region.end());
  }
  return pieces;
}
