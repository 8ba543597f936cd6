// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Strategy: on which devices a model is trained, and how variables and batches
// lie on them. Strategies.h has the ones there are.
#pragma once

#include "meshloom/API/Devices.h"
#include "meshloom/API/MovedFrom.h"
#include "meshloom/API/ShardMap.h"
#include "meshloom/API/VariableCreation.h"
#include "meshloom/Distribute/CrossDeviceOps.h"
#include "meshloom/Distribute/Input.h"

namespace meshloom {

class Strategy;

namespace detail {
struct StrategyState;
/// The place that a thread is inside of: the scope of a strategy, or one of its
/// replicas.
struct StrategyFrame {
  std::shared_ptr<const StrategyState> strategy;
  bool inReplica = false;
};
/// Makes a frame this thread's innermost one while it lives.
class StrategyFrameScope {
public:
  StrategyFrameScope(std::shared_ptr<const StrategyState> strategy,
                     bool inReplica);
  ~StrategyFrameScope();
  StrategyFrameScope(const StrategyFrameScope &) = delete;
  StrategyFrameScope &operator=(const StrategyFrameScope &) = delete;
};

/// The tensors of arguments and results of a replica's code.
using ReplicaValues = std::vector<ReplicaValue>;
using ReplicaBody =
    std::function<std::vector<Tensor>(std::span<const Tensor> arguments)>;
ReplicaValues runReplicas(const std::shared_ptr<const StrategyState> &strategy,
                          const ReplicaValues &arguments,
                          const ReplicaBody &body, const Where &where);
/// `values` as if each had a dim of replicas, where there are several.
template <typename T>
PerReplica<T> perReplica(const T &structure, const ReplicaValues &values,
                         int64_t replicas);

template <typename T>
void appendValues(const T &plain, int64_t, ReplicaValues &values) {
  for (const Tensor &tensor : tensorsOf(plain))
    values.push_back({tensor, false, {}});
}
void expectReplicas(int64_t actual, int64_t expected);
template <typename T>
void appendValues(const PerReplica<T> &arguments, int64_t replicas,
                  ReplicaValues &values) {
  expectReplicas(arguments.replicas, replicas);
  size_t leaf = 0;
  for (const Tensor &tensor : tensorsOf(arguments.stacked)) {
    values.push_back(
        {tensor, replicas > 1,
         leaf < arguments.rows.size() ? arguments.rows[leaf] : ReplicaRows()});
    ++leaf;
  }
}
template <typename T> const T &structureOf(const T &plain) {
  return plain;
}
template <typename T> const T &structureOf(const PerReplica<T> &arguments) {
  return arguments.stacked;
}

/// See Strategy::reduce; of one value.
Tensor reduceValue(const StrategyState &strategy, ReduceOp op,
                   const ReplicaValue &value, std::optional<int64_t> axis,
                   int64_t replicas);
/// See Strategy::gather.
Tensor gatherValue(const StrategyState &strategy, const ReplicaValue &value,
                   int64_t axis, int64_t replicas);
/// Throws unless all replicas are seen.
void expectCrossReplica(std::string_view op);
/// The replicas of this process: the first, and the one after the last.
std::pair<int64_t, int64_t> localReplicas(const StrategyState &strategy);
/// Values of each of those, on their devices.
ReplicaValues placeReplicas(const StrategyState &strategy,
                            const std::vector<std::vector<Tensor>> &values);
} // namespace detail

/// While it lives, this thread is in a strategy's scope: get_strategy() gives
/// it, variables are made its way, tensors without a layout are on its mesh.
class [[nodiscard]] StrategyScope {
public:
  /// See Strategy::scope.
  explicit StrategyScope(
      const Strategy &strategy,
      std::source_location where = std::source_location::current());
  StrategyScope(const StrategyScope &) = delete;
  StrategyScope &operator=(const StrategyScope &) = delete;

private:
  detail::StrategyFrameScope frame;
  std::optional<DefaultMeshScope> mesh;
  std::optional<VariableCreatorScope> creator;
};

/// The argument of the function of
/// Strategy::experimental_distribute_values_from_function.
struct ValueContext {
  int64_t replica_id_in_sync_group = 0; ///< from 0 on
  int64_t num_replicas_in_sync = 1;     ///< of the strategy
};

/// A choice of devices, and of how variables and batches lie on them: a mesh of
/// one axis, "replica", and layouts. A copy is the same strategy; may be used
/// from any thread.
///
///   MirroredStrategy strategy;
///   auto scope = strategy.scope();
///   DVariable w(ones({4})); // mirrored: a copy for each replica
class Strategy {
public:
  /// For Meshloom's own layers.
  explicit Strategy(std::shared_ptr<const detail::StrategyState> state)
      : state(std::move(state)) {}

