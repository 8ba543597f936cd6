// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The processor time of a thread, which other load of the machine does not
// count into.
#pragma once

#include <cstdint>
#include <ctime>

namespace meshloom {

/// Returns the processor time of the calling thread, in nanoseconds.
inline int64_t threadNanoseconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return int64_t(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

} // namespace meshloom
