// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The conformance suite's tests of loops and branches: no value is lost, none
// is copied without need, collectives are counted each time.
#include "Conformance.h"

using namespace meshloom;
using namespace meshloom::test;
using testing::ElementsAre;

namespace {
void increment(void *const *operands, const int64_t *, const int64_t *,
               const int64_t *) {
  *static_cast<float *>(operands[0]) += 1;
}
void below3(void *const *operands, const int64_t *, const int64_t *,
            const int64_t *) {
  *static_cast<uint8_t *>(operands[1]) = *static_cast<float *>(operands[0]) < 3;
}

/// Whether any of the device's elements is below 3.
void anyBelow3(void *const *operands, const int64_t *strides, const int64_t *,
               const int64_t *extents) {
  bool any = false;
  for (int64_t i = 0; i < extents[0]; ++i)
    any |= static_cast<float *>(operands[0])[i * strides[0]] < 3;
  *static_cast<uint8_t *>(operands[1]) = any;
}
void incrementBelow3(void *const *operands, const int64_t *strides,
                     const int64_t *, const int64_t *extents) {
  for (int64_t i = 0; i < extents[0]; ++i)
    if (float &u = static_cast<float *>(operands[0])[i * strides[0]]; u < 3)
      u += 1;
}

std::shared_ptr<FunctionLibrary> controlKernels() {
  auto library = testKernels();
  library->functions["anyBelow3"] = anyBelow3;
  library->functions["incrementBelow3"] = incrementBelow3;
  library->functions["increment"] = increment;
  library->functions["below3"] = below3;
  return library;
}

/// Builds the steps of a list: what `steps` adds to the builder's program.
template <typename F> std::vector<Step> listOf(ProgramBuilder &b, F &&steps) {
  std::vector<Step> outer = std::move(b.program.steps);
  b.program.steps.clear();
  steps();
  std::vector<Step> list = std::move(b.program.steps);
  b.program.steps = std::move(outer);
  return list;
}

/// A loop that a float counts from `count` to 3, with carried values and what
/// the body does beside counting.
template <typename F>
void addLoop(ProgramBuilder &b, unsigned count,
             std::vector<LoopStep::Carry> carried, F &&body) {
  const Layout scalar = Layout::replicated(b.program.mesh, 0);
  const unsigned argument = b.buffer({}, scalar), next = b.buffer({}, scalar),
                 result = b.buffer({}, scalar),
                 predicate = b.buffer({}, scalar, DType::I1);
  LoopStep loop;
  loop.carried = std::move(carried);
  loop.carried.push_back({count, argument, next, result});
  loop.condition = listOf(
      b, [&] { b.kernel("below3", {}, {{argument, {}}}, {{predicate, {}}}); });
  loop.predicate = predicate;
  loop.body = listOf(b, [&] {
    body();
    b.kernel("increment", {}, {{argument, {}}}, {{next, {}}}, {0});
  });
  b.program.steps.push_back(std::move(loop));
}

/// The same with one carried value of shape [5, 3], from `init` on: `body(u,
/// next)` makes the next one. The last value.
template <typename F>
unsigned addLoopOver(ProgramBuilder &b, unsigned init, const Layout &layout,
                     float count, F &&body) {
  const unsigned counter =
      b.constant({}, Layout::replicated(b.program.mesh, 0), {count});
  const unsigned u = b.buffer({5, 3}, layout), next = b.buffer({5, 3}, layout),
                 after = b.buffer({5, 3}, layout);
  addLoop(b, counter, {{init, u, next, after}}, [&] { body(u, next); });
  return after;
}

unsigned indexOf(ProgramBuilder &b, int32_t value) {
  unsigned buffer =
      b.buffer({}, Layout::replicated(b.program.mesh, 0), DType::I32);
  const char *bytes = reinterpret_cast<const char *>(&value);
  b.program.constants.push_back({buffer, {bytes, bytes + 4}, true});
  return buffer;
}

// The body updates in place; the init, which is read after the loop, keeps its
// value, and so does the caller's array.
TEST_P(Conformance, LoopKeepsItsInit) {
  Mesh mesh = makeMesh({{"x", 2}});
  Layout layout({"x", UNSHARDED}, mesh);
  ProgramBuilder b(mesh);
  unsigned w = b.argument({5, 3}, layout), g = b.argument({5, 3}, layout);
  unsigned after = addLoopOver(b, w, layout, 0, [&](unsigned u, unsigned next) {
    b.kernel("update", {{5, false, {0}}, {3}},
             {{u, byLoops({0, 1})}, {g, byLoops({0, 1})}},
             {{next, byLoops({0, 1})}}, {0});
  });
  unsigned sum = b.buffer({5, 3}, layout);
  b.kernel("add", {{5, false, {0}}, {3}},
           {{w, byLoops({0, 1})}, {after, byLoops({0, 1})}},
           {{sum, byLoops({0, 1})}});
  b.result(after);
  b.result(sum);
  auto cpu = client(2);
  auto executable = cpu->load(Compiled(b.program, controlKernels()));
  ASSERT_TRUE(executable) << executable.error().message();
  Array weights = fromFloats(cpu, {5, 3}, layout, counting(15, 100));
  Array steps = fromFloats(cpu, {5, 3}, layout, counting(15));
  const int64_t before = cpu->bytesInUse();
  for (int run = 0; run < 2; ++run) {
    auto results = (*executable)->execute({weights, steps});
    ASSERT_TRUE(results) << results.error().message();
    for (int i = 0; i < 15; ++i) {
      EXPECT_EQ(floats((*results)[0].toHost())[i], 100 + i - 3 * i);
      EXPECT_EQ(floats((*results)[1].toHost())[i], 200 + 2 * i - 3 * i);
    }
  }
  EXPECT_EQ(floats(weights.toHost()), counting(15, 100));
  EXPECT_EQ(cpu->bytesInUse(), before);
}

// Two carried values change places, with one update; one starts twice.
TEST_P(Conformance, CarriedValuesChangePlaces) {
  Mesh mesh = makeMesh({{"x", 3}});
  Layout layout({"x", UNSHARDED}, mesh);
  ProgramBuilder b(mesh);
  unsigned w = b.argument({5, 3}, layout);
  unsigned zero = b.constant({}, Layout::replicated(mesh, 0), {0});
  unsigned u = b.buffer({5, 3}, layout), v = b.buffer({5, 3}, layout),
           twice = b.buffer({5, 3}, layout), first = b.buffer({5, 3}, layout),
           second = b.buffer({5, 3}, layout);
  // (u, v) = (v, 2 u): (w, w) -> (w, 2w) -> (2w, 2w) -> (2w, 4w)
  addLoop(b, zero, {{w, u, v, first}, {w, v, twice, second}}, [&] {
    b.kernel("twice_in_place", {{5, false, {0}}, {3}}, {{u, byLoops({0, 1})}},
             {{twice, byLoops({0, 1})}}, {0});
  });
  b.result(first);
  b.result(second);
  auto cpu = client(3);
  auto executable = cpu->load(Compiled(b.program, controlKernels()));
  ASSERT_TRUE(executable) << executable.error().message();
  auto results =
      (*executable)
          ->execute({fromFloats(cpu, {5, 3}, layout, counting(15, 1))});
  ASSERT_TRUE(results) << results.error().message();
  for (int i = 0; i < 15; ++i) {
    EXPECT_EQ(floats((*results)[0].toHost())[i], 2 * (i + 1));
    EXPECT_EQ(floats((*results)[1].toHost())[i], 4 * (i + 1));
  }
}

// A condition that is partial by `or` is each device's own: the loop goes on
// while any has something to do, and nothing is sent. One shard is empty.
TEST_P(Conformance, DevicesDecideByThemselves) {
  Mesh mesh = makeMesh({{"x", 4}});
  Layout layout({"x"}, mesh);
  ProgramBuilder b(mesh);
  unsigned w = b.argument({5}, layout);
  unsigned u = b.buffer({5}, layout), next = b.buffer({5}, layout),
           after = b.buffer({5}, layout);
  unsigned goesOn = b.buffer(
      {}, Layout::replicated(mesh, 0).with_partial({{0, ReduceKind::Or}}),
      DType::I1);
  LoopStep loop;
  loop.carried = {{w, u, next, after}};
  loop.condition = listOf(b, [&] {
    b.kernel("anyBelow3", {{5, true, {0}}}, {{u, byLoops({0})}},
             {{goesOn, {}}});
  });
  loop.predicate = goesOn;
  loop.body = listOf(b, [&] {
    b.kernel("incrementBelow3", {{5, false, {0}}}, {{u, byLoops({0})}},
             {{next, byLoops({0})}}, {0});
  });
  b.program.steps.push_back(std::move(loop));
  b.result(after);
  auto cpu = client(4);
  auto executable = cpu->load(Compiled(b.program, controlKernels()));
  ASSERT_TRUE(executable) << executable.error().message();
  // Devices have 2, 2, 1 and 0 elements; the third has the most to do.
  auto results =
      (*executable)->execute({fromFloats(cpu, {5}, layout, {3, 5, 2, 4, -3})});
  ASSERT_TRUE(results) << results.error().message();
  EXPECT_THAT(floats((*results)[0].toHost()), ElementsAre(3, 5, 3, 4, 3));
}

// A loop whose condition is false at once gives its inits.
TEST_P(Conformance, LoopThatNeverRunsReturnsItsInits) {
  Mesh mesh = makeMesh({{"x", 2}});
  Layout layout({"x", UNSHARDED}, mesh);
  ProgramBuilder b(mesh);
  unsigned w = b.argument({5, 3}, layout);
  unsigned after = addLoopOver(b, w, layout, 9, [&](unsigned u, unsigned next) {
    b.kernel("twice", {{5, false, {0}}, {3}}, {{u, byLoops({0, 1})}},
             {{next, byLoops({0, 1})}});
  });
  b.result(after);
  auto cpu = client(2);
  auto executable = cpu->load(Compiled(b.program, controlKernels()));
  ASSERT_TRUE(executable) << executable.error().message();
  auto results =
      (*executable)->execute({fromFloats(cpu, {5, 3}, layout, counting(15))});
  ASSERT_TRUE(results) << results.error().message();
  EXPECT_EQ(floats((*results)[0].toHost()), counting(15));
}

// The branch that the index names; the last for any other index. A branch can
// give what it captured.
TEST_P(Conformance, BranchByIndex) {
  Mesh mesh = makeMesh({{"x", 2}});
  Layout layout({"x", UNSHARDED}, mesh);
  for (auto [value, factor] :
       {std::pair(0, 2), {1, 4}, {2, 1}, {3, 1}, {-1, 1}}) {
    ProgramBuilder b(mesh);
    unsigned w = b.argument({5, 3}, layout);
    unsigned which = indexOf(b, value);
    auto twice = [&](unsigned from) {
      unsigned to = b.buffer({5, 3}, layout);
      b.kernel("twice", {{5, false, {0}}, {3}}, {{from, byLoops({0, 1})}},
               {{to, byLoops({0, 1})}});
      return to;
    };
    BranchStep branch;
    branch.index = which;
    unsigned result = b.buffer({5, 3}, layout), one = 0, two = 0;
    branch.branches.push_back(listOf(b, [&] { one = twice(w); }));
    branch.branches.push_back(listOf(b, [&] { two = twice(twice(w)); }));
    branch.branches.emplace_back();
    branch.outputs = {{result, {one, two, w}}};
    b.program.steps.push_back(std::move(branch));
    b.result(result);
    b.result(w);
    auto cpu = client(2);
    auto results = runProgram(cpu, b.program,
                              {fromFloats(cpu, {5, 3}, layout, counting(15))});
    ASSERT_EQ(results.size(), 2u);
    EXPECT_EQ(floats(results[0].toHost())[14], float(14 * factor)) << value;
    EXPECT_EQ(floats(results[1].toHost()), counting(15));
  }
}

// A collective in a loop is recorded each time, by its id among all steps.
TEST_P(Conformance, CollectivesInALoopAreCountedEachTime) {
  Mesh mesh = makeMesh({{"x", 2}});
  Layout rows({"x", UNSHARDED}, mesh), full = Layout::replicated(mesh, 2);
  ProgramBuilder b(mesh);
  unsigned w = b.argument({5, 3}, rows);
  unsigned zero = b.constant({}, Layout::replicated(mesh, 0), {0});
  unsigned u = b.buffer({5, 3}, rows), gathered = b.buffer({5, 3}, full),
           next = b.buffer({5, 3}, rows), after = b.buffer({5, 3}, rows);
  addLoop(b, zero, {{w, u, next, after}}, [&] {
    b.collective(CollectiveKind::AllGather, {0}, {{u, gathered}});
    b.kernel("add", {{5, false, {0}}, {3}},
             {{u, byLoops({0, 1})}, {gathered, byLoops({0, 1})}},
             {{next, byLoops({0, 1})}});
  });
  b.result(after);
  auto cpu = client(2);
  auto executable = cpu->load(Compiled(b.program, controlKernels()));
  ASSERT_TRUE(executable) << executable.error().message();
  EXPECT_EQ((*executable)->statistics().collectives.size(), 1u);
  auto results =
      (*executable)->execute({fromFloats(cpu, {5, 3}, rows, counting(15))});
  ASSERT_TRUE(results) << results.error().message();
  EXPECT_EQ(floats((*results)[0].toHost())[14], 8 * 14);
  // The loop is step 0, its condition step 1, the body begins with step 2.
  const CollectiveRecord record{2, CollectiveKind::AllGather, 2, 5 * 3 * 4};
  EXPECT_THAT((*executable)->statistics().collectives,
              ElementsAre(record, record, record));
  EXPECT_GE((*executable)->statistics().peakBytes, 2 * 5 * 3 * 4);
}

// A failure in a loop names its step.
TEST_P(Conformance, NonFiniteValueInALoopIsFound) {
  Mesh mesh = makeMesh({{"x", 2}});
  Layout layout({"x", UNSHARDED}, mesh);
  ProgramBuilder b(mesh);
  unsigned w = b.argument({5, 3}, layout);
  unsigned after = addLoopOver(b, w, layout, 0, [&](unsigned u, unsigned next) {
    b.kernel("multiply", {{5, false, {0}}, {3}},
             {{u, byLoops({0, 1})}, {u, byLoops({0, 1})}},
             {{next, byLoops({0, 1})}});
    std::get<KernelStep>(b.program.steps.back()).note = {"f.cpp:3:1", "square"};
  });
  b.result(after);
  auto cpu = client(2);
  auto executable = cpu->load(Compiled(b.program, controlKernels()), {true});
  ASSERT_TRUE(executable) << executable.error().message();
  auto good =
      (*executable)->execute({fromFloats(cpu, {5, 3}, layout, counting(15))});
  EXPECT_TRUE(good);
  auto bad = (*executable)
                 ->execute({fromFloats(cpu, {5, 3}, layout,
                                       std::vector<float>(15, 1e9f))});
  ASSERT_FALSE(bad);
  EXPECT_THAT(bad.error().message(), testing::HasSubstr("f.cpp:3:1"));
  EXPECT_THAT(bad.error().message(), testing::HasSubstr("square"));
}
} // namespace
