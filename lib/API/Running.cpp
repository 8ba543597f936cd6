// Counting what runs, and waiting for it at exit, see Running.h.
#include "Running.h"

#include "meshloom/Runtime/LaunchQueue.h"

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdlib>
#include <mutex>
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

/// Long enough for any program; a thread that waits for this one (exit was
/// called in what it runs) cannot hold the process for longer.
constexpr std::chrono::seconds longestWait(20);

void close() {
  Gate &own = gate();
  std::unique_lock lock(own.mutex);
  own.closed = true;
  own.closer = std::this_thread::get_id();
  own.changed.wait_for(lock, longestWait,
                       [&] { return own.running == (depth ? 1 : 0); });
}

} // namespace

Running::Running() {
  if (depth++ > 0)
    return;
  Gate &own = gate();
  std::unique_lock lock(own.mutex);
  own.changed.wait(lock, [&] {
    return !own.closed || own.closer == std::this_thread::get_id();
  });
  ++own.running;
}

Running::~Running() {
  if (--depth > 0)
    return;
  Gate &own = gate();
  std::lock_guard lock(own.mutex);
  if (--own.running == 0 || own.closed)
    own.changed.notify_all();
}

void waitAtExit() {
  // Programs that run come to their end before the threads that they run in.
  LaunchQueue::endAtExit();
  // Handlers run in reverse order, between the destructors of what was made
  // after and before each was registered.
  std::atexit(close);
}

} // namespace meshloom::detail
