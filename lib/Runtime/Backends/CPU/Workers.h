// Workers: the threads of a client, and the ways to work with them.
//
// oneTBB as it is installed is not compiled for ThreadSanitizer, which
// therefore does not see how a loop hands its work to other threads and waits
// for them. It is told what oneTBB guarantees, by HandOver, and no more than
// that.
#pragma once

#include <cstdint>
#include <optional>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#if defined(__SANITIZE_THREAD__)
#define MESHLOOM_THREAD_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define MESHLOOM_THREAD_SANITIZER 1
#endif
#endif
#ifdef MESHLOOM_THREAD_SANITIZER
#include <sanitizer/tsan_interface.h>
/// For functions that read what was handed over before they say so.
#define MESHLOOM_BEFORE_HAND_OVER __attribute__((no_sanitize("thread")))
#else
#define MESHLOOM_BEFORE_HAND_OVER
#endif

namespace meshloom::cpu {

/// For ThreadSanitizer: whatever came before any `give` is known to whoever
/// comes after a later `take`. Elsewhere nothing.
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

class Workers {
public:
  /// 0: one for each core that this process may use.
  explicit Workers(int64_t wanted);
  int64_t count() const { return number; }

  /// Runs `body` as one of the workers; waits until one is free.
  template <typename Body> void visit(const Body &body) {
    HandOver begun, done;
    begun.give();
    arena.execute([&]() MESHLOOM_BEFORE_HAND_OVER {
      begun.take();
      body();
      done.give();
    });
    done.take();
  }

  /// In a visit: runs body(0), ..., body(times - 1), an equal share on each
  /// worker as long as none is late, and returns when all are done. A body may
  /// use oneTBB itself (users' functions do): where it waits, its worker begins
  /// no other one, since what it is at is not done, and lies in its scratch
  /// memory.
  template <typename Body>
  static void forEach(int64_t times, const Body &body) {
    HandOver begun, done;
    begun.give();
    tbb::parallel_for(
        int64_t(0), times,
        [&](int64_t i) MESHLOOM_BEFORE_HAND_OVER {
          begun.take();
          tbb::this_task_arena::isolate([&] { body(i); });
          done.give();
        },
        tbb::static_partitioner());
    done.take();
  }

  /// In a visit: which of the workers this thread is.
  static int64_t index() {
    return tbb::this_task_arena::current_thread_index();
  }

private:
  const int64_t number;
  tbb::task_arena arena;
  /// Set where more workers are wanted than there are cores.
  std::optional<tbb::global_control> moreThreads;
};

} // namespace meshloom::cpu
