// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The state that a Strategy points to, and the strategies that its thread is
// inside of.
#pragma once

#include "meshloom/API/NameScope.h"
#include "meshloom/Distribute/Strategy.h"

namespace meshloom::detail {

class Workers;

struct StrategyState {
  /// How variables lie on the devices.
  enum class Kind : uint8_t {
    Default,        ///< where they are made
    OneDevice,      ///< on the only device
    Mirrored,       ///< on all of them
    Workers,        ///< on all of them, in all workers
    Central,        ///< on the first one, or on `parameterMesh`
    TPU,            ///< on all of them
    ParameterServer ///< on other processes
  };
  std::string name;
  Kind kind = Kind::Default;
  std::optional<Mesh> mesh = std::nullopt;
  /// Null: as the compiler finds best.
  std::shared_ptr<const CrossDeviceOps> crossDeviceOps = nullptr;
  std::optional<TPUClusterResolver> resolver = std::nullopt;
  /// For Kind::Central: the device that variables are on, where it is not one
  /// of the mesh.
  std::optional<Mesh> parameterMesh = std::nullopt;
  /// The options of a strategy of several workers.
  CommunicationOptions communication = {};
  /// Creates a variable on another process.
  VariableCreator createVariable = {};
  /// Has workers run functions; null where there are none.
  std::shared_ptr<Workers> workerPool = nullptr;

  int64_t replicas() const { return mesh ? mesh->size() : 1; }
  /// The number of replicas of this process; there are as many in each.
  int64_t localReplicas() const { return mesh ? mesh->num_local_devices() : 1; }
  /// The first of those.
  int64_t firstLocalReplica() const {
    return mesh
               ? mesh->local_device_ids().front() - mesh->min_global_device_id()
               : 0;
  }
  /// Processes that the replicas are in.
  int64_t workers() const { return replicas() / localReplicas(); }
  /// Which of them this is.
  int64_t worker() const { return firstLocalReplica() / localReplicas(); }
};

/// The names of all devices of a mesh, in their order.
inline std::span<const std::string> deviceNames(const Mesh &mesh) {
  return mesh.global_devices().empty() ? mesh.local_devices()
                                       : mesh.global_devices();
}

/// The kind of elements that a worker's source gives.
enum class WorkerBatchKind : uint8_t {
  OfReplicas, ///< batches of replicas, which take them in turn
  Worker,     ///< global batches of this worker alone
  Shared      ///< global batches that all workers read
};
/// How the rows of a batch are cut over as many replicas as there are `sizes`;
/// where those are none, over `replicas` alike.
ReplicaRows rowsOfBatch(const std::vector<int64_t> &sizes, int64_t replicas,
                        int64_t rows);
/// Batches for the replicas of one of several workers. `sizes`: the rows that
/// replicas have of a global batch; none: its size is not known. `make`: none
/// if the rows of all replicas become one batch.
data::detail::SourcePtr
distributeOverWorkers(const StrategyState &strategy,
                      data::detail::SourcePtr source,
                      std::vector<int64_t> sizes, WorkerBatchKind kind,
                      std::optional<MakePerReplica> make);

/// The innermost frame of this thread; its strategy is never null.
StrategyFrame currentFrame();

/// "MirroredStrategy on CPU:0, CPU:1".
std::string textOf(const StrategyState &strategy);

/// Makes a variable in the scope of a strategy that has devices.
DVariable makeVariable(const std::shared_ptr<const StrategyState> &strategy,
                       const NextVariable &next, const Tensor &initial,
                       VariableOptions options);

} // namespace meshloom::detail
