// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The block pool.
#include "Memory.h"

#include "meshloom/Core/MemoryNodes.h"
#include "meshloom/Runtime/Sanitizers.h"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>
#include <sys/mman.h>
#ifdef MESHLOOM_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#endif

using namespace meshloom;
using namespace meshloom::cpu;
using namespace meshloom::plan;

namespace {
constexpr int64_t ALIGNMENT = 64, HUGE_PAGE = int64_t(2) << 20;
/// Large blocks start at different places in their pages: a kernel that walks
/// through several arrays at once would else load what the CPU takes for a
/// value it has just stored, since it compares the lower 12 bits of addresses
/// first.
constexpr int64_t LARGE = 1 << 14, PAGE = 4096, STAGGER = 832;

/// Freed bytes that a pool keeps at most.
constexpr int64_t KEEP = int64_t(512) << 20;

int64_t roundedSize(int64_t bytes) {
  const int64_t grain = bytes >= (1 << 16) ? 4096 : ALIGNMENT;
  return (std::max<int64_t>(bytes, 1) + grain - 1) / grain * grain;
}

/// Under AddressSanitizer: which bytes of a block may be touched. Elsewhere
/// nothing.
void setUsable([[maybe_unused]] char *data, [[maybe_unused]] int64_t usable,
               [[maybe_unused]] int64_t bytes) {
#ifdef MESHLOOM_ADDRESS_SANITIZER
  ASAN_UNPOISON_MEMORY_REGION(data, size_t(usable));
  ASAN_POISON_MEMORY_REGION(data + usable, size_t(bytes - usable));
#endif
}

/// Returns the address of the system's allocation that holds a block.
char *systemAddress(char *data, int64_t bytes) {
  if (bytes < LARGE)
    return data;
  return reinterpret_cast<char *>(reinterpret_cast<uintptr_t>(data) &
                                  ~uintptr_t(PAGE - 1));
}

/// `start`: where a large block begins in its first page.
char *allocateFromSystem(int64_t bytes, int64_t start) {
  if (bytes < LARGE)
    return static_cast<char *>(std::aligned_alloc(ALIGNMENT, size_t(bytes)));
  const int64_t alignment = bytes >= HUGE_PAGE ? HUGE_PAGE : PAGE;
  const int64_t size = (bytes + PAGE + alignment - 1) / alignment * alignment;
  char *data =
      static_cast<char *>(std::aligned_alloc(size_t(alignment), size_t(size)));
  if (data && bytes >= HUGE_PAGE) {
    madvise(data, size_t(size), MADV_HUGEPAGE);
    // Any worker may compute any part.
    spreadOverNodes(data, size_t(size), spreadingNodes());
  }
  return data ? data + start : nullptr;
}
} // namespace

MemoryPool::~MemoryPool() {
  for (auto &[bytes, data] : free)
    std::free(systemAddress(data, bytes));
}

Result<Block> MemoryPool::allocate(int64_t bytes) {
  int64_t size = roundedSize(bytes);
  char *data = nullptr;
  {
    std::lock_guard lock(mutex);
    if (bytes > byteLimit - used)
      return Error(fmt::format("out of memory: {} more are needed, {} of {} "
                               "are in use",
                               formatBytes(bytes), formatBytes(used),
                               formatBytes(byteLimit)),
                   ErrorCode::RESOURCE_EXHAUSTED);
    // A kept block of up to an eighth more than asked for is good enough.
    auto found = free.lower_bound(size);
    if (found != free.end() && found->first <= size + size / 8) {
      size = found->first;
      data = found->second;
      free.erase(found);
      cached -= size;
    }
    used += size;
    if (!data && size >= LARGE)
      nextStart = (nextStart + STAGGER) % PAGE;
    if (!data)
      data = allocateFromSystem(size, nextStart);
    if (!data) {
      used -= size;
      return Error(fmt::format("out of memory: the system has no {} left",
                               formatBytes(bytes)),
                   ErrorCode::RESOURCE_EXHAUSTED);
    }
  }
  setUsable(data, bytes, size);
  return Block(data, [pool = shared_from_this(), size](char *block) {
    pool->release(block, size);
  });
}

void MemoryPool::release(char *data, int64_t bytes) {
  {
    std::lock_guard lock(mutex);
    used -= bytes;
    if (cached + bytes <= KEEP) {
      cached += bytes;
      setUsable(data, 0, bytes);
      free.emplace(bytes, data);
      return;
    }
  }
  std::free(systemAddress(data, bytes));
}

int64_t MemoryPool::inUse() const {
  std::lock_guard lock(mutex);
  return used;
}
