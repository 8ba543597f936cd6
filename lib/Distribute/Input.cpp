// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Batches for replicas: cutting them, handing them out in turn, bringing them
// to devices.
#include "meshloom/Distribute/Input.h"
#include "StrategyState.h"

#include "meshloom/API/Distribute.h"
#include "meshloom/API/Logging.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <numeric>

namespace meshloom {
using namespace detail;
using namespace data::detail;

int64_t
InputContext::get_per_replica_batch_size(int64_t global_batch_size) const {
  if (global_batch_size % num_replicas_in_sync)
    fail("get_per_replica_batch_size",
         fmt::format("expected a global batch size that the {} replicas "
                     "divide, got {}",
                     num_replicas_in_sync, global_batch_size));
  return global_batch_size / num_replicas_in_sync;
}

namespace {

/// Returns whether the elements are rows of something, and not batches.
bool isUnbatched(const Source &source) {
  if (batchSizeOf(source) || source.batchSize())
    return false;
  const std::vector<SourcePtr> inputs = source.inputs();
  if (inputs.empty())
    return source.name() == "from_tensor_slices" || source.name() == "range";
  return std::ranges::any_of(
      inputs, [](const SourcePtr &input) { return isUnbatched(*input); });
}

int64_t rowsOf(const Element &batch) {
  int64_t rows = -1;
  for (const HostArray &value : batch.values) {
    if (value.shape().empty())
      fail("experimental_distribute_dataset",
           fmt::format("expected batches, got an element {}: batch the "
                       "dataset first",
                       batch.typeText()));
    if (rows >= 0 && value.shape().front() != rows)
      fail("experimental_distribute_dataset",
           fmt::format("expected batches, whose tensors have one number of "
                       "rows, got {}: batch the dataset first",
                       batch.typeText()));
    rows = value.shape().front();
  }
  return std::max<int64_t>(rows, 0);
}

/// [rows, ...] as [replicas, most rows, ...].
HostArray cut(const HostArray &batch, const ReplicaRows &rows) {
  const HostArray whole = batch.inMemory();
  const auto replicas = int64_t(rows.size());
  const int64_t most = *std::ranges::max_element(rows);
  Shape shape = whole.shape();
  const int64_t present = shape.front();
  shape.front() = most;
  shape.insert(shape.begin(), replicas);
  if (present == replicas * most) {
    auto owner = std::make_shared<HostArray>(whole);
    const char *bytes = owner->data();
    return {whole.dtype(), std::move(shape), std::move(owner), bytes};
  }
  const auto rowBytes =
      static_cast<size_t>(present ? whole.byteCount() / present : 0);
  std::vector<char> bytes(static_cast<size_t>(elementCount(shape)) *
                          byteWidth(whole.dtype()));
  const char *from = whole.data();
  for (int64_t replica = 0; replica < replicas; ++replica) {
    const auto size =
        static_cast<size_t>(rows[static_cast<size_t>(replica)]) * rowBytes;
    if (size)
      std::memcpy(bytes.data() + static_cast<size_t>(replica * most) * rowBytes,
                  from, size);
    from += size;
  }
  return {whole.dtype(), std::move(shape), std::move(bytes)};
}

/// Empty where all replicas have the same.
std::vector<ReplicaRows> unevenRows(const ReplicaRows &rows, size_t values) {
  const bool isEven =
      std::ranges::count(rows, rows.front()) == std::ranges::ssize(rows);
  return isEven ? std::vector<ReplicaRows>()
                : std::vector<ReplicaRows>(values, rows);
}

/// Among how many processes datasets are divided. Returns the number of
/// processes that datasets are divided among. Where a strategy of one program
/// happens to run as several processes, each reads all, and keeps the rows of
/// its own replicas: steps are those of one process.
int64_t readersOf(const StrategyState &strategy) {
  return strategy.kind == StrategyState::Kind::Workers ? strategy.workers() : 1;
}

/// Each element, a global batch, cut into those of replicas.
class CutBatches : public data::detail::Step<CutBatches> {
public:
  CutBatches(SourcePtr input, int64_t replicas, std::vector<int64_t> sizes,
             MakePerReplica make)
      : Step(std::move(input)), replicas(replicas), sizes(std::move(sizes)),
        make(std::move(make)) {}
  std::string_view name() const override { return "distribute"; }
  bool keepsBatches() const override { return true; }

