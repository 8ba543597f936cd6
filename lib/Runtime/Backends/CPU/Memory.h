// Memory of the CPU backend: blocks that are kept for reuse when freed, and
// the arrays made of them.
#pragma once

#include "meshloom/Runtime/Client.h"

#include <map>
#include <mutex>

namespace meshloom::cpu {

/// Uninitialised memory, 64-byte aligned; returns to its pool when the last
/// reference is gone.
using Block = std::shared_ptr<char>;

/// Allocates blocks. Freed ones are kept up to a limit, since the pages of
/// fresh memory cost more than what most steps do with them. Safe from any
/// thread.
class MemoryPool : public std::enable_shared_from_this<MemoryPool> {
public:
  /// `limit`: bytes that may be in use at once.
  explicit MemoryPool(int64_t limit) : byteLimit(limit) {}
  ~MemoryPool();

  Result<Block> allocate(int64_t bytes);
  int64_t inUse() const;
  int64_t limit() const { return byteLimit; }

private:
  void release(char *data, int64_t bytes);

  mutable std::mutex mutex;
  const int64_t byteLimit;
  int64_t used = 0, kept = 0;
  int64_t nextStart = 0;               ///< of a large block in its first page
  std::multimap<int64_t, char *> free; ///< by size
};

/// The machine's memory, in bytes.
int64_t physicalMemory();
/// "3.5 GB".
std::string formatBytes(int64_t bytes);

/// An array's memory. Shared: one block with the global array, row-major and
/// unpadded, once for each combination of coordinates on the axes that the
/// layout is partial over (in row-major order over those axes). Private: a
/// block per device with its padded component.
class CPUBuffer : public Buffer {
public:
  CPUBuffer(std::shared_ptr<Client> owner, std::vector<Block> memories,
            int64_t bytes)
      : memories(std::move(memories)), owner(std::move(owner)),
        byteCount(bytes) {}
  const std::shared_ptr<Client> &client() const override { return owner; }
  int64_t bytes() const override { return byteCount; }

  const std::vector<Block> memories;

private:
  std::shared_ptr<Client> owner;
  int64_t byteCount;
};

/// Whether `array` has the only reference to its memory, so that an update may
/// take place there: another buffer may have the same blocks.
bool mayOverwrite(const Array &array);

/// Addends that a partial layout keeps: 1 if it is not partial.
int64_t copyCount(const Layout &layout);
/// Which of them a device with these coordinates holds.
int64_t copyIndex(const Layout &layout, std::span<const int64_t> coords);
/// All devices that hold addends of what `device` holds, in device order.
std::vector<int64_t> addendDevices(const Layout &layout, int64_t device);

} // namespace meshloom::cpu
