// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Programs on several cards of the stand-in driver: exchanges by the host, by
// copies between peers and by the stand-in NCCL.
#include "../../../lib/Runtime/Backends/CUDA/CardLibraries.h"
#include "../../../lib/Runtime/Backends/CUDA/NCCL.h"
#include "CUDATest.h"

#include "meshloom/Runtime/Communicator.h"
#include "meshloom/Runtime/PlatformProcesses.h"

#include <future>

using namespace meshloom;
using namespace meshloom::test;
using testing::HasSubstr;

namespace {

using CardsTest = CUDATest;

// Cards send each other what collectives move: by way of the host, or directly.
TEST_F(CardsTest, StepsOnSeveralCardsAreThoseOfVirtualCPUs) {
  auto expected = runStep(clientOf("cpu", 8).value_or_throw(), "cpu", 8);
  ASSERT_TRUE(expected) << expected.error().message();
  for (auto [order, perCard, exchange] :
       {std::tuple("gpus=2,order=last", 4, "host"),
        std::tuple("gpus=4,seed=4", 2, "host"),
        std::tuple("gpus=2,order=last", 4, "peer"),
        std::tuple("gpus=4,seed=4", 2, "peer"),
        std::tuple("gpus=2,order=last", 4, "nccl"),
        std::tuple("gpus=4,seed=4", 2, "nccl")}) {
    begin(order);
    auto client =
        clientOf(platformName(fmt::format(",logical-gpus={},exchange={}",
                                          perCard, exchange)),
                 8);
    ASSERT_TRUE(client) << client.error().message();
    EXPECT_EQ((*client)->devices().back().name, "GPU:7");
    auto results = runStep(*client, "cuda", 8);
    ASSERT_TRUE(results) << results.error().message();
    ASSERT_EQ(results->size(), expected->size());
    for (size_t r = 0; r < results->size(); ++r)
      for (size_t i = 0; i < (*results)[r].size(); ++i)
        EXPECT_NEAR((*results)[r][i], (*expected)[r][i], 1e-5);
    EXPECT_EQ(standInCalls("cuMemcpyPeerAsync") > 0,
              exchange == std::string("peer"));
    EXPECT_GT(standInCalls("cuGraphLaunch"), 0);
    EXPECT_STREQ(standInFault(), "");
    EXPECT_EQ((*client)->bytesInUse(), 0);
    *client = nullptr;
    EXPECT_EQ(standInBytes(), 0) << "some memory is not given back";
  }
}

/// Two sums over all devices, which the compiler makes one collective.
constexpr const char *sumsText = R"(
#mesh = #dtensor.mesh<batch = {0}>
#rows = #dtensor.layout<#mesh, [batch, *]>
#full = #dtensor.layout<#mesh, [*]>
func.func @main(%x: tensor<16384x16xf32, #rows>, %y: tensor<16384x12xf32, #rows>,
                %v: tensor<5xf32, #full> {{dtensor.alias = 0 : i64}},
                %w: tensor<3xf32, #full> {{dtensor.alias = 1 : i64}})
    -> (tensor<5xf32, #full>, tensor<3xf32, #full>) {{
  %a = dtensor.reduce sum %x dims [0, 1] : (tensor<16384x16xf32, #rows>) -> tensor<f32>
  %b = dtensor.reduce sum %y dims [0, 1] : (tensor<16384x12xf32, #rows>) -> tensor<f32>
  %as = dtensor.broadcast_in_dim %a dims [] : (tensor<f32>) -> tensor<5xf32>
  %bs = dtensor.broadcast_in_dim %b dims [] : (tensor<f32>) -> tensor<3xf32>
  %v1 = dtensor.add %v, %as : (tensor<5xf32, #full>, tensor<5xf32>) -> tensor<5xf32, #full>
  %w1 = dtensor.add %w, %bs : (tensor<3xf32, #full>, tensor<3xf32>) -> tensor<3xf32, #full>
  return %v1, %w1 : tensor<5xf32, #full>, tensor<3xf32, #full>
}}
)";

// NCCL makes the sums of a collective as one transfer of each card.
TEST_F(CardsTest, SumsOfACollectiveAreOneTransfer) {
  auto expected =
      runStep(clientOf("cpu", 2).value_or_throw(), "cpu", 2, 1, false, sumsText)
          .value_or_throw();
  begin("gpus=2,seed=3");
  auto client = clientOf(platformName(",exchange=nccl"), 2).value_or_throw();
  auto results = runStep(client, "cuda", 2, 1, false, sumsText);
  ASSERT_TRUE(results) << results.error().message();
  for (size_t r = 0; r < results->size(); ++r)
    for (size_t i = 0; i < (*results)[r].size(); ++i)
      EXPECT_NEAR((*results)[r][i], expected[r][i], 1e-3);
  constexpr int cards = 2, works = 2; // to give addends and to take all
  EXPECT_EQ(standInCalls("NCCL"), cards * works);
  EXPECT_STREQ(standInFault(), "");
}

// Logical GPUs with private memories exchange data as cards do, also those of
// one card: they copy, where those that share a memory do not.
TEST_F(CardsTest, PrivateMemoriesAreCopied) {
  auto expected = runStep(clientOf("cpu", 4).value_or_throw(), "cpu", 4);
  ASSERT_TRUE(expected) << expected.error().message();
  for (auto [order, perCard, exchange, peers] :
       {std::tuple("gpus=1,order=last", 4, "peer", false),
        std::tuple("gpus=2,seed=5", 2, "peer", true),
        std::tuple("gpus=1,seed=6", 4, "host", false)}) {
    begin(order);
    auto client = clientOf(platformName(fmt::format(
                               ",private-memories,logical-gpus={},exchange={}",
                               perCard, exchange)),
                           4);
    ASSERT_TRUE(client) << client.error().message();
    auto results = runStep(*client, "cuda", 4);
    ASSERT_TRUE(results) << results.error().message();
    for (size_t r = 0; r < results->size(); ++r)
      for (size_t i = 0; i < (*results)[r].size(); ++i)
        EXPECT_NEAR((*results)[r][i], (*expected)[r][i], 1e-5);
    EXPECT_EQ(standInCalls("cuMemcpyPeerAsync") > 0, peers);
    EXPECT_EQ(standInCalls("cuMemcpyDtoDAsync") > 0,
              exchange == std::string("peer"));
    EXPECT_STREQ(standInFault(), "");
    *client = nullptr;
    EXPECT_EQ(standInBytes(), 0) << "some memory is not given back";
  }
  EXPECT_THAT(clientOf(platformName(",private-memories,exchange=nccl"), 2)
                  .error()
                  .message(),
              HasSubstr("with private-memories each logical GPU is one"));
}

TEST_F(CardsTest, GPUsThatAreNoPeersExchangeByTheHost) {
  begin("gpus=2,peers=0");
  auto refused = clientOf(platformName(",exchange=peer"), 2);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message(),
            "GPU 1 (stand-in) cannot read the memory "
            "of GPU 0 (stand-in)");
  auto client =
      clientOf(fmt::format("cuda:driver={}", MESHLOOM_STANDIN_PATH), 2)
          .value_or_throw();
  EXPECT_TRUE(runStep(client, "cuda", 2));
  EXPECT_GT(standInCalls("cuMemcpyDtoHAsync"), 2);
  EXPECT_STREQ(standInFault(), "");
}

// Threads stand for processes, which have a platform each.
TEST_F(CardsTest, SeveralProcessesExchangeByNCCLOrTheHost) {
  auto expected = runStep(clientOf("cpu", 2).value_or_throw(), "cpu", 2);
  ASSERT_TRUE(expected) << expected.error().message();
  for (const char *exchange : {"host", "nccl"}) {
    begin("gpus=2,seed=8");
    const auto store = std::make_shared<MemoryStore>();
    const auto transports = makeInProcessTransports(2);
    auto runRank = [&](int rank) -> Result<std::vector<std::vector<float>>> {
      const CallOrder::Inside inside;
      auto found = platform(
          platformName(fmt::format(",card={},exchange={}", rank, exchange)));
      auto client = (*found)->client(
          std::vector<int64_t>{0},
          std::make_shared<PlatformProcesses>(
              rank, 2, store, "gpus/",
              std::make_shared<Communicator>(transports[size_t(rank)])));
      return client ? runStep(*client, "cuda", 2) : client.error();
    };
    auto second = std::async(std::launch::async, runRank, 1);
    for (const auto &results : {runRank(0), second.get()}) {
      ASSERT_TRUE(results) << results.error().message();
      EXPECT_EQ(results->size(), expected->size());
    }
    EXPECT_STREQ(standInFault(), "");
  }
}

TEST_F(CardsTest, NCCLThatIsNotThereIsAnError) {
  begin("gpus=2");
  EXPECT_EQ(
      clientOf(
          fmt::format("cuda:driver={},exchange=nccl", MESHLOOM_STANDIN_PATH), 2)
          .error()
          .message(),
      fmt::format("exchange=nccl needs NCCL for the driver '{}': name it "
                  "with the option nccl=PATH",
                  MESHLOOM_STANDIN_PATH));
  EXPECT_THAT(
      clientOf(platformName(",exchange=nccl,nccl=/nowhere/libnccl.so"), 2)
          .error()
          .message(),
      HasSubstr("NVIDIA's NCCL cannot be loaded: /nowhere/libnccl.so"));
}

// A step that exchanges is asked for while the cards do nothing, and the next
// one likewise.
TEST_F(CardsTest, ExchangesDoNotWaitForTheGPU) {
  constexpr const char *text = R"(
#mesh = #dtensor.mesh<batch = 2>
#rows = #dtensor.layout<#mesh, [batch, *]>
#columns = #dtensor.layout<#mesh, [*, batch]>
func.func @main(%x: tensor<4x4xf32, #rows>) -> tensor<4x4xf32, #columns> {
  %0 = dtensor.add %x, %x : tensor<4x4xf32, #rows>
  %1 = dtensor.relayout %0 : (tensor<4x4xf32, #rows>) -> tensor<4x4xf32, #columns>
  return %1 : tensor<4x4xf32, #columns>
}
)";
  for (const char *exchange : {"peer", "nccl"}) {
    begin("gpus=2,seed=3");
    auto client =
        clientOf(platformName(fmt::format(",exchange={}", exchange)), 2)
            .value_or_throw();
    auto executable = client->load(compileFor("cuda", text)).value_or_throw();
    const std::vector<float> values = counting(16, 1);
    std::vector<float> twice;
    twice.reserve(values.size());
    for (float value : values)
      twice.push_back(2 * value);
    auto array =
        Array::fromHost(client, executable->signature().arguments[0].type,
                        {reinterpret_cast<const char *>(values.data()),
                         values.size() * sizeof(float)})
            .value_or_throw();
    ASSERT_EQ(floats(executable->execute({array}).value_or_throw()[0].toHost()),
              twice)
        << exchange; // NCCL's communicators are there
    standInHold(true);
    std::vector<Array> results;
    for (int step = 0; step < 3; ++step) {
      auto outcome = executable->execute({array});
      ASSERT_TRUE(outcome) << outcome.error().message();
      results.push_back(std::move(outcome->front()));
      EXPECT_FALSE(results.back().event().isReady());
    }
    standInHold(false);
    for (const Array &result : results)
      EXPECT_EQ(floats(result.toHost()), twice);
    EXPECT_STREQ(standInFault(), "");
  }
}

// A card's part of what it has all of: columns of two matrices are one copy.
TEST_F(CardsTest, StridedBoxesAreOneCopy) {
  constexpr const char *text = R"(
#mesh = #dtensor.mesh<batch = 2>
#full = #dtensor.layout<#mesh, [*, *, *]>
#cut = #dtensor.layout<#mesh, [*, *, batch]>
func.func @main(%x: tensor<2x4x6xf32, #full>) -> tensor<2x4x6xf32, #cut> {
  %0 = dtensor.constraint %x : (tensor<2x4x6xf32, #full>) -> tensor<2x4x6xf32, #cut>
  return %0 : tensor<2x4x6xf32, #cut>
}
)";
  begin("gpus=2,order=last");
  auto client = clientOf(platformName(), 2).value_or_throw();
  auto executable = client->load(compileFor("cuda", text)).value_or_throw();
  const std::vector<float> values = counting(48, 1);
  std::vector<Array> arguments{
      Array::fromHost(client, executable->signature().arguments[0].type,
                      {reinterpret_cast<const char *>(values.data()),
                       values.size() * sizeof(float)})
          .value_or_throw()};
  auto results = executable->execute(std::move(arguments));
  ASSERT_TRUE(results) << results.error().message();
  EXPECT_EQ(floats(results->front().toHost()), values);
  EXPECT_EQ(standInCalls("cuMemcpy3DAsync"), 2);
  EXPECT_EQ(standInCalls("cuMemcpyDtoDAsync"), 0);
  EXPECT_STREQ(standInFault(), "");
  // Each card's memory counts once.
  const int64_t bytes = client->bytesInUse();
  results->clear();
  EXPECT_EQ(bytes - client->bytesInUse(), 48 * int64_t(sizeof(float)));
}

// Two clients ask their cards in opposite orders: neither's transfer holds up a
// card for ever.
TEST_F(CardsTest, TransfersOfTwoClientsHaveOneOrderOnAllCards) {
  begin("gpus=2,patience=2000");
  const cuda::Driver &driver =
      *cuda::Driver::load(MESHLOOM_STANDIN_PATH).value_or_throw();
  const cuda::NCCL &library =
      *cuda::NCCL::load(MESHLOOM_STANDIN_NCCL_PATH).value_or_throw();
  std::vector<std::shared_ptr<cuda::Card>> cards;
  std::vector<plan::Block> blocks;
  for (int c : {0, 1}) {
    cards.push_back(cuda::Card::open(driver, c, 0, {}).value_or_throw());
    blocks.push_back(cards.back()->allocate(4).value_or_throw());
  }
  std::vector<std::vector<std::unique_ptr<cuda::CardLink>>> clients(2);
  for (auto &links : clients) {
    const auto order = std::make_shared<cuda::TransferOrder>(2);
    const auto transports = makeInProcessTransports(2);
    for (size_t c : {0, 1})
      links.push_back(cuda::makeNCCLLink(
          library, cards[c], std::make_shared<Communicator>(transports[c]),
          order));
  }
  auto ask = [&](size_t client, size_t card, uint64_t number) {
    return std::async(std::launch::async, [&, client, card, number] {
      const std::array<int, 2> group{0, 1};
      const std::array<cuda::CardLink::Sum, 1> sums{
          {{DType::I32, ReduceKind::Sum, blocks[card].get(), 1}}};
      return clients[client][card]->allReduce(group, sums,
                                              {number, std::nullopt});
    });
  };
  for (size_t client : {0, 1}) { // NCCL's communicators
    auto first = ask(client, 0, 0), second = ask(client, 1, 0);
    EXPECT_TRUE(first.get());
    EXPECT_TRUE(second.get());
  }
  std::vector<std::future<Status>> asked;
  asked.push_back(ask(0, 0, 2));
  EXPECT_TRUE(asked[0].get());
  asked[0] = ask(1, 1, 2);
  // Without an order the card is asked within this time.
  asked[0].wait_for(std::chrono::milliseconds(20));
  asked.push_back(ask(0, 1, 2));
  asked.push_back(ask(1, 0, 2));
  for (auto &outcome : asked)
    EXPECT_TRUE(outcome.get());
  for (const auto &card : cards)
    EXPECT_TRUE(card->synchronize());
  EXPECT_STREQ(standInFault(), "");
}

// The other cards do not wait for what one that is lost would have sent.
TEST_F(CardsTest, LostGPUEndsStepsOnSeveralCards) {
  for (const char *exchange : {"host", "peer", "nccl"}) {
    begin("gpus=2,fail=cuLaunchKernel:3:719");
    auto client = clientOf(
        platformName(fmt::format(
            ",logical-gpus=1,memory-limit=9000002,graphs=0,exchange={}",
            exchange)),
        2);
    ASSERT_TRUE(client) << client.error().message();
    auto results = runStep(*client, "cuda", 2);
    ASSERT_FALSE(results);
    EXPECT_THAT(
        results.error().message(),
        HasSubstr("cuLaunchKernel fails with CUDA_ERROR_LAUNCH_FAILED"));
    EXPECT_FALSE(runStep(*client, "cuda", 2));
  }
}
} // namespace