  std::unique_ptr<Cursor> open(const Opening &opening) const override {
    class Cut : public Cursor {
    public:
      Cut(const CutBatches &step, std::unique_ptr<Cursor> batches)
          : step(step), batches(std::move(batches)) {}
      std::optional<Element> next() override {
        std::optional<Element> batch = batches->next();
        return batch ? std::optional(step.distributed(*batch)) : std::nullopt;
      }
      void skip(int64_t n) override { batches->skip(n); }

    private:
      CutBatches step; // the dataset may be gone
      std::unique_ptr<Cursor> batches;
    };
    return std::make_unique<Cut>(*this, input->open(opening));
  }

private:
  Element distributed(const Element &batch) const {
    if (replicas == 1)
      return {batch.values, make(batch, 1, {})};
    const ReplicaRows rows = rowsOfBatch(sizes, replicas, rowsOf(batch));
    Element result;
    result.values.reserve(batch.values.size());
    for (const HostArray &value : batch.values)
      result.values.push_back(cut(value, rows));
    result.skeleton =
        make(batch, replicas, unevenRows(rows, batch.values.size()));
    return result;
  }

  int64_t replicas;
  std::vector<int64_t> sizes;
  MakePerReplica make;
};

/// The next batch of each replica, put together; from one input, or one each.
class TakeTurns : public Source {
public:
  TakeTurns(std::vector<SourcePtr> sources, int64_t replicas,
            MakePerReplica make)
      : sources(std::move(sources)), replicas(replicas), make(std::move(make)) {
  }
  std::string_view name() const override { return "distribute"; }
  std::vector<SourcePtr> inputs() const override { return sources; }
  SourcePtr over(std::vector<SourcePtr> inputs) const override {
    return std::make_shared<TakeTurns>(std::move(inputs), replicas, make);
  }
  int64_t cardinality() const override {
    if (sources.size() > 1) {
      int64_t most = 0;
      for (const SourcePtr &source : sources) {
        const int64_t count = source->cardinality();
        if (count < 0)
          return count;
        most = std::max(most, count);
      }
      return most;
    }
    const int64_t count = sources.front()->cardinality();
    return count < 0 ? count : (count + replicas - 1) / replicas;
  }

