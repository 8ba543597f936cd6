// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Workers: the threads of a client, and the ways to work with them. oneTBB as
// it is installed is not compiled for ThreadSanitizer, which is told here how a
// loop hands its work to other threads and waits for them.
#pragma once

#include "meshloom/Runtime/HappensBefore.h"
#include "meshloom/Runtime/LaunchQueue.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

namespace meshloom::cpu {

/// How many there are if `wanted` are: 0, one for each core that this process
/// may use.
int64_t workersFor(int64_t wanted);

class Workers {
public:
  explicit Workers(int64_t wanted); ///< see workersFor
  int64_t count() const { return number; }

  /// Runs `body` as one of the workers; waits until one is free.
  template <typename Body> void visit(const Body &body) {
    HandOver begun, done;
    begun.give();
    arena.execute([&]() MESHLOOM_BEFORE_HAND_OVER {
      begun.take();
      LaunchQueue::Working working;
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
          LaunchQueue::Working working;
          tbb::this_task_arena::isolate([&] { body(i); });
          done.give();
        },
        tbb::static_partitioner());
    done.take();
  }

  /// In a visit: which of the workers this thread is. oneTBB has a second place
  /// in an arena of one, for a thread of its own that does what one of ours
  /// waits to do; each of the two is the only one at its visit.
  int64_t index() const {
    return std::min(int64_t(tbb::this_task_arena::current_thread_index()),
                    number - 1);
  }

private:
  const int64_t number;
  tbb::task_arena arena;
  /// Set where more workers are wanted than there are cores.
  std::optional<tbb::global_control> moreThreads;
};

} // namespace meshloom::cpu
