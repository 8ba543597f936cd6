// ClusterCoordinator: has the workers of a ParameterServerStrategy run
// functions, whichever is free, and deals with those that are lost.
#pragma once

#include "meshloom/API/Function.h"
#include "meshloom/API/RemoteVariables.h"
#include "meshloom/Distribute/ParameterServer/ParameterServerStrategy.h"

namespace meshloom {

/// A parameter server (or all workers) cannot be reached: what it held is lost.
/// Start the cluster again, make strategy and model anew, and restore the
/// newest checkpoint.
class UnavailableError : public Error {
public:
  using Error::Error;
};
/// A function was not run, because another one failed before.
class CancelledError : public Error {
public:
  using Error::Error;
};

template <typename R> class RemoteValue;
template <typename T> class PerWorkerValues;
template <typename T> class PerWorkerDataset;

namespace detail {

/// The result of a function that was scheduled.
struct RemoteResult;
/// Waits; throws the function's error.
std::vector<Tensor> fetchResult(const std::shared_ptr<RemoteResult> &result);

/// What is scheduled: gives the call that a worker is to run. Called by a
/// thread of that worker's, once for each try.
using Closure = std::function<FunctionCall(int64_t worker)>;

/// Behind ClusterCoordinator; one of a strategy.
class Coordination;
std::shared_ptr<Coordination> coordinationOf(const Strategy &strategy);
/// That of the strategy; null where it has no parameter servers.
std::shared_ptr<Coordination> coordinationIfAny(const Strategy &strategy);
std::shared_ptr<RemoteResult> schedule(Coordination &coordination,
                                       Closure closure);
void join(Coordination &coordination);
bool isDone(Coordination &coordination);
int64_t workerCount(const Coordination &coordination);
/// How often the worker has come up; its datasets begin anew each time.
int64_t startsOf(const Coordination &coordination, int64_t worker);
/// The call that `call` makes of a function, which is not run.
FunctionCall captured(const Strategy &strategy,
                      const std::function<void()> &call);

template <typename T> inline constexpr bool isRemoteValue = false;
template <typename R>
inline constexpr bool isRemoteValue<RemoteValue<R>> = true;

/// What a function sees of an argument that workers have their own of.
template <typename T> struct OfWorker {
  using type = T;
  static constexpr bool differs = false;
  static const T &get(const T &value, int64_t) { return value; }
};
} // namespace detail

/// What a scheduled function returns, or will. A handle; copying is cheap.
template <typename R> class RemoteValue {
public:
  /// For ClusterCoordinator, which makes them.
  RemoteValue(std::shared_ptr<detail::RemoteResult> result,
              std::shared_ptr<const std::optional<R>> structure)
      : result(std::move(result)), structure(std::move(structure)) {}
  /// Waits for it. Throws the error of the function, or CancelledError if it
  /// was not run because another one had failed.
  R fetch() const {
    const std::vector<Tensor> tensors = detail::fetchResult(result);
    return detail::rebuild(**structure, std::span<const Tensor>(tensors));
  }

private:
  std::shared_ptr<detail::RemoteResult> result;
  std::shared_ptr<const std::optional<R>> structure;
};
/// Of a function that returns nothing.
template <> class RemoteValue<void> {
public:
  /// For ClusterCoordinator, which makes them.
  explicit RemoteValue(std::shared_ptr<detail::RemoteResult> result)
      : result(std::move(result)) {}
  /// See above.
  void fetch() const { (void)detail::fetchResult(result); }

private:
  std::shared_ptr<detail::RemoteResult> result;
};

/// A value for each worker: a function that is scheduled with it gets that of
/// the worker that runs it.
template <typename T> class PerWorkerValues {
public:
  /// In the order of the workers.
  explicit PerWorkerValues(std::vector<T> values) : values(std::move(values)) {}
  std::vector<T> values; ///< one for each worker
};

/// A dataset of which each worker has an iteration of its own.
///
///   auto batches = coordinator.create_per_worker_dataset([] {
///     return data::from_tensor_slices(x, y).shuffle(10).repeat().batch(64);
///   });
///   auto iterator = batches.iterate();
///   coordinator.schedule(step, iterator); // step(the worker's next element)
///
/// The pipelines run in this process; elements are sent with the call.
template <typename T> class PerWorkerDataset {
public:
  /// The iterations of all workers. A handle; copying is cheap.
  class Iterator {
  public:
    /// The next element of the worker's; those of a worker that came up again
    /// begin anew. Throws meshloom::Error if there is none left.
    T next(int64_t worker) const {
      Own &own = (*all)[size_t(worker)];
      const int64_t starts = detail::startsOf(*coordination, worker);
      if (!own.iterator || own.starts != starts)
        own = {dataset().iterate(), starts};
      std::optional<T> element = own.iterator->next();
      if (!element)
        throw Error("[schedule] the dataset of a worker has ended: repeat() "
                    "it, or schedule fewer functions");
      return std::move(*element);
    }

  private:
    friend class PerWorkerDataset;
    struct Own {
      std::optional<data::Iterator<T>> iterator;
      int64_t starts = 0;
    };
    Iterator(std::shared_ptr<detail::Coordination> coordination,
             std::function<data::Dataset<T>()> dataset)
        : coordination(std::move(coordination)), dataset(std::move(dataset)),
          all(std::make_shared<std::vector<Own>>(
              size_t(detail::workerCount(*this->coordination)))) {}
    std::shared_ptr<detail::Coordination> coordination;
    std::function<data::Dataset<T>()> dataset;
    std::shared_ptr<std::vector<Own>> all;
  };

  /// For ClusterCoordinator, which makes them.
  PerWorkerDataset(std::shared_ptr<detail::Coordination> coordination,
                   std::function<data::Dataset<T>()> dataset)
      : coordination(std::move(coordination)), dataset(std::move(dataset)) {}
  /// Begins an iteration on each worker.
  Iterator iterate() const { return Iterator(coordination, dataset); }

private:
  std::shared_ptr<detail::Coordination> coordination;
  std::function<data::Dataset<T>()> dataset;
};

namespace detail {
template <typename T> struct OfWorker<PerWorkerValues<T>> {
  using type = T;
  static constexpr bool differs = true;
  static const T &get(const PerWorkerValues<T> &value, int64_t worker) {
    if (worker >= std::ssize(value.values))
      throw Error("[schedule] expected a value for each worker in a "
                  "PerWorkerValues, got fewer");
    return value.values[size_t(worker)];
  }
};
template <typename I>
  requires requires(const I &iterator) { iterator.next(int64_t()); }
struct OfWorker<I> {
  using type = std::decay_t<decltype(std::declval<const I &>().next(0))>;
  static constexpr bool differs = true;
  static type get(const I &iterator, int64_t worker) {
    return iterator.next(worker);
  }
};
template <typename T> using WorkerLocal = typename OfWorker<T>::type;

/// Whether workers can be handed it: a `function`, and arguments that are no
/// results of others.
template <typename F, typename... Args>
concept Schedulable = isA<F, Function> && (!isRemoteValue<Args> && ...);
} // namespace detail

/// Runs functions on the workers of a ParameterServerStrategy, in threads of
/// its own. A copy is the same coordinator, and so is another one of the same
/// strategy.
///
///   ClusterCoordinator coordinator(strategy);
///   auto step = function([&](const Tensor &x, const Tensor &y) {
///     GradientTape tape;
///     Tensor loss = reduce_mean(square(matmul(x, w) - y));
///     optimizer.apply_gradients(tape.gradient(loss, {w}));
///     return loss;
///   });
///   RemoteValue<Tensor> loss = coordinator.schedule(step, x, y);
///   coordinator.join();
///   std::cout << loss.fetch();
///
/// A function runs at least once: one whose worker is lost is run again by
/// another, and what it had updated by then is updated twice. Its worker is
/// used again when it comes back. When a function fails, those that wait are
/// cancelled, and the error is thrown by the next schedule, join or done, after
/// those that run have ended; then the coordinator can be used again.
class ClusterCoordinator {
public:
  /// Throws meshloom::Error if the strategy has no parameter servers.
  explicit ClusterCoordinator(const Strategy &strategy)
      : own(strategy), coordination(detail::coordinationOf(strategy)) {}

