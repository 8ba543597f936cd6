// Counting what runs, and waiting for it at the end, see Running.h.
#include "Running.h"

#include "meshloom/Core/ProcessEnd.h"
#include "meshloom/Runtime/LaunchQueue.h"

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <pthread.h>
#include <thread>

namespace meshloom::detail {
namespace {

struct Gate {
  std::mutex mutex;
  std::condition_variable changed;
  int64_t running = 0; ///< threads
  bool closed = false;
  std::thread::id closer; ///< may run what static objects do as they end
};

Gate &gate() {
  // Never destroyed: threads wait for it to the end.
  static Gate &gate = *new Gate;
  return gate;
}

thread_local int depth = 0;

/// What other threads begin waits until so long after the end of all work. By
/// then there is no process any more, unless it waits for one of them, as the
/// destructor of a static std::jthread does: then all go on.
constexpr std::chrono::seconds LONGEST_PAUSE(2);

void close() {
  Gate &own = gate();
  std::unique_lock lock(own.mutex);
  own.closed = true;
  own.closer = std::this_thread::get_id();
  // What this thread is in the middle of does not go on; others may wait for
  // that in turn.
  own.changed.wait_for(lock, depth ? LONGEST_PAUSE : ProcessEnd::LONGEST_WAIT,
                       [&] { return own.running == (depth ? 1 : 0); });
}

void keepWholeInForks() {
  pthread_atfork([] { gate().mutex.lock(); }, [] { gate().mutex.unlock(); },
                 [] {
                   gate().running = depth ? 1 : 0;
                   gate().closed = false;
                   gate().mutex.unlock();
                 });
}

} // namespace

Running::Running() {
  if (depth++ > 0)
    return;
  Gate &own = gate();
  std::unique_lock lock(own.mutex);
  // What has been launched runs to its end, with what it runs in turn.
  while (own.closed && own.closer != std::this_thread::get_id() &&
         !LaunchQueue::Working::here()) {
    const bool wasOver = ProcessEnd::isOver();
    if (own.changed.wait_for(lock, LONGEST_PAUSE,
                             [&] { return !own.closed; }) ||
        !wasOver)
      continue;
    own.closed = false;
    own.changed.notify_all();
  }
  ++own.running;
}

Running::~Running() {
  if (--depth > 0)
    return;
  Gate &own = gate();
  std::lock_guard lock(own.mutex);
  --own.running;
  if (own.closed)
    own.changed.notify_all();
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
  std::thread([&, passes = depth > 0 ||
                           gate().closer == std::this_thread::get_id()] {
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

void endBeforeStatics() {
  [[maybe_unused]] static const bool isAdded = [] {
    keepWholeInForks();
    return ProcessEnd::add(ProcessEnd::Stage::Calls, &gate(), close);
  }();
  ProcessEnd::comeFirst();
}

} // namespace meshloom::detail
