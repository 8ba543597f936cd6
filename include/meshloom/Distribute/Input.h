// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How datasets are handed to the replicas of a strategy.
#pragma once

#include "meshloom/Data/Dataset.h"
#include "meshloom/Distribute/PerReplica.h"

namespace meshloom {

/// The argument of the function of Strategy::distribute_datasets_from_function.
struct InputContext {
  int64_t num_input_pipelines = 1;  ///< how often the function is called
  int64_t input_pipeline_id = 0;    ///< which call it is, from 0 on
  int64_t num_replicas_in_sync = 1; ///< of the strategy
  /// The rows of each replica. Throws meshloom::Error if their number does not
  /// divide the batch.
  int64_t get_per_replica_batch_size(int64_t global_batch_size) const;
};

/// How often the function of distribute_datasets_from_function is called.
enum class InputReplicationMode : uint8_t {
  PER_WORKER, ///< once: replicas take its batches in turn
  PER_REPLICA ///< once for each replica, whose batches it gives
};

/// How a strategy's dataset brings batches to devices.
struct InputOptions {
  /// Says whether batches are on the devices before they are asked for.
  bool experimental_fetch_to_device = true;
  /// For MirroredStrategy, in distribute_datasets_from_function.
  InputReplicationMode experimental_replication_mode =
      InputReplicationMode::PER_WORKER;
};

namespace detail {
struct StrategyState;

/// Builds PerReplica values of elements that are T without knowing T.
struct MakePerReplica {
  /// Their structure PerReplica<T>, without tensors.
  std::function<std::shared_ptr<const data::detail::Skeleton>(
      const data::detail::Element &like, int64_t replicas,
      std::vector<ReplicaRows> rows)>
      make;
  /// The reader of an element T, by its key: see Skeleton.
  data::detail::ReadSkeleton read;

  auto operator()(const data::detail::Element &like, int64_t replicas,
                  std::vector<ReplicaRows> rows) const {
    return make(like, replicas, std::move(rows));
  }
};
template <typename T> MakePerReplica makePerReplica() {
  return {[](const data::detail::Element &like, int64_t replicas,
             std::vector<ReplicaRows> rows) {
            const std::vector<Tensor> none(like.values.size());
            return std::make_shared<data::detail::TypedSkeleton<PerReplica<T>>>(
                PerReplica<T>{.stacked = data::detail::structureOf<T>(
                                  like.skeleton.get(), none),
                              .replicas = replicas,
                              .rows = std::move(rows)});
          },
          data::detail::skeletonFrom<T>};
}

/// Global batches, cut into those of replicas.
data::detail::SourcePtr distributeBatches(const StrategyState &strategy,
                                          data::detail::SourcePtr source,
                                          const InputOptions &options,
                                          MakePerReplica make);
/// Batches of replicas, taken by them in turn; or one source for each.
data::detail::SourcePtr
distributeTurns(const StrategyState &strategy,
                std::vector<data::detail::SourcePtr> sources,
                const InputOptions &options, MakePerReplica make);
/// Batches for steps that take the rows of all replicas as one batch, as fit
/// does: those of the source, or, if the source's options give each worker a
/// part of its own, the batches that all workers read for one step.
data::detail::SourcePtr batchesOfAllWorkers(const StrategyState &strategy,
                                            data::detail::SourcePtr source);
/// The contexts that the function is called with.
std::vector<InputContext> inputContexts(const StrategyState &strategy,
                                        const InputOptions &options);

/// The part of global batches that one of several workers reads.
struct WorkerPart {
  data::detail::SourcePtr source;
  /// Says whether all workers read the same batches, of which each takes the
  /// rows of its replicas; else the batches are this worker's alone.
  bool isShared;
};
/// The rows of a global batch, cut into as many parts as there are replicas. A
/// batch that is this worker's alone begins with its own replicas, so that the
/// replicas of all workers take one global batch a step.
std::vector<int64_t> rowsOfReplicas(int64_t globalBatch, int64_t workers,
                                    int64_t replicasPerWorker, int64_t worker,
                                    bool isShared);
/// The part of one of several workers, by the source's options. Throws where
/// they ask for files and there are not enough, or for hints and there are
/// none.
WorkerPart autoShard(const data::detail::SourcePtr &source, int64_t workers,
                     int64_t worker);
} // namespace detail

} // namespace meshloom
