// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// MachineModel: presets and prices. All arithmetic is on integers.
#include "meshloom/Core/MachineModel.h"

#include "meshloom/Core/Hash.h"

#include <algorithm>
#include <fmt/format.h>
#include <limits>

namespace meshloom {

Cost timeFor(int64_t amount, int64_t perSecond) {
  if (perSecond < 1)
    Error(fmt::format("[MachineModel] expected a rate of at least 1 per "
                      "second, got {}",
                      perSecond))
        .raise();
  constexpr __int128 picoseconds = 1'000'000'000'000;
  __int128 time = (amount * picoseconds + perSecond - 1) / perSecond;
  // A quarter of the range: sums of several do not overflow.
  constexpr __int128 longest = std::numeric_limits<Cost>::max() / 4;
  return Cost(std::min(time, longest));
}

int64_t globalBytes(const Shape &global, DType type) {
  return elementCount(global) * byteWidth(type);
}

int64_t localBytes(const Layout &layout, const Shape &global, DType type) {
  return globalBytes(layout.local_shape(global), type);
}

Result<MachineModel> MachineModel::preset(std::string_view name) {
  constexpr std::string_view tpu = "tpu:";
  if (name.starts_with(tpu))
    return tpuMachine(name.substr(tpu.size()));
  if (name.starts_with("gpu:") || name.starts_with("cpu:"))
    return hostMachine(name);
  MachineModel model;
  model.name = name;
  if (name == "shared-memory")
    return model;
  model.sharedMemory = false;
  model.memoryBytesPerSecond = 100'000'000'000;
  if (name == "ring")
    return model;
  if (name == "ring-latency") {
    model.defaultLink.latency = 5'000'000;
    return model;
  }
  return Error(fmt::format("unknown machine model '{}': expected {}, "
                           "{}, tpu:TOPOLOGY (tpu:v5e:2x4), or a JSON file "
                           "that describes one",
                           name, fmt::join(presetNames(), ", "),
                           fmt::join(hostMachineNames(), ", ")));
}

std::vector<std::string> MachineModel::presetNames() {
  return {"shared-memory", "ring", "ring-latency"};
}

Status MachineModel::verify() const {
  auto check = [](std::string_view field, int64_t value,
                  int64_t least) -> Status {
    if (value < least)
      return Error(fmt::format("machine model: {} is {}, expected at least {}",
                               field, value, least));
    return Success();
  };
  std::vector<Status> checks = {
      check("workers", workers, 1),
      check("flops_per_second", flopsPerSecond, 1),
      check("memory_bytes_per_second", memoryBytesPerSecond, 1),
      check("cache_bytes_per_second", cacheBytesPerSecond, 1),
      check("phase_boundary_ps", phaseBoundary, 0),
      check("memory_bytes", memoryBytes, 0),
      check("float_flops_per_second", floatFlopsPerSecond, 0),
      check("kernel_flops_per_second", kernelFlopsPerSecond, 0),
      check("cache_bytes", cacheBytes, 0),
      check("pack_bytes_per_second", packBytesPerSecond, 0),
      check("launch_ps", launch, 0),
      check("product_launch_ps", productLaunch, 0),
      check("call_ps", call, 0)};
  auto checkLink = [&](const std::string &where, const AxisLink &link) {
    checks.push_back(
        check(where + ".bytes_per_second", link.bytesPerSecond, 1));
    checks.push_back(check(where + ".latency_ps", link.latency, 0));
    checks.push_back(check(where + ".all_to_all_bytes_per_second",
                           link.allToAllBytesPerSecond, 0));
  };
  checkLink("default_link", defaultLink);
  for (const auto &[axis, link] : links)
    checkLink("links." + axis, link);
  if (hosts) {
    checks.push_back(check("hosts.devices", hosts->devices, 1));
    checks.push_back(check("hosts.latency_ps", hosts->latency, 0));
    checkLink("hosts.inside", hosts->inside);
    checkLink("hosts.between", hosts->between);
  }
  for (const auto &[function, time] : libraryLaunch)
    checks.push_back(check("library_launch_ps." + function, time, 0));
  for (const auto &[work, time] : ordering) {
    if (work != "sort" && work != "merge" && work != "top_k")
      return Error("machine model: ordering_ps has no '" + work +
                   "', only sort, merge and top_k");
    checks.push_back(check("ordering_ps." + work, time, 0));
  }
  for (const Status &status : checks)
    if (!status)
      return status.error();
  return Success();
}

AxisLink MachineModel::link(const Mesh &mesh, unsigned axis) const {
  (void)mesh.axis_size(axis); // throws where there is no such axis
  const std::string &name = mesh.axes()[axis].name;
  auto found = links.find(name);
  if (found == links.end() && !links.empty()) // a part of an axis: x:(1)4
    found = links.find(name.substr(0, name.find(":(")));
  if (found != links.end())
    return found->second;
  if (hosts)
    return hosts->link(mesh, axis);
  return torus && torus->size() == mesh.size() ? torus->link(mesh, axis)
                                               : defaultLink;
}

Cost MachineModel::work(const Work &work) const {
  if (!sharedMemory)
    return std::max(timeFor(work.flops, flopsPerSecond),
                    timeFor(work.bytes, memoryBytesPerSecond));
  int64_t busy = work.splittable ? workers : std::min(workers, work.shards);
  busy = std::max<int64_t>(busy, 1);
  return std::max(timeFor(work.totalFlops, flopsPerSecond),
                  timeFor(work.totalBytes, memoryBytesPerSecond)) /
         busy;
}

Cost MachineModel::overhead(const CollectiveOp &op) const {
  if (op.kind == CollectiveKind::Slice)
    return 0;
  // All addends must be there before the first is added, and the whole result
  // before any device reads it.
  if (sharedMemory)
    return op.kind == CollectiveKind::AllReduce ? 2 * phaseBoundary
                                                : phaseBoundary;
  Cost latency = 0;
  for (unsigned axis : op.axes)
    latency = std::max(latency, link(op.from.mesh(), axis).latency);
  return latency;
}

Cost MachineModel::transfer(const CollectiveOp &op, int64_t countedBytes,
                            int64_t globalBytes) const {
  const Mesh &mesh = op.from.mesh();
  int64_t group = groupSize(mesh, op.axes);
  if (op.kind == CollectiveKind::Slice || group == 1)
    return 0;
  if (!sharedMemory) {
    // The ring runs at the pace of its slowest link.
    int64_t slowest = std::numeric_limits<int64_t>::max();
    for (unsigned axis : op.axes) {
      const AxisLink along = link(mesh, axis);
      const bool exchanges =
          op.kind == CollectiveKind::AllToAll && along.allToAllBytesPerSecond;
      slowest = std::min(slowest, exchanges ? along.allToAllBytesPerSecond
                                            : along.bytesPerSecond);
    }
    return timeFor(bytesSent(op.kind, countedBytes, group), slowest);
  }
  bool reduces = op.kind == CollectiveKind::AllReduce ||
                 op.kind == CollectiveKind::ReduceScatter;
  if (reduces) {
    // Every addend is loaded once and the result stored once, shared out. All
    // addends together rarely fit a cache.
    int64_t addends = group;
    for (Partial pending : op.to.partial())
      addends *= mesh.axis_size(pending.axis);
    return timeFor(globalBytes * (addends + addends / group),
                   memoryBytesPerSecond) /
           workers;
  }
  // Each worker reads what its devices need, but nothing twice.
  int64_t perWorker = std::min(
      globalBytes, countedBytes * ((mesh.size() + workers - 1) / workers));
  return timeFor(perWorker, cacheBytesPerSecond);
}

size_t MachineModel::hash() const {
  StableHash hash;
  hash.add(name);
  for (int64_t field :
       {int64_t(sharedMemory), workers, flopsPerSecond, memoryBytesPerSecond,
        cacheBytesPerSecond, phaseBoundary, memoryBytes, floatFlopsPerSecond,
        kernelFlopsPerSecond, cacheBytes, packBytesPerSecond, launch,
        productLaunch, call})
    hash.add(uint64_t(field));
  for (const auto *times : {&libraryLaunch, &ordering})
    for (const auto &[name, time] : *times) {
      hash.add(name);
      hash.add(uint64_t(time));
    }
  auto addLink = [&](const AxisLink &link) {
    hash.add(uint64_t(link.bytesPerSecond));
    hash.add(uint64_t(link.latency));
    hash.add(uint64_t(link.allToAllBytesPerSecond));
  };
  addLink(defaultLink);
  for (const auto &[axis, link] : links) {
    hash.add(axis);
    addLink(link);
  }
  if (hosts) {
    hash.add(uint64_t(hosts->devices));
    hash.add(uint64_t(hosts->latency));
    addLink(hosts->inside);
    addLink(hosts->between);
  }
  if (torus) {
    const Torus::Description &about = torus->description();
    for (size_t dim = 0; dim < about.shape.size(); ++dim) {
      hash.add(uint64_t(about.shape[dim]));
      hash.add(uint64_t(about.wraps[dim]));
    }
    for (int64_t field : {about.devicesPerChip, about.linkBytesPerSecond,
                          about.hopLatency, about.chipBytesPerSecond})
      hash.add(uint64_t(field));
    for (const std::vector<int64_t> &chip : about.chips)
      for (int64_t coordinate : chip)
        hash.add(uint64_t(coordinate));
  }
  return hash.value();
}

std::string formatTime(Cost picoseconds) {
  double time = double(picoseconds);
  for (const char *unit : {"ps", "ns", "us", "ms"}) {
    if (time < 999.95)
      return fmt::format("{:.{}f} {}", time, *unit == 'p' ? 0 : 1, unit);
    time /= 1000;
  }
  return fmt::format("{:.1f} s", time);
}

} // namespace meshloom