  /// "MirroredStrategy".
  const std::string &name() const;
  /// Over how many replicas gradients are summed.
  int64_t num_replicas_in_sync() const;
  /// Its devices, one for each replica, along the axis "replica". None of the
  /// default strategy, which leaves values where they are.
  const std::optional<Mesh> &mesh() const;
  /// The resolver that found its devices: for TPUStrategy the given one, else
  /// none.
  const std::optional<TPUClusterResolver> &cluster_resolver() const;
  /// How a batch lies on the devices: dim 0 over the replicas. None where there
  /// is no mesh. Throws meshloom::Error if the rank is 0.
  std::optional<Layout> batch_layout(int64_t rank) const;
  /// The batch, laid out so; as it is where it is on a mesh already, or where
  /// the strategy has none.
  Tensor place_batch(const Tensor &batch) const;

  /// auto scope = strategy.scope(); see StrategyScope. Throws meshloom::Error
  /// if the thread is in the scope of another strategy.
  StrategyScope
  scope(std::source_location where = std::source_location::current()) const {
    return StrategyScope(*this, where);
  }

  /// The results of fn(args...) in each replica. A PerReplica<T> among the
  /// arguments is to fn the replica's own T; others are the same for all. fn is
  /// traced once (once for each number of rows that replicas have), in a
  /// `function` as part of it: call this inside one that is called often. In
  /// fn, get_replica_context() tells which replica it is, variables are read
  /// and assigned as they say, and Optimizer::apply_gradients sums gradients
  /// over the replicas.
  ///
  ///   auto step = function([&](const PerReplica<Batch> &batch) {
  ///     return strategy.run(trainStep, batch);
  ///   });
  ///
  /// Throws meshloom::Error if a PerReplica is another strategy's, if the
  /// thread is in another strategy's scope or in a replica.
  template <typename F> auto run(F &&fn, Where where = Where::current()) const {
    return runAt(where, std::forward<F>(fn));
  }
  /// Runs a function of one argument.
  template <typename F, typename A>
  auto run(F &&fn, const A &a, Where where = Where::current()) const {
    return runAt(where, std::forward<F>(fn), a);
  }
  /// Runs a function of two arguments.
  template <typename F, typename A, typename B>
  auto run(F &&fn, const A &a, const B &b,
           Where where = Where::current()) const {
    return runAt(where, std::forward<F>(fn), a, b);
  }
  /// Runs a function of three arguments.
  template <typename F, typename A, typename B, typename C>
  auto run(F &&fn, const A &a, const B &b, const C &c,
           Where where = Where::current()) const {
    return runAt(where, std::forward<F>(fn), a, b, c);
  }
  /// The same; messages name the line `where`.
  template <typename F, typename... Args>
  auto runAt(const Where &where, F &&fn, const Args &...args) const {
    constexpr bool isCallable =
        std::is_invocable_v<F &, const detail::Local<Args> &...>;
    static_assert(
        isCallable,
        "give run as many arguments as its function takes, of the types that "
        "it takes; a PerReplica<T> is a T to the function");
    if constexpr (isCallable) {
      using R = std::decay_t<
          std::invoke_result_t<F &, const detail::Local<Args> &...>>;
      const int64_t replicas = num_replicas_in_sync();
      detail::ReplicaValues values;
      {
        detail::CallSite site(where);
        (detail::appendValues(args, replicas, values), ...);
      }
      std::conditional_t<std::is_void_v<R>, int, std::optional<R>> result{};
      detail::ReplicaValues results = detail::runReplicas(
          state, values,
          [&](std::span<const Tensor> arguments) {
            const std::tuple<detail::Local<Args>...> locals =
                detail::rebuild(std::tuple<detail::Local<Args>...>(
                                    detail::structureOf(args)...),
                                arguments);
            if constexpr (std::is_void_v<R>) {
              std::apply(fn, locals);
              return std::vector<Tensor>();
            } else {
              result.emplace(std::apply(fn, locals));
              return detail::tensorsOf(*result);
            }
          },
          where);
      if constexpr (!std::is_void_v<R>)
        return detail::perReplica(*result, results, replicas);
    }
  }

