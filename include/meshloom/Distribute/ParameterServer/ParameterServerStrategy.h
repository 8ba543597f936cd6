// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ParameterServerStrategy: variables on parameter servers, which workers train
// without waiting for each other.
#pragma once

#include "meshloom/Cluster/ClusterResolver.h"
#include "meshloom/Cluster/TlsFiles.h"
#include "meshloom/Distribute/ParameterServer/Partitioners.h"
#include "meshloom/Distribute/Strategy.h"

namespace meshloom {

/// The options of a ParameterServerStrategy beside the cluster.
struct ParameterServerOptions {
  /// How many parts a variable is cut into; none: it is whole.
  Partitioner variable_partitioner = {};
  /// How long servers may take to come up, all together. Default: the
  /// environment's MESHLOOM_START_TIMEOUT, else 60.
  std::optional<double> connect_timeout_seconds = std::nullopt;
  /// How long a worker that was lost is waited for.
  double worker_timeout_seconds = 3600;
  /// The secret that servers want each call to carry. Default: the
  /// environment's MESHLOOM_TOKEN.
  std::optional<std::string> token = std::nullopt;
  /// By which they and this process know each other, see ServerOptions::tls.
  std::optional<TlsFiles> tls = std::nullopt;
};

/// Asynchronous training: variables made in its scope lie on the cluster's
/// parameter servers, in turn, by the order in which they are made; a
/// ClusterCoordinator has functions run by its workers. This process is the
/// coordinator (job "chief"); each other task is a Server.
///
///   ParameterServerStrategy strategy(TFConfigClusterResolver{});
///   auto scope = strategy.scope();
///   DVariable w(zeros({4, 4})); // on /job:ps/task:0
///
/// A function reads the values that variables have when it begins. Its
/// assignments are sent to their servers, which change them at once, one update
/// after the other: assign_add adds to whatever the variable has by then, and
/// an optimizer's rule is run there, on the gradients that are sent. The
/// function sees its own assign, assign_add and assign_sub; what an optimizer
/// or a scatter made of a variable it sees in the next call.
///
/// Reading a variable elsewhere fetches it, and functions that are called
/// rather than scheduled run here.
class ParameterServerStrategy : public Strategy {
public:
  /// Waits for the parameter servers. Throws meshloom::Error if the cluster has
  /// no "ps" or no "worker", has other jobs than these and "chief", if a
  /// parameter server does not come up, if certificates cannot be used, or if a
  /// number of seconds is none.
  explicit ParameterServerStrategy(const ClusterResolver &cluster_resolver,
                                   ParameterServerOptions options = {},
                                   Where where = Where::current());
  /// With a partitioner.
  ParameterServerStrategy(const ClusterResolver &cluster_resolver,
                          Partitioner variable_partitioner,
                          Where where = Where::current())
      : ParameterServerStrategy(
            cluster_resolver,
            ParameterServerOptions{std::move(variable_partitioner)}, where) {}

  /// The cluster that it was made of.
  const ClusterSpec &cluster_spec() const;
};

namespace detail {
/// The number of replicas of each of several equal workers: its GPUs, or 1
/// without any. Throws meshloom::Error if the numbers differ.
int64_t replicasOfWorkers(const std::vector<int64_t> &gpus);
} // namespace detail

} // namespace meshloom
