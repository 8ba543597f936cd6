// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Communicator and Transport between threads of this process: what collectives
// give, whatever the order in which ranks post, and how they fail.
#include "meshloom/Runtime/Communicator.h"
#include "meshloom/Core/DType.h"
#include "meshloom/Runtime/Combine.h"
#include "meshloom/Runtime/KeyValueStore.h"

#include <gmock/gmock.h>
#include <latch>
#include <numeric>
#include <random>
#include <thread>

using namespace meshloom;
using namespace std::chrono_literals;
using testing::HasSubstr;

namespace {
/// Runs `body(communicator)` in a thread per rank.
template <typename Body> void onRanks(int size, Body body) {
  std::vector<std::thread> threads;
  threads.reserve(size);
  for (const std::shared_ptr<Transport> &transport :
       makeInProcessTransports(size))
    threads.emplace_back([transport, &body] {
      Communicator communicator(transport);
      body(communicator);
    });
  for (std::thread &thread : threads)
    thread.join();
}

std::vector<int> allOf(const Communicator &communicator) {
  std::vector<int> group(communicator.size());
  std::iota(group.begin(), group.end(), 0);
  return group;
}

std::vector<float> addends(int rank, int64_t count) {
  std::mt19937 random(rank + 1);
  std::vector<float> values(count);
  for (float &value : values)
    value = float(random()) / float(1 << 20) - 1000;
  return values;
}

// Every size, also such that do not divide: the bits of combining the addends
// in the order of ranks.
TEST(CommunicatorTest, AllReduceCombinesInTheOrderOfRanks) {
  for (int size : {2, 3, 5, 9, 13})
    for (int64_t count : {1, 7, 2048, 4096, 300001}) {
      std::vector<std::vector<float>> operands;
      for (int rank = 0; rank < size; ++rank)
        operands.push_back(addends(rank, count));
      std::vector<const void *> sources;
      for (const auto &values : operands)
        sources.push_back(values.data());
      std::vector<float> expected(count);
      combine(ReduceKind::Sum, DType::F32, expected.data(), sources, count);
      onRanks(size, [&](Communicator &communicator) {
        std::vector<float> data = operands[communicator.rank()];
        const Event done =
            communicator.allReduce(allOf(communicator), 1, DType::F32,
                                   ReduceKind::Sum, data.data(), count);
        ASSERT_TRUE(communicator.wait(done));
        EXPECT_EQ(data, expected);
      });
    }
}

// Each rank is in two groups, and starts all before it waits for any.
TEST(CommunicatorTest, ManyAllReducesOfGroupsAtOnce) {
  constexpr int64_t COUNT = 70000;
  onRanks(4, [&](Communicator &communicator) {
    const int rank = communicator.rank();
    const std::vector<int> row{rank / 2 * 2, rank / 2 * 2 + 1};
    const std::vector<int> column{rank % 2, rank % 2 + 2};
    std::vector<std::vector<int64_t>> data;
    std::vector<Event> events;
    data.reserve(10);
    for (uint64_t tag = 0; tag < 10; ++tag) {
      data.emplace_back(COUNT, rank + int64_t(tag));
      events.push_back(communicator.allReduce(tag % 2 == 0 ? row : column, tag,
                                              DType::I64, ReduceKind::Sum,
                                              data.back().data(), COUNT));
    }
    for (int64_t tag = 0; tag < 10; ++tag) {
      ASSERT_TRUE(communicator.wait(events[tag]));
      const auto &group = tag % 2 == 0 ? row : column;
      EXPECT_THAT(data[tag], testing::Each(group[0] + group[1] + 2 * tag));
    }
  });
}

// Several messages to one rank match in order; a rank may send to itself.
TEST(CommunicatorTest, ExchangeMovesWhatBothSidesList) {
  onRanks(3, [&](Communicator &communicator) {
    const int rank = communicator.rank();
    std::vector<std::string> sent;
    std::vector<Communicator::Outgoing> outgoing;
    std::vector<Communicator::Incoming> incoming;
    std::vector<std::string> received(6, std::string(3, ' '));
    for (int to = 0; to < 3; ++to)
      for (char part : {'a', 'b'})
        sent.push_back(std::string{char('0' + rank), char('0' + to), part});
    for (int i = 0; i < 6; ++i) {
      outgoing.push_back({i / 2, sent[i]});
      incoming.push_back({i / 2, received[i]});
    }
    const Event done = communicator.exchange(7, outgoing, incoming);
    ASSERT_TRUE(communicator.wait(done));
    for (int i = 0; i < 6; ++i)
      EXPECT_EQ(received[i], (std::string{char('0' + i / 2), char('0' + rank),
                                          i % 2 ? 'b' : 'a'}));
  });
}

TEST(CommunicatorTest, AllGatherIsInTheOrderOfRanks) {
  onRanks(3, [&](Communicator &communicator) {
    const std::string mine(2, char('a' + communicator.rank()));
    std::string gathered(6, ' ');
    ASSERT_TRUE(communicator.wait(
        communicator.allGather(allOf(communicator), 1, mine, gathered)));
    EXPECT_EQ(gathered, "aabbcc");
    EXPECT_FALSE(communicator.wait(communicator.allGather(
        allOf(communicator), 2, mine, std::span(gathered).first(5))));
  });
}

TEST(CommunicatorTest, BarrierWaitsForAll) {
  std::atomic<int> before{0};
  onRanks(5, [&](Communicator &communicator) {
    std::this_thread::sleep_for(communicator.rank() * 2ms);
    ++before;
    ASSERT_TRUE(
        communicator.wait(communicator.barrier(allOf(communicator), 3)));
    EXPECT_EQ(before, 5);
  });
}

// One rank gives up: the others' pending work fails with its words, and what
// they start later too.
TEST(CommunicatorTest, AbortReachesEveryRank) {
  onRanks(3, [&](Communicator &communicator) {
    if (communicator.rank() == 1) {
      communicator.abort(
          Error("the disk is full", ErrorCode::RESOURCE_EXHAUSTED));
      std::this_thread::sleep_for(20ms);
      return;
    }
    std::vector<float> data(100000);
    const Status outcome = communicator.wait(
        communicator.allReduce(allOf(communicator), 1, DType::F32,
                               ReduceKind::Sum, data.data(), 100000));
    ASSERT_FALSE(outcome);
    EXPECT_THAT(outcome.error().message(), HasSubstr("the disk is full"));
    EXPECT_EQ(outcome.error().code(), ErrorCode::RESOURCE_EXHAUSTED);
    EXPECT_FALSE(
        communicator.wait(communicator.barrier(allOf(communicator), 2)));
  });
}

// A rank that does not come: the error names it.
TEST(CommunicatorTest, TimeoutNamesTheRank) {
  std::latch isOver(1);
  onRanks(2, [&](Communicator &communicator) {
    if (communicator.rank() == 1)
      return isOver.wait();
    communicator.setTimeout(20ms);
    const Status outcome =
        communicator.wait(communicator.barrier(allOf(communicator), 1));
    isOver.count_down();
    ASSERT_FALSE(outcome);
    EXPECT_THAT(outcome.error().message(),
                HasSubstr("rank 1 (host localhost) did not answer rank 0"));
  });
}

// Ranks that run different programs.
TEST(CommunicatorTest, SizesThatDifferAreAnError) {
  onRanks(2, [&](Communicator &communicator) {
    std::string bytes(communicator.rank() + 1, 'x');
    std::string into(communicator.rank() + 1, ' ');
    const int other = 1 - communicator.rank();
    const Communicator::Outgoing outgoing{other, bytes};
    const Communicator::Incoming incoming{other, into};
    const Status outcome = communicator.wait(
        communicator.exchange(1, {&outgoing, 1}, {&incoming, 1}));
    ASSERT_FALSE(outcome);
  });
}

TEST(CommunicatorTest, AGroupWithoutThisRankIsAnError) {
  Communicator communicator(makeInProcessTransports(2)[0]);
  const int other = 1;
  const Status outcome = communicator.barrier({&other, 1}, 0).wait();
  ASSERT_FALSE(outcome);
  EXPECT_THAT(outcome.error().message(), HasSubstr("has this one, 0; got (1)"));
}

TEST(KeyValueStoreTest, GetWaitsUntilSomebodySets) {
  auto store = std::make_shared<MemoryStore>();
  PrefixStore part(store, "run/2/");
  std::thread later([&] {
    std::this_thread::sleep_for(5ms);
    ASSERT_TRUE(part.set("address", "1.2.3.4"));
  });
  EXPECT_EQ(*store->get("run/2/address", 10s), "1.2.3.4");
  later.join();
  EXPECT_EQ(*part.find("address"), "1.2.3.4");
  ASSERT_TRUE(part.erase(""));
  EXPECT_EQ(*part.find("address"), std::nullopt);
  const Result<std::string> gone = store->get("run/2/address", 1ms);
  ASSERT_FALSE(gone);
  EXPECT_THAT(gone.error().message(), HasSubstr("'run/2/address'"));
}
} // namespace
