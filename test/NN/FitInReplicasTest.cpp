// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// fit under strategies whose replicas add up by themselves: metrics, losses,
// last batches that they do not divide, moments.
#include "../API/Testing.h"
#include "Cpus.h"

#include <cmath>

namespace meshloom {
namespace {

// Counting by thresholds scatters: ops with regions are seen to be the same in
// replicas of 2, 1 and 1 rows, too.
TEST(FitTest, MetricsThatScatterCountTheSameInReplicas) {
  const Tensor x = reshape(arange(26.f) / 26.f - 0.5f, {13, 2});
  const Tensor y =
      cast(equal(cast(arange(13.f), DType::I32) % 3, 0), DType::F32);
  auto fitted = [&](const Strategy &strategy) {
    auto scope = strategy.scope();
    Sequential model{Input({2}),
                     layers::Dense(1, {.activation = "sigmoid",
                                       .kernel_initializer = "ones"})};
    model.compile({.optimizer = optimizers::SGD(0.1),
                   .loss = "binary_crossentropy",
                   .metrics = {metrics::AUC(), metrics::Precision()}});
    return model.fit(
        {x, reshape(y, {13, 1}), arange(13.f) / 13.f + 0.5f},
        {.batch_size = 4, .epochs = 2, .verbose = 0, .shuffle = false});
  };
  const History expected = fitted(OneDeviceStrategy("CPU:0"));
  const History got = fitted(
      MirroredStrategy(cpus(3), std::make_shared<HierarchicalCopyAllReduce>()));
  for (const char *name : {"loss", "auc", "precision"})
    for (size_t epoch = 0; epoch < 2; ++epoch)
      EXPECT_NEAR(got[name][epoch], expected[name][epoch], 1e-5) << name;
}

/// Losses that are regularized, of examples and outputs with weights, through a
/// normalization: all of what a step makes a loss of.
std::vector<double> lossesOf(const std::shared_ptr<CrossDeviceOps> &ops,
                             int64_t replicas,
                             std::vector<std::string> *collectives = nullptr) {
  MirroredStrategy strategy(cpus(replicas), ops);
  auto scope = strategy.scope();
  const SymbolicTensor x = Input({3});
  const SymbolicTensor hidden = layers::BatchNormalization()(
      layers::Dense(4, {.kernel_initializer = "ones",
                        .kernel_regularizer = "l2",
                        .common = {.activity_regularizer = "l2"}})(x));
  const layers::Dense a(1, {.kernel_initializer = "ones", .name = "a"});
  const layers::Dense b(1, {.kernel_initializer = "ones", .name = "b"});
  Model model(x, {a(hidden), b(hidden)});
  model.compile({.optimizer = optimizers::Adam(0.1),
                 .loss = std::vector<losses::Loss>{"mse", "mae"},
                 .metrics = {"mae"},
                 .loss_weights = {1, 0.5}});
  const Tensor rows = sin(cast(iota({30}, 0), DType::F32));
  const Tensor features = reshape(rows, {10, 3});
  const Tensor label = reduce_sum(features, 1, true);
  std::vector<double> losses;
  for (int step = 0; step < 3; ++step) {
    const Logs logs = model.train_on_batch(
        features, std::vector{label, label * 2.f},
        {.sample_weight = cast(iota({10}, 0), DType::F32)});
    for (auto &[name, value] : logs.values())
      losses.push_back(value);
  }
  if (collectives)
    for (const CollectiveInfo &info :
         model.train_functions().back().collectives("ring"))
      collectives->push_back(std::string(name(info.kind)));
  return losses;
}

TEST(FitTest, LossesDoNotDependOnTheWayToReduce) {
  std::vector<std::string> perReplica, packed;
  const std::vector<double> expected = lossesOf(nullptr, 4, &perReplica);
  EXPECT_EQ(expected.size(), 15u);
  for (int64_t replicas : {3, 4}) {
    const std::vector<double> got =
        lossesOf(std::make_shared<HierarchicalCopyAllReduce>(2), replicas,
                 replicas == 4 ? &packed : nullptr);
    ASSERT_EQ(got.size(), expected.size());
    for (size_t i = 0; i < got.size(); ++i)
      EXPECT_NEAR(got[i], expected[i], 2e-5 * std::abs(expected[i])) << i;
  }
  EXPECT_NE(perReplica, packed);
}

// 6 rows are 2, 2, 1 and 1 in the replicas of a step, and 2, 2, 2 and 0 along
// the axis, which the groups of the reduction cut otherwise.
TEST(FitTest, RowsThatTheAxisDoesNotDivideAreReducedInGroups) {
  const Tensor x = reshape(sin(arange(39.f)), {13, 3});
  const Tensor y = reduce_sum(x, 1, true);
  auto fitted = [&](const std::shared_ptr<CrossDeviceOps> &ops,
                    int64_t perExecution) {
    MirroredStrategy strategy(cpus(4), ops);
    auto scope = strategy.scope();
    Sequential model(
        {Input({3}), layers::Dense(1, {.kernel_initializer = "ones"})});
    model.compile({.optimizer = optimizers::SGD(0.1),
                   .loss = "mse",
                   .steps_per_execution = perExecution});
    return model.fit(
        x, y, {.batch_size = 6, .epochs = 2, .verbose = 0, .shuffle = false});
  };
  const History expected = fitted(nullptr, 1);
  for (int64_t perExecution : {1, 2}) {
    const History got =
        fitted(std::make_shared<HierarchicalCopyAllReduce>(), perExecution);
    for (size_t epoch = 0; epoch < 2; ++epoch)
      EXPECT_NEAR(got["loss"][epoch], expected["loss"][epoch], 1e-5);
  }
}

// Each of two layers counts its calls; the loop of the first is between.
TEST(FitTest, RecurrentLayersDropInReplicasOfOtherRows) {
  MirroredStrategy strategy(cpus(2), std::make_shared<ReductionToOneDevice>());
  auto scope = strategy.scope();
  Sequential model({Input({4, 3}),
                    layers::Bidirectional(layers::LSTM(2, {.dropout = 0.5})),
                    layers::Dense(1)});
  model.compile({.optimizer = optimizers::SGD(0.1), .loss = "mse"});
  const History history =
      model.fit(ones({5, 4, 3}), ones({5, 1}), {.batch_size = 3, .verbose = 0});
  EXPECT_TRUE(std::isfinite(history["loss"][0]));
  int64_t counts = 0;
  for (const DVariable &variable : model.variables())
    if (variable.name().ends_with("/calls")) {
      EXPECT_EQ(variable.item<int64_t>(), 2) << variable.name();
      ++counts;
    }
  EXPECT_EQ(counts, 2);
}

// The third of three replicas has none of 4 rows in a last batch of 1.
TEST(FitTest, AReplicaWithoutRowsHasNoMoments) {
  const Tensor x = reshape(sin(arange(8.f)), {4, 2});
  MirroredStrategy strategy(cpus(3), std::make_shared<ReductionToOneDevice>());
  auto scope = strategy.scope();
  layers::BatchNormalization apart({.momentum = 0.5, .synchronized = false});
  Sequential model({Input({2}), apart, layers::Dense(1)});
  model.compile({.optimizer = optimizers::SGD(0.1), .loss = "mse"});
  model.fit(x, ones({4, 1}), {.batch_size = 3, .verbose = 0, .shuffle = false});
  for (const DVariable &weight : model.variables())
    for (float value : cast(weight, DType::F32).to_vector<float>())
      EXPECT_TRUE(std::isfinite(value)) << weight.name();
  // Replicas of one row: its moments are the row and 0.
  const std::vector<float> rows = x.to_vector<float>(),
                           mean =
                               apart.variable("moving_mean").to_vector<float>(),
                           variance = apart.variable("moving_variance")
                                          .to_vector<float>();
  for (size_t i = 0; i < 2; ++i) {
    const float first = (rows[i] + rows[2 + i] + rows[4 + i]) / 3;
    EXPECT_NEAR(mean[i], first / 4 + rows[6 + i] / 2, 1e-6);
    EXPECT_NEAR(variance[i], 0.25, 1e-6);
  }
}

// Parts of 2, 1 and 1 rows, as the step has them that runs in replicas; and of
// 1 row, 1 row and none.
TEST(FitTest, PartsOfOtherRowsAreNormalizedApart) {
  const Tensor x = reshape(sin(arange(36.f)), {6, 3, 2});
  auto fitted = [&](const std::shared_ptr<CrossDeviceOps> &ops) {
    MirroredStrategy strategy(cpus(3), ops);
    auto scope = strategy.scope();
    Sequential model(
        {Input({3, 2}), layers::BatchNormalization({.synchronized = false}),
         layers::Flatten(), layers::Dense(1, {.kernel_initializer = "ones"})});
    model.compile({.optimizer = optimizers::SGD(0.01), .loss = "mse"});
    std::vector<double> results = model.fit(
        x, ones({6, 1}),
        {.batch_size = 4, .epochs = 2, .verbose = 0, .shuffle = false})["loss"];
    for (const Tensor &weight : model.get_weights())
      for (float value : weight.to_vector<float>())
        results.push_back(value);
    return results;
  };
  EXPECT_THAT(
      fitted(nullptr),
      testing::Pointwise(testing::DoubleNear(1e-5),
                         fitted(std::make_shared<ReductionToOneDevice>())));
}

} // namespace
} // namespace meshloom