  /// Has a worker run function(args...), and returns at once; blocks while
  /// 262144 wait. Of a PerWorkerValues, or an iterator of a PerWorkerDataset,
  /// the function gets the worker's. Traces and compiles where that has not
  /// been done. Throws what a function before it threw. Only a `function` can
  /// be scheduled, and not with results of others.
  template <typename F, typename... Args>
    requires detail::Schedulable<Function<F>, Args...>
  auto schedule(const Function<F> &function, const Args &...args) const {
    using R = std::decay_t<
        std::invoke_result_t<const F &, const detail::WorkerLocal<Args> &...>>;
    auto structure = std::make_shared<
        std::conditional_t<std::is_void_v<R>, int, std::optional<R>>>();
    auto call = [strategy = own, function, structure](const auto &...values) {
      return detail::captured(strategy, [&] {
        if constexpr (std::is_void_v<R>)
          function(values...);
        else
          structure->emplace(function(values...));
      });
    };
    detail::Closure closure;
    if constexpr ((detail::OfWorker<Args>::differs || ...))
      closure = [call, args...](int64_t worker) {
        return call(detail::OfWorker<Args>::get(args, worker)...);
      };
    else
      closure = [made = call(args...)](int64_t) { return made; };
    std::shared_ptr<detail::RemoteResult> result =
        detail::schedule(*coordination, std::move(closure));
    if constexpr (std::is_void_v<R>)
      return RemoteValue<void>(std::move(result));
    else
      return RemoteValue<R>(std::move(result), structure);
  }

  /// Waits until all that was scheduled has run. Throws what a function threw.
  void join() const { detail::join(*coordination); }
  /// Whether nothing waits or runs. Throws what a function threw.
  bool done() const { return detail::isDone(*coordination); }
  /// See RemoteValue::fetch.
  template <typename R> R fetch(const RemoteValue<R> &value) const {
    return value.fetch();
  }

  /// dataset_fn(), a data::Dataset<T>, for each worker.
  template <typename F> auto create_per_worker_dataset(F dataset_fn) const {
    using Dataset = std::decay_t<std::invoke_result_t<F &>>;
    using T = typename Dataset::Value;
    return PerWorkerDataset<T>(coordination,
                               [dataset_fn]() mutable { return dataset_fn(); });
  }
  /// The same dataset for each worker.
  template <typename T>
  auto create_per_worker_dataset(const data::Dataset<T> &dataset) const {
    return PerWorkerDataset<T>(coordination, [dataset] { return dataset; });
  }
  /// Of each worker's number, what fn gives for it.
  template <typename F> auto create_per_worker_values(F fn) const {
    std::vector<std::decay_t<std::invoke_result_t<F &, int64_t>>> values;
    for (int64_t i = 0; i < detail::workerCount(*coordination); ++i)
      values.push_back(fn(i));
    return PerWorkerValues(std::move(values));
  }
  /// Whose workers they are.
  const Strategy &strategy() const { return own; }

private:
  Strategy own;
  std::shared_ptr<detail::Coordination> coordination;
};

} // namespace meshloom
