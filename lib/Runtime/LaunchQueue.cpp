// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A list of launches and the threads that take them from its front. Threads are
// made when they are first needed, at most one for each core.
#include "meshloom/Runtime/LaunchQueue.h"

#include "meshloom/Core/ProcessEnd.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>
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
  /// Waits until nothing runs and nothing may begin: of the launches that there
  /// are, how many then wait for events. False: not within the time.
  bool settle(std::chrono::steady_clock::time_point deadline, size_t &waiting);

  const int64_t cores;
  const int forks = ProcessEnd::forks();
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
  /// The front may begin; there may be room for another launch; one is done.
  std::condition_variable mayBegin, room, finished;
  std::deque<std::shared_ptr<Entry>> queue;
  int64_t free;        ///< cores
  size_t running = 0;  ///< launches that have begun
  size_t sleeping = 0; ///< threads that wait for the front
  bool closed = false;
  std::vector<std::thread> threads;
};

namespace {
/// The queues that have threads. When the process ends, what was launched on
/// them is done first.
class Queues {
public:
  static Queues &instance() {
    // Never destroyed: threads may end after everything else is.
    static Queues &queues = *new Queues;
    return queues;
  }

  /// False: the process is ending already.
  bool add(std::weak_ptr<LaunchQueue::State> queue) {
    std::lock_guard lock(mutex);
    if (forks != ProcessEnd::forks() || !isAdded) {
      forks = ProcessEnd::forks();
      isAdded =
          ProcessEnd::add(ProcessEnd::Stage::Launches, this, [this] { end(); });
    }
    if (!isAdded || ProcessEnd::hasBegun())
      return false;
    std::erase_if(queues, [](auto &queue) { return queue.expired(); });
    queues.push_back(std::move(queue));
    return true;
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
  void end();
  static void join(std::vector<std::thread> &threads) {
    for (std::thread &thread : threads)
      if (thread.get_id() == std::this_thread::get_id())
        thread.detach(); // it is the one that ends the process
      else
        thread.join();
  }

  std::mutex mutex;
  bool isAdded = false;
  int forks = 0;
  std::vector<std::weak_ptr<LaunchQueue::State>> queues;
  std::vector<std::thread> orphans;
};

Event outcomeOf(const std::function<Event()> &run) {
  LaunchQueue::Working working;
  try {
    return run();
  } catch (const std::exception &error) {
    return Event::failed(Error::of(error));
  }
}

/// In the calling thread.
Event runHere(const LaunchQueue::Launch &launch) {
  // Returns whether they failed is for `run` to look at.
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
      closed = !Queues::instance().add(weak_from_this());
    // Objects that the work uses for the first time are destroyed after the
    // work has ended.
    if (!closed && open == 0)
      ProcessEnd::comeFirst();
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
  --open;
  finished.notify_all();
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
      finished.wait(lock, [&] { return open == 0; });
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
    entry->done.fail(Error("it waits for an event that did not happen before "
                           "the process or its devices' client ended",
                           ErrorCode::FAILED_PRECONDITION));
  }
  for (std::thread &thread : ending)
    if (thread.get_id() == std::this_thread::get_id())
      Queues::instance().adopt(std::move(thread));
    else
      thread.join();
}

bool LaunchQueue::State::settle(std::chrono::steady_clock::time_point deadline,
                                size_t &waiting) {
  std::unique_lock lock(mutex);
  const bool settled = finished.wait_until(lock, deadline, [&] {
    return running == 0 && (queue.empty() || !queue.front()->ready);
  });
  waiting += queue.size();
  return settled;
}

void Queues::end() {
  // A launch that ends the process cannot wait for itself.
  if (LaunchQueue::Working::here())
    return;
  std::vector<std::shared_ptr<LaunchQueue::State>> open;
  std::vector<std::thread> threads;
  {
    std::lock_guard lock(mutex);
    for (const std::weak_ptr<LaunchQueue::State> &queue : queues)
      if (auto state = queue.lock())
        open.push_back(std::move(state));
    threads = std::move(orphans);
    orphans.clear();
  }
  using Clock = std::chrono::steady_clock;
  const auto deadline = Clock::now() + ProcessEnd::LONGEST_WAIT;
  // Events that nothing completes for this long are those of nobody.
  constexpr std::chrono::seconds patience(2);
  constexpr std::chrono::milliseconds pause(1);
  auto since = Clock::now();
  for (size_t before = 0;;) {
    size_t waiting = 0;
    for (const auto &queue : open)
      if (!queue->settle(deadline, waiting))
        return; // and goes on, as no thread can be stopped
    const auto now = Clock::now();
    if (waiting != std::exchange(before, waiting))
      since = now;
    if (waiting == 0 || now - since > patience)
      break;
    std::this_thread::sleep_for(pause);
  }
  for (const auto &queue : open)
    queue->close(/*finishAll=*/false);
  join(threads);
}

LaunchQueue::LaunchQueue(int64_t cores)
    : state(std::make_shared<State>(std::max<int64_t>(cores, 1))) {}

LaunchQueue::~LaunchQueue() {
  if (state->forks != ProcessEnd::forks()) {
    // Its threads are those of the process that this one was forked from.
    // Without memory this one may end.
    new std::shared_ptr<State>( // NOLINT(bugprone-unhandled-exception-at-new)
        state);
    return;
  }
  // In one of its own threads, what holds the queue's owner is all done but for
  // the launch that destroys it.
  state->close(/*finishAll=*/!Working::here());
}

Event LaunchQueue::launch(Launch launch) {
  if (Working::here() || state->forks != ProcessEnd::forks())
    return runHere(launch);
  return state->add(std::move(launch));
}

bool LaunchQueue::isIdle() const {
  return state->open.load() == 0 || state->forks != ProcessEnd::forks();
}
