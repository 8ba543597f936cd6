// A list of launches and the threads that take them from its front. Threads are
// made when they are first needed, at most one for each core.
#include "meshloom/Runtime/LaunchQueue.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

using namespace meshloom;

/// Where as many launches wait for nothing but their turn, callers wait, too,
/// before the arrays that launches hold fill the memory.
static constexpr size_t MOST_QUEUED = 16;

/// Its threads hold it, too: it outlives a queue that one of them destroys.
struct LaunchQueue::State : std::enable_shared_from_this<State> {
  explicit State(int64_t cores) : cores(cores), free(cores) {}

  struct Entry {
    Launch launch;
    Event done = Event::pending();
    bool ready = false; ///< all of launch.after is complete
  };

  Event add(Launch launch);
  /// A thread's life.
  void work();
  /// Ends the threads. Launches that have not begun fail, unless they are to be
  /// waited for.
  void close(bool finishAll);

  const int64_t cores;
  std::atomic<size_t> open{0}; ///< launches that are not done

private:
  /// These hold the lock.
  bool canBegin() const {
    return !queue.empty() && queue.front()->ready &&
           (running == 0 || queue.front()->launch.cores <= free);
  }
  void wake();
  void runFront(std::unique_lock<std::mutex> &lock);

  std::mutex mutex;
  /// The front may begin; there may be room for another launch; all is done.
  std::condition_variable mayBegin, room, idle;
  std::deque<std::shared_ptr<Entry>> queue;
  int64_t free;        ///< cores
  size_t running = 0;  ///< launches that have begun
  size_t sleeping = 0; ///< threads that wait for the front
  bool closed = false;
  std::vector<std::thread> threads;
};

namespace {
/// The threads of all queues. When the process exits, they end before anything
/// that their work may use is destroyed.
class Threads {
public:
  static Threads &all() {
    // Never destroyed: threads may end after everything else is.
    static Threads *threads = [] {
      std::atexit([] { all().end(); });
      return new Threads;
    }();
    return *threads;
  }

  /// False: the process is ending already.
  bool add(std::function<void()> close, const void *owner) {
    std::lock_guard lock(mutex);
    if (ending)
      return false;
    closers.emplace_back(owner, std::move(close));
    return true;
  }
  void remove(const void *owner) {
    std::lock_guard lock(mutex);
    std::erase_if(closers, [&](auto &each) { return each.first == owner; });
  }
  /// A thread that nobody else will join: it is about to end.
  void adopt(std::thread thread) {
    std::vector<std::thread> before;
    {
      std::lock_guard lock(mutex);
      before = std::move(orphans);
      orphans.clear();
      orphans.push_back(std::move(thread));
    }
    join(before);
  }

private:
  void end() {
    std::vector<std::pair<const void *, std::function<void()>>> last;
    std::vector<std::thread> threads;
    {
      std::lock_guard lock(mutex);
      ending = true;
      last = std::move(closers);
      threads = std::move(orphans);
    }
    for (auto &[owner, close] : last)
      close();
    join(threads);
  }
  static void join(std::vector<std::thread> &threads) {
    for (std::thread &thread : threads)
      if (thread.get_id() == std::this_thread::get_id())
        thread.detach(); // it is the one that ends the process
      else
        thread.join();
  }

  std::mutex mutex;
  bool ending = false;
  std::vector<std::pair<const void *, std::function<void()>>> closers;
  std::vector<std::thread> orphans;
};

Event outcomeOf(const std::function<Event()> &run) {
  LaunchQueue::Working working;
  try {
    return run();
  } catch (const std::exception &error) {
    return Event::failed(Error(error.what()));
  }
}

/// In the calling thread.
Event runHere(const LaunchQueue::Launch &launch) {
  // Whether they failed is for `run` to look at.
  (void)Event::whenAll(launch.after).wait();
  return outcomeOf(launch.run);
}
} // namespace

int &LaunchQueue::Working::depth() {
  thread_local int depth = 0;
  return depth;
}

