// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Counting what other processes take part in, see LaunchedRuns.h.
#include "meshloom/Runtime/LaunchedRuns.h"

#include <condition_variable>
#include <cstdint>
#include <mutex>

using namespace meshloom;

namespace {
/// Runs that other processes take part in, in threads of their own.
struct LaunchedRuns {
  std::mutex mutex;
  std::condition_variable over;
  int64_t count = 0;
};
LaunchedRuns &launchedRuns() {
  // Never destroyed: runs may end when everything else is.
  static LaunchedRuns &runs = *new LaunchedRuns;
  return runs;
}
} // namespace

LaunchedRun::LaunchedRun(bool counts) : counts(counts) {
  if (!counts)
    return;
  std::lock_guard lock(launchedRuns().mutex);
  ++launchedRuns().count;
}
LaunchedRun::~LaunchedRun() {
  if (!counts)
    return;
  std::lock_guard lock(launchedRuns().mutex);
  if (--launchedRuns().count == 0)
    launchedRuns().over.notify_all();
}

bool meshloom::waitForLaunchedRuns(std::chrono::milliseconds timeout) {
  LaunchedRuns &runs = launchedRuns();
  std::unique_lock lock(runs.mutex);
  return runs.over.wait_for(lock, timeout, [&] { return runs.count == 0; });
}
