// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ReplicaContext: what the code of one replica sees of the others.
#pragma once

#include "meshloom/Distribute/Strategy.h"

namespace meshloom {

namespace detail {
/// The combinations of all replicas' tensors; themselves where there is one.
std::vector<Tensor> reduceInReplicas(const StrategyState &strategy, ReduceOp op,
                                     const std::vector<Tensor> &values,
                                     const CommunicationOptions &options = {});
Tensor gatherInReplicas(const StrategyState &strategy, const Tensor &value,
                        int64_t axis, const CommunicationOptions &options);
/// All replicas' tensors of this thread's replica, and back.
ReplicaValue stackReplicas(const StrategyState &strategy, const Tensor &local);
/// The same of a tensor that has one shape in all replicas.
ReplicaValue stackAlike(const StrategyState &strategy, const Tensor &local);
Tensor localReplica(const StrategyState &strategy, const ReplicaValue &stacked);
[[noreturn]] void failOutsideOfReplicas();
/// Returns whether the strategy says how values of its replicas are brought
/// together, so that a step has to be one of replicas for it to count.
bool choosesReduction(const StrategyState &strategy);
/// The rows of `batch`, cut over the replicas: the first ones have one more
/// where they do not divide.
ReplicaValue cutRows(const StrategyState &strategy, const Tensor &batch);

template <typename T>
PerReplica<T> stackReplicas(const StrategyState &strategy, const T &local,
                            int64_t replicas) {
  ReplicaValues values;
  for (const Tensor &tensor : tensorsOf(local))
    values.push_back(stackReplicas(strategy, tensor));
  return perReplica(local, values, replicas);
}
template <typename T> T localReplica(const StrategyState &, const T &plain) {
  return plain;
}
template <typename T>
T localReplica(const StrategyState &strategy, const PerReplica<T> &stacked) {
  ReplicaValues leaves;
  appendValues(stacked, stacked.replicas, leaves);
  std::vector<Tensor> local;
  for (const ReplicaValue &value : leaves)
    local.push_back(localReplica(strategy, value));
  return rebuild(stacked.stacked, std::span<const Tensor>(local));
}
} // namespace detail

/// The view that code of Strategy::run has of its replica. Outside of
/// scopes, where there is one replica, it works too.
///
///   Tensor id = get_replica_context()->replica_id_in_sync_group();
///   Tensor all = get_replica_context()->all_reduce(ReduceOp::SUM, loss);
///
/// Replicas run one code, so calls of these are the same ones in all of them.
class ReplicaContext {
public:
  /// For Meshloom's own layers.
  explicit ReplicaContext(std::shared_ptr<const detail::StrategyState> state)
      : state(std::move(state)) {}

  /// Which replica it is, from 0 on: an i32 scalar.
  Tensor replica_id_in_sync_group() const;
  /// How many there are.
  int64_t num_replicas_in_sync() const {
    return strategy().num_replicas_in_sync();
  }
  /// Whose replica it is.
  Strategy strategy() const { return Strategy(state); }

  /// The combination of all replicas' values, a structure of tensors: the same
  /// in all. By the strategy's cross_device_ops, or as `options` say. Throws
  /// meshloom::Error if shapes differ.
  template <typename T>
  T all_reduce(ReduceOp op, const T &value,
               const CommunicationOptions &options = {},
               Where where = Where::current()) const {
    detail::CallSite site(where);
    return detail::rebuild(value,
                           std::span<const Tensor>(detail::reduceInReplicas(
                               *state, op, detail::tensorsOf(value), options)));
  }
  /// All replicas' values, one after the other along `axis`: the same in all.
  /// Throws meshloom::Error if values have no dims, or differ along others.
  template <typename T>
  T all_gather(const T &value, int64_t axis,
               const CommunicationOptions &options = {},
               Where where = Where::current()) const {
    detail::CallSite site(where);
    std::vector<Tensor> gathered;
    for (const Tensor &tensor : detail::tensorsOf(value))
      gathered.push_back(
          detail::gatherInReplicas(*state, tensor, axis, options));
    return detail::rebuild(value, std::span<const Tensor>(gathered));
  }

  /// The result of merge_fn(strategy, args...), which is called outside of the
  /// replicas: its arguments are PerReplica of those given, and of a PerReplica
  /// that it gives each replica gets its own.
  template <typename F, typename... Args>
  auto merge_call(F &&merge_fn, const Args &...args) const {
    const Strategy around = strategy();
    auto stacked = std::make_tuple(
        detail::stackReplicas(*state, args, around.num_replicas_in_sync())...);
    auto call = [&] {
      detail::StrategyFrameScope outside(state, false);
      return std::apply(
          [&](const auto &...each) { return merge_fn(around, each...); },
          stacked);
    };
    if constexpr (std::is_void_v<decltype(call())>)
      call();
    else
      return detail::localReplica(*state, call());
  }

private:
  std::shared_ptr<const detail::StrategyState> state;
};

/// The context of a replica, or none: what get_replica_context gives.
class MaybeReplicaContext {
public:
  /// None.
  MaybeReplicaContext() = default;
  /// One.
  MaybeReplicaContext(const ReplicaContext &context) : context(context) {}
  /// Returns whether there is one.
  explicit operator bool() const { return context.has_value(); }
  /// It. Throws meshloom::Error if there is none.
  const ReplicaContext &operator*() const {
    if (!context)
      detail::failOutsideOfReplicas();
    return *context;
  }
  /// See above.
  const ReplicaContext *operator->() const { return &**this; }

private:
  std::optional<ReplicaContext> context;
};

/// The context of the replica that this thread runs; none in a strategy's scope
/// outside of its replicas (see in_cross_replica_context).
MaybeReplicaContext get_replica_context();

} // namespace meshloom
