// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Variables of a strategy's scope (facts 23 and 41 to 52).
#include "Testing.h"

#include "meshloom/API/ConcreteFunction.h"

#include <sstream>

namespace meshloom {
namespace {
using testing::ElementsAre;
using testing::HasSubstr;
using Aggregation = VariableAggregation;
using Synchronization = VariableSynchronization;

DVariable variableOf(const Strategy &strategy, const Tensor &initial,
                     Aggregation aggregation,
                     Synchronization synchronization = Synchronization::AUTO) {
  auto scope = strategy.scope();
  return DVariable(initial, {.name = "v",
                             .synchronization = synchronization,
                             .aggregation = aggregation});
}
DVariable syncOnRead(const Strategy &strategy, Aggregation aggregation) {
  return variableOf(strategy, tensor(0.f), aggregation,
                    Synchronization::ON_READ);
}

/// 1, 2, ... in the replicas.
Tensor replicaNumber() {
  return cast(get_replica_context()->replica_id_in_sync_group(), DType::F32) +
         1;
}

std::string printed(const DVariable &variable) {
  std::ostringstream out;
  out << variable;
  return out.str();
}

TEST(StrategyVariableTest, IsMirroredUnlessToldOtherwise) {
  MirroredStrategy strategy(cpus(2));
  const DVariable v = variableOf(strategy, tensor(3.f), Aggregation::NONE);
  EXPECT_EQ(v.synchronization(), Synchronization::ON_WRITE);
  EXPECT_EQ(v.aggregation(), Aggregation::NONE);
  EXPECT_TRUE(v.layout().is_fully_replicated());
  v.assign(5); // outside of replicas: all copies
  EXPECT_EQ(v.item<float>(), 5);
  EXPECT_THAT(errorOf([&] {
                variableOf(strategy, tensor(1.f), Aggregation::NONE,
                           Synchronization::NONE);
              }),
              HasSubstr("expected VariableSynchronization AUTO, ON_WRITE or "
                        "ON_READ, got NONE"));
}

TEST(StrategyVariableTest, PrintsAnEntryForEachReplica) {
  MirroredStrategy strategy(cpus(2));
  const std::string text =
      printed(variableOf(strategy, tensor(1.f), Aggregation::NONE));
  EXPECT_THAT(text, testing::StartsWith("MirroredVariable:{\n  0: variable 'v' "
                                        "on CPU:0 1"));
  EXPECT_THAT(text, HasSubstr(",\n  1: variable 'v' on CPU:1 1"));
  EXPECT_THAT(printed(syncOnRead(strategy, Aggregation::SUM)),
              testing::StartsWith("SyncOnReadVariable:{\n  0: "));
}

TEST(StrategyVariableTest, AssignmentsOfReplicasAreAggregated) {
  MirroredStrategy strategy(cpus(2));
  const DVariable sum = variableOf(strategy, tensor(0.f), Aggregation::SUM),
                  mean = variableOf(strategy, tensor(0.f), Aggregation::MEAN),
                  first = variableOf(strategy, tensor(0.f),
                                     Aggregation::ONLY_FIRST_REPLICA),
                  same = variableOf(strategy, tensor(0.f), Aggregation::NONE),
                  number = variableOf(strategy, tensor(0.f), Aggregation::SUM);
  auto step = function([&] {
    strategy.run([&] {
      sum.assign(replicaNumber());
      sum.assign_add(replicaNumber()); // reads its own write
      mean.assign(replicaNumber());
      first.assign(replicaNumber());
      first.assign_sub(10 * replicaNumber());
      same.assign(sum + 1);
      number.assign(7);
    });
  });
  step();
  EXPECT_EQ(sum.item<float>(), 6);
  EXPECT_EQ(mean.item<float>(), 1.5);
  EXPECT_EQ(first.item<float>(), -9);
  EXPECT_EQ(same.item<float>(), 7);
  EXPECT_EQ(number.item<float>(), 7); // a number is taken as it is
  EXPECT_THAT(
      errorOf([&] { strategy.run([&] { same.assign(replicaNumber()); }); }),
      HasSubstr("or the variable's aggregation"));
}

TEST(StrategyVariableTest, MeansAreOfFloats) {
  MirroredStrategy strategy(cpus(2));
  const DVariable v = variableOf(strategy, tensor(0), Aggregation::MEAN);
  EXPECT_THAT(errorOf([&] {
                strategy.run([&] {
                  v.assign(get_replica_context()->replica_id_in_sync_group());
                });
              }),
              HasSubstr("expected a variable of floats to take the mean of "
                        "replicas' values, got 'v' of i32"));
}

TEST(StrategyVariableTest, RowsAreScatteredByAggregation) {
  MirroredStrategy strategy(cpus(2));
  const DVariable sum = variableOf(strategy, zeros({3}), Aggregation::SUM),
                  first = variableOf(strategy, zeros({3}),
                                     Aggregation::ONLY_FIRST_REPLICA);
  const Tensor index = tensor({1});
  auto step = function([&] {
    strategy.run([&] {
      const Tensor number = reshape(replicaNumber(), {1});
      sum.scatter_add(index, number);
      first.scatter_max(index, number);
    });
  });
  step();
  EXPECT_THAT(sum.to_vector<float>(), ElementsAre(0, 3, 0));
  EXPECT_THAT(first.to_vector<float>(), ElementsAre(0, 1, 0));
  sum.scatter_update(index, tensor({9.f})); // outside of replicas
  EXPECT_THAT(sum.to_vector<float>(), ElementsAre(0, 9, 0));
  EXPECT_THAT(errorOf([&] {
                strategy.run([&] {
                  sum.scatter_min(index, reshape(replicaNumber(), {1}));
                });
              }),
              HasSubstr("cannot be aggregated by SUM: aggregate by NONE or "
                        "ONLY_FIRST_REPLICA"));
}

TEST(StrategyVariableTest, SyncOnReadIsEachReplicasOwnUntilItIsRead) {
  MirroredStrategy strategy(cpus(2));
  const DVariable sum = syncOnRead(strategy, Aggregation::SUM),
                  mean = syncOnRead(strategy, Aggregation::MEAN),
                  first = syncOnRead(strategy, Aggregation::ONLY_FIRST_REPLICA),
                  none = syncOnRead(strategy, Aggregation::NONE);
  EXPECT_FALSE(sum.trainable());
  auto step = function([&] {
    return strategy.run([&] {
      for (const DVariable &v : {sum, mean, first, none})
        v.assign_add(replicaNumber());
      return none.read_value();
    });
  });
  step();
  EXPECT_THAT(strategy.reduce(ReduceOp::SUM, step()).item<float>(), 6);
  EXPECT_EQ(sum.item<float>(), 6);
  EXPECT_EQ(mean.item<float>(), 3);
  EXPECT_EQ(first.item<float>(), 2);
  EXPECT_EQ(sum.shape(), Shape({}));
  EXPECT_THAT(errorOf([&] { (void)none.read_value(); }),
              HasSubstr("no way to make them one"));
  // A value that is assigned outside of replicas is their sum, or each one's
  // value.
  sum.assign(tensor(8.f));
  mean.assign(tensor(8.f));
  EXPECT_EQ(sum.item<float>(), 8);
  EXPECT_EQ(mean.item<float>(), 8);
  EXPECT_THAT(printed(sum), HasSubstr("0: variable 'v' on CPU:0 4"));
  EXPECT_THAT(printed(mean), HasSubstr("0: variable 'v' on CPU:0 8"));
  EXPECT_THAT(
      errorOf([&] { sum.assign_add(1); }),
      HasSubstr("assign the new sum, or change the values in the replicas"));
  EXPECT_THAT(errorOf([&] { sum.scatter_add(tensor({0}), tensor({1.f})); }),
              HasSubstr("assign the whole value"));
}

// A device that computes nothing has the variables between steps.
TEST(StrategyVariableTest, CentralStorageOnADeviceThatDoesNotCompute) {
  const CentralStorageStrategy strategy({"CPU:1", "CPU:2"}, "CPU:5");
  EXPECT_EQ(strategy.num_replicas_in_sync(), 2);
  const DVariable v =
      variableOf(strategy, tensor({1.f, 2.f}), Aggregation::SUM);
  EXPECT_THAT(printed(v), HasSubstr("CentralVariable:{\n  0: variable 'v' on "
                                    "CPU:5 [1. 2.]"));
  auto step = function([&] {
    return strategy.run([&] {
      v.assign_add(replicaNumber() * ones({2}));
      return v * 2.0;
    });
  });
  for (const Tensor &local : strategy.experimental_local_results(step()))
    EXPECT_THAT(local.to_vector<float>(), ElementsAre(8, 10));
  EXPECT_THAT(v.to_vector<float>(), ElementsAre(4, 5));
  v.assign(tensor({1.f, 1.f}));
  EXPECT_THAT(printed(v), HasSubstr("on CPU:5 [1. 1.]"));
}

// One replica's variable prints as one of several would.
TEST(StrategyVariableTest, AMirroredVariableOfOneReplica) {
  const MirroredStrategy strategy({"CPU:1"});
  const DVariable v = variableOf(strategy, tensor(3.f), Aggregation::NONE);
  EXPECT_THAT(printed(v),
              HasSubstr("MirroredVariable:{\n  0: variable 'v' on CPU:1 3"));
  strategy.run([&] { v.assign_add(1.0); });
  EXPECT_EQ(v.item<float>(), 4);
}

TEST(StrategyVariableTest, CentralStorageKeepsThemOnOneDevice) {
  CentralStorageStrategy strategy(cpus(2));
  const DVariable w =
      variableOf(strategy, tensor({1.f, 2.f}), Aggregation::SUM);
  EXPECT_EQ(w.shape(), Shape({2}));
  EXPECT_THAT(printed(w), testing::StartsWith("CentralVariable:{\n  0: "));
  auto step = function([&] {
    return strategy.run([&] {
      GradientTape tape;
      const Tensor loss = reduce_sum(w * w) * replicaNumber();
      const Tensor gradient = tape.gradient(loss, w);
      w.assign_sub(gradient);
      return loss;
    });
  });
  EXPECT_EQ(strategy.reduce(ReduceOp::SUM, step()).item<float>(), 15);
  // w - (2 w + 4 w)
  EXPECT_THAT(w.to_vector<float>(), ElementsAre(-5, -10));
  w.assign(tensor({3.f, 4.f}));
  EXPECT_THAT(w.to_vector<float>(), ElementsAre(3, 4));
  for (const ValueInfo &argument : step.get_concrete_function().arguments())
    if (argument.role == ValueInfo::Role::Variable) {
      EXPECT_EQ(argument.shape, Shape({1, 2}));
      EXPECT_EQ(argument.layout.spec_string(), "[replica, *]");
    }
}

TEST(StrategyVariableTest, AnotherStrategysIsRefused) {
  MirroredStrategy strategy(cpus(2)), other(cpus(3));
  const DVariable w = variableOf(strategy, tensor(1.f), Aggregation::NONE);
  EXPECT_EQ(w.item<float>(), 1); // outside of scopes it is read
  EXPECT_THAT(
      errorOf([&] { other.run([&] { return w + 1; }); }),
      HasSubstr("variable 'v' was made in the scope of MirroredStrategy "
                "on CPU:0, CPU:1 and is used in that of "
                "MirroredStrategy on CPU:0, CPU:1, CPU:2"));
}

TEST(StrategyVariableTest, OptimizersSumGradientsOverReplicas) {
  struct Plain : CrossDeviceOps {
    mutable std::vector<Shape> seen;
    std::string name() const override { return "Plain"; }
    Tensor reduce(ReduceOp op, const PerReplica<Tensor> &value,
                  const ReduceDestinations &destinations) const override {
      EXPECT_EQ(op, ReduceOp::SUM);
      EXPECT_EQ(destinations.devices.size(), 2u);
      seen.push_back(value.stacked.shape());
      return reduce_sum(value.stacked, {0});
    }
  };
  auto plain = std::make_shared<Plain>();
  for (std::shared_ptr<const CrossDeviceOps> ops :
       {std::shared_ptr<const CrossDeviceOps>(),
        std::shared_ptr<const CrossDeviceOps>(plain),
        std::shared_ptr<const CrossDeviceOps>(
            std::make_shared<ReductionToOneDevice>())}) {
    MirroredStrategy strategy(cpus(2), ops);
    const DVariable w = variableOf(strategy, ones({3}), Aggregation::NONE),
                    b = variableOf(strategy, ones({2}), Aggregation::NONE);
    optimizers::SGD sgd({.learning_rate = 0.5, .momentum = 0.5});
    auto step = function([&] {
      strategy.run([&] {
        GradientTape tape;
        const Tensor loss =
            (reduce_sum(w) + 2 * reduce_sum(b)) * replicaNumber();
        sgd.apply_gradients(tape.gradient(loss, {w, b}));
      });
    });
    step();
    step();
    // Gradients 3 and 6; velocities 3, 4.5 and 6, 9.
    EXPECT_THAT(w.to_vector<float>(), testing::Each(1 - 0.5f * 7.5f));
    EXPECT_THAT(b.to_vector<float>(), testing::Each(1 - 0.5f * 15));
  }
  EXPECT_THAT(plain->seen, ElementsAre(Shape({2, 2}), Shape({2, 3})));
}

// Whatever the strategies are: neither reads nor writes a variable of another.
TEST(StrategyVariableTest, NoStrategyTakesThatOfAnother) {
  const std::vector<Strategy> strategies{
      MirroredStrategy(cpus(2)), CentralStorageStrategy(cpus(2)),
      TPUStrategy(cpus(3)), OneDeviceStrategy("CPU:1")};
  for (const Strategy &owner : strategies)
    for (const Strategy &user : strategies) {
      if (owner.name() == user.name())
        continue;
      SCOPED_TRACE(std::string(owner.name()) + " in " +
                   std::string(user.name()));
      const DVariable v = variableOf(owner, tensor(3.f), Aggregation::SUM);
      const auto message = errorOf([&] {
        auto scope = user.scope();
        user.run([&] { v.assign_add(replicaNumber()); });
      });
      // A variable of one device is as if made outside of strategies: what is
      // told is that it is on another device.
      if (owner.num_replicas_in_sync() == 1) {
        EXPECT_THAT(message, HasSubstr("same devices"));
      } else {
        EXPECT_THAT(message, HasSubstr("'v'"));
        EXPECT_THAT(message, HasSubstr("VariablesTest.cpp:"));
      }
      const auto read = errorOf(
          [&] { user.run([&] { return v.read_value() + replicaNumber(); }); });
      EXPECT_NE(read, "");
      EXPECT_EQ(v.item<float>(), 3);
    }
}

} // namespace
} // namespace meshloom
