// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// PerReplica: a value of which each replica of a strategy has its own.
#pragma once

#include "meshloom/API/Structure.h"

#include <iosfwd>

namespace meshloom {

/// How many rows (of dim 0) of one tensor each replica has; empty: all have
/// all.
using ReplicaRows = std::vector<int64_t>;

/// A structure T of tensors (see Structure.h) of which each replica has its
/// own: what `Strategy::run` returns, and what it and the strategy's datasets
/// hand to each replica. It is one structure of global tensors, in which the
/// replicas are the first dim, cut over the devices:
///
///   PerReplica<Tensor> losses = strategy.run(step, batch);
///   Tensor loss = strategy.reduce(ReduceOp::SUM, losses);
///   std::vector<Tensor> each = strategy.experimental_local_results(losses);
///
/// With one replica it is the value itself, without that dim, and converts to
/// it.
///
/// Rejected: a vector of one tensor a replica. Programs would have as many
/// arguments as there are replicas, and nothing to cut over the mesh.
template <typename T> struct PerReplica {
  /// Each tensor is [replicas, ...], where there are several replicas. Where
  /// these have different numbers of rows it is [replicas, most rows, ...],
  /// filled up with anything.
  T stacked;
  /// How many have a value of their own.
  int64_t replicas = 1;
  /// The rows of each tensor of T; empty: all replicas have all rows.
  std::vector<ReplicaRows> rows = {};

  /// The value of the only replica. Throws meshloom::Error if there are more.
  operator T() const;
};

namespace detail {
template <typename T> inline constexpr bool isPerReplica = false;
template <typename T> inline constexpr bool isPerReplica<PerReplica<T>> = true;

/// The type of an argument in one replica.
template <typename T> struct LocalType {
  using type = T;
};
template <typename T> struct LocalType<PerReplica<T>> {
  using type = T;
};
template <typename T> using Local = typename LocalType<T>::type;

/// The shape of tensor number `leaf` in that replica.
Shape localShape(const Tensor &stacked, std::span<const ReplicaRows> rows,
                 size_t leaf, int64_t replica);
/// The tensors of one replica, without the dim of replicas.
std::vector<Tensor> ofReplica(std::span<const Tensor> stacked,
                              std::span<const ReplicaRows> rows,
                              int64_t replicas, int64_t replica);
/// The same, of each replica of this process.
std::vector<std::vector<Tensor>>
ofLocalReplicas(std::span<const Tensor> stacked,
                std::span<const ReplicaRows> rows, int64_t replicas);
[[noreturn]] void failNotPlain(int64_t replicas);
/// "PerReplica:{\n  0: ...,\n  1: ...\n}": those of this process.
void print(std::ostream &out, std::span<const Tensor> stacked,
           std::span<const ReplicaRows> rows, int64_t replicas);
} // namespace detail

template <typename T> PerReplica<T>::operator T() const {
  if (replicas != 1)
    detail::failNotPlain(replicas);
  return stacked;
}

/// Prints as TensorFlow does: a line for each replica.
template <typename T>
std::ostream &operator<<(std::ostream &out, const PerReplica<T> &value) {
  detail::print(out, detail::tensorsOf(value.stacked), value.rows,
                value.replicas);
  return out;
}

} // namespace meshloom
