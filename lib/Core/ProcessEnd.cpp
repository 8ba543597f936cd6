// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The list of what ends, where exit() finds it, and forks.
#include "meshloom/Core/ProcessEnd.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cxxabi.h>
#include <dlfcn.h>
#include <mutex>
#include <pthread.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

using namespace meshloom;

namespace {
struct Ending {
  ProcessEnd::Stage stage;
  const void *owner;
  std::function<void()> end;
};

struct EndState {
  std::mutex mutex; ///< guards what follows
  std::condition_variable changed;
  std::vector<Ending> endings;
  const void *current = nullptr; ///< whose end runs

  std::atomic<pid_t> ender = 0;
  std::atomic<bool> begun = false, over = false;
  std::atomic<int> forks = 0;
};

EndState &endState();

// The thread that forks holds the lock, so that its copy is whole.
void beforeFork() {
  endState().mutex.lock();
}
void afterFork() {
  endState().mutex.unlock();
}
void inFork() {
  EndState &state = endState();
  ++state.forks;
  // Nothing that the other process began is here: not even destructors run.
  new std::vector<Ending>(std::move(state.endings));
  state.endings.clear();
  state.current = nullptr;
  state.begun = state.over = false;
  state.ender = 0;
  state.mutex.unlock();
}

EndState &endState() {
  // Never destroyed: threads look at it to the end.
  static EndState &state = *[] {
    pthread_atfork(beforeFork, afterFork, inFork);
    return new EndState;
  }();
  return state;
}

void endAll() {
  EndState &state = endState();
  std::unique_lock lock(state.mutex);
  if (state.begun)
    return;
  state.ender = gettid();
  state.begun = true;
  using Stage = ProcessEnd::Stage;
  for (Stage stage : {Stage::Producers, Stage::Calls, Stage::Launches})
    while (true) {
      auto next = std::ranges::find(state.endings, stage, &Ending::stage);
      if (next == state.endings.end())
        break;
      const std::function<void()> end = std::move(next->end);
      state.current = next->owner;
      state.endings.erase(next);
      lock.unlock();
      end();
      lock.lock();
      state.current = nullptr;
      state.changed.notify_all();
    }
  state.over = true;
}

/// Stands for this code among what is registered to run at exit.
char atExitHandle;
thread_local bool isMoving = false;

void atExit(void *) {
  if (!isMoving)
    endAll();
}

/// The main thread's first object: its last to be destroyed.
struct MainThread {
  ~MainThread() { endAll(); }
};

/// While threads run the code of a shared library, dlclose must not unmap it.
void stayLoaded() {
  Dl_info info{};
  if (dladdr(&atExitHandle, &info) && info.dli_fname)
    (void)dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
}

// Before main begins, in the main thread.
[[maybe_unused]] const bool isRegistered = [] {
  ProcessEnd::comeFirst();
  return true;
}();
} // namespace

bool ProcessEnd::add(Stage stage, const void *owner,
                     std::function<void()> end) {
  [[maybe_unused]] static const bool isLoaded = [] {
    stayLoaded();
    return true;
  }();
  EndState &state = endState();
  std::lock_guard lock(state.mutex);
  if (state.begun)
    return false;
  state.endings.push_back({stage, owner, std::move(end)});
  return true;
}

void ProcessEnd::remove(const void *owner) {
  EndState &state = endState();
  std::unique_lock lock(state.mutex);
  std::erase_if(state.endings,
                [&](const Ending &ending) { return ending.owner == owner; });
  state.changed.wait(
      lock, [&] { return state.current != owner || state.ender == gettid(); });
}

void ProcessEnd::comeFirst() {
  if (hasBegun())
    return;
  if (getpid() == gettid()) {
    thread_local const MainThread mainThread;
    (void)mainThread;
  }
  static std::mutex &mutex = *new std::mutex;
  std::lock_guard lock(mutex);
  // Takes the earlier registration away, by calling it.
  isMoving = true;
  abi::__cxa_finalize(&atExitHandle);
  isMoving = false;
  abi::__cxa_atexit(atExit, nullptr, &atExitHandle);
}

bool ProcessEnd::hasBegun() {
  return endState().begun;
}

int ProcessEnd::ender() {
  return endState().ender;
}

bool ProcessEnd::isOver() {
  return endState().over;
}

int ProcessEnd::forks() {
  return endState().forks.load(std::memory_order_relaxed);
}

//===----------------------------------------------------------------------===//
// BackgroundThreads
//===----------------------------------------------------------------------===//

/// Its threads hold it, too.
struct BackgroundThreads::State {
  const int forks = ProcessEnd::forks();
  std::mutex mutex; ///< guards what follows
  std::condition_variable changed;
  std::vector<std::thread> threads;
  size_t working = 0;
};

BackgroundThreads::BackgroundThreads(std::function<void()> stop)
    : stop(std::move(stop)), state(std::make_shared<State>()) {}

BackgroundThreads::~BackgroundThreads() {
  if (state->forks != ProcessEnd::forks()) {
    // There are no threads to wait for. Without memory the process may end.
    new std::shared_ptr<State>( // NOLINT(bugprone-unhandled-exception-at-new)
        state);
    return;
  }
  ProcessEnd::remove(this);
  stop();
  for (std::thread &thread : state->threads)
    if (thread.get_id() == std::this_thread::get_id())
      thread.detach(); // it returns from here
    else
      thread.join();
}

bool BackgroundThreads::start(std::function<void()> work) {
  if (state->forks != ProcessEnd::forks() || ProcessEnd::hasBegun())
    return false;
  std::lock_guard lock(state->mutex);
  if (state->threads.empty()) {
    if (!ProcessEnd::add(ProcessEnd::Stage::Producers, this, [this] { end(); }))
      return false;
    ProcessEnd::comeFirst();
  }
  ++state->working;
  state->threads.emplace_back([own = state, work = std::move(work)] {
    work();
    std::lock_guard lock(own->mutex);
    --own->working;
    own->changed.notify_all();
  });
  return true;
}

bool BackgroundThreads::haveStarted() const {
  std::lock_guard lock(state->mutex);
  return !state->threads.empty();
}

/// The threads are joined later, by the destructor; some static objects have
/// none that runs.
void BackgroundThreads::end() {
  stop();
  std::unique_lock lock(state->mutex);
  const bool isWorkingThread =
      std::ranges::any_of(state->threads, [](auto &thread) {
        return thread.get_id() == std::this_thread::get_id();
      });
  state->changed.wait_for(lock, ProcessEnd::LONGEST_WAIT, [&] {
    return state->working == (isWorkingThread ? 1 : 0);
  });
}
