// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loops and branches in Programs: files, numbering of steps, verification.
#include "meshloom/Core/Compiled.h"

#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace meshloom;
using testing::HasSubstr;

namespace {

const Mesh mesh = *Mesh::get({{"x", 2}});
const Layout rows = Layout::batch_sharded(mesh, "x", 1);
const Layout scalar = Layout::replicated(mesh, 0);

enum Buffer : unsigned {
  start,
  flag,
  choice,
  carried,
  isLess,
  doubled,
  next,
  after,
  negated,
  chosen
};

KernelStep kernel(std::string symbol, unsigned in, unsigned out,
                  int inPlace = -1) {
  const DimAccess access{0, {{0, 1}}};
  return {std::move(symbol),
          {{4, false, {0}}},
          {{in, {access}}},
          {{out, {access}}},
          {inPlace},
          {"f.mlir:1:1", "op"},
          1};
}

/// while (flag) { carried = double(carried), in place, then case(index) ... }
Program sample() {
  Program program{"control", mesh, {}, {}, {}, {}, {}};
  auto add = [&](const char *name, DType type, Shape shape, Layout layout) {
    program.buffers.push_back({name, type, std::move(shape), layout});
  };
  add("start", DType::F32, {4}, rows);
  add("flag", DType::I1, {}, scalar);
  add("index", DType::I32, {}, scalar);
  add("carried", DType::F32, {4}, rows);
  add("isLess", DType::I1, {}, scalar);
  add("doubled", DType::F32, {4}, rows);
  add("next", DType::F32, {4}, rows);
  add("after", DType::F32, {4}, rows);
  add("negated", DType::F32, {4}, rows);
  add("chosen", DType::F32, {4}, rows);
  program.arguments = {{start, "start"}, {flag, "flag"}, {choice, "index"}};
  program.results = {{chosen, -1, "result"}};
  LoopStep loop;
  loop.carried = {{start, carried, next, after}};
  KernelStep test{"not", {}, {{flag, {}}}, {{isLess, {}}}, {-1}, {}, 1};
  loop.condition = {test};
  loop.predicate = isLess;
  loop.body = {kernel("double", carried, doubled, 0),
               kernel("add", doubled, next)};
  loop.tripCount = 3;
  loop.note = {"f.mlir:2:3", "while"};
  BranchStep branch;
  branch.index = choice;
  branch.branches = {{kernel("negate", after, negated)}, {}};
  branch.outputs = {{chosen, {negated, after}}};
  branch.note = {"f.mlir:9:3", "case"};
  program.steps = {std::move(loop), std::move(branch)};
  return program;
}

std::string message(const Status &status) {
  return status ? "" : status.error().message();
}

} // namespace

TEST(ControlStepTest, RoundTrip) {
  Program program = sample();
  EXPECT_EQ(message(program.verify()), "");
  auto back = Compiled::deserialize(Compiled(program).serialize());
  ASSERT_TRUE(back) << back.error().message();
  EXPECT_EQ(back->program(), program);
  std::get<LoopStep>(program.steps[0]).tripCount = 4;
  EXPECT_FALSE(back->program() == program);
}

// Each device may decide on its own whether it goes on, but not how a sum of
// what they say is meant.
TEST(ControlStepTest, AConditionMayBePartialByOr) {
  for (ReduceKind kind : {ReduceKind::Or, ReduceKind::Max}) {
    Program program = sample();
    program.buffers[isLess].layout = scalar.with_partial({{0, kind}});
    EXPECT_EQ(bool(program.verify()), kind == ReduceKind::Or);
  }
}

// A step, then those inside it.
TEST(ControlStepTest, StepsAreCountedWithThoseInside) {
  Program program = sample();
  EXPECT_EQ(countSteps(program.steps), 6u);
  EXPECT_EQ(nestedLists(program.steps[0]).size(), 2u);
  EXPECT_EQ(nestedLists(program.steps[1]).size(), 2u);
  EXPECT_TRUE(
      nestedLists(std::get<LoopStep>(program.steps[0]).body[0]).empty());
}

TEST(ControlStepTest, VerifierRejects) {
  auto expect = [](const char *text, const std::function<void(Program &)> &f) {
    Program program = sample();
    f(program);
    EXPECT_THAT(message(program.verify()), HasSubstr(text));
    EXPECT_FALSE(Compiled::deserialize(Compiled(program).serialize()));
  };
  auto loop = [](Program &p) -> LoopStep & {
    return std::get<LoopStep>(p.steps[0]);
  };
  auto branch = [](Program &p) -> BranchStep & {
    return std::get<BranchStep>(p.steps[1]);
  };
  expect("while (f.mlir:2:3): an init reads buffer 9 before",
         [&](Program &p) { loop(p).carried[0].init = chosen; });
  expect("a carried value: buffers 0 and 4 differ",
         [&](Program &p) { loop(p).carried[0].argument = isLess; });
  expect("names buffer 99",
         [&](Program &p) { loop(p).carried[0].result = 99; });
  expect("is not a replicated scalar i1",
         [&](Program &p) { loop(p).predicate = start; });
  expect("the predicate reads buffer 6 before",
         [&](Program &p) { loop(p).predicate = next; });
  expect("-7 iterations", [&](Program &p) { loop(p).tripCount = -7; });
  expect("the next iteration reads buffer 6 before",
         [&](Program &p) { loop(p).body.pop_back(); });
  // A buffer that a list defines is gone after it, and defined nowhere else.
  expect("reads buffer 5 before", [&](Program &p) {
    p.steps.insert(p.steps.begin() + 1, kernel("add", doubled, negated));
  });
  expect("already has a value", [&](Program &p) {
    branch(p).branches[1] = {kernel("negate", after, negated)};
  });
  // The condition overwrites no argument, a list nothing from outside of it.
  expect("buffer 3 of an outer list is overwritten", [&](Program &p) {
    p.buffers.push_back(p.buffers[next]);
    loop(p).condition.push_back(kernel("double", carried, 10, 0));
  });
  expect("buffer 7 of an outer list is overwritten", [&](Program &p) {
    std::get<KernelStep>(branch(p).branches[0][0]).inPlace = {0};
  });
  expect("case (f.mlir:9:3): it has no branch", [&](Program &p) {
    branch(p).branches.clear();
    branch(p).outputs.clear();
  });
  expect("1 values of 2 branches",
         [&](Program &p) { branch(p).outputs[0].values.pop_back(); });
  expect("a result reads buffer 8 before",
         [&](Program &p) { branch(p).branches[0].clear(); });
  expect("is not a replicated scalar i32",
         [&](Program &p) { branch(p).index = flag; });
}

// A file of lists in lists in lists is refused before the stack is used up.
TEST(ControlStepTest, DeeplyNestedFilesAreRefused) {
  Program program = sample();
  Step inner = std::move(program.steps[1]);
  for (int depth = 0; depth < 100; ++depth) {
    BranchStep outer;
    outer.index = choice;
    outer.branches.emplace_back();
    outer.branches[0].push_back(std::move(inner));
    inner = std::move(outer);
  }
  program.steps[1] = std::move(inner);
  auto back = Compiled::deserialize(Compiled(program).serialize());
  ASSERT_FALSE(back);
  EXPECT_THAT(back.error().message(), HasSubstr("nested too deeply"));
}
