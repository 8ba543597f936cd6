// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Code of replicas, and what is made of their values (facts 3 to 20).
#include "Testing.h"

namespace meshloom {
namespace {
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

/// Rows 0, 1, ... of one feature, as a strategy's dataset gives them.
PerReplica<Tensor> rowsOn(const Strategy &strategy, int64_t count) {
  std::vector<float> values;
  for (int64_t i = 0; i < count; ++i)
    values.push_back(float(i));
  const data::Dataset<Tensor> whole =
      data::from_tensors(tensor(values, {count, 1}));
  const auto batches =
      data::from_tensor_slices(tensor(values, {count, 1})).batch(count);
  return *strategy.experimental_distribute_dataset(batches).iterate().next();
}

TEST(ReplicaTest, EveryReplicaGetsItsPartAndPlainValuesWhole) {
  MirroredStrategy strategy(cpus(2));
  const Tensor plain = tensor({{1.f, 2.f, 3.f}, {4.f, 5.f, 6.f}});
  struct Results {
    Tensor next, plain, id, ids, sum, mean;
  };
  const auto results = strategy.run(
      [&](const Tensor &x, const Tensor &whole, int64_t number) {
        const ReplicaContext context = *get_replica_context();
        EXPECT_FALSE(in_cross_replica_context());
        EXPECT_EQ(context.num_replicas_in_sync(), 2);
        EXPECT_EQ(context.strategy(), strategy);
        EXPECT_EQ(x.shape(), Shape({2, 1}));
        const Tensor id = context.replica_id_in_sync_group();
        const auto [sum, doubled] = context.all_reduce(
            ReduceOp::SUM, std::pair(reduce_sum(x), x * number));
        return Results{
            x + 1, matmul(whole, tensor({{1.f, 2.f}, {3.f, 4.f}, {5.f, 6.f}})),
            id,    context.all_gather(reshape(id, {1}), 0),
            sum,   context.all_reduce("mean", reduce_sum(x))};
      },
      rowsOn(strategy, 4), plain, 3);
  auto of = [&](const Tensor Results::*field) {
    return localValues(
        strategy,
        PerReplica<Tensor>{.stacked = results.stacked.*field, .replicas = 2});
  };
  EXPECT_THAT(of(&Results::next), ElementsAre(Floats{1, 2}, Floats{3, 4}));
  EXPECT_THAT(of(&Results::plain),
              ElementsAre(Floats{22, 28, 49, 64}, Floats{22, 28, 49, 64}));
  EXPECT_THAT(of(&Results::id), ElementsAre(Floats{0}, Floats{1}));
  EXPECT_THAT(of(&Results::ids), ElementsAre(Floats{0, 1}, Floats{0, 1}));
  EXPECT_THAT(of(&Results::sum), ElementsAre(Floats{6}, Floats{6}));
  EXPECT_THAT(of(&Results::mean), ElementsAre(Floats{3}, Floats{3}));
}

TEST(ReplicaTest, OneReplicaGivesPlainValues) {
  for (const Strategy &strategy :
       {Strategy(OneDeviceStrategy("CPU:1")), get_strategy()}) {
    const Tensor y = strategy.run(
        [](const Tensor &x) {
          const ReplicaContext context = *get_replica_context();
          EXPECT_EQ(context.replica_id_in_sync_group().item<int32_t>(), 0);
          return context.all_gather(context.all_reduce(ReduceOp::MEAN, x * 2),
                                    0);
        },
        rowsOn(strategy, 3));
    EXPECT_THAT(y.to_vector<float>(), ElementsAre(0, 2, 4));
    EXPECT_EQ(y.device(), strategy.mesh() ? "CPU:1" : "CPU:0");
    EXPECT_THAT(strategy.experimental_local_results(y), SizeIs(1));
    EXPECT_EQ(strategy.reduce(ReduceOp::SUM, y).to_vector<float>(),
              y.to_vector<float>());
  }
  EXPECT_EQ(get_strategy().reduce(ReduceOp::SUM, 1.0), 1.0);
}

TEST(ReplicaTest, UnevenReplicasWorkOnTheirTrueRows) {
  MirroredStrategy strategy(cpus(4));
  const PerReplica<Tensor> x = rowsOn(strategy, 7); // 2, 2, 2, 1
  int64_t traces = 0;
  struct Results {
    Tensor rows, mean, all;
  };
  const auto results = strategy.run(
      [&](const Tensor &part) {
        ++traces;
        return Results{part * 10, reduce_mean(part),
                       get_replica_context()->all_gather(part, 0)};
      },
      x);
  EXPECT_EQ(traces, 2);
  const auto [rows, mean, gathered] =
      strategy.experimental_local_results(results)[3];
  EXPECT_EQ(rows.shape(), Shape({1, 1}));
  EXPECT_EQ(mean.item<float>(), 6);
  EXPECT_THAT(gathered.to_vector<float>(), ElementsAre(0, 1, 2, 3, 4, 5, 6));
  // Sums and means of all rows; the mean is not that of the means.
  const PerReplica<Tensor> uneven{.stacked = results.stacked.rows,
                                  .replicas = 4,
                                  .rows = {results.rows.front()}};
  EXPECT_THAT(strategy.reduce(ReduceOp::MEAN, uneven, 0).to_vector<float>(),
              ElementsAre(30));
  EXPECT_THAT(strategy.reduce("sum", uneven, 0).to_vector<float>(),
              ElementsAre(210));
  EXPECT_THAT(strategy.gather(uneven, 0).to_vector<float>(),
              ElementsAre(0, 10, 20, 30, 40, 50, 60));
  EXPECT_THAT(errorOf([&] { strategy.reduce(ReduceOp::SUM, uneven); }),
              HasSubstr("got 2, 2, 2, 1 rows: reduce along axis 0 too"));
  EXPECT_THAT(errorOf([&] { TPUStrategy(cpus(4)).gather(uneven, 0); }),
              HasSubstr("expected values of one shape (on TPUs)"));
}

// Values of one shape stay whole where their first dim is as long as the rows
// of a replica.
TEST(ReplicaTest, ValuesMayBeAsLongAsRows) {
  MirroredStrategy strategy(cpus(3));
  auto scope = strategy.scope();
  const DVariable total(zeros({4}),
                        {.name = "own",
                         .synchronization = VariableSynchronization::ON_READ,
                         .aggregation = VariableAggregation::SUM});
  const auto sums = strategy.run(
      [&](const Tensor &rows) {
        total.assign_add(ones({4}) * reduce_sum(rows));
        return get_replica_context()->all_reduce(
            ReduceOp::SUM, ones({4}) * reduce_sum(rows), {.bytes_per_pack = 1});
      },
      rowsOn(strategy, 10)); // 4, 3, 3
  EXPECT_THAT(strategy.experimental_local_results(sums)[2].to_vector<float>(),
              ElementsAre(45, 45, 45, 45));
  EXPECT_THAT(total.to_vector<float>(), ElementsAre(45, 45, 45, 45));
}

TEST(ReplicaTest, MessagesNameTheUsersLine) {
  MirroredStrategy strategy(cpus(2));
  auto scope = strategy.scope();
  const DVariable v(zeros({1}), {.name = "v"});
  const PerReplica<Tensor> x = rowsOn(strategy, 3); // 2 and 1
  const auto error = [&](auto fn) {
    return errorOf([&] { strategy.run(fn, x); });
  };
  const auto context = [] { return *get_replica_context(); };
  for (const std::string &message :
       {error([&](const Tensor &part) { v.assign(reduce_sum(part, 0)); }),
        error([&](const Tensor &part) {
          return context().all_reduce(ReduceOp::SUM, part);
        }),
        error([&](const Tensor &part) {
          return context().all_gather(reduce_sum(part), 0);
        }),
        error([](const Tensor &) { return Tensor(); }),
        error([&](const Tensor &part) {
          return strategy.reduce(ReduceOp::SUM, part);
        }),
        errorOf([&] { strategy.gather(x, 3); })}) {
    EXPECT_THAT(message, HasSubstr("ReplicaTest.cpp:"));
    EXPECT_THAT(message, testing::Not(HasSubstr("lib/Distribute")));
  }
  EXPECT_FALSE(get_replica_context());
  EXPECT_THAT(errorOf([&] { (void)context(); }),
              HasSubstr("[get_replica_context] expected to be in a replica"));
}

TEST(ReplicaTest, ReplicasMustMakeTheSameCalls) {
  MirroredStrategy strategy(cpus(2));
  EXPECT_NE(errorOf([&] {
              strategy.run(
                  [](const Tensor &part) {
                    if (part.shape().front() == 2)
                      return get_replica_context()->all_reduce(
                          ReduceOp::SUM, reduce_sum(part));
                    return reduce_sum(part);
                  },
                  rowsOn(strategy, 3));
            }),
            "");
}

TEST(ReplicaTest, ValuesAreReducedAndGatheredOutsideOfReplicas) {
  MirroredStrategy strategy(cpus(2));
  const auto value = strategy.experimental_distribute_values_from_function(
      [](const ValueContext &context) {
        EXPECT_EQ(context.num_replicas_in_sync, 2);
        const auto id = float(context.replica_id_in_sync_group);
        return tensor({{id, id + 1}, {id + 2, id + 3}});
      });
  EXPECT_EQ(value.stacked.layout(), *strategy.batch_layout(3));
  EXPECT_THAT(localValues(strategy, value),
              ElementsAre(Floats{0, 1, 2, 3}, Floats{1, 2, 3, 4}));
  EXPECT_THAT(strategy.reduce("Sum", value).to_vector<float>(),
              ElementsAre(1, 3, 5, 7));
  EXPECT_THAT(strategy.reduce(ReduceOp::MEAN, value).to_vector<float>(),
              ElementsAre(0.5, 1.5, 2.5, 3.5));
  EXPECT_THAT(strategy.reduce(ReduceOp::SUM, value, 1).to_vector<float>(),
              ElementsAre(4, 12));
  EXPECT_THAT(strategy.reduce(ReduceOp::MEAN, value, -1).to_vector<float>(),
              ElementsAre(1, 3));
  EXPECT_THAT(errorOf([&] { strategy.reduce(ReduceOp::MEAN, value, 2); }),
              HasSubstr("expected an axis of the values in replicas, from -2 "
                        "to 1, got 2"));
  EXPECT_EQ(strategy.gather(value, 0).shape(), Shape({4, 2}));
  EXPECT_THAT(strategy.gather(value, 1).to_vector<float>(),
              ElementsAre(0, 1, 1, 2, 2, 3, 3, 4));
  // Values that replicas share.
  EXPECT_EQ(strategy.reduce(ReduceOp::MEAN, tensor(3.f)).item<float>(), 3);
  EXPECT_EQ(strategy.reduce(ReduceOp::SUM, 0.0), 0);
  EXPECT_THAT(errorOf([&] { strategy.reduce(ReduceOp::SUM, tensor(3.f)); }),
              HasSubstr("whose sum depends on their number"));
  const auto scalar = strategy.experimental_distribute_values_from_function(
      [](const ValueContext &) { return tensor(1.f); });
  EXPECT_THAT(errorOf([&] { strategy.gather(scalar, 0); }),
              HasSubstr("expected values with a dim to gather along"));
  EXPECT_THAT(errorOf([&] { (void)Tensor(scalar); }),
              HasSubstr("combine them with strategy.reduce"));
  EXPECT_FALSE(strategy.cluster_resolver());
}

TEST(ReplicaTest, MergeCallsSeeAllReplicas) {
  MirroredStrategy strategy(cpus(2));
  const auto results = strategy.run(
      [&](const Tensor &part) {
        return get_replica_context()->merge_call(
            [&](const Strategy &outside, const PerReplica<Tensor> &parts) {
              EXPECT_EQ(outside, strategy);
              EXPECT_TRUE(in_cross_replica_context());
              EXPECT_FALSE(get_replica_context());
              const Tensor sum = outside.reduce(ReduceOp::SUM, parts, 0);
              return PerReplica<Tensor>{.stacked = parts.stacked +
                                                   reshape(sum, {1, 1, 1}),
                                        .replicas = 2};
            },
            part);
      },
      rowsOn(strategy, 4));
  EXPECT_THAT(localValues(strategy, results),
              ElementsAre(Floats{6, 7}, Floats{8, 9}));
}

TEST(ReplicaTest, CallsOfTheWrongContextAreRefused) {
  MirroredStrategy strategy(cpus(2)), other(cpus(3));
  const PerReplica<Tensor> x = rowsOn(strategy, 4);
  EXPECT_THAT(errorOf([&] {
                strategy.run(
                    [&](const Tensor &part) {
                      return strategy.reduce(ReduceOp::SUM, part);
                    },
                    x);
              }),
              HasSubstr("use get_replica_context()->all_reduce"));
  EXPECT_THAT(errorOf([&] { other.run([](const Tensor &y) { return y; }, x); }),
              HasSubstr("expected values of the strategy's 3 replicas, got "
                        "those of 2, which another strategy made"));
  auto scope = strategy.scope();
  EXPECT_THAT(errorOf([&] { other.run([] { return tensor(1.f); }); }),
              HasSubstr("end that one before the scope of MirroredStrategy"));
}

// A replica's value says its own device, as TensorFlow's does.
TEST(ReplicaTest, LocalResultsAreOnTheirDevices) {
  const MirroredStrategy strategy({"CPU:0", "CPU:2"});
  const PerReplica<Tensor> ids = strategy.run(
      [] { return get_replica_context()->replica_id_in_sync_group() * 2; });
  const std::vector<Tensor> local = strategy.experimental_local_results(ids);
  ASSERT_THAT(local, SizeIs(2));
  EXPECT_EQ(local[0].device(), "CPU:0");
  EXPECT_EQ(local[1].device(), "CPU:2");
  EXPECT_EQ(local[1].item<int32_t>(), 2);
  EXPECT_EQ((local[0] + local[1]).item<int32_t>(), 2);
}

// Each replica's value is on that replica's device, the first one's too, also
// while the strategy's mesh is the default one.
TEST(ReplicaTest, LocalResultsSayTheirOwnDevice) {
  const MirroredStrategy strategy({"CPU:0", "CPU:1"});
  const auto scope = strategy.scope();
  const DVariable v(ones({2}));
  const auto value = strategy.run([&] { return v * 2.0; });
  std::vector<std::string> devices;
  for (const Tensor &result : strategy.experimental_local_results(value))
    devices.push_back(result.device());
  EXPECT_EQ(devices, (std::vector<std::string>{"CPU:0", "CPU:1"}));
}

} // namespace
} // namespace meshloom
