// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// LaunchQueue: the order in which a client's work begins.
//
// Work is launched by callers, and begins in the order it was launched, each
// piece when
//   - the events it needs are complete (they may be those of other clients),
//   and
//   - enough of the client's cores are free: a piece says how many it keeps
//     busy, so that two that cannot use them all run side by side.
// A piece that does not begin yet keeps all behind it waiting, so there is one
// order, and nothing is overtaken for ever. Since whoever launches can only
// wait for what was launched before, nothing waits in a circle.
//
// When the process ends (ProcessEnd.h), what was launched is done first, but
// for work that waits for an event which nobody completes: that fails.
// Afterwards, and in a process that was forked off, work runs in the caller's
// thread.
//
// Work is also free to run in the caller's thread, which costs no change of
// threads: `isIdle` tells when that keeps the order.
#pragma once

#include "meshloom/Runtime/Event.h"

namespace meshloom {

class LaunchQueue {
public:
  /// `cores`: what pieces of work share.
  explicit LaunchQueue(int64_t cores);
  /// Waits for what has been launched, unless one of the queue's own threads
  /// destroys it: it then goes on, and holds no reference to the queue.
  ~LaunchQueue();
  LaunchQueue(const LaunchQueue &) = delete;
  LaunchQueue &operator=(const LaunchQueue &) = delete;

  struct Launch {
    /// Events that must be complete before it runs. Whether that failed is for
    /// `run` to look at.
    std::vector<Event> after = {};
    /// Cores that it keeps busy, at least one.
    int64_t cores = 1;
    /// The work. Its captures are destroyed before the event it returns is
    /// passed on, and whoever waits for that event can rely on it.
    std::function<Event()> run;
  };
  /// The event that `run` will return. Waits while many pieces of work are
  /// queued already, unless they wait for something themselves.
  ///
  /// In a thread that is at work on another launch (see Working), on any queue,
  /// it is run at once: the outer one may be waiting for it.
  Event launch(Launch launch);

  /// Returns whether nothing that was launched is still to be done.
  bool isIdle() const;

  /// While one lives, this thread is at work on a launch. Queues say so for
  /// their own threads; a backend that hands work to other threads must.
  class Working {
  public:
    Working() { ++depth(); }
    ~Working() { --depth(); }
    Working(const Working &) = delete;
    Working &operator=(const Working &) = delete;
    static bool here() { return depth() > 0; }

  private:
    static int &depth();
  };

  struct State;

private:
  const std::shared_ptr<State> state;
};

} // namespace meshloom
