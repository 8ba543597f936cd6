// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which collectives each way of reducing asks for (facts 53 to 64).
#include "Testing.h"

#include "meshloom/API/ConcreteFunction.h"

namespace meshloom {
namespace {
using testing::ElementsAre;
using testing::HasSubstr;

/// The values of `replicas`, one row each, on their devices.
PerReplica<Tensor> stacked(const Strategy &strategy, Shape local,
                           float first = 1) {
  local.insert(local.begin(), strategy.num_replicas_in_sync());
  std::vector<float> values(static_cast<size_t>(elementCount(local)));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = first + float(i);
  return {.stacked = distribute(tensor(values, local),
                                *strategy.batch_layout(int64_t(local.size()))),
          .replicas = strategy.num_replicas_in_sync()};
}

ReduceDestinations allOf(const Strategy &strategy) {
  ReduceDestinations destinations{*strategy.mesh(), "replica", {}};
  for (const std::string &device : strategy.mesh()->local_devices())
    destinations.devices.push_back(DeviceSpec::from_string(device));
  return destinations;
}

/// The collectives of a step that reduces, "all_reduce 12" with bytes.
std::vector<std::string>
collectivesOf(const CrossDeviceOps &ops, const Strategy &strategy,
              const std::vector<PerReplica<Tensor>> &in,
              std::vector<Tensor> *results = nullptr) {
  auto step = function([&](const std::vector<PerReplica<Tensor>> &values) {
    return ops.batch_reduce(ReduceOp::SUM, values, allOf(strategy));
  });
  if (results)
    *results = step(in);
  std::vector<std::string> found;
  for (const CollectiveInfo &info :
       step.get_concrete_function(in).collectives("ring"))
    found.push_back(fmt::format("{} {}", name(info.kind), info.bytes));
  return found;
}

void expectSums(const std::vector<PerReplica<Tensor>> &values,
                const std::vector<Tensor> &sums) {
  ASSERT_EQ(values.size(), sums.size());
  for (size_t i = 0; i < values.size(); ++i) {
    EXPECT_EQ(sums[i].to_vector<float>(),
              reduce_sum(values[i].stacked, {0}).to_vector<float>());
    EXPECT_TRUE(sums[i].layout().is_fully_replicated());
  }
}

TEST(CrossDeviceOpsTest, EachWayShowsInTheCollectivesOfTheStep) {
  MirroredStrategy strategy(cpus(4));
  const std::vector<PerReplica<Tensor>> values = {stacked(strategy, {6}, 1),
                                                  stacked(strategy, {2, 2}, 9)};
  std::vector<Tensor> sums;
  EXPECT_THAT(
      collectivesOf(ReductionToOneDevice(), strategy, {values[0]}, &sums),
      ElementsAre(HasSubstr("reduce_scatter"), HasSubstr("all_gather")));
  expectSums({values[0]}, sums);
  EXPECT_THAT(
      collectivesOf(HierarchicalCopyAllReduce(), strategy, values, &sums),
      ElementsAre("reduce_scatter 20", "all_reduce 20", "all_gather 40"));
  expectSums(values, sums);
  // 10 elements: packs of 3, 3 and 4.
  EXPECT_THAT(
      collectivesOf(HierarchicalCopyAllReduce(3), strategy, values, &sums),
      ElementsAre("all_reduce 24", "all_reduce 24", "reduce_scatter 8",
                  "reduce_scatter 4", "all_gather 16"));
  expectSums(values, sums);
}

TEST(CrossDeviceOpsTest, NcclIsForGPUs) {
  MirroredStrategy strategy(cpus(2));
  EXPECT_THAT(errorOf([&] {
                NcclAllReduce().reduce(ReduceOp::SUM, stacked(strategy, {2}),
                                       allOf(strategy));
              }),
              HasSubstr("expected GPUs, which NCCL is for, got devices of type "
                        "CPU: leave cross_device_ops out"));
}

TEST(CrossDeviceOpsTest, NegativePacksAreRefused) {
  EXPECT_THAT(errorOf([] { NcclAllReduce(-1); }),
              HasSubstr("[NcclAllReduce] expected num_packs of at least 0"));
  EXPECT_THAT(errorOf([] { HierarchicalCopyAllReduce(-2); }),
              HasSubstr("got -2"));
  EXPECT_EQ(HierarchicalCopyAllReduce().num_packs(), 1);
}

TEST(CrossDeviceOpsTest, OneDeviceAddsAsItIsTold) {
  MirroredStrategy strategy(cpus(3));
  const ReductionToOneDevice ops(
      "CPU:1", [](const std::vector<Tensor> &values) {
        return maximum(maximum(values[0], values[1]), values[2]);
      });
  const Tensor most =
      ops.reduce(ReduceOp::SUM, stacked(strategy, {2}), allOf(strategy));
  EXPECT_THAT(most.to_vector<float>(), ElementsAre(5, 6));
  EXPECT_THAT(errorOf([&] {
                ReductionToOneDevice("CPU:9").reduce(
                    ReduceOp::SUM, stacked(strategy, {2}), allOf(strategy));
              }),
              HasSubstr("expected to reduce to one of the strategy's devices"));
}

TEST(CrossDeviceOpsTest, OpsHaveNames) {
  EXPECT_EQ(ReduceOp("mean"), ReduceOp::MEAN);
  EXPECT_EQ(ReduceOp("Sum"), ReduceOp::SUM);
  EXPECT_THAT(errorOf([] { ReduceOp("max"); }),
              HasSubstr("expected \"SUM\" or \"MEAN\", got \"max\""));
}

TEST(CrossDeviceOpsTest, PacksByBytesBeginAfterTheLimitIsPassed) {
  EXPECT_THAT(detail::packsByBytes({4, 4, 4, 4, 4}, 8), ElementsAre(3, 2));
  EXPECT_THAT(detail::packsByBytes({4, 4, 4}, 0), ElementsAre(3));
}

TEST(CrossDeviceOpsTest, OptionsOfACallCountBeforeThoseOfTheStrategy) {
  const CommunicationOptions ofCall{.bytes_per_pack = 100,
                                    .implementation = "ring"};
  const CommunicationOptions both = ofCall.merged({.bytes_per_pack = 50});
  EXPECT_EQ(both.bytes_per_pack, 50);
  EXPECT_EQ(both.implementation, CommunicationImplementation::RING);
  EXPECT_FALSE(both.timeout_seconds);
  EXPECT_THAT(errorOf([&] { (void)ofCall.merged({.bytes_per_pack = -1}); }),
              HasSubstr("expected bytes_per_pack of at least 0, got -1"));
  EXPECT_THAT(errorOf([] { CommunicationImplementation("mpi"); }),
              HasSubstr("expected \"AUTO\", \"RING\" or \"NCCL\""));
}

} // namespace
} // namespace meshloom
