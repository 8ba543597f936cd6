// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Workers: the processes that run functions for a strategy, each one by itself,
// as a strategy with parameter servers has them.
#pragma once

#include "meshloom/API/RemoteVariables.h"
#include "meshloom/Distribute/Strategy.h"
#include "meshloom/Distribute/WorkerDataset.h"

namespace meshloom::detail {

/// The result of a function that was scheduled.
struct RemoteResult;
/// Waits; throws the function's error.
std::vector<Tensor> fetchResult(const std::shared_ptr<RemoteResult> &result);

/// The worker that calls are made for, and what they take of its datasets.
class WorkerCall {
public:
  explicit WorkerCall(int64_t worker) : worker(worker) {}
  virtual ~WorkerCall() = default;
  WorkerCall(const WorkerCall &) = delete;

  /// Tensors that stand for those of the worker's next element, and what its
  /// structure is known by.
  struct Element {
    std::vector<Tensor> values;
    std::string key;
  };
  virtual Element take(const std::shared_ptr<const WorkerIteration> &its) = 0;

  const int64_t worker;
};
/// A scheduled function: gives the calls that a worker is to make, one after
/// the other; none: it is asked for nothing, and keeps its elements. Called by
/// a thread of that worker's, once for each try.
using Closure = std::function<std::vector<FunctionCall>(WorkerCall &worker)>;

/// The workers of one strategy, which run what is scheduled in any order.
/// Functions may be called by several threads.
class Workers {
public:
  virtual ~Workers() = default;

  /// Returns at once, but blocks while too many wait. Throws the error of a
  /// function that failed before.
  virtual std::shared_ptr<RemoteResult> schedule(Closure closure) = 0;
  /// Waits until all that was scheduled has run. Throws the error of a function
  /// that failed.
  virtual void join() = 0;
  /// Returns whether nothing waits or runs. Throws the error of a function that
  /// failed.
  virtual bool isDone() = 0;
  /// The number of workers.
  virtual int64_t count() const = 0;
};

/// The workers of the strategy; null where this process runs its steps.
std::shared_ptr<Workers> workersOf(const Strategy &strategy);
/// The call that `call` makes of a function, which is not run.
FunctionCall captured(const Strategy &strategy,
                      const std::function<void()> &call);

} // namespace meshloom::detail
