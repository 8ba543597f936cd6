// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ClosureQueue: what was scheduled and waits, what runs, and what became of it.
#pragma once

#include "meshloom/Distribute/ParameterServer/ClusterCoordinator.h"

#include <condition_variable>
#include <deque>
#include <mutex>

namespace meshloom::detail {

struct RemoteResult {
  std::mutex mutex;
  std::condition_variable changed;
  bool isReady = false;
  std::vector<Tensor> tensors;
  std::exception_ptr error;

  void set(std::vector<Tensor> values, std::exception_ptr failure = nullptr);
};

/// The closures that wait or run, and the first error. Invariants: a closure is
/// in the queue, or in flight, or its result is ready; while there is an error,
/// the queue is empty.
class ClosureQueue {
public:
  struct Item {
    Closure closure;
    std::shared_ptr<RemoteResult> result;
  };
  static constexpr size_t bound = 262144;

  /// Waits while it is full. Throws the error, if there is one.
  void put(Item item);
  /// Waits for one, which is in flight then; nothing: it was closed.
  std::optional<Item> take();
  /// It ran.
  void finish(const Item &item, std::vector<Tensor> values);
  /// It failed: what waits is cancelled.
  void fail(const Item &item, std::exception_ptr error);
  /// It is to be taken again, before others.
  void putBack(Item item);
  /// Waits until all ran. Throws the error, if there is one.
  void join();
  /// Throws the error, if there is one.
  bool isDone();
  /// Nothing is taken any more; what waits is cancelled.
  void close();

private:
  /// Waits until nothing runs, and throws.
  void throwError(std::unique_lock<std::mutex> &lock);
  void cancelAll(const std::string &why);

  std::mutex mutex;
  std::condition_variable changed;
  std::deque<Item> waiting;
  int64_t inFlight = 0;
  std::exception_ptr error;
  bool isClosed = false;
};

} // namespace meshloom::detail
