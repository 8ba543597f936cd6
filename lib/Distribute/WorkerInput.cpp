// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Batches for the replicas of one of several workers, or for steps that take
// all replicas' rows as one batch. Each worker reads a dataset, or the part of
// it that is its own, and takes the rows of its replicas; before each step the
// workers tell each other how many these are, so that all know when there are
// none left.
#include "StrategyState.h"

#include "meshloom/API/Distribute.h"
#include "meshloom/API/Processes.h"
#include "meshloom/API/Shards.h"
#include "meshloom/Core/Hash.h"
#include "meshloom/Distribute/Input.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <numeric>
#include <ranges>
#include <sstream>

namespace meshloom::detail {
using namespace data::detail;

namespace {

int64_t rowsOf(const Element &batch) {
  return batch.values.empty() || batch.values.front().shape().empty()
             ? 0
             : batch.values.front().shape().front();
}

/// The structure of another worker's batches, as far as training asks for it.
class StructureOfBatch : public Skeleton {
public:
  StructureOfBatch(std::vector<size_t> parts, std::vector<std::string> names)
      : itsParts(std::move(parts)), itsNames(std::move(names)) {}
  std::string key() const override {
    return fmt::format("{}\n{}\n", fmt::join(itsParts, " "),
                       fmt::join(itsNames, "\n"));
  }
  std::vector<size_t> parts() const override { return itsParts; }
  std::vector<std::string> names() const override { return itsNames; }

  /// Reads a key.
  static std::shared_ptr<const Skeleton> read(const std::string &key) {
    std::istringstream in(key);
    std::string line;
    std::getline(in, line);
    std::istringstream numbers(line);
    std::vector<size_t> parts;
    for (size_t part = 0; numbers >> part;)
      parts.push_back(part);
    std::vector<std::string> names(
        std::accumulate(parts.begin(), parts.end(), size_t(0)));
    for (std::string &name : names)
      std::getline(in, name);
    return std::make_shared<StructureOfBatch>(std::move(parts),
                                              std::move(names));
  }

private:
  std::vector<size_t> itsParts;
  std::vector<std::string> itsNames;
};

/// Hands out the parts of a worker's batches, as many as it has replicas a
/// step.
class WorkerCursor : public Cursor {
public:
  /// `make`: none if the parts of all replicas become one batch.
  WorkerCursor(std::shared_ptr<const StrategyState> strategy,
               std::vector<int64_t> sizes, WorkerBatchKind kind,
               std::optional<MakePerReplica> make,
               std::unique_ptr<Cursor> batches)
      : strategy(std::move(strategy)), sizes(std::move(sizes)), kind(kind),
        make(std::move(make)), batches(std::move(batches)) {}

  std::optional<Element> next() override {
    for (;;) {
      std::vector<Element> batches;
      std::exception_ptr failure;
      try {
        batches = localParts();
      } catch (...) {
        failure = std::current_exception();
      }
      std::vector<int64_t> numbers = {failure ? failed : std::ssize(batches),
                                      like ? hashOfType(*like) : 0};
      for (int64_t i = 0; i < strategy->localReplicas(); ++i)
        numbers.push_back(i < std::ssize(batches) ? rowsOf(batches[size_t(i)])
                                                  : 0);
      const auto words = gatherNumbers(numbers, op);
      if (std::ranges::any_of(
              words, [](const auto &word) { return word.front() == failed; }))
        failTogether(failure, words);
      ReplicaRows rows;
      bool hasAny = false;
      for (const std::vector<int64_t> &worker : words) {
        hasAny |= worker.front() > 0;
        rows.insert(rows.end(), worker.begin() + 2, worker.end());
      }
      if (!hasAny)
        return std::nullopt;
      expectOneType(words);
      if (std::ranges::any_of(rows, [](int64_t count) { return count > 0; }))
        return make ? placed(batches, rows) : joined(batches, rows);
    }
  }

private:
  /// In the place of a number of batches.
  static constexpr int64_t failed = -1;
  static constexpr std::string_view op = "experimental_distribute_dataset";

  /// Returns the hash of the part that all batches have in common: types and
  /// shapes without the rows. Never 0.
  static int64_t hashOfType(const Element &batch) {
    StableHash hash;
    for (const HostArray &value : batch.values) {
      hash.add(uint64_t(value.dtype()));
      hash.add(value.shape().size());
      for (size_t dim = 1; dim < value.shape().size(); ++dim)
        hash.add(uint64_t(value.shape()[dim]));
    }
    return int64_t(hash.value() | 1);
  }

  /// All are here, and none goes on: `words` are what they said.
  [[noreturn]] static void
  failTogether(const std::exception_ptr &failure,
               const std::vector<std::vector<int64_t>> &words) {
    std::string text;
    try {
      if (failure)
        std::rethrow_exception(failure);
    } catch (const std::exception &error) {
      text = error.what();
    }
    const std::vector<std::string> texts = gatherTexts(op, text);
    if (failure)
      std::rethrow_exception(failure);
    for (size_t worker = 0; worker < words.size(); ++worker)
      if (words[worker].front() == failed)
        fail(op, fmt::format("the dataset of worker {} failed, so that no "
                             "worker has a batch in this step: {}",
                             worker, texts[worker]));
    fail(op, "a worker failed");
  }

