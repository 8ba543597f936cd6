// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Datasets of strategies (facts 40 and 65 to 77).
#include "Testing.h"

namespace meshloom {
namespace {
using testing::ElementsAre;
using testing::HasSubstr;

data::Dataset<Tensor> numbers(int64_t count) {
  return data::range(count).map(
      [](const Tensor &i) { return cast(i, DType::F32); });
}

TEST(StrategyInputTest, GlobalBatchesAreCutAndOnTheDevices) {
  MirroredStrategy strategy(cpus(2));
  const auto dataset =
      strategy.experimental_distribute_dataset(numbers(10).batch(4));
  EXPECT_EQ(dataset.cardinality(), 3);
  std::vector<Rows> steps;
  for (const PerReplica<Tensor> &batch : dataset) {
    EXPECT_EQ(batch.stacked.layout(), *strategy.batch_layout(2));
    steps.push_back(localValues(strategy, batch));
  }
  // The last one is short: the first replica's rows are full.
  EXPECT_THAT(steps, ElementsAre(Rows{{0, 1}, {2, 3}}, Rows{{4, 5}, {6, 7}},
                                 Rows{{8, 9}, {}}));
}

TEST(StrategyInputTest, UnevenBatchesGiveTheFirstReplicasOneMore) {
  MirroredStrategy strategy(cpus(4));
  auto sizes = [&](int64_t batch) {
    std::vector<size_t> rows;
    for (const Floats &values : localValues(
             strategy,
             *strategy
                  .experimental_distribute_dataset(numbers(batch).batch(batch))
                  .iterate()
                  .next()))
      rows.push_back(values.size());
    return rows;
  };
  EXPECT_THAT(sizes(9), ElementsAre(3, 2, 2, 2));
  EXPECT_THAT(sizes(2), ElementsAre(1, 1, 0, 0));
  using detail::rowsOfReplicas;
  EXPECT_THAT(rowsOfReplicas(7, 2, 2, 0, false), ElementsAre(2, 2, 2, 1));
  EXPECT_THAT(rowsOfReplicas(7, 2, 2, 1, false), ElementsAre(2, 1, 2, 2));
  EXPECT_THAT(rowsOfReplicas(7, 2, 2, 1, true), ElementsAre(2, 2, 2, 1));
}

TEST(StrategyInputTest, BatchesOfUnknownSizeAreCutByTheirOwn) {
  MirroredStrategy strategy(cpus(2));
  const auto dataset = data::from_generator([] {
    return [i = 0]() mutable -> std::optional<Tensor> {
      return i++ < 1 ? std::optional(tensor({1.f, 2.f, 3.f})) : std::nullopt;
    };
  });
  EXPECT_THAT(
      localValues(
          strategy,
          *strategy.experimental_distribute_dataset(dataset).iterate().next()),
      ElementsAre(Floats{1, 2}, Floats{3}));
}

// They may have one shape, filled up.
TEST(StrategyInputTest, BatchesOfOneCallHaveOneNumberOfRows) {
  MirroredStrategy strategy(cpus(4));
  auto both = function([&](data::Iterator<PerReplica<Tensor>> iterator) {
    auto sum = [&] {
      return strategy.reduce(
          ReduceOp::SUM,
          strategy.run([](const Tensor &rows) { return reduce_sum(rows); },
                       iterator.get_next()));
    };
    const Tensor first = sum();
    return first + sum();
  });
  const auto dataset =
      strategy.experimental_distribute_dataset(numbers(31).batch(8));
  auto iterator = dataset.iterate();
  EXPECT_EQ(both(iterator).item<float>(), 15 * 16 / 2);
  EXPECT_THAT(errorOf([&] { (void)both(iterator).item<float>(); }),
              HasSubstr("different numbers of rows"));
}

TEST(StrategyInputTest, UnbatchedDatasetsAreRefused) {
  MirroredStrategy strategy(cpus(2));
  for (const auto &dataset :
       {numbers(4), data::from_tensor_slices(ones({4, 2}))})
    EXPECT_THAT(
        errorOf([&] { strategy.experimental_distribute_dataset(dataset); }),
        HasSubstr("expected a dataset of batches"));
}

TEST(StrategyInputTest, OneReplicaGetsTheDatasetAsItIs) {
  EXPECT_THAT(Tensor(*get_strategy()
                          .experimental_distribute_dataset(numbers(3).batch(2))
                          .iterate()
                          .next())
                  .to_vector<float>(),
              ElementsAre(0, 1));
  OneDeviceStrategy strategy("CPU:1");
  const Tensor batch =
      *strategy.experimental_distribute_dataset(numbers(3).batch(2))
           .iterate()
           .next();
  EXPECT_EQ(batch.device(), "CPU:1");
}

TEST(StrategyInputTest, FunctionsGiveBatchesOfReplicasInTurn) {
  MirroredStrategy strategy(cpus(2));
  int64_t calls = 0;
  const auto dataset = strategy.distribute_datasets_from_function(
      [&](const InputContext &context) {
        ++calls;
        EXPECT_EQ(context.num_input_pipelines, 1);
        EXPECT_EQ(context.num_replicas_in_sync, 2);
        return numbers(5).batch(context.get_per_replica_batch_size(4));
      });
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(dataset.cardinality(), 2);
  std::vector<Rows> steps;
  for (const PerReplica<Tensor> &batch : dataset)
    steps.push_back(localValues(strategy, batch));
  EXPECT_THAT(steps, ElementsAre(Rows{{0, 1}, {2, 3}}, Rows{{4}, {}}));
  EXPECT_THAT(errorOf([] {
                (void)InputContext{.num_replicas_in_sync = 2}
                    .get_per_replica_batch_size(3);
              }),
              HasSubstr("a global batch size that the 2 replicas divide"));
}

TEST(StrategyInputTest, FunctionsAreCalledForEachReplicaWhereAsked) {
  const InputOptions options{.experimental_replication_mode =
                                 InputReplicationMode::PER_REPLICA};
  auto make = [](const InputContext &context) {
    return numbers(4)
        .shard(context.num_input_pipelines, context.input_pipeline_id)
        .batch(1);
  };
  MirroredStrategy strategy(cpus(2));
  std::vector<Rows> steps;
  for (const PerReplica<Tensor> &batch :
       strategy.experimental_distribute_datasets_from_function(make, options))
    steps.push_back(localValues(strategy, batch));
  EXPECT_THAT(steps, ElementsAre(Rows{{0}, {1}}, Rows{{2}, {3}}));
  EXPECT_THAT(errorOf([&] {
                OneDeviceStrategy("CPU:0").distribute_datasets_from_function(
                    make, options);
              }),
              HasSubstr("PER_REPLICA is of MirroredStrategy"));
}

TEST(StrategyInputTest, ArraysAreADatasetOfTheHost) {
  MirroredStrategy strategy(cpus(2));
  const auto dataset = strategy.make_experimental_numpy_dataset(
      tensor({1.f, 2.f}), tensor({3.f, 4.f}));
  const auto [x, y] = *dataset.iterate().next();
  EXPECT_EQ(x.item<float>() + y.item<float>(), 4);
}

TEST(StrategyInputTest, WorkersShardByPolicy) {
  using data::AutoShardPolicy;
  using detail::WorkerPart;
  auto part = [](AutoShardPolicy policy, int64_t worker) {
    return detail::autoShard(numbers(8)
                                 .batch(2)
                                 .with_options({.auto_shard_policy = policy})
                                 .source(),
                             2, worker);
  };
  auto firsts = [](const WorkerPart &part) {
    Floats result;
    for (const Tensor &batch : data::Dataset<Tensor>(part.source))
      result.push_back(batch.to_vector<float>().front());
    return result;
  };
  const WorkerPart off = part(AutoShardPolicy::OFF, 1);
  EXPECT_THAT(firsts(off), ElementsAre(0, 2, 4, 6));
  EXPECT_FALSE(off.isShared);
  const WorkerPart data = part(AutoShardPolicy::DATA, 1);
  EXPECT_THAT(firsts(data), ElementsAre(0, 2, 4, 6));
  EXPECT_TRUE(data.isShared);
  // Examples are shared out before they are batched: 1, 3 and 5, 7.
  const WorkerPart hinted = detail::autoShard(
      numbers(8)
          .shard(data::shard_hint, data::shard_hint)
          .batch(2)
          .with_options({.auto_shard_policy = AutoShardPolicy::HINT})
          .source(),
      2, 1);
  EXPECT_THAT(firsts(hinted), ElementsAre(1, 5));
  EXPECT_FALSE(hinted.isShared);
  EXPECT_THAT(errorOf([&] { part(AutoShardPolicy::HINT, 0); }),
              HasSubstr("expected a dataset with shard(shard_hint"));
  Logged logged;
  EXPECT_TRUE(part(AutoShardPolicy::AUTO, 0).isShared);
  EXPECT_THAT(logged.lines(),
              ElementsAre(AllOf(HasSubstr("WARNING"),
                                HasSubstr("AutoShardPolicy::DATA"),
                                HasSubstr("or OFF if"))));
  EXPECT_THAT(errorOf([&] { part(AutoShardPolicy::FILE, 0); }),
              HasSubstr("expected a dataset of at least 2 files"));
}

} // namespace
} // namespace meshloom