  /// The combination of all replicas' values; with `axis`, of the elements
  /// along that dim of them too. A mean over uneven dims is that of all
  /// elements, not of the replicas' means. On all devices.
  ///
  ///   strategy.reduce(ReduceOp::MEAN, accuracies, 0);
  ///
  /// Throws meshloom::Error in a replica, if the axis is not one of the
  /// value's, if shapes differ along another dim.
  template <typename T>
  T reduce(ReduceOp op, const PerReplica<T> &value,
           std::optional<int64_t> axis = std::nullopt,
           Where where = Where::current()) const {
    detail::CallSite site(where);
    detail::expectCrossReplica("reduce");
    detail::ReplicaValues values;
    detail::appendValues(value, num_replicas_in_sync(), values);
    std::vector<Tensor> reduced;
    for (const detail::ReplicaValue &leaf : values)
      reduced.push_back(
          detail::reduceValue(*state, op, leaf, axis, value.replicas));
    return detail::rebuild(value.stacked, std::span<const Tensor>(reduced));
  }
  /// Reduces a value that all replicas have: itself, as their mean; their sum
  /// would depend on how many there are. Throws meshloom::Error for a sum of
  /// several replicas.
  Tensor reduce(ReduceOp op, const Tensor &value,
                std::optional<int64_t> axis = std::nullopt,
                Where where = Where::current()) const;
  /// See above; 0 is the sum of zeros. `axis`: a number has none, so that only
  /// std::nullopt will do, which is the default.
  double reduce(ReduceOp op, double value,
                std::optional<int64_t> axis = std::nullopt,
                Where where = Where::current()) const;

  /// All replicas' values, one after the other along `axis`. Throws
  /// meshloom::Error in a replica, if values have no dims, if they differ along
  /// other dims, or, under TPUStrategy, at all.
  template <typename T>
  T gather(const PerReplica<T> &value, int64_t axis,
           Where where = Where::current()) const {
    detail::CallSite site(where);
    detail::expectCrossReplica("gather");
    detail::ReplicaValues values;
    detail::appendValues(value, num_replicas_in_sync(), values);
    std::vector<Tensor> gathered;
    for (const detail::ReplicaValue &leaf : values)
      gathered.push_back(
          detail::gatherValue(*state, leaf, axis, value.replicas));
    return detail::rebuild(value.stacked, std::span<const Tensor>(gathered));
  }

  /// The value of each replica of this process, in their order.
  template <typename T>
  std::vector<T> experimental_local_results(const PerReplica<T> &value) const {
    std::vector<T> results;
    for (const std::vector<Tensor> &tensors : detail::ofLocalReplicas(
             detail::tensorsOf(value.stacked), value.rows, value.replicas))
      results.push_back(
          detail::rebuild(value.stacked, std::span<const Tensor>(tensors)));
    return results;
  }
  /// One value.
  std::vector<Tensor> experimental_local_results(const Tensor &value) const {
    return {value};
  }

  /// fn(ValueContext) for each replica of this process.
  template <typename F>
  auto experimental_distribute_values_from_function(F &&fn) const {
    using T = std::decay_t<std::invoke_result_t<F &, const ValueContext &>>;
    const int64_t replicas = num_replicas_in_sync();
    std::vector<std::vector<Tensor>> values;
    std::optional<T> first;
    const auto [firstReplica, end] = detail::localReplicas(*state);
    for (int64_t replica = firstReplica; replica < end; ++replica) {
      T value = fn(ValueContext{replica, replicas});
      values.push_back(detail::tensorsOf(value));
      if (!first)
        first.emplace(std::move(value));
    }
    return detail::perReplica(*first, detail::placeReplicas(*state, values),
                              replicas);
  }

