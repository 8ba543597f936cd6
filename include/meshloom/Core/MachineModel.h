// MachineModel: what every choice costs, in integer picoseconds, so that all
// ranks decide alike.
#pragma once

#include "meshloom/Core/Collective.h"

#include <map>

namespace meshloom {

/// Time in picoseconds.
using Cost = int64_t;

/// The link between devices that are neighbours along a mesh axis.
struct AxisLink {
  int64_t bytesPerSecond = 10'000'000'000;
  Cost latency = 0; ///< per collective
  bool operator==(const AxisLink &) const = default;
};

/// What one op does on all devices together, for pricing its local part.
struct Work {
  int64_t flops = 0;  ///< of one shard
  int64_t bytes = 0;  ///< read and written by one shard
  int64_t shards = 1; ///< number of distinct shards of work
  bool splittable = true; ///< one shard can be shared out to several workers
};

/// See docs/Architecture.md for presets: "ring", "ring-latency",
/// "shared-memory" (the default).
struct MachineModel {
  std::string name = "shared-memory";
  /// Devices share memory: layouts are boxes of one array, gathers are views.
  bool sharedMemory = true;
  int64_t workers = 2;                         ///< shared memory: cores
  int64_t flopsPerSecond = 200'000'000'000;    ///< per device (or per worker)
  int64_t memoryBytesPerSecond = 100'000'000'000;
  int64_t cacheBytesPerSecond = 100'000'000'000; ///< last-level cache
  Cost phaseBoundary = 5'000'000;              ///< shared memory only
  AxisLink defaultLink;
  std::map<std::string, AxisLink> links;       ///< per axis name

  static Result<MachineModel> preset(std::string_view name);
  static std::vector<std::string> presetNames();

  const AxisLink &link(const Mesh &mesh, unsigned axis) const;
  /// Local work of an op on `mesh`.
  Cost work(const Work &work, const Mesh &mesh) const;
  /// One collective whose result on one device is `resultBytes`; `globalBytes`
  /// is the whole tensor. Shared memory: the phase boundary plus cache traffic
  /// (moves) or loads and stores (reductions).
  Cost collective(const CollectiveOp &op, int64_t resultBytes,
                  int64_t globalBytes) const;
  /// Stable over runs and machines; part of a program's hash.
  size_t hash() const;
  bool operator==(const MachineModel &) const = default;
};

} // namespace meshloom
