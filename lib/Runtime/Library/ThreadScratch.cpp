// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Each thread's slots, which grow to the largest size asked for.
#include "ThreadScratch.h"

#include "LargeMemory.h"
#include "meshloom/Core/ThreadLocal.h"

#include <array>
#include <memory>

using namespace meshloom;

void *library::threadScratch(unsigned slot, size_t bytes) {
  struct Free {
    void operator()(void *memory) const { std::free(memory); }
  };
  struct Slot {
    std::unique_ptr<void, Free> memory;
    size_t bytes = 0;
  };
  Slot &entry = threadLocal<std::array<Slot, 12>>()[slot];
  if (entry.bytes < bytes) {
    entry.memory.reset();
    entry.bytes = 0;
    entry.memory.reset(allocateMemory(bytes));
    entry.bytes = allocatedSize(bytes);
  }
  return entry.memory.get();
}
