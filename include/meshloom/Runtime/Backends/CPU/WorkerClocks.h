// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// WorkerClocks: how long runs would take with a core for each worker, on a
// machine that has fewer. One thread does the work of all workers, in the order
// in which they would begin it, and a clock for each worker counts the
// processor time of its part. The clocks leave out how cores disturb each other
// in caches and memory, and the time that it takes to wake a worker.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>

namespace meshloom {

class WorkerClocks {
public:
  /// Times in nanoseconds.
  struct Times {
    int64_t total = 0;  ///< until the last worker is done, over all phases
    int64_t alone = 0;  ///< of `total`, while one worker works by design
    int64_t busy = 0;   ///< of all workers together
    int64_t phases = 0; ///< that several workers share
  };

  /// `now`: a clock of the thread that works; by default its processor time.
  explicit WorkerClocks(std::function<int64_t()> now = {});

  /// Runs a phase that `workers` share. `work(w)` does the next piece of the
  /// phase that worker `w` would take, and returns false if nothing is left for
  /// it.
  void share(int64_t workers, const std::function<bool(int64_t worker)> &work);
  /// Runs what one worker does while the others wait. Work that it shares with
  /// them meanwhile is a phase of its own.
  void alone(const std::function<void()> &work);

  /// The times since the last call, of all threads that were at work.
  Times take();

private:
  void add(const Times &more);

  const std::function<int64_t()> now;
  std::mutex mutex;
  Times times;
};

} // namespace meshloom
