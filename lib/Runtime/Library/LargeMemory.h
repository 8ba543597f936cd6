// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Memory of tables and temporary values. Large ones get huge pages: the first
// touch of a small page takes longer than to write it.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <new>
#include <sys/mman.h>
#include <vector>

namespace meshloom::library {

inline constexpr size_t hugePage = 2 << 20;

/// Returns whether memory of this size is in huge pages.
inline bool hasHugePages(size_t bytes) {
  return bytes >= 2 * hugePage;
}

/// Returns the size that allocateMemory gives to memory of this size.
inline size_t allocatedSize(size_t bytes) {
  const size_t page = hasHugePages(bytes) ? hugePage : 4096;
  return (bytes + page - 1) / page * page;
}

/// Returns 64-byte aligned memory, which std::free frees. Throws
/// std::bad_alloc.
inline void *allocateMemory(size_t bytes) {
  const bool isLarge = hasHugePages(bytes);
  const size_t rounded = allocatedSize(bytes);
  void *memory = std::aligned_alloc(isLarge ? hugePage : 64, rounded);
  if (!memory)
    throw std::bad_alloc();
  if (isLarge)
    madvise(memory, rounded, MADV_HUGEPAGE);
  return memory;
}

/// The allocator of vectors that may be large.
template <typename Element> struct LargeAllocator {
  using value_type = Element;
  LargeAllocator() = default;
  template <typename Other>
  LargeAllocator(const LargeAllocator<Other> & /*other*/) {}
  Element *allocate(size_t count) {
    return static_cast<Element *>(allocateMemory(count * sizeof(Element)));
  }
  void deallocate(Element *memory, size_t /*count*/) { std::free(memory); }
  bool operator==(const LargeAllocator &) const = default;
};

template <typename Element>
using LargeVector = std::vector<Element, LargeAllocator<Element>>;

} // namespace meshloom::library