/// Lets a thread look at the front if it can begin: one that sleeps, or a new
/// one.
void LaunchQueue::State::wake() {
  if (!canBegin() || closed)
    return;
  if (sleeping > 0) {
    mayBegin.notify_one();
    return;
  }
  if (int64_t(threads.size()) < cores)
    threads.emplace_back([state = shared_from_this()] { state->work(); });
}

Event LaunchQueue::State::add(Launch launch) {
  launch.cores = std::clamp<int64_t>(launch.cores, 1, cores);
  const Event after = Event::whenAll(launch.after);
  auto entry = std::make_shared<Entry>();
  entry->ready = after.isReady();
  Event done = entry->done;
  {
    std::unique_lock lock(mutex);
    // One that waits for an event may wait for its caller.
    room.wait(lock, [&] {
      return queue.size() < MOST_QUEUED || !queue.front()->ready || closed;
    });
    if (threads.empty() && !closed)
      closed = !Threads::all().add(
          [weak = weak_from_this()] {
            if (auto state = weak.lock())
              state->close(/*finishAll=*/false);
          },
          this);
    if (closed) {
      lock.unlock();
      return runHere(launch);
    }
    entry->launch = std::move(launch);
    ++open;
    queue.push_back(entry);
    wake();
  }
  if (!entry->ready)
    after.then([state = weak_from_this(),
                waiting = std::weak_ptr<Entry>(entry)](const Status &) {
      auto self = state.lock();
      auto entry = waiting.lock();
      if (!self || !entry)
        return;
      std::lock_guard lock(self->mutex);
      entry->ready = true;
      self->wake();
    });
  return done;
}

void LaunchQueue::State::runFront(std::unique_lock<std::mutex> &lock) {
  std::shared_ptr<Entry> entry = std::move(queue.front());
  queue.pop_front();
  const int64_t taken = entry->launch.cores;
  free -= taken;
  ++running;
  room.notify_one();
  wake(); // what is behind it may begin, too
  lock.unlock();

  Event outcome = outcomeOf(entry->launch.run);
  entry->launch = {};
  const Event done = std::move(entry->done);
  entry.reset();

  lock.lock();
  free += taken;
  --running;
  if (--open == 0)
    idle.notify_all();
  wake();
  lock.unlock();
  outcome.then([done](const Status &status) { done.finish(status); });
  outcome = Event();
  lock.lock();
}

void LaunchQueue::State::work() {
  Working working; // also while a launch lets go of what it holds
  std::unique_lock lock(mutex);
  while (!closed)
    if (canBegin()) {
      runFront(lock);
    } else {
      ++sleeping;
      mayBegin.wait(lock);
      --sleeping;
    }
}

void LaunchQueue::State::close(bool finishAll) {
  std::deque<std::shared_ptr<Entry>> dropped;
  std::vector<std::thread> ending;
  {
    std::unique_lock lock(mutex);
    if (finishAll)
      idle.wait(lock, [&] { return open == 0; });
    closed = true;
    dropped = std::move(queue);
    queue.clear();
    open -= dropped.size();
    ending = std::move(threads);
    threads.clear();
    mayBegin.notify_all();
    room.notify_all();
  }
  for (const std::shared_ptr<Entry> &entry : dropped) {
    entry->launch = {};
    entry->done.fail(Error("it has not begun before the process ended"));
  }
  for (std::thread &thread : ending)
    if (thread.get_id() == std::this_thread::get_id())
      Threads::all().adopt(std::move(thread));
    else
      thread.join();
}

LaunchQueue::LaunchQueue(int64_t cores)
    : state(std::make_shared<State>(std::max<int64_t>(cores, 1))) {}

LaunchQueue::~LaunchQueue() {
  Threads::all().remove(state.get());
  // In one of its own threads, what holds the queue's owner is all done but for
  // the launch that destroys it.
  state->close(/*finishAll=*/!Working::here());
}

Event LaunchQueue::launch(Launch launch) {
  if (Working::here())
    return runHere(launch);
  return state->add(std::move(launch));
}

void LaunchQueue::endAtExit() {
  (void)Threads::all();
}

bool LaunchQueue::isIdle() const {
  return state->open.load() == 0;
}
