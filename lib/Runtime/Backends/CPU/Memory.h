// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Memory of the CPU backend: blocks that are kept for reuse when freed.
#pragma once

#include "meshloom/Runtime/Plan/PlanClient.h"

#include <map>
#include <mutex>

namespace meshloom::cpu {

/// Allocates blocks, 64-byte aligned, which return to it with their last
/// reference. Freed ones are kept up to a limit, since the pages of
/// fresh memory cost more than what most steps do with them. Safe from any
/// thread.
class MemoryPool : public std::enable_shared_from_this<MemoryPool> {
public:
  /// `limit`: bytes that may be in use at once.
  explicit MemoryPool(int64_t limit) : byteLimit(limit) {}
  ~MemoryPool();

  Result<plan::Block> allocate(int64_t bytes);
  int64_t inUse() const;
  int64_t limit() const { return byteLimit; }

private:
  void release(char *data, int64_t bytes);

  mutable std::mutex mutex;
  const int64_t byteLimit;
  int64_t used = 0, cached = 0;
  int64_t nextStart = 0;               ///< of a large block in its first page
  std::multimap<int64_t, char *> free; ///< by size
};

} // namespace meshloom::cpu
