// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Programs with halo exchanges: files, and what must hold of windows, of the
// ranges of loops and of what devices read; bytes of exchanges of several
// values.
#include "meshloom/Core/Compiled.h"

#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace meshloom;
using testing::HasSubstr;

namespace {

const Mesh four = *Mesh::get({{"x", 4}});

BufferDecl buffer(std::string name, int64_t extent, Windows windows = {}) {
  return {std::move(name),
          DType::F32,
          {extent},
          *Layout::get(four, {{0}}),
          std::move(windows)};
}

/// y[i] = x[i] + x[i + 1], of 10 elements in blocks of 3, 3, 3, 1; then a part
/// of z is written over, by ranges.
Program sample() {
  Program program{"halo", four, {}, {}, {}, {}, {}};
  program.buffers = {buffer("x", 10),
                     buffer("halo", 10, {{{0, 4}, {3, 7}, {6, 10}, {9, 10}}}),
                     buffer("y", 9), buffer("z", 5), buffer("w", 5)};
  program.arguments = {{0, "x"}, {3, "z"}};
  program.results = {{4, -1, "w"}};
  CollectiveStep exchange{CollectiveKind::HaloExchange,
                          {0},
                          ReduceKind::Sum,
                          {{0, 1}},
                          "x is needed beyond blocks",
                          {"m:1:1", "add"}};
  KernelStep add{"add",
                 {{9, false, {0}}},
                 {{1, {{0, {{0, 1}}}}}, {1, {{1, {{0, 1}}}}}},
                 {{2, {{0, {{0, 1}}}}}},
                 {-1},
                 {"m:1:1", "add"}};
  // Three elements of x over those of z, whose blocks are 2, 2, 1, 0.
  KernelStep move{"move",
                  {{3, false, {0}, {{0, 2}, {2, 3}, {3, 3}, {3, 3}}}},
                  {{1, {{1, {{0, 1}}}}}, {3, {{0, {{0, 1}}}}}},
                  {{4, {{0, {{0, 1}}}}}},
                  {1},
                  {"m:2:1", "slice"}};
  program.steps = {exchange, add, move};
  return program;
}

TEST(WindowProgramTest, ComesBackFromAFile) {
  Program program = sample();
  Status ok = program.verify();
  ASSERT_TRUE(ok) << ok.error().message();
  Result<Compiled> again = Compiled::deserialize(Compiled(program).serialize());
  ASSERT_TRUE(again) << again.error().message();
  EXPECT_EQ(again->program(), program);
}

void expectRefused(const std::function<void(Program &)> &damage,
                   const std::string &why) {
  Program program = sample();
  damage(program);
  Status status = program.verify();
  ASSERT_FALSE(status) << why;
  EXPECT_THAT(status.error().message(), HasSubstr(why));
}

KernelStep &kernel(Program &program, size_t step) {
  return std::get<KernelStep>(program.steps[step]);
}

TEST(WindowProgramTest, ElementsThatADeviceDoesNotHoldAreRefused) {
  expectRefused([](Program &p) { kernel(p, 1).inputs[1].buffer = 0; },
                "of which device 0 holds 0:3");
  expectRefused(
      [](Program &p) { p.buffers[1].windows[0][1] = {3, 6}; },
      "reads or writes 4:7 in dim 0 of buffer 1, of which device 1 holds 3:6");
}

TEST(WindowProgramTest, RangesAreAPartOfTheLoopEach) {
  auto withRanges = [](std::vector<Interval> ranges) {
    return [ranges](Program &p) { kernel(p, 2).loops[0].ranges = ranges; };
  };
  expectRefused(withRanges({{0, 2}, {2, 3}}), "2 ranges for 4 shards");
  expectRefused(withRanges({{0, 2}, {1, 3}, {3, 3}, {3, 3}}), "overlap");
  expectRefused(withRanges({{0, 1}, {1, 2}, {2, 2}, {2, 2}}),
                "leave something out");
  expectRefused(withRanges({{0, 2}, {2, 4}, {3, 3}, {3, 3}}),
                "2:4 is not in a loop of 3");
  // In order, but not where the elements are.
  expectRefused(withRanges({{0, 1}, {1, 3}, {3, 3}, {3, 3}}), "device 1 holds");
}

TEST(WindowProgramTest, WindowsAreWhereExchangesPutThem) {
  expectRefused(
      [](Program &p) {
        p.buffers[3].windows = {{{0, 2}, {2, 4}, {4, 5}, {5, 5}}};
      },
      "an argument, buffer 3, has windows");
  expectRefused([](Program &p) { p.buffers[1].windows = {{{0, 4}}}; },
                "1 windows for 4 shards");
  expectRefused(
      [](Program &p) {
        std::get<CollectiveStep>(p.steps[0]).kind = CollectiveKind::Permute;
      },
      "permute");
}

/// The first device has much to do for one value, the last for the other.
TEST(WindowProgramTest, BytesOfSeveralValuesAreThoseOfOneDevice) {
  Program program = sample();
  program.buffers.push_back(
      buffer("left", 8, {{{0, 4}, {2, 4}, {4, 6}, {6, 8}}}));
  program.buffers.push_back(
      buffer("right", 8, {{{0, 2}, {2, 4}, {4, 6}, {4, 8}}}));
  CollectiveStep one{
      CollectiveKind::HaloExchange, {0}, ReduceKind::Sum, {{0, 5}}, "", {}};
  CollectiveStep both = one;
  both.moves.push_back({0, 6});
  EXPECT_EQ(transferBytes(program.buffers, one), 8);
  EXPECT_EQ(transferBytes(program.buffers, both), 8);
  both.moves.push_back({0, 5});
  EXPECT_EQ(transferBytes(program.buffers, both), 16);
}

/// A held loop is no iteration: its ranges may overlap and share axes.
TEST(WindowProgramTest, IterationBoxOfRangesAndHeldLoops) {
  std::vector<Loop> loops{
      {9, false, {0}},
      {3, false, {}, {}},
      {10, false, {0}, {{0, 4}, {3, 7}, {6, 10}, {9, 10}}, true}};
  EXPECT_EQ(iterationBox(loops, four, 1), (Box{{3, 0, 3}, {3, 3, 4}}));
  EXPECT_EQ(iterationBox(loops, four, 3), (Box{{9, 0, 9}, {0, 3, 1}}));
}

} // namespace
