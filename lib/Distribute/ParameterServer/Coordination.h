// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Coordination: what stands behind a ClusterCoordinator: the queue of what was
// scheduled, and a thread for each worker that hands it out.
#pragma once

#include "Queue.h"
#include "Store.h"

#include <thread>

namespace meshloom::detail {

class Coordination : public Workers {
public:
  /// Its last user may be a function that one of its threads held.
  static std::shared_ptr<Coordination>
  make(std::shared_ptr<const ps::Store> store, double workerTimeout);
  ~Coordination() override;
  Coordination(const Coordination &) = delete;

  std::shared_ptr<RemoteResult> schedule(Closure closure) override;
  void join() override;
  bool isDone() override;
  int64_t count() const override;

  ClosureQueue queue;
  const std::shared_ptr<const ps::Store> store;

private:
  Coordination(std::shared_ptr<const ps::Store> store, double workerTimeout);
  /// The next element of a dataset.
  struct Upcoming {
    std::string signature, key;
    std::vector<Tensor> values; ///< of its types
  };
  /// The state of a worker in its thread.
  struct Worker {
    uint64_t start = 0; ///< which of the process' starts; 0: not reached yet
    std::set<std::string> loaded;
    /// The next elements of its datasets, as far as is known.
    std::map<uint64_t, Upcoming> upcoming;
    /// The iterations over its datasets, by number.
    std::map<uint64_t, std::weak_ptr<const WorkerIteration>> iterations;
    /// Takes out those that nobody has any more.
    std::vector<uint64_t> takeEnded();
  };
  /// Thrown where the worker does not answer.
  struct WorkerLost {};
  class OfWorker;
  enum class Outcome : uint8_t { Done, WorkerLost };

  void serve(size_t worker);
  /// Waits until it answers. False: it did not within the time, or all ends.
  bool reach(size_t number, Worker &worker);
  Outcome run(size_t number, Worker &worker, ClosureQueue::Item &item);
  /// Has the worker run it; throws WorkerLost.
  std::vector<Tensor> runOn(size_t number, Worker &worker,
                            const Closure &closure);
  Upcoming peek(size_t number, const WorkerIteration &iteration) const;
  void load(size_t number, Worker &worker, const ps::Program &program) const;
  /// Returns whether the failure counts; the first ones of a server may be
  /// passing.
  bool isServerLost(uint64_t server);

  const double workerTimeout;
  const int64_t ignoredFailures;
  std::mutex mutex; ///< guards what follows
  std::condition_variable ending;
  bool isEnding = false;
  std::map<uint64_t, int64_t> serverFailures;
  size_t workersLeft = 0;
  std::string whyUnreached; ///< of the last worker that was given up
  std::vector<std::thread> threads;
};

} // namespace meshloom::detail
