// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ProcessGroup: how many processes run this program, which one this is, and
// where they meet. `initialize` reads them from the environment.
#pragma once

#include "meshloom/Cluster/ClusterResolver.h"

namespace meshloom {

/// The processes of one SPMD program, ranks 0 to n - 1.
struct ProcessGroup {
  int64_t rank = 0;
  int64_t size = 1;
  /// "worker", "localhost", ...: the job in names of devices.
  std::string jobName = "localhost";
  /// "host:port" of the coordination service; "" for one process.
  std::string coordinator;
  /// Says whether the service runs already (mesh-launch, mesh-coordinator):
  /// else rank 0 starts it at that address.
  bool coordinatorRuns = false;
  /// Addresses of the ranks, where known.
  std::vector<std::string> addresses;
  /// The start that this process belongs to, where its launcher said: another
  /// one's service does not take it.
  std::optional<uint64_t> generation = std::nullopt;
  /// The source: "DTENSOR_NUM_CLIENTS", "TF_CONFIG", "SLURM", ... or "" where
  /// there was none.
  std::string source;
};

/// The environment's: DTENSOR_CLIENT_ID, DTENSOR_NUM_CLIENTS, DTENSOR_JOB_NAME
/// and DTENSOR_JOBS, else TF_CONFIG (chief and workers), SLURM's, the TPU's;
/// one process where none is set.
///
///   DTENSOR_NUM_CLIENTS=4 DTENSOR_CLIENT_ID=2 DTENSOR_JOB_NAME=worker
///   DTENSOR_JOBS=host0:10000,host1:10000,host2:10000,host3:10000
///
/// DTENSOR_JOBS may name rank 0 alone: the coordination service is there.
/// MESHLOOM_COORDINATOR is the address of one that runs already, and
/// MESHLOOM_GENERATION the number of its start. Fails where what is set is
/// malformed, with a right one.
Result<ProcessGroup>
processGroup(const Environment &environment = processEnvironment);

/// The group of a cluster: chief first, then the workers; ps and evaluator are
/// no part of it. Fails where the resolver does not say which task this is, or
/// it is a task that is no part.
Result<ProcessGroup> processGroup(const ClusterResolver &resolver);

} // namespace meshloom
