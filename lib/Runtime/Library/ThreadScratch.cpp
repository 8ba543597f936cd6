// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Each thread's slots, which grow to the largest size asked for.
#include "ThreadScratch.h"

#include "LargeMemory.h"
#include "meshloom/Core/ThreadLocal.h"

#include <array>
#include <memory>

using namespace meshloom;

namespace {
struct Free {
  void operator()(void *memory) const { std::free(memory); }
};
struct Slot {
  std::unique_ptr<void, Free> memory;
  size_t bytes = 0;
};

/// The memory that a thread has returned.
struct ReturnedMemory {
  /// Large blocks: at most so many bytes, of which the oldest ones are freed
  /// first.
  static constexpr size_t mostBytes = size_t(32) << 20;
  std::vector<Slot> blocks;
  size_t bytes = 0;

  /// Blocks of the smallest size: small matrices follow one another.
  static constexpr size_t pageBytes = 4096, mostPages = 32;
  std::vector<std::unique_ptr<void, Free>> pages;

  static ReturnedMemory &ofThread() { return threadLocal<ReturnedMemory>(); }
};

/// Other memory below this size is malloc's, which keeps it.
constexpr size_t leastReused = size_t(64) << 10;
} // namespace

void *library::threadScratch(unsigned slot, size_t bytes) {
  Slot &entry = threadLocal<std::array<Slot, 12>>()[slot];
  if (entry.bytes < bytes) {
    entry.memory.reset();
    entry.bytes = 0;
    entry.memory.reset(allocateMemory(bytes));
    entry.bytes = allocatedSize(bytes);
  }
  return entry.memory.get();
}

void *library::takeMemory(size_t bytes) {
  if (bytes <= ReturnedMemory::pageBytes) {
    auto &pages = ReturnedMemory::ofThread().pages;
    if (pages.empty())
      return allocateMemory(ReturnedMemory::pageBytes);
    void *memory = pages.back().release();
    pages.pop_back();
    return memory;
  }
  if (bytes < leastReused)
    return allocateMemory(bytes);
  ReturnedMemory &returned = ReturnedMemory::ofThread();
  const size_t size = allocatedSize(bytes);
  for (size_t i = returned.blocks.size(); i-- > 0;)
    if (returned.blocks[i].bytes == size) {
      void *memory = returned.blocks[i].memory.release();
      returned.blocks.erase(returned.blocks.begin() + ptrdiff_t(i));
      returned.bytes -= size;
      return memory;
    }
  return allocateMemory(bytes);
}

void library::returnMemory(void *memory, size_t bytes) {
  if (bytes <= ReturnedMemory::pageBytes) {
    std::unique_ptr<void, Free> page(memory);
    auto &pages = ReturnedMemory::ofThread().pages;
    if (pages.size() < ReturnedMemory::mostPages)
      pages.push_back(std::move(page));
    return;
  }
  Slot block{std::unique_ptr<void, Free>(memory), allocatedSize(bytes)};
  if (bytes < leastReused || block.bytes > ReturnedMemory::mostBytes)
    return;
  ReturnedMemory &returned = ReturnedMemory::ofThread();
  returned.bytes += block.bytes;
  returned.blocks.push_back(std::move(block));
  size_t count = 0;
  for (; returned.bytes > ReturnedMemory::mostBytes; ++count)
    returned.bytes -= returned.blocks[count].bytes;
  returned.blocks.erase(returned.blocks.begin(),
                        returned.blocks.begin() + ptrdiff_t(count));
}
