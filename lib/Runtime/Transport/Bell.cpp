// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Bell: futexes in memory that processes may share.
#include "Link.h"

#include <ctime>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

using namespace meshloom;

static_assert(std::atomic<uint32_t>::is_always_lock_free);

static long futex(std::atomic<uint32_t> &word, int operation, uint32_t value,
                  const timespec *most) {
  return syscall(SYS_futex, reinterpret_cast<uint32_t *>(&word), operation,
                 value, most, nullptr, 0);
}

void Bell::wake(Sleeper who) {
  std::atomic<uint32_t> &word = words[who - 1];
  ++word;
  futex(word, FUTEX_WAKE, 1, nullptr);
}

void Bell::sleep(Sleeper who, uint32_t seen, std::chrono::milliseconds most) {
  timespec time{most.count() / 1000, most.count() % 1000 * 1000000};
  futex(words[who - 1], FUTEX_WAIT, seen, most.count() < 0 ? nullptr : &time);
}
