// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "meshloom/Runtime/Backends/CPU/WorkerClocks.h"
#include "meshloom/Runtime/ThreadTime.h"

#include <algorithm>
#include <queue>
#include <utility>
#include <vector>

using namespace meshloom;

WorkerClocks::WorkerClocks(std::function<int64_t()> now)
    : now(now ? std::move(now) : threadNanoseconds) {}

/// Nanoseconds that this thread has spent in the parts of phases that workers
/// share.
static thread_local int64_t shared = 0;

void WorkerClocks::share(int64_t workers,
                         const std::function<bool(int64_t worker)> &work) {
  // The worker that is free first takes the next piece.
  using Clock = std::pair<int64_t, int64_t>; // its time, and the worker
  std::priority_queue<Clock, std::vector<Clock>, std::greater<>> clocks;
  for (int64_t w = 0; w < workers; ++w)
    clocks.emplace(0, w);
  Times phase{.phases = 1};
  const int64_t start = now();
  while (!clocks.empty()) {
    auto [time, worker] = clocks.top();
    clocks.pop();
    const int64_t begin = now();
    if (!work(worker))
      continue;
    const int64_t duration = now() - begin;
    time += duration;
    phase.busy += duration;
    phase.total = std::max(phase.total, time);
    clocks.emplace(time, worker);
  }
  add(phase);
  shared += now() - start;
}

void WorkerClocks::alone(const std::function<void()> &work) {
  const int64_t begin = now() - shared;
  work();
  const int64_t duration = now() - shared - begin;
  add({.total = duration, .alone = duration, .busy = duration});
}

void WorkerClocks::add(const Times &more) {
  std::lock_guard lock(mutex);
  times.total += more.total;
  times.alone += more.alone;
  times.busy += more.busy;
  times.phases += more.phases;
}

WorkerClocks::Times WorkerClocks::take() {
  std::lock_guard lock(mutex);
  return std::exchange(times, {});
}