  /// The batches of `dataset`, whose size is that of all replicas together, cut
  /// over them: each has the same number of rows, the first ones one more where
  /// that is not possible. Its elements are on the devices before they are
  /// asked for.
  ///
  ///   for (const auto &batch : strategy.experimental_distribute_dataset(
  ///            dataset.batch(global_batch_size)))
  ///     step(batch); // PerReplica<T>
  ///
  /// Throws meshloom::Error if the dataset is not batched.
  template <typename T>
  data::Dataset<PerReplica<T>> experimental_distribute_dataset(
      const data::Dataset<T> &dataset, const InputOptions &options = {},
      std::source_location where = std::source_location::current()) const {
    return detail::atLine(where, [&] {
      detail::expectNotMovedFrom(state, "Strategy");
      return data::Dataset<PerReplica<T>>(detail::distributeBatches(
          *state, dataset.source(), options, detail::makePerReplica<T>()));
    });
  }
  /// The batches that fn(InputContext) gives, which are as large as one replica
  /// takes: replicas take them in turn. Where there are none left for some,
  /// they get batches without rows. Throws meshloom::Error as the options say.
  template <typename F>
  auto distribute_datasets_from_function(
      F &&fn, const InputOptions &options = {},
      std::source_location where = std::source_location::current()) const {
    using Dataset =
        std::decay_t<std::invoke_result_t<F &, const InputContext &>>;
    using T = typename Dataset::Value;
    return detail::atLine(where, [&] {
      detail::expectNotMovedFrom(state, "Strategy");
      std::vector<data::detail::SourcePtr> sources;
      for (const InputContext &context : detail::inputContexts(*state, options))
        sources.push_back(fn(context).source());
      return data::Dataset<PerReplica<T>>(detail::distributeTurns(
          *state, std::move(sources), options, detail::makePerReplica<T>()));
    });
  }
  /// Its earlier name.
  template <typename F>
  auto experimental_distribute_datasets_from_function(
      F &&fn, const InputOptions &options = {},
      std::source_location where = std::source_location::current()) const {
    return distribute_datasets_from_function(std::forward<F>(fn), options,
                                             where);
  }
  /// A dataset of the rows of tensors of the host; see
  /// data::from_tensor_slices.
  template <typename... T>
  auto make_experimental_numpy_dataset(const T &...arrays) const {
    return data::from_tensor_slices(arrays...);
  }

  /// Returns whether both are the same strategy.
  bool operator==(const Strategy &other) const { return state == other.state; }
  /// For Meshloom's own layers.
  const std::shared_ptr<const detail::StrategyState> &internal() const {
    return state;
  }

protected:
  std::shared_ptr<const detail::StrategyState> state;
};

/// The strategy in whose scope this thread is; outside of scopes the default
/// one, which has one replica and leaves everything where it is.
Strategy get_strategy();
/// Returns whether it is another one than the default.
bool has_strategy();
/// Returns whether this thread is in a strategy's scope, and not in one of its
/// replicas: where values of all replicas are seen.
bool in_cross_replica_context();

namespace detail {
template <typename T>
PerReplica<T> perReplica(const T &structure, const ReplicaValues &values,
                         int64_t replicas) {
  std::vector<Tensor> stacked;
  std::vector<ReplicaRows> rows;
  bool isUneven = false;
  for (const ReplicaValue &value : values) {
    stacked.push_back(value.value);
    rows.push_back(value.rows);
    isUneven |= !value.rows.empty();
  }
  return {.stacked = rebuild(structure, std::span<const Tensor>(stacked)),
          .replicas = replicas,
          .rows = isUneven ? std::move(rows) : std::vector<ReplicaRows>()};
}
} // namespace detail

} // namespace meshloom
