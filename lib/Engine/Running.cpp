// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Counting what runs, and waiting for it at the end, see Running.h.
#include "meshloom/Engine/Running.h"

#include "meshloom/Core/ProcessEnd.h"
#include "meshloom/Runtime/LaunchQueue.h"

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <fstream>
#include <mutex>
#include <optional>
#include <pthread.h>
#include <sstream>
#include <string>
#include <thread>
#include <unistd.h>

namespace meshloom::detail {
namespace {

/// A time during which a thread does nothing but wait.
struct Sleep {
  long switches; ///< how often the thread had begun to wait
  bool operator==(const Sleep &) const = default;
};

struct Gate {
  std::mutex mutex;
  std::condition_variable changed;
  int64_t running = 0; ///< threads
  /// Other threads than the one that ends the process begin nothing.
  bool closed = false;
  /// While the ending thread is in this one, it waits for a thread that may go
  /// on.
  std::optional<Sleep> passage;
  /// The process (see ProcessEnd::forks) whose end closes the gate.
  int guardedForks = -1;
};

Gate &gate() {
  // Never destroyed: threads wait for it to the end.
  static Gate &gate = *new Gate;
  return gate;
}

thread_local int depth = 0;

/// When the ending thread has slept so long after the end of all work, it waits
/// for another thread, as the destructor of a static std::jthread does: then
/// all go on until it wakes.
constexpr std::chrono::seconds LONGEST_PAUSE(2);

/// Nothing while the thread runs or waits for a core. Where the system does not
/// tell, the thread is taken to sleep.
std::optional<Sleep> sleepOf(pid_t thread) {
  std::ifstream status("/proc/self/task/" + std::to_string(thread) + "/status");
  Sleep sleep{0};
  for (std::string line; std::getline(status, line);) {
    std::istringstream words(line);
    std::string name, state;
    words >> name;
    if (name == "State:" && words >> state && state == "R")
      return std::nullopt;
    if (name == "voluntary_ctxt_switches:")
      words >> sleep.switches;
  }
  return sleep;
}

void close() {
  Gate &runs = gate();
  std::unique_lock lock(runs.mutex);
  runs.closed = true;
  // The work that this thread is in the middle of does not go on; others may
  // wait for that in turn.
  runs.changed.wait_for(lock, depth ? LONGEST_PAUSE : ProcessEnd::LONGEST_WAIT,
                        [&] { return runs.running == (depth ? 1 : 0); });
}

void keepWholeInForks() {
  pthread_atfork([] { gate().mutex.lock(); }, [] { gate().mutex.unlock(); },
                 [] {
                   gate().running = depth ? 1 : 0;
                   gate().closed = false;
                   gate().passage.reset();
                   gate().mutex.unlock();
                 });
}

/// The gate closes when the process ends, or has closed by now. Called with
/// the lock held.
void guard(Gate &gate) {
  [[maybe_unused]] static const bool isWholeInForks = [] {
    keepWholeInForks();
    return true;
  }();
  gate.guardedForks = ProcessEnd::forks();
  gate.closed = !ProcessEnd::add(ProcessEnd::Stage::Calls, &gate, close);
  // LLVM's libraries have static objects that were constructed when they were
  // loaded, which may have been after ours.
  ProcessEnd::comeFirst();
}

} // namespace

Running::Running() {
  if (depth++ > 0)
    return;
  Gate &runs = gate();
  std::unique_lock lock(runs.mutex);
  if (runs.guardedForks != ProcessEnd::forks())
    guard(runs);
  // A launched run goes on to its end, with all that it runs in turn.
  while (runs.closed && ProcessEnd::ender() != gettid() &&
         !LaunchQueue::Working::here()) {
    const auto before =
        ProcessEnd::isOver() ? sleepOf(ProcessEnd::ender()) : std::nullopt;
    if (before && before == runs.passage)
      break;
    runs.changed.wait_for(lock, LONGEST_PAUSE, [&] { return !runs.closed; });
    if (before && before == sleepOf(ProcessEnd::ender()))
      runs.passage = before;
  }
  ++runs.running;
}

Running::~Running() {
  if (--depth > 0)
    return;
  Gate &runs = gate();
  std::lock_guard lock(runs.mutex);
  --runs.running;
  if (runs.closed)
    runs.changed.notify_all();
}

bool isWholeThread() {
  // Not destroyed itself, having no destructor.
  thread_local bool isEnded = false;
  struct End {
    ~End() { isEnded = true; }
  };
  thread_local const End end;
  (void)end;
  return !isEnded;
}

void inWholeThread(const std::function<void()> &body) {
  if (isWholeThread())
    return body();
  std::exception_ptr failure;
  std::thread([&, passes = depth > 0 || ProcessEnd::ender() == gettid()] {
    // The gate is open to it as it is to this thread.
    depth += passes;
    try {
      body();
    } catch (...) {
      failure = std::current_exception();
    }
  }).join();
  if (failure)
    std::rethrow_exception(failure);
}

} // namespace meshloom::detail
