// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// CacheStatistics: what was found of what had been compiled before.
#pragma once

#include <cstdint>

namespace meshloom {

/// The counts of this process, since it began. An entry is a program or a
/// kernel.
struct CacheStatistics {
  int64_t memory_hits = 0; ///< found in the memory of the process
  int64_t disk_hits = 0;   ///< read from the cache's folder
  int64_t misses = 0;      ///< compiled
  int64_t stored = 0;      ///< written to the folder
  int64_t rejected = 0;    ///< found damaged, and compiled again
  int64_t removed = 0;     ///< oldest ones, to stay below the bound
  bool operator==(const CacheStatistics &) const = default;
};

} // namespace meshloom
