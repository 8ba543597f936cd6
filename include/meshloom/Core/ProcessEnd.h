// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ProcessEnd: what a process has begun ends before its static objects do.
//
// exit() destroys static objects in the reverse order of their construction,
// and stops no thread: one that still computes then uses memory, code and locks
// that are gone. So whoever starts threads, or hands work to them, adds here
// how that ends. All of it ends in one order, in the thread that ends the
// process, and before the destructor of any static object runs:
//   - main returns, or the main thread calls exit: objects of a thread are
//     destroyed before static ones, and one of the main thread begins the end;
//   - another thread calls exit: the end is the last thing that was registered
//     to run at exit, and so the first to run; `comeFirst` puts it there again.
// Afterwards work is done by the thread that asks for it, so that handlers of
// atexit and destructors of static objects may still compute.
//
// A process that was forked off has none of the threads, and nothing to end but
// what it began itself. Code that has added something is never unloaded.
//
// Rejected: handlers of std::atexit alone. Static objects of libraries, such as
// tables of generated code, are constructed when they are first used, and so
// are destroyed before handlers that were registered earlier.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>

namespace meshloom {

class ProcessEnd {
public:
  /// The order of the end: producers of work, then calls by which work is
  /// handed over, then the work.
  enum class Stage : uint8_t { Producers, Calls, Launches };

  /// No end waits longer for a thread: one that waits in turn for the end to be
  /// over cannot hold the process for ever.
  static constexpr std::chrono::seconds LONGEST_WAIT{20};

  /// `end` is called once, at the end of the process, unless `owner` is removed
  /// before. False, and nothing is added, where the end has begun.
  static bool add(Stage stage, const void *owner, std::function<void()> end);
  /// Waits while another thread runs the owner's `end`.
  static void remove(const void *owner);

  /// The end will come before the destructors of all static objects that there
  /// are now. Takes about a microsecond.
  static void comeFirst();
  static bool hasBegun();
  /// The thread in which the end runs, as gettid gives it; 0 before the end.
  static int ender();
  /// Nothing is waited for any more: static objects are being destroyed.
  static bool isOver();

  /// How many forks lie between this process and the one that loaded the code.
  /// An object that was made when the number was different has lost its
  /// threads.
  static int forks();
};

/// Threads that work until they are told to stop: by the destructor, or by the
/// end of the process.
class BackgroundThreads {
public:
  /// `stop` makes every thread's work return soon. It may be called twice.
  explicit BackgroundThreads(std::function<void()> stop);
  /// Stops the threads and waits for them.
  ~BackgroundThreads();
  BackgroundThreads(const BackgroundThreads &) = delete;
  BackgroundThreads &operator=(const BackgroundThreads &) = delete;

  /// Begins a thread. False where the process ends already, or was forked off
  /// since: whoever needs the work does it.
  bool start(std::function<void()> work);
  /// Returns whether one has been started.
  bool haveStarted() const;

private:
  struct State;
  void end();
  const std::function<void()> stop;
  std::shared_ptr<State> state;
};

} // namespace meshloom
