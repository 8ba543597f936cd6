// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Memory whose neighbours cannot be touched.
#pragma once

#include <cstddef>
#include <sys/mman.h>
#include <unistd.h>

namespace meshloom {

/// Bytes between pages that cannot be touched. They end where the last page
/// begins or, if `isAtBegin`, begin where the first one ends.
class GuardedMemory {
public:
  explicit GuardedMemory(size_t bytes, bool isAtBegin = false)
      : page(size_t(sysconf(_SC_PAGESIZE))),
        size((bytes + page - 1) / page * page),
        begin(static_cast<char *>(mmap(nullptr, size + 2 * page,
                                       PROT_READ | PROT_WRITE,
                                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))),
        data(begin + page + (isAtBegin ? 0 : size - bytes)) {
    mprotect(begin, page, PROT_NONE);
    mprotect(begin + page + size, page, PROT_NONE);
  }
  ~GuardedMemory() { munmap(begin, size + 2 * page); }
  GuardedMemory(const GuardedMemory &) = delete;
  GuardedMemory &operator=(const GuardedMemory &) = delete;

  template <typename T> T *as() const { return reinterpret_cast<T *>(data); }

private:
  size_t page, size;
  char *begin, *data;
};

} // namespace meshloom
