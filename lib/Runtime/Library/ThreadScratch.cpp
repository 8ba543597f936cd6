// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Each thread's slots, which grow to the largest size asked for.
#include "ThreadScratch.h"

#include "meshloom/Core/ThreadLocal.h"
#include <array>
#include <cstdlib>
#include <memory>
#include <new>

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
    const size_t rounded = (bytes + 4095) / 4096 * 4096;
    entry.memory.reset();
    entry.memory.reset(std::aligned_alloc(64, rounded));
    entry.bytes = entry.memory ? rounded : 0;
    if (!entry.memory)
      throw std::bad_alloc();
  }
  return entry.memory.get();
}
