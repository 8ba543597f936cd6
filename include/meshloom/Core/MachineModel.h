// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// MachineModel: what every choice costs, in integer picoseconds, so that all
// ranks decide alike.
#pragma once

#include "meshloom/Core/AxisLink.h"
#include "meshloom/Core/Collective.h"
#include "meshloom/Core/DType.h"
#include "meshloom/Core/HostLinks.h"
#include "meshloom/Core/Torus.h"

#include <map>

namespace meshloom {

/// The work of an op, or of several fused ones: on the device with the largest
/// shard, and on all devices together. Work that several devices repeat on the
/// same shard counts once in the totals.
struct Work {
  int64_t flops = 0; ///< of the largest shard
  int64_t bytes = 0; ///< read and written for the largest shard
  int64_t totalFlops = 0;
  int64_t totalBytes = 0;
  int64_t shards = 1;     ///< number of distinct shards of work
  bool splittable = true; ///< one shard can be shared out to several workers
};

/// How fast devices compute, read memory and talk to each other. Time of local
/// work is the larger of its compute and its memory time.
///
/// Devices of one process share memory: a replicated value is stored and
/// computed once, work is the total over all devices divided by the workers,
/// and a gather is a view. Reading another device's shard then costs a phase
/// boundary (all tasks that write must end before the first that reads starts)
/// and the bytes at the speed of the last-level cache, because the chain of ops
/// that kept them in a core's own cache is broken.
///
/// Presets: "ring" and "ring-latency" are separate devices; "shared-memory"
/// (the default) is virtual CPUs of one process. "tpu:v5e:2x4" is a topology of
/// TPUs (tpuMachine), "gpu:h100" any number of hosts of 8 GPUs and
/// "cpu:tcp" hosts in a network (hostMachine).
///
/// The fields from `memoryBytes` on tell predictions (meshloom/Predict) what a
/// comparison of layouts does not need.
struct MachineModel {
  std::string name = "shared-memory";
  bool sharedMemory = true;
  int64_t workers = 2;                           ///< shared memory: cores
  int64_t flopsPerSecond = 200'000'000'000;      ///< per device or worker
  int64_t memoryBytesPerSecond = 25'000'000'000; ///< per device or worker
  int64_t cacheBytesPerSecond = 50'000'000'000;  ///< last-level cache
  Cost phaseBoundary = 5'000'000;                ///< shared memory only
  AxisLink defaultLink;
  std::map<std::string, AxisLink> links; ///< per axis name
  /// Where the devices are; gives the links of meshes of its size, except those
  /// in `links`.
  std::optional<Torus> torus;
  /// Which devices are in one host; gives the links of all meshes, except those
  /// in `links`.
  std::optional<HostLinks> hosts;

  /// The memory of one device, of all where they share it; 0: not known.
  int64_t memoryBytes = 0;
  /// Products of f32; 0: `flopsPerSecond`.
  int64_t floatFlopsPerSecond = 0;
  /// All that is no product; 0: `flopsPerSecond`.
  int64_t kernelFlopsPerSecond = 0;
  /// So many of the bytes that a step touches are in the last-level cache; 0:
  /// nothing is.
  int64_t cacheBytes = 0;
  /// The rate at which products bring their operands into order before they
  /// multiply, and store their results; 0: they do so while they multiply.
  int64_t packBytesPerSecond = 0;
  Cost launch = 0;        ///< that each step takes beside its work
  Cost productLaunch = 0; ///< the same for products; 0: `launch`
  /// The same for library functions, by their names; others take `launch`.
  std::map<std::string, Cost> libraryLaunch;
  /// The time in which a core of a host brings an element into order: "sort" in
  /// a long line, "merge" in a short one, for each doubling of its length, and
  /// "top_k" among the largest ones. Predictions have defaults.
  std::map<std::string, Cost> ordering;
  Cost call = 0; ///< that each run of a program takes beside its steps

  static Result<MachineModel> preset(std::string_view name);
  static std::vector<std::string> presetNames();
  /// Fails, naming the field, where a rate is not positive or a time negative.
  Status verify() const;

  AxisLink link(const Mesh &mesh, unsigned axis) const;
  /// Time of local work.
  Cost work(const Work &work) const;
  /// Time to move or combine the data of one collective; `countedBytes`: see
  /// there; `globalBytes`: of the whole tensor.
  Cost transfer(const CollectiveOp &op, int64_t countedBytes,
                int64_t globalBytes) const;
  /// The cost of one collective whatever its size: the slowest of its axes'
  /// latencies; in shared memory a phase boundary, two for an all_reduce.
  /// Nothing for a slice.
  Cost overhead(const CollectiveOp &op) const;
  /// Both: one collective on its own.
  Cost collective(const CollectiveOp &op, int64_t countedBytes,
                  int64_t globalBytes) const {
    return overhead(op) + transfer(op, countedBytes, globalBytes);
  }
  /// Stable over runs and machines; part of a program's hash.
  size_t hash() const;
  bool operator==(const MachineModel &) const = default;
};

/// The model "tpu:TOPOLOGY", where a topology is GENERATION:SHAPE, the chips
/// along x, y and z: "v5e:2x4", "v4:2x2x2". `chips` are the coordinates of each
/// device's chip in the order of mesh indices; empty: libtpu's order, core by
/// core, x fastest. Fails on generations without public figures, on shapes that
/// are none, and on chips that are not there.
Result<MachineModel> tpuMachine(std::string_view topology,
                                std::vector<std::vector<int64_t>> chips = {});

/// The model of hosts that `name` names: "gpu:h100", "gpu:h200", "gpu:a100" or
/// "cpu:tcp". Fails, with the names that there are, on others.
Result<MachineModel> hostMachine(std::string_view name);
/// The names that hostMachine() knows.
std::vector<std::string> hostMachineNames();

/// Picoseconds that `amount` takes at `perSecond`, rounded up.
Cost timeFor(int64_t amount, int64_t perSecond);

/// Bytes that one device holds of a tensor laid out so (its largest shard), and
/// those of the whole tensor.
int64_t localBytes(const Layout &layout, const Shape &global, DType type);
int64_t globalBytes(const Shape &global, DType type);

/// "384.2 us", "5.0 ns".
std::string formatTime(Cost picoseconds);

} // namespace meshloom
