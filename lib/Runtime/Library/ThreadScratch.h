// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Memory that library functions work in.
#pragma once

#include <cstddef>
#include <vector>

namespace meshloom::library {

/// Memory of this thread, 64-byte aligned, kept between calls. `slot` of
/// twelve: what one call of a function uses at once has slots of its own.
void *threadScratch(unsigned slot, size_t bytes);

/// Memory that this thread returned before, or new memory: 64-byte aligned.
void *takeMemory(size_t bytes);
/// Gives back what takeMemory() gave for `bytes`.
void returnMemory(void *memory, size_t bytes);

/// The allocator of vectors that end with their call: the next call takes their
/// memory, as the first touch of new pages takes longer than to write them.
template <typename Element> struct ReusingAllocator {
  using value_type = Element;
  ReusingAllocator() = default;
  template <typename Other>
  ReusingAllocator(const ReusingAllocator<Other> & /*other*/) {}
  Element *allocate(size_t count) {
    return static_cast<Element *>(takeMemory(count * sizeof(Element)));
  }
  void deallocate(Element *memory, size_t count) {
    returnMemory(memory, count * sizeof(Element));
  }
  bool operator==(const ReusingAllocator &) const = default;
};

template <typename Element>
using ReusingVector = std::vector<Element, ReusingAllocator<Element>>;

} // namespace meshloom::library
