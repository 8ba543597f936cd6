// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The decisions of Runtime/Plan for all backends: who shares memory, what is
// copied first, in which orders work may run, and where scratch memory lies.
#include "TestPrograms.h"

#include "meshloom/Runtime/Plan/MemoryPlan.h"
#include "meshloom/Runtime/Plan/Offsets.h"

#include <algorithm>
#include <random>

using namespace meshloom;
using namespace meshloom::plan;
using namespace meshloom::test;
using testing::ElementsAre;

namespace {
/// On a mesh of 2: w of shape [4, 3] is given; `gather` has all of it.
struct Update {
  Update() : mesh(makeMesh({{"x", 2}})), b(mesh) {
    w = b.argument({4, 3}, rows);
    g = b.argument({4, 3}, rows);
  }
  /// w - g in w's memory.
  unsigned update() {
    unsigned after = b.buffer({4, 3}, rows);
    b.kernel("update", loops, {{w, byLoops({0, 1})}, {g, byLoops({0, 1})}},
             {{after, byLoops({0, 1})}}, {0});
    return after;
  }
  unsigned twice(unsigned from) {
    unsigned to = b.buffer({4, 3}, rows);
    b.kernel("twice", loops, {{from, byLoops({0, 1})}},
             {{to, byLoops({0, 1})}});
    return to;
  }
  Result<MemoryPlan> plan(bool anyOrder, bool views = false) const {
    MemoryRules rules{.bytes = [](unsigned) -> int64_t { return 48; },
                      .way = {},
                      .anyOrder = anyOrder};
    if (views)
      rules.way = [](const CollectiveStep &, const CollectiveStep::Move &) {
        return MoveWay::View;
      };
    return planMemory(b.program, rules);
  }
  Mesh mesh;
  Layout rows{{"x", UNSHARDED}, mesh}, whole{{UNSHARDED, UNSHARDED}, mesh};
  std::vector<Loop> loops = {{4, false, {0}}, {3}};
  ProgramBuilder b;
  unsigned w, g;
};

std::vector<Action::Kind> kindsOf(const MemoryPlan &plan) {
  std::vector<Action::Kind> kinds;
  for (const Action &action : plan.actions)
    kinds.push_back(action.kind);
  return kinds;
}

// A later reader goes first where order is free; else the value is copied.
TEST(MemoryPlanTest, ReaderAfterAnUpdate) {
  Update p;
  unsigned after = p.update();
  p.b.result(after, 0);
  p.b.result(p.twice(p.w));
  auto any = p.plan(true);
  ASSERT_TRUE(any) << any.error().message();
  EXPECT_THAT(kindsOf(*any),
              ElementsAre(Action::Kind::Step, Action::Kind::Step));
  EXPECT_EQ(any->buffers[after].memory, any->buffers[p.w].memory);
  EXPECT_TRUE(any->memoryOf(p.w).overwritten);
  EXPECT_THAT(any->successors[1], ElementsAre(0u)); // write after read

  auto inOrder = p.plan(false);
  ASSERT_TRUE(inOrder);
  EXPECT_THAT(
      kindsOf(*inOrder),
      ElementsAre(Action::Kind::Copy, Action::Kind::Step, Action::Kind::Step));
  EXPECT_NE(inOrder->buffers[after].memory, inOrder->buffers[p.w].memory);
  EXPECT_FALSE(inOrder->memoryOf(p.w).overwritten);
  EXPECT_EQ(inOrder->actions[1].reads[0], inOrder->actions[0].writes[0]);
  EXPECT_EQ(inOrder->memoryOf(after).kind, Memory::Kind::Result);
}

// No order serves a reader of both: a copy, whatever the rules.
TEST(MemoryPlanTest, ReaderOfOldAndNew) {
  for (bool anyOrder : {false, true}) {
    Update p;
    unsigned after = p.update(), sum = p.b.buffer({4, 3}, p.rows);
    p.b.kernel("add", p.loops,
               {{p.w, byLoops({0, 1})}, {after, byLoops({0, 1})}},
               {{sum, byLoops({0, 1})}});
    p.b.result(sum);
    auto plan = p.plan(anyOrder);
    ASSERT_TRUE(plan);
    EXPECT_EQ(plan->actions[0].kind, Action::Kind::Copy);
    EXPECT_FALSE(plan->memoryOf(p.w).overwritten);
  }
}

// A reader through a view keeps an update waiting; a real copy does not.
TEST(MemoryPlanTest, ViewsAreTheSameValue) {
  Update p;
  unsigned gathered = p.b.buffer({4, 3}, p.whole);
  p.b.collective(CollectiveKind::AllGather, {0}, {{p.w, gathered}});
  unsigned after = p.update();
  p.b.result(after, 0);
  unsigned twice = p.b.buffer({4, 3}, p.whole);
  p.b.kernel("twice", {{4}, {3}}, {{gathered, byLoops({0, 1})}},
             {{twice, byLoops({0, 1})}});
  p.b.result(twice);
  auto apart = p.plan(false, /*views=*/false);
  ASSERT_TRUE(apart);
  EXPECT_THAT(
      kindsOf(*apart),
      ElementsAre(Action::Kind::Move, Action::Kind::Step, Action::Kind::Step));
  EXPECT_TRUE(apart->memoryOf(p.w).overwritten);
  auto views = p.plan(true, /*views=*/true);
  ASSERT_TRUE(views);
  EXPECT_THAT(kindsOf(*views),
              ElementsAre(Action::Kind::Step, Action::Kind::Step));
  EXPECT_EQ(views->buffers[gathered].memory, views->buffers[p.w].memory);
  EXPECT_THAT(views->successors[1], ElementsAre(0u));
}

// A kernel that reads elsewhere in what it updates gets a copy to update.
TEST(MemoryPlanTest, SecondAccessToWhatIsUpdated) {
  Update p;
  unsigned after = p.b.buffer({4, 3}, p.rows);
  std::vector<DimAccess> reversed = byLoops({0, 1});
  reversed[1] = {2, {{1, -1}}};
  p.b.kernel("update", p.loops, {{p.w, byLoops({0, 1})}, {p.w, reversed}},
             {{after, byLoops({0, 1})}}, {0});
  p.b.result(after);
  for (bool anyOrder : {false, true}) {
    auto plan = p.plan(anyOrder);
    ASSERT_TRUE(plan);
    EXPECT_EQ(plan->actions[0].kind, Action::Kind::Copy);
    EXPECT_EQ(plan->actions[1].reads[1], p.w);
  }
}

// Values that live one after the other share an offset.
TEST(OffsetsTest, LifetimesThatDoNotMeetShareMemory) {
  const std::vector<Lifetime> lives = {
      {0, 1, 64}, {1, 2, 64}, {2, 3, 64}, {-1, -1, 1000}, {3, 3, 64}};
  const Offsets placed = placeByLifetime(lives);
  EXPECT_EQ(placed.peak, 128);
  EXPECT_EQ(placed.offsets[2], placed.offsets[0]);
  EXPECT_EQ(placed.offsets[4], placed.offsets[1]);
  EXPECT_NE(placed.offsets[0], placed.offsets[1]);
}

// In turn, a large value does not fit into the gap that small ones left and one
// of them still divides.
TEST(OffsetsTest, LargestFirstWhereTurnsLeaveGaps) {
  const std::vector<Lifetime> lives = {
      {0, 0, 64000}, {0, 3, 6400}, {0, 0, 64000}, {1, 2, 128000}};
  const Offsets placed = placeByLifetime(lives);
  EXPECT_EQ(placed.live, 64000 + 6400 + 64000);
  EXPECT_EQ(placed.peak, placed.live);
}

// Memory is at most a tenth more than what lives at one time, as forward and
// backward passes make it: activations of many sizes that the gradients need
// in reverse, and values that live for a few steps.
TEST(OffsetsTest, NearlyNoMemoryIsLostToGaps) {
  std::mt19937 random(7);
  for (int model = 0; model < 10; ++model) {
    const int steps = 40 + int(random() % 200);
    std::vector<Lifetime> lives;
    for (int step = 0; step < steps; ++step) {
      const int64_t bytes = int64_t(1 + random() % 64) << (10 + random() % 8);
      lives.push_back({step, 2 * steps - step, bytes});
      for (int begin : {step, 2 * steps - step})
        lives.push_back({begin, begin + int(random() % 4),
                         int64_t(1 + random() % 64) << (10 + random() % 10)});
    }
    const Offsets placed = placeByLifetime(lives);
    EXPECT_LE(double(placed.peak), 1.1 * double(placed.live)) << model;
    for (size_t a = 0; a < lives.size(); ++a)
      for (size_t b = 0; b < a; ++b)
        if (lives[a].first <= lives[b].last && lives[b].first <= lives[a].last)
          EXPECT_TRUE(placed.offsets[a] + lives[a].bytes <= placed.offsets[b] ||
                      placed.offsets[b] + lives[b].bytes <= placed.offsets[a]);
  }
}

TEST(OffsetAllocatorTest, FreedMemoryIsReusedAndJoined) {
  OffsetAllocator allocator;
  const int64_t a = allocator.allocate(100), b = allocator.allocate(100);
  const int64_t c = allocator.allocate(100);
  EXPECT_EQ(allocator.peak(), 384);
  EXPECT_TRUE(a % 64 == 0 && b % 64 == 0 && c % 64 == 0);
  allocator.release(a, 100);
  allocator.release(b, 100);
  EXPECT_EQ(allocator.allocate(256), a);
  allocator.release(c, 100);
  EXPECT_EQ(allocator.allocate(1000), c); // grows at the end
  EXPECT_EQ(allocator.peak(), 256 + 1024);
}
} // namespace
