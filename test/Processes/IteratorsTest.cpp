// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Iterators as arguments of functions, in programs of several processes: each
// takes its own part of what all go through together.
#include "../Distribute/Testing.h"
#include "meshloom/API/Processes.h"
#include "meshloom/Data/DTensorDataset.h"
#include "meshloom/Data/Files.h"
#include "meshloom/Meshloom.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <numeric>
#include <unistd.h>

namespace meshloom {
namespace {

using testing::AllOf;
using testing::HasSubstr;

/// A function that adds to `sum` what the replicas see in so many steps.
auto summing(const Strategy &strategy, const DVariable &sum) {
  return function([strategy, sum](data::Iterator<PerReplica<Tensor>> iterator,
                                  const Tensor &steps) {
    return while_loop([&](const Tensor &step) { return less(step, steps); },
                      [&](const Tensor &step) {
                        const auto local = strategy.run(
                            [](const Tensor &rows) { return reduce_sum(rows); },
                            iterator.get_next());
                        sum.assign_add(strategy.reduce(ReduceOp::SUM, local));
                        return step + 1;
                      },
                      tensor(0));
  });
}

DVariable zeroIn(const Strategy &strategy) {
  auto scope = strategy.scope();
  return DVariable(zeros({}));
}

data::Dataset<Tensor> numbers(int64_t examples, int64_t batch,
                              data::AutoShardPolicy policy) {
  return data::from_tensor_slices(iota({examples}, 0, DType::F32))
      .batch(batch)
      .with_options({.auto_shard_policy = policy});
}

TEST(IteratorsTest, FunctionsTakeTheBatchesOfAllWorkers) {
  const MultiWorkerMirroredStrategy strategy;
  const DVariable sum = zeroIn(strategy);
  auto steps = summing(strategy, sum);
  // Each step has one batch, of which every worker has a part.
  const auto workers = int32_t(num_clients());
  const int64_t batch = 2 * strategy.num_replicas_in_sync();
  const int64_t examples = 6 * workers * batch;
  const auto distributed = strategy.experimental_distribute_dataset(
      numbers(examples, batch, data::AutoShardPolicy::DATA));
  auto iterator = distributed.iterate();
  (void)steps(iterator, tensor(2));
  (void)steps(iterator, tensor(1));
  const std::string position = iterator.save();
  (void)steps(iterator, tensor(6 * workers - 3));
  EXPECT_EQ(sum.read_value().item<float>(),
            float(examples * (examples - 1)) / 2);
  EXPECT_THAT(errorOf([&] { (void)steps(iterator, tensor(1)); }),
              HasSubstr("exhausted"));
  // From where it was; all of them end at one step, in the middle of a call,
  // and go on with something else.
  auto again = distributed.iterate(position);
  EXPECT_THAT(errorOf([&] { (void)steps(again, tensor(100)); }),
              HasSubstr("exhausted"));
  sum.assign(zeros({}));
  (void)steps(distributed.iterate(), tensor(6 * workers));
  EXPECT_EQ(sum.read_value().item<float>(),
            float(examples * (examples - 1)) / 2);
  EXPECT_EQ(steps.trace_count(), 1);
}

TEST(IteratorsTest, FailureInOneWorkerFailsInAllAndAllContinue) {
  const MultiWorkerMirroredStrategy strategy;
  const DVariable sum = zeroIn(strategy);
  auto steps = summing(strategy, sum);
  const int64_t batch = strategy.num_replicas_in_sync();
  const auto distributed = strategy.experimental_distribute_dataset(
      numbers(4 * batch, batch, data::AutoShardPolicy::OFF)
          .map([calls = std::make_shared<int>(0)](const Tensor &rows) {
            if (++*calls == 3 && client_id() == 1)
              throw std::runtime_error("no such picture");
            return rows;
          }));
  auto iterator = distributed.iterate();
  EXPECT_THAT(errorOf([&] { (void)steps(iterator, tensor(100)); }),
              AllOf(HasSubstr("no such picture"),
                    HasSubstr(client_id() == 1 ? "map" : "worker 1")));
  // On the host, too.
  auto other = distributed.iterate();
  int64_t elements = 0;
  while (auto element = other.next())
    ++elements;
  EXPECT_EQ(elements, 4 * num_clients());
}

TEST(IteratorsTest, WorkersWithoutABatchTakePart) {
  const MultiWorkerMirroredStrategy strategy;
  const int64_t replicas = strategy.num_replicas_in_sync();
  const DVariable sum = zeroIn(strategy);
  auto step = function([&](const PerReplica<std::pair<Tensor, Tensor>> &batch) {
    const auto local = strategy.run(
        [](const std::pair<Tensor, Tensor> &rows) {
          return reduce_sum(rows.first * rows.second);
        },
        batch);
    sum.assign_add(strategy.reduce(ReduceOp::SUM, local));
  });
  // One example: the first worker's.
  auto dataset =
      data::from_tensor_slices(ones({1, 3}), ones({1, 1}))
          .shard(data::shard_hint, data::shard_hint)
          .batch(replicas)
          .with_options({.auto_shard_policy = data::AutoShardPolicy::HINT});
  int64_t count = 0;
  for (const auto &batch : strategy.experimental_distribute_dataset(dataset)) {
    step(batch);
    ++count;
  }
  EXPECT_EQ(count, 1);
  EXPECT_EQ(sum.read_value().item<float>(), 3.f);
}

TEST(IteratorsTest, BatchesOfOneCallHaveOneNumberOfRows) {
  const MultiWorkerMirroredStrategy strategy;
  const DVariable sum = zeroIn(strategy);
  auto steps = summing(strategy, sum);
  const int64_t batch = 2 * strategy.num_replicas_in_sync();
  // The last step is short of one row.
  auto iterator = strategy
                      .experimental_distribute_dataset(numbers(
                          2 * batch - 1, batch, data::AutoShardPolicy::OFF))
                      .iterate();
  EXPECT_THAT(errorOf([&] { (void)steps(iterator, tensor(100)); }),
              HasSubstr("drop_remainder"));
}

TEST(IteratorsTest, BatchesOnAMeshOfTwoAxes) {
  const int64_t workers = num_clients();
  const Mesh mesh = create_distributed_mesh({{"batch", workers}, {"x", 2}});
  const Tensor pictures =
      reshape(cast(range(16 * workers), DType::F32), {4 * workers, 4});
  const Tensor labels = range(4 * workers);
  data::DTensorDataset batches(
      data::from_tensor_slices(pictures, labels), mesh,
      {Layout({"batch", "x"}, mesh), Layout({"batch"}, mesh)}, 2 * workers,
      {.batch_dim = "batch", .prefetch = 2});
  auto both = function([](data::Iterator<std::pair<Tensor, Tensor>> iterator) {
    const auto [x, first] = iterator.get_next();
    const auto [y, second] = iterator.get_next();
    return std::tuple{x * 1.0, y * 1.0, first + 0, second + 0};
  });
  auto iterator = batches.iterate();
  const auto [x, y, first, second] = both(iterator);
  auto valuesOf = [](const Tensor &value) {
    return detail::replicateUnlessLocal(cast(value, DType::F32))
        .to_vector<float>();
  };
  auto counted = [](int64_t from, int64_t count) {
    std::vector<float> numbers(static_cast<size_t>(count));
    std::iota(numbers.begin(), numbers.end(), float(from));
    return numbers;
  };
  EXPECT_EQ(valuesOf(x), counted(0, 8 * workers));
  EXPECT_EQ(valuesOf(y), counted(8 * workers, 8 * workers));
  EXPECT_EQ(valuesOf(first), counted(0, 2 * workers));
  EXPECT_EQ(valuesOf(second), counted(2 * workers, 2 * workers));
  EXPECT_THAT(errorOf([&] { (void)both(iterator); }), HasSubstr("exhausted"));
}

/// Returns the rows that the replicas of this process get of all batches.
std::vector<float> rowsHere(const data::Dataset<Tensor> &dataset) {
  const MultiWorkerMirroredStrategy strategy;
  std::vector<float> rows;
  for (const PerReplica<Tensor> &step :
       strategy.experimental_distribute_dataset(dataset))
    for (const Tensor &result : strategy.experimental_local_results(step))
      std::ranges::copy(result.to_vector<float>(), std::back_inserter(rows));
  return rows;
}

/// Writes two files for each worker, of four lines that begin with their
/// number, and removes them when all processes are done with `body`.
template <typename F> void withFilesOfLines(F body) {
  const std::filesystem::path folder =
      detail::gatherTexts("folder", testing::TempDir() +
                                        fmt::format("shards-{}", getpid()))
          .front();
  std::vector<std::filesystem::path> files;
  for (int64_t file = 0; file < 2 * num_clients(); ++file)
    files.push_back(folder / fmt::format("{}.txt", file));
  if (client_id() == 0) {
    std::filesystem::create_directories(folder);
    for (int64_t file = 0; file < 2 * num_clients(); ++file) {
      std::ofstream out(files[size_t(file)]);
      for (int line = 0; line < 4; ++line)
        out << 10 * file + line << "\n";
    }
  }
  detail::waitForAll("files");
  body(files);
  detail::waitForAll("read");
  if (client_id() == 0)
    std::filesystem::remove_all(folder);
}

// Numbers 69 to 72: what the policies give to each of several workers.
TEST(IteratorsTest, DatasetsAreDividedAmongWorkersByPolicy) {
  using data::AutoShardPolicy;
  withFilesOfLines([](const std::vector<std::filesystem::path> &files) {
    auto lines = [&](std::vector<std::filesystem::path> from,
                     AutoShardPolicy policy) {
      return data::TextLineDataset(std::move(from))
          .shuffle(100, {.seed = 1})
          .map([](const std::string &line) { return tensor(std::stof(line)); })
          .batch(4)
          .with_options({.auto_shard_policy = policy});
    };
    for (const AutoShardPolicy policy :
         {AutoShardPolicy::FILE, AutoShardPolicy::AUTO}) {
      std::vector<float> rows = rowsHere(lines(files, policy));
      EXPECT_EQ(rows.size(), 8u);
      for (const float row : rows)
        EXPECT_EQ(int64_t(row) / 10 % num_clients(), client_id()) << row;
    }
    EXPECT_EQ(rowsHere(lines(files, AutoShardPolicy::OFF)).size(),
              8u * unsigned(num_clients()));
    // One file is too few; by default every worker takes its rows of a batch.
    EXPECT_THAT(errorOf([&] {
                  (void)rowsHere(lines({files.front()}, AutoShardPolicy::FILE));
                }),
                HasSubstr("at least"));
    EXPECT_EQ(rowsHere(lines({files.front()}, AutoShardPolicy::AUTO)).size(),
              client_id() < 2 ? 2u : 0u);
    // Examples, where the program says so.
    const std::vector<float> hinted = rowsHere(
        data::from_tensor_slices(iota({8 * num_clients()}, 0, DType::F32))
            .shard(data::shard_hint, data::shard_hint)
            .batch(4)
            .with_options({.auto_shard_policy = AutoShardPolicy::HINT}));
    EXPECT_EQ(hinted.size(), 8u);
    for (const float row : hinted)
      EXPECT_EQ(int64_t(row) % num_clients(), client_id());
  });
}

/// The rows of all replicas, step by step.
std::vector<std::vector<float>>
elementsOfSteps(const Strategy &strategy,
                const data::Dataset<Tensor> &dataset) {
  std::vector<std::vector<float>> steps;
  for (const PerReplica<Tensor> &step :
       strategy.experimental_distribute_dataset(dataset))
    steps.push_back(detail::replicateUnlessLocal(strategy.gather(step, 0))
                        .to_vector<float>());
  return steps;
}

// A model trains on the same batches on one process and on several: also on a
// last batch that the replicas do not divide, and on batches of unknown size.
TEST(IteratorsTest, StepsHaveTheElementsThatOneProcessHas) {
  const MultiWorkerMirroredStrategy strategy;
  const int64_t batch = 2 * strategy.num_replicas_in_sync() + 1;
  const auto examples =
      data::from_tensor_slices(iota({3 * batch + 2}, 0, DType::F32));
  const auto batches = examples.batch(batch);
  std::vector<std::vector<float>> expected;
  for (const Tensor &whole : batches)
    expected.push_back(whole.to_vector<float>());
  for (const data::AutoShardPolicy policy :
       {data::AutoShardPolicy::DATA, data::AutoShardPolicy::AUTO}) {
    const auto distributed =
        batches.with_options({.auto_shard_policy = policy});
    EXPECT_EQ(elementsOfSteps(strategy, distributed), expected);
    EXPECT_EQ(
        strategy.experimental_distribute_dataset(distributed).cardinality(), 4);
    EXPECT_EQ(elementsOfSteps(strategy, distributed.filter([](const Tensor &) {
                return true;
              })),
              expected);
  }
}

/// Notes the loss of each batch.
struct LossOfBatches : callbacks::Callback {
  std::vector<double> *losses;
  explicit LossOfBatches(std::vector<double> *losses) : losses(losses) {}
  void on_train_batch_end(int64_t, Logs &logs) override {
    losses->push_back(logs.at("loss"));
    model().reset_metrics();
  }
};

// fit divides a dataset among workers as experimental_distribute_dataset does.
TEST(IteratorsTest, FitTakesTheStepsOfTheShardPolicy) {
  using data::AutoShardPolicy;
  const MultiWorkerMirroredStrategy strategy;
  auto scope = strategy.scope();
  Sequential model(
      {Input({1}), layers::Dense(1, {.kernel_initializer = "zeros"})});
  model.compile({.optimizer = optimizers::SGD(1e-9), .loss = "mae"});
  const int64_t batch = 2 * strategy.num_replicas_in_sync();
  // The last batch is not a multiple of the replicas.
  const Tensor numbers = iota({3 * batch + 3}, 0, DType::F32);
  const Tensor rows = reshape(numbers, {-1, 1});
  for (const AutoShardPolicy policy :
       {AutoShardPolicy::DATA, AutoShardPolicy::OFF, AutoShardPolicy::HINT}) {
    SCOPED_TRACE(int(policy));
    auto divided = [&](const auto &examples) {
      auto part = policy == AutoShardPolicy::HINT
                      ? examples.shard(data::shard_hint, data::shard_hint)
                      : examples;
      return part.batch(batch).with_options({.auto_shard_policy = policy});
    };
    std::vector<double> expected;
    for (const std::vector<float> &step :
         elementsOfSteps(strategy, divided(data::from_tensor_slices(numbers))))
      expected.push_back(std::accumulate(step.begin(), step.end(), 0.0) /
                         double(step.size()));
    const auto pairs = divided(data::from_tensor_slices(rows, rows));
    std::vector<double> losses;
    model.fit(pairs, {.verbose = 0, .callbacks = {LossOfBatches(&losses)}});
    ASSERT_EQ(losses.size(), expected.size());
    for (size_t i = 0; i < losses.size(); ++i)
      EXPECT_NEAR(losses[i], expected[i], 1e-4);
    // Every element counts once, or once for each worker.
    EXPECT_NEAR(model.evaluate(pairs, {.verbose = 0}).at("loss"),
                double(numbers.size() - 1) / 2, 1e-4);
  }
}

// Each worker trains on the lines of its own files, where the policy says so.
TEST(IteratorsTest, FitDividesFilesAmongWorkers) {
  using data::AutoShardPolicy;
  withFilesOfLines([](const std::vector<std::filesystem::path> &files) {
    const MultiWorkerMirroredStrategy strategy;
    auto scope = strategy.scope();
    Sequential model(
        {Input({1}), layers::Dense(1, {.kernel_initializer = "zeros"})});
    model.compile({.optimizer = optimizers::SGD(1e-9), .loss = "mae"});
    auto lines = [&](AutoShardPolicy policy, auto toElement) {
      return data::TextLineDataset(files)
          .map(toElement)
          .batch(strategy.num_replicas_in_sync())
          .with_options({.auto_shard_policy = policy});
    };
    std::vector<double> first;
    for (const AutoShardPolicy policy :
         {AutoShardPolicy::FILE, AutoShardPolicy::AUTO, AutoShardPolicy::DATA,
          AutoShardPolicy::OFF}) {
      SCOPED_TRACE(int(policy));
      std::vector<double> expected;
      for (const std::vector<float> &step :
           elementsOfSteps(strategy, lines(policy, [](const std::string &line) {
                             return tensor(std::stof(line));
                           })))
        expected.push_back(std::accumulate(step.begin(), step.end(), 0.0) /
                           double(step.size()));
      const auto pairs = lines(policy, [](const std::string &line) {
        const Tensor number = tensor({std::stof(line)});
        return std::pair(number, number);
      });
      std::vector<double> losses;
      model.fit(pairs, {.verbose = 0, .callbacks = {LossOfBatches(&losses)}});
      ASSERT_EQ(losses.size(), expected.size());
      for (size_t i = 0; i < losses.size(); ++i)
        EXPECT_NEAR(losses[i], expected[i], 1e-4);
      first.push_back(losses.front());
      // Every line counts once, or once for each worker.
      EXPECT_NEAR(model.evaluate(pairs, {.verbose = 0}).at("loss"),
                  10 * (double(files.size()) - 1) / 2 + 1.5, 1e-4);
    }
    // The first batch of all workers is of all files, or of the first ones.
    EXPECT_NEAR(first[0], first[1], 1e-4);
    if (num_clients() > 1) {
      EXPECT_GT(std::abs(first[0] - first[2]), 1);
      EXPECT_GT(std::abs(first[0] - first[3]), 1);
    }
  });
}

} // namespace
} // namespace meshloom
