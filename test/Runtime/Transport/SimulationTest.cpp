// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Collectives under simulated networks: every schedule gives the same bits, a
// rank that dies is named by all others, and collectives that are not in one
// order are found.
#include "meshloom/Runtime/Transport/Simulation.h"

#include "meshloom/Core/DType.h"
#include "meshloom/Runtime/Combine.h"
#include "meshloom/Runtime/Communicator.h"

#include <gmock/gmock.h>
#include <numeric>
#include <random>
#include <set>
#include <thread>

using namespace meshloom;
using namespace std::chrono_literals;
using testing::HasSubstr;

namespace {
/// Runs `body(communicator)` in a thread per rank.
template <typename Body>
void onRanks(Simulation &simulation, int size, Body body) {
  std::vector<std::thread> threads;
  for (int rank = 0; rank < size; ++rank)
    threads.emplace_back([&, transport = simulation.transport(rank)]() mutable {
      Communicator communicator(std::move(transport));
      body(communicator);
    });
  for (std::thread &thread : threads)
    thread.join();
}

int64_t addend(int rank, int64_t i) {
  return (rank + 3) * (i % 1000) + rank;
}

/// A row of collectives, the same for all ranks: sums over all and over pairs,
/// some started before the ones before are complete. Its error, if any.
Status someCollectives(Communicator &communicator, uint64_t seed) {
  std::mt19937_64 random(seed);
  const int rank = communicator.rank();
  std::vector<int> everybody(communicator.size());
  std::iota(everybody.begin(), everybody.end(), 0);
  const std::vector<int> pair{rank / 2 * 2, rank / 2 * 2 + 1};
  std::vector<std::vector<int64_t>> data;
  std::vector<Event> events;
  data.reserve(8);
  for (uint64_t step = 0; step < 8; ++step) {
    const int64_t count = random() % 2 ? 10 : 3000;
    const bool ofAll = random() % 2;
    const bool waits = random() % 2;
    data.emplace_back(count);
    for (int64_t i = 0; i < count; ++i)
      data.back()[i] = addend(rank, i);
    const std::vector<int> &group = ofAll ? everybody : pair;
    events.push_back(communicator.allReduce(
        group, step, DType::I64, ReduceKind::Sum, data.back().data(), count));
    if (!waits && step < 7)
      continue;
    Status outcome = Success();
    for (const Event &event : events)
      if (Status one = communicator.wait(event); !one && outcome)
        outcome = one;
    if (!outcome)
      return outcome;
    for (int64_t i = 0; i < count; ++i) {
      int64_t sum = 0;
      for (int member : group)
        sum += addend(member, i);
      if (data.back()[i] != sum)
        return Error("a sum is wrong");
    }
  }
  return communicator.wait(communicator.barrier(everybody, 99));
}

TEST(SimulationTest, EveryScheduleGivesTheSums) {
  std::set<uint64_t> schedules;
  for (uint64_t seed = 0; seed < 40; ++seed) {
    SimulationOptions options;
    options.size = 4;
    options.seed = seed;
    Simulation simulation(options);
    onRanks(simulation, 4, [&](Communicator &communicator) {
      const Status outcome = someCollectives(communicator, 1);
      EXPECT_TRUE(outcome) << seed << ": " << outcome.error().message();
    });
    schedules.insert(simulation.schedule());
  }
  // One each.
  EXPECT_EQ(schedules.size(), 40u);
}

TEST(SimulationTest, ASeedPlaysTheSameScheduleAgain) {
  std::set<uint64_t> schedules;
  for (int repeat = 0; repeat < 5; ++repeat) {
    SimulationOptions options;
    options.size = 4;
    options.seed = 7;
    options.idle = 5s;
    Simulation simulation(options);
    onRanks(simulation, 4, [&](Communicator &communicator) {
      EXPECT_TRUE(someCollectives(communicator, 2));
    });
    schedules.insert(simulation.schedule());
  }
  EXPECT_EQ(schedules.size(), 1u);
}

// Wherever a rank dies, everybody ends, and all but it name it.
TEST(SimulationTest, ARankThatDiesIsNamed) {
  for (uint64_t seed = 0; seed < 40; ++seed) {
    SimulationOptions options;
    options.size = 4;
    options.seed = seed;
    options.killedRank = int(seed % 4);
    options.killAfter = int64_t(1 + seed);
    Simulation simulation(options);
    onRanks(simulation, 4, [&](Communicator &communicator) {
      const Status outcome = someCollectives(communicator, seed);
      ASSERT_FALSE(outcome) << seed;
      EXPECT_THAT(outcome.error().message(),
                  HasSubstr(communicator.rank() == options.killedRank
                                ? std::string("this rank is killed")
                                : "its process has ended"));
      if (communicator.rank() != options.killedRank)
        EXPECT_THAT(outcome.error().message(),
                    HasSubstr("rank " + std::to_string(options.killedRank)));
    });
  }
}

// Two sums that one rank does in the other order.
TEST(SimulationTest, AnotherOrderOfCollectivesIsFound) {
  for (const int64_t count : {10, 100000}) {
    SimulationOptions options;
    options.size = 3;
    options.patience = 100ms;
    Simulation simulation(options);
    onRanks(simulation, 3, [&](Communicator &communicator) {
      const std::vector<int> group{0, 1, 2};
      std::vector<float> data(count);
      std::vector<uint64_t> tags{1, 2};
      if (communicator.rank() == 1)
        std::swap(tags[0], tags[1]);
      for (uint64_t tag : tags) {
        const Status outcome = communicator.wait(communicator.allReduce(
            group, tag, DType::F32, ReduceKind::Sum, data.data(), count));
        if (outcome)
          continue;
        EXPECT_THAT(outcome.error().message(), HasSubstr("not in one order"));
        EXPECT_THAT(outcome.error().message(), HasSubstr("waits for rank 1"));
        return;
      }
      ADD_FAILURE() << "not found";
    });
  }
}
} // namespace
