// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where one thread goes on from what another one has done, in ways that
// ThreadSanitizer does not see by itself: in libraries that are not compiled
// for it, and by fences. It is told what is guaranteed, and no more than that.
#pragma once

#include "meshloom/Runtime/Sanitizers.h"

#include <atomic>
#include <memory>

#ifdef MESHLOOM_THREAD_SANITIZER
extern "C" void __tsan_acquire(void *address);
extern "C" void __tsan_release(void *address);
/// For functions that read what is handed over before they say so.
#define MESHLOOM_BEFORE_HAND_OVER __attribute__((no_sanitize("thread")))
#else
#define MESHLOOM_BEFORE_HAND_OVER
#endif

namespace meshloom {

/// Tells the thread sanitizer of an order that a library guarantees: work
/// before a `give` is done before work after the `take` that follows it. Only
/// says so; makes nobody wait.
class HandOver {
public:
  void give() {
#ifdef MESHLOOM_THREAD_SANITIZER
    __tsan_release(this);
#endif
  }
  void take() {
#ifdef MESHLOOM_THREAD_SANITIZER
    __tsan_acquire(this);
#endif
  }
};

/// Returns whether there is no other reference; what was done through others
/// before they were given up is then done.
template <typename T>
bool isLastReference(const std::shared_ptr<T> &reference) {
  if (reference.use_count() != 1)
    return false;
#ifdef MESHLOOM_THREAD_SANITIZER
  // It knows no fences, but what counting does.
  std::shared_ptr<T> counted = reference;
#else
  std::atomic_thread_fence(std::memory_order_acquire);
#endif
  return true;
}

} // namespace meshloom
