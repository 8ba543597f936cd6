// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ClusterCoordinator: has the workers of a ParameterServerStrategy run
// functions, whichever is free, and deals with those that are lost.
#pragma once

#include "meshloom/API/Errors.h"
#include "meshloom/API/Function.h"
#include "meshloom/API/MovedFrom.h"
#include "meshloom/Distribute/ParameterServer/ParameterServerStrategy.h"
#include "meshloom/Distribute/Workers.h"

namespace meshloom {

template <typename R> class RemoteValue;
template <typename T> class PerWorkerValues;
template <typename T> class PerWorkerDataset;

namespace detail {

/// The workers of the strategy. Throws meshloom::Error if it has none.
std::shared_ptr<Workers> coordinatedWorkers(const Strategy &strategy);

template <typename T> inline constexpr bool isRemoteValue = false;
template <typename R>
inline constexpr bool isRemoteValue<RemoteValue<R>> = true;

/// The value that a function sees of an argument with a value for each worker.
template <typename T> struct OfWorker {
  using type = T;
  static constexpr bool differs = false;
  static const T &get(const T &value, WorkerCall &) { return value; }
};
} // namespace detail

/// The result of a scheduled function, now or later. A handle; copying is
/// cheap.
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
/// The result of a function that returns nothing.
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

/// The iterations of all workers over a PerWorkerDataset. A handle; copying is
/// cheap.
template <typename T> class PerWorkerIterator {
public:
  /// For PerWorkerDataset, which makes them.
  explicit PerWorkerIterator(
      std::shared_ptr<const detail::WorkerIteration> iteration)
      : iteration(std::move(iteration)) {}
  /// For ClusterCoordinator.
  const std::shared_ptr<const detail::WorkerIteration> &internal() const {
    return iteration;
  }

private:
  std::shared_ptr<const detail::WorkerIteration> iteration;
};

/// A dataset of which each worker has an iteration of its own, and makes the
/// elements itself.
///
///   auto batches = coordinator.create_per_worker_dataset([] {
///     return data::from_tensor_slices(x, y).shuffle(10).repeat().batch(64);
///   });
///   auto iterator = batches.iterate();
///   coordinator.schedule(step, iterator); // step(the worker's next element)
///
/// A worker that came up again begins anew. Where the dataset ends, functions
/// fail that are to take more of it.
template <typename T> class PerWorkerDataset {
public:
  /// For ClusterCoordinator, which makes them.
  explicit PerWorkerDataset(
      std::shared_ptr<const detail::WorkerDatasetName> dataset)
      : dataset(std::move(dataset)) {}
  /// Begins an iteration on each worker.
  PerWorkerIterator<T> iterate() const {
    detail::expectNotMovedFrom(dataset, "PerWorkerDataset");
    return PerWorkerIterator<T>(detail::newIteration(dataset));
  }
  /// For fit.
  const std::shared_ptr<const detail::WorkerDatasetName> &internal() const {
    detail::expectNotMovedFrom(dataset, "PerWorkerDataset");
    return dataset;
  }

private:
  std::shared_ptr<const detail::WorkerDatasetName> dataset;
};

namespace detail {
template <typename T> struct OfWorker<PerWorkerValues<T>> {
  using type = T;
  static constexpr bool differs = true;
  static const T &get(const PerWorkerValues<T> &value, WorkerCall &call) {
    if (call.worker >= std::ssize(value.values))
      Error("[schedule] expected a value for each worker in a "
            "PerWorkerValues, got fewer")
          .raise();
    return value.values[size_t(call.worker)];
  }
};
template <typename T> struct OfWorker<PerWorkerIterator<T>> {
  using type = T;
  static constexpr bool differs = true;
  static T get(const PerWorkerIterator<T> &iterator, WorkerCall &call) {
    const WorkerCall::Element next = call.take(iterator.internal());
    return data::detail::structureOf<T>(
        data::detail::skeletonFrom<T>(next.key).get(), next.values);
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
  explicit ClusterCoordinator(const Strategy &strategy,
                              Where where = Where::current())
      : strategyOfWorkers(strategy), workers(detail::atLine(where, [&] {
          return detail::coordinatedWorkers(strategy);
        })) {}

  /// Has a worker run function(args...), and returns at once; blocks while
  /// 262144 wait. For a PerWorkerValues the function gets the worker's value,
  /// for an iterator of a PerWorkerDataset its next element. Traces and
  /// compiles where that has not been done. Throws what a function before it
  /// threw. Only a `function` can be scheduled, and not with results of others.
  template <typename F, typename... Args>
    requires detail::Schedulable<Function<F>, Args...>
  auto schedule(const Function<F> &function, const Args &...args) const {
    using R = std::decay_t<
        std::invoke_result_t<const F &, const detail::WorkerLocal<Args> &...>>;
    auto structure = std::make_shared<
        std::conditional_t<std::is_void_v<R>, int, std::optional<R>>>();
    auto call = [strategy = strategyOfWorkers, function,
                 structure](const auto &...values) {
      return detail::captured(strategy, [&] {
        if constexpr (std::is_void_v<R>)
          function(values...);
        else
          structure->emplace(function(values...));
      });
    };
    detail::Closure closure;
    if constexpr ((detail::OfWorker<Args>::differs || ...))
      closure = [call, args...](detail::WorkerCall &worker) {
        return std::vector{call(detail::OfWorker<Args>::get(args, worker)...)};
      };
    else
      closure = [made = std::vector{call(args...)}](detail::WorkerCall &) {
        return made;
      };
    std::shared_ptr<detail::RemoteResult> result =
        get().schedule(std::move(closure));
    if constexpr (std::is_void_v<R>)
      return RemoteValue<void>(std::move(result));
    else
      return RemoteValue<R>(std::move(result), structure);
  }

  /// Waits until all that was scheduled has run. Throws what a function threw.
  void join() const { get().join(); }
  /// Returns whether nothing waits or runs. Throws what a function threw.
  bool done() const { return get().isDone(); }
  /// See RemoteValue::fetch.
  template <typename R> R fetch(const RemoteValue<R> &value) const {
    return value.fetch();
  }

  /// For each worker the dataset that dataset_fn() gives, or
  /// dataset_fn(worker's number). The function is called by the worker, so that
  /// workers are threads of this process; see register_dataset.
  template <typename F>
    requires(std::is_invocable_v<F &> || std::is_invocable_v<F &, int64_t>)
  auto create_per_worker_dataset(F dataset_fn) const {
    return PerWorkerDataset<detail::ElementOf<F>>(
        std::make_shared<detail::WorkerDatasetName>(
            detail::openingOf(std::move(dataset_fn))));
  }
  /// The same dataset for each worker, of which the same holds.
  template <typename T>
  auto create_per_worker_dataset(const data::Dataset<T> &dataset) const {
    return create_per_worker_dataset([dataset] { return dataset; });
  }
  /// The dataset that each worker has by its name, wherever it runs.
  template <typename T>
  auto create_per_worker_dataset(const RegisteredDataset<T> &dataset) const {
    return PerWorkerDataset<T>(dataset.internal());
  }
  /// The results of fn for each worker's number.
  template <typename F> auto create_per_worker_values(F fn) const {
    std::vector<std::decay_t<std::invoke_result_t<F &, int64_t>>> values;
    for (int64_t i = 0; i < get().count(); ++i)
      values.push_back(fn(i));
    return PerWorkerValues(std::move(values));
  }
  /// Whose workers they are.
  const Strategy &strategy() const { return strategyOfWorkers; }

private:
  detail::Workers &get() const {
    detail::expectNotMovedFrom(workers, "ClusterCoordinator");
    return *workers;
  }

  Strategy strategyOfWorkers;
  std::shared_ptr<detail::Workers> workers;
};

} // namespace meshloom