  /// Tells a worker without batches what those of the others are. Throws, in
  /// all workers, where they have different ones.
  void expectOneType(const std::vector<std::vector<int64_t>> &words) {
    if (isAgreed)
      return;
    std::optional<size_t> first;
    bool lacks = false;
    for (size_t worker = 0; worker < words.size(); ++worker) {
      const int64_t hash = words[worker][1];
      lacks |= hash == 0;
      if (hash == 0)
        continue;
      if (!first)
        first = worker;
      if (hash == words[*first][1])
        continue;
      const std::vector<std::string> types =
          gatherTexts(op, like ? like->typeText() : "");
      fail(op, fmt::format("expected batches of one type in all workers, but "
                           "for their rows, got {} in worker {} and {} in "
                           "worker {}",
                           types[*first], *first, types[worker], worker));
    }
    isAgreed = !lacks;
    if (!lacks || isTold)
      return;
    isTold = true;
    const std::vector<std::string> texts =
        gatherTexts(op, like ? describe(*like) : "");
    if (!like)
      like = emptyBatch(texts[*first]);
  }

  /// Returns the text that `emptyBatch` reads.
  std::string describe(const Element &batch) const {
    std::string text = fmt::format("{}\n", batch.values.size());
    for (const HostArray &value : batch.values)
      text += fmt::format("{} {} {}\n", int(value.dtype()),
                          value.shape().size() - 1,
                          fmt::join(value.shape() | std::views::drop(1), " "));
    return text + (make ? batch.key()
                        : StructureOfBatch(batch.parts(), batch.names()).key());
  }
  Element emptyBatch(const std::string &text) const {
    std::istringstream in(text);
    std::string lineTail;
    auto number = [&] {
      int64_t read = 0;
      in >> read;
      return read;
    };
    Element batch;
    int64_t values = number();
    for (std::getline(in, lineTail); values > 0; --values) {
      const auto type = DType(number());
      Shape shape(size_t(number()) + 1, 0);
      for (size_t dim = 1; dim < shape.size(); ++dim)
        shape[dim] = number();
      std::getline(in, lineTail);
      batch.values.emplace_back(type, std::move(shape), std::vector<char>());
    }
    const std::string key = text.substr(size_t(in.tellg()));
    batch.skeleton = make ? make->read(key) : StructureOfBatch::read(key);
    return batch;
  }

  /// At most one for each replica; fewer, or none, at the end.
  std::vector<Element> localParts() {
    const auto wanted = size_t(strategy->localReplicas());
    while (parts.size() < wanted)
      if (std::optional<Element> batch = batches->next())
        take(*batch);
      else
        break;
    const size_t count = std::min(wanted, parts.size());
    std::vector<Element> taken(parts.begin(),
                               parts.begin() + std::ptrdiff_t(count));
    parts.erase(parts.begin(), parts.begin() + std::ptrdiff_t(count));
    return taken;
  }

  void take(const Element &batch) {
    if (!like)
      like = batch;
    if (kind == WorkerBatchKind::OfReplicas)
      return parts.push_back(batch);
    const int64_t rows = rowsOf(batch);
    std::vector<HostArray> values;
    for (const HostArray &value : batch.values) {
      if (value.shape().empty() || value.shape().front() != rows)
        fail("experimental_distribute_dataset",
             fmt::format("expected batches, whose tensors have one number of "
                         "rows, got {}: batch the dataset first",
                         batch.typeText()));
      values.push_back(value.inMemory());
    }
    // Where all read one batch, the others take the other parts of it.
    const bool isShared = kind == WorkerBatchKind::Shared;
    const int64_t first = isShared ? strategy->firstLocalReplica() : 0;
    const int64_t last =
        isShared ? first + strategy->localReplicas() : strategy->replicas();
    const ReplicaRows cut = rowsOfBatch(sizes, strategy->replicas(), rows);
    int64_t begin = 0;
    for (int64_t part = 0; part < last; ++part) {
      const int64_t end = begin + cut[size_t(part)];
      if (part >= first) {
        Element slice{{}, batch.skeleton};
        for (const HostArray &value : values)
          slice.values.push_back(value.rows(begin, end));
        parts.push_back(std::move(slice));
      }
      begin = end;
    }
  }

