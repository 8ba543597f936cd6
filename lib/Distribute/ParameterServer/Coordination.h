// Coordination: what stands behind a ClusterCoordinator: the queue of what was
// scheduled, and a thread for each worker that hands it out.
#pragma once

#include "Store.h"

#include "meshloom/Distribute/ParameterServer/ClusterCoordinator.h"

#include <condition_variable>
#include <deque>
#include <thread>

namespace meshloom::detail {

struct RemoteResult {
  std::mutex mutex;
  std::condition_variable changed;
  bool isReady = false;
  std::vector<Tensor> tensors;
  std::exception_ptr error;

  void set(std::vector<Tensor> values, std::exception_ptr failure = nullptr);
};

/// What waits, what runs, and the first error. Invariants: a closure is in the
/// queue, or in flight, or its result is ready; while there is an error, the
/// queue is empty.
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

class Coordination {
public:
  /// Its last user may be a function that one of its threads held.
  static std::shared_ptr<Coordination>
  make(std::shared_ptr<const ps::Store> store, double workerTimeout);
  ~Coordination();
  Coordination(const Coordination &) = delete;

  ClosureQueue queue;
  const std::shared_ptr<const ps::Store> store;

  int64_t startsOf(int64_t worker) const;

private:
  Coordination(std::shared_ptr<const ps::Store> store, double workerTimeout);
  /// What a worker's thread knows of it.
  struct Worker {
    uint64_t start = 0; ///< which of the process' starts; 0: not reached yet
    std::set<std::string> loaded;
  };
  enum class Outcome : uint8_t { Done, WorkerLost };

  void serve(size_t worker);
  /// Waits until it answers. False: it did not within the time, or all ends.
  bool reach(size_t number, Worker &worker);
  Outcome run(size_t number, Worker &worker, ClosureQueue::Item &item);
  /// Whether the failure counts; the first ones of a server may be passing.
  bool isServerLost(uint64_t server);

  const double workerTimeout;
  const int64_t ignoredFailures;
  std::vector<std::atomic<int64_t>> starts;
  std::mutex mutex; ///< guards what follows
  std::condition_variable ending;
  bool isEnding = false;
  std::map<uint64_t, int64_t> serverFailures;
  size_t workersLeft = 0;
  std::vector<std::thread> threads;
};

} // namespace meshloom::detail