  std::unique_ptr<Cursor> open(const Opening &opening) const override {
    class Turns : public Cursor {
    public:
      Turns(const TakeTurns &step, const Opening &opening)
          : replicas(step.replicas), make(step.make) {
        for (size_t i = 0; i < step.sources.size(); ++i)
          cursors.push_back(
              step.sources[i]->open(i ? opening.nested(uint64_t(i)) : opening));
      }
      std::optional<Element> next() override {
        std::vector<std::optional<Element>> parts;
        const Element *like = nullptr;
        for (int64_t replica = 0; replica < replicas; ++replica)
          parts.push_back(
              cursors[static_cast<size_t>(replica) % cursors.size()]->next());
        for (const std::optional<Element> &element : parts)
          if (element && !like)
            like = &*element;
        if (!like)
          return std::nullopt;
        return joined(parts, *like);
      }

    private:
      Element joined(const std::vector<std::optional<Element>> &parts,
                     const Element &like) const {
        if (replicas == 1)
          return {like.values, make(like, 1, {})};
        ReplicaRows rows;
        for (const std::optional<Element> &element : parts)
          rows.push_back(element ? rowsOf(*element) : 0);
        const int64_t total =
            std::accumulate(rows.begin(), rows.end(), int64_t(0));
        Element result;
        for (size_t leaf = 0; leaf < like.values.size(); ++leaf) {
          Shape shape = like.values[leaf].shape();
          shape.front() = total;
          std::vector<char> bytes(static_cast<size_t>(elementCount(shape)) *
                                  byteWidth(like.values[leaf].dtype()));
          char *to = bytes.data();
          for (const std::optional<Element> &element : parts)
            if (element) {
              expectSame(element->values[leaf], like.values[leaf]);
              element->values[leaf].copyTo(to);
              to += element->values[leaf].byteCount();
            }
          result.values.push_back(
              cut({like.values[leaf].dtype(), shape, std::move(bytes)}, rows));
        }
        result.skeleton =
            make(like, replicas, unevenRows(rows, like.values.size()));
        return result;
      }
      static void expectSame(const HostArray &value, const HostArray &like) {
        if (value.dtype() != like.dtype() ||
            !std::equal(value.shape().begin() + 1, value.shape().end(),
                        like.shape().begin() + 1, like.shape().end()))
          fail("distribute_datasets_from_function",
               fmt::format("expected batches of replicas that differ in "
                           "their number of rows at most, got {} and {}",
                           like.typeText(), value.typeText()));
      }

      int64_t replicas;
      MakePerReplica make;
      std::vector<std::unique_ptr<Cursor>> cursors;
    };
    return std::make_unique<Turns>(*this, opening);
  }

private:
  std::vector<SourcePtr> sources;
  int64_t replicas;
  MakePerReplica make;
};

/// Two steps ahead, on the devices.
SourcePtr fetched(const StrategyState &strategy, SourcePtr source,
                  const InputOptions &options) {
  if (!strategy.mesh || !options.experimental_fetch_to_device)
    return source;
  return prefetch(
      std::move(source), 2,
      [mesh = *strategy.mesh](const Element &element) -> Element {
        Element placed;
        placed.skeleton = element.skeleton;
        for (const HostArray &value : element.values) {
          const Tensor host = value.tensor();
          const auto rank = unsigned(host.rank());
          placed.values.emplace_back(distribute(
              host, mesh.size() > 1
                        ? Layout::batch_sharded(mesh, replicaAxis, rank)
                        : Layout::replicated(mesh, rank)));
        }
        return placed;
      });
}

} // namespace

namespace detail {

ReplicaRows rowsOfBatch(const std::vector<int64_t> &sizes, int64_t replicas,
                        int64_t rows) {
  ReplicaRows cut = sizes;
  // A batch of unknown size: the same for all, what is left for the last.
  if (cut.empty())
    cut.assign(static_cast<size_t>(replicas), (rows + replicas - 1) / replicas);
  // The last batch may be short.
  int64_t remaining = rows;
  for (int64_t &share : cut) {
    share = std::min(share, remaining);
    remaining -= share;
  }
  cut.back() += remaining;
  return cut;
}

std::vector<int64_t> rowsOfReplicas(int64_t globalBatch, int64_t workers,
                                    int64_t replicasPerWorker, int64_t worker,
                                    bool isShared) {
  const int64_t replicas = workers * replicasPerWorker;
  std::vector<int64_t> rows(static_cast<size_t>(replicas),
                            globalBatch / replicas);
  for (int64_t i = 0; i < globalBatch % replicas; ++i)
    ++rows[static_cast<size_t>(i)];
  if (!isShared)
    std::ranges::rotate(rows, rows.begin() + worker * replicasPerWorker);
  return rows;
}

WorkerPart autoShard(const SourcePtr &source, int64_t workers, int64_t worker) {
  using data::AutoShardPolicy;
  const AutoShardPolicy policy = optionsOf(*source).auto_shard_policy;
  if (workers == 1 || policy == AutoShardPolicy::OFF)
    return {source, /*isShared=*/false};
  if (policy == AutoShardPolicy::HINT) {
    if (SourcePtr part = shardHints(source, workers, worker))
      return {std::move(part), /*isShared=*/false};
    fail("auto_shard_policy",
         "expected a dataset with shard(shard_hint, shard_hint), by which each "
         "worker takes its part, got none: add it to the dataset, or choose "
         "AutoShardPolicy::DATA");
  }
  if (policy == AutoShardPolicy::FILE || policy == AutoShardPolicy::AUTO) {
    const int64_t files = fileCountOf(*source);
    if (files >= workers) {
      if (SourcePtr part = shardFiles(source, workers, worker))
        return {std::move(part), /*isShared=*/false};
    } else if (policy == AutoShardPolicy::FILE) {
      fail("auto_shard_policy",
           fmt::format("expected a dataset of at least {} files, one for "
                       "each worker, got {}: choose "
                       "AutoShardPolicy::DATA, or OFF if every worker is to "
                       "see all elements",
                       workers, files ? std::to_string(files) : "none"));
    }
    logOnce(LogLevel::WARNING,
            fmt::format("The dataset reads {} files, and there are {} "
                        "workers, so every worker reads all batches and takes "
                        "its rows of each (AutoShardPolicy::DATA): choose that "
                        "yourself with with_options, or OFF if every worker is "
                        "to see all elements",
                        files ? std::to_string(files) : "no", workers));
  }
  return {source, /*isShared=*/true};
}

SourcePtr distributeBatches(const StrategyState &strategy, SourcePtr source,
                            const InputOptions &options, MakePerReplica make) {
  if (options.experimental_replication_mode ==
      InputReplicationMode::PER_REPLICA)
    fail("experimental_distribute_dataset",
         "PER_REPLICA is of distribute_datasets_from_function: here there is "
         "one dataset");
  if (isUnbatched(*source))
    fail("experimental_distribute_dataset",
         "expected a dataset of batches, which are cut over the replicas, "
         "got one of single elements: batch it first, with the global batch "
         "size");
  std::vector<int64_t> sizes;
  const int64_t workers = readersOf(strategy);
  const int64_t worker = workers > 1 ? strategy.worker() : 0;
  auto [part, isShared] = autoShard(source, workers, worker);
  if (const std::optional<int64_t> size = batchSizeOf(*source))
    sizes = rowsOfReplicas(*size, workers, strategy.replicas() / workers,
                           worker, isShared);
  if (workers > 1)
    return distributeOverWorkers(strategy, std::move(part), std::move(sizes),
                                 isShared ? WorkerBatchKind::Shared
                                          : WorkerBatchKind::Worker,
                                 std::move(make));
  return fetched(
      strategy,
      std::make_shared<CutBatches>(std::move(part), strategy.replicas(),
                                   std::move(sizes), std::move(make)),
      options);
}

SourcePtr batchesOfAllWorkers(const StrategyState &strategy, SourcePtr source) {
  const int64_t workers = readersOf(strategy);
  if (workers == 1)
    return source;
  const int64_t worker = strategy.worker();
  auto [part, isShared] = autoShard(source, workers, worker);
  if (isShared)
    return source;
  std::vector<int64_t> sizes;
  if (const std::optional<int64_t> size = batchSizeOf(*source))
    sizes = rowsOfReplicas(*size, workers, strategy.replicas() / workers,
                           worker, isShared);
  return distributeOverWorkers(strategy, std::move(part), std::move(sizes),
                               WorkerBatchKind::Worker, std::nullopt);
}

std::vector<InputContext> inputContexts(const StrategyState &strategy,
                                        const InputOptions &options) {
  const bool isEach = options.experimental_replication_mode ==
                      InputReplicationMode::PER_REPLICA;
  if (isEach && strategy.kind != StrategyState::Kind::Mirrored)
    fail("distribute_datasets_from_function",
         fmt::format("PER_REPLICA is of MirroredStrategy, got {}",
                     textOf(strategy)));
  if (readersOf(strategy) > 1)
    return {{strategy.workers(), strategy.worker(), strategy.replicas()}};
  const int64_t pipelines = isEach ? strategy.replicas() : 1;
  std::vector<InputContext> contexts;
  for (int64_t i = 0; i < pipelines; ++i)
    contexts.push_back({pipelines, i, strategy.replicas()});
  return contexts;
}

SourcePtr distributeTurns(const StrategyState &strategy,
                          std::vector<SourcePtr> sources,
                          const InputOptions &options, MakePerReplica make) {
  if (readersOf(strategy) > 1)
    return distributeOverWorkers(strategy, std::move(sources.front()), {},
                                 WorkerBatchKind::OfReplicas, std::move(make));
  return fetched(strategy,
                 std::make_shared<TakeTurns>(
                     std::move(sources), strategy.replicas(), std::move(make)),
                 options);
}

} // namespace detail
} // namespace meshloom