  /// [replicas, most rows, ...] of all workers, of which the local ones are
  /// `batches`.
  Element placed(const std::vector<Element> &batches, const ReplicaRows &rows) {
    const Mesh &mesh = *strategy->mesh;
    const int64_t most = *std::ranges::max_element(rows);
    const int64_t first = strategy->firstLocalReplica();
    Element result;
    for (size_t leaf = 0; leaf < like->values.size(); ++leaf) {
      const DType type = like->values[leaf].dtype();
      Shape shape = like->values[leaf].shape();
      shape.front() = most;
      shape.insert(shape.begin(), 1);
      const auto bytes =
          static_cast<size_t>(elementCount(shape)) * byteWidth(type);
      std::vector<std::vector<char>> components;
      for (int64_t i = 0; i < strategy->localReplicas(); ++i) {
        components.emplace_back(bytes);
        if (i < std::ssize(batches) && rows[size_t(first + i)] > 0)
          batches[size_t(i)].values[leaf].copyTo(components.back().data());
      }
      std::vector<ShardView> views;
      views.reserve(components.size());
      for (const std::vector<char> &component : components)
        views.push_back({shape, component});
      shape.front() = strategy->replicas();
      result.values.emplace_back(tensorOfShards(
          type, shape,
          Layout::batch_sharded(mesh, replicaAxis, unsigned(shape.size())),
          views));
    }
    const bool isEven =
        std::ranges::count(rows, rows.front()) == std::ssize(rows);
    result.skeleton =
        (*make)(*like, strategy->replicas(),
                isEven ? std::vector<ReplicaRows>()
                       : std::vector<ReplicaRows>(like->values.size(), rows));
    return result;
  }

  /// The rows of all replicas as one batch, in their order.
  Element joined(const std::vector<Element> &blocks, const ReplicaRows &rows) {
    const int64_t total = std::accumulate(rows.begin(), rows.end(), int64_t(0));
    const int64_t replicas = strategy->replicas();
    // Rows are where the layout has them, unless the last batch is short.
    const bool isInPlace =
        std::ranges::count(rows, (total + replicas - 1) / replicas) == replicas;
    Element result{{}, like->skeleton};
    for (size_t leaf = 0; leaf < like->values.size(); ++leaf) {
      const DType type = like->values[leaf].dtype();
      Shape shape = like->values[leaf].shape();
      std::vector<std::vector<char>> buffers;
      std::vector<ShardView> views;
      for (const Element &block : blocks) {
        const HostArray &value = block.values[leaf];
        buffers.emplace_back(size_t(value.byteCount()));
        value.copyTo(buffers.back().data());
        views.push_back({value.shape(), buffers.back()});
      }
      shape.front() = total;
      const Layout layout = Layout::batch_sharded(*strategy->mesh, replicaAxis,
                                                  unsigned(shape.size()));
      if (isInPlace) {
        result.values.emplace_back(tensorOfShards(type, shape, layout, views));
        continue;
      }
      std::string bytes;
      for (const std::vector<char> &buffer : buffers)
        bytes.append(buffer.data(), buffer.size());
      std::string whole;
      for (const std::string &text : gatherTexts(op, bytes))
        whole += text;
      result.values.emplace_back(type, std::move(shape),
                                 std::vector<char>(whole.begin(), whole.end()));
    }
    return result;
  }

  std::shared_ptr<const StrategyState> strategy;
  std::vector<int64_t> sizes;
  WorkerBatchKind kind;
  std::optional<MakePerReplica> make;
  std::unique_ptr<Cursor> batches;
  std::deque<Element> parts;
  std::optional<Element> like; ///< a batch that this worker has seen
  bool isAgreed = false;       ///< all have seen batches of one type
  bool isTold = false;         ///< all know that type
};

class WorkerBatches : public data::detail::Step<WorkerBatches> {
public:
  WorkerBatches(SourcePtr input, std::shared_ptr<const StrategyState> strategy,
                std::vector<int64_t> sizes, WorkerBatchKind kind,
                std::optional<MakePerReplica> make)
      : Step(std::move(input)), strategy(std::move(strategy)),
        sizes(std::move(sizes)), kind(kind), make(std::move(make)) {}
  std::string_view name() const override { return "distribute"; }
  bool keepsBatches() const override { return true; }
  /// Others may have more of what is not shared.
  int64_t cardinality() const override {
    const int64_t count = input->cardinality();
    return count == data::infinite_cardinality ||
                   kind == WorkerBatchKind::Shared
               ? count
               : data::unknown_cardinality;
  }
  std::unique_ptr<Cursor> open(const Opening &opening) const override {
    return std::make_unique<WorkerCursor>(strategy, sizes, kind, make,
                                          input->open(opening));
  }

private:
  std::shared_ptr<const StrategyState> strategy;
  std::vector<int64_t> sizes;
  WorkerBatchKind kind;
  std::optional<MakePerReplica> make;
};

} // namespace

SourcePtr distributeOverWorkers(const StrategyState &strategy, SourcePtr source,
                                std::vector<int64_t> sizes,
                                WorkerBatchKind kind,
                                std::optional<MakePerReplica> make) {
  // The next ones are read meanwhile; what all do together is done by the
  // thread that asks for them.
  return std::make_shared<WorkerBatches>(
      prefetch(std::move(source), 2, {}),
      std::make_shared<const StrategyState>(strategy), std::move(sizes), kind,
      std::move(make));
}

} // namespace meshloom::detail
