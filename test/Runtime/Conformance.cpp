// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The conformance suite's tests of Programs: steps, collectives, updates in
// place, errors.
#include "Conformance.h"

using namespace meshloom;
using namespace meshloom::test;
using testing::ElementsAre;

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Conformance);

namespace {
// ---- Steps

// Kernels see global indices, whatever the device count.
TEST_P(Conformance, KernelsGetGlobalIndices) {
  for (int64_t devices : {1, 2, 8, 512}) {
    Mesh mesh = makeMesh({{"x", devices}});
    ProgramBuilder b(mesh);
    unsigned out = b.buffer({13, 5}, Layout({"x", UNSHARDED}, mesh));
    b.kernel("index", {{13, false, {0}}, {5}}, {}, {{out, byLoops({0, 1})}});
    b.result(out);
    auto results = runProgram(client(devices), b.program, {});
    ASSERT_EQ(results.size(), 1u);
    std::vector<float> expected;
    for (int i = 0; i < 13; ++i)
      for (int j = 0; j < 5; ++j)
        expected.push_back(float(100 * i + j));
    EXPECT_EQ(floats(results[0].toHost()), expected) << devices << " devices";
  }
}

/// x [m, k] @ w [k, n] with the given loops' axes, and an all_reduce where k is
/// cut.
std::vector<float> matmul(const std::shared_ptr<Client> &cpu, const Mesh &mesh,
                          Shape mkn, std::vector<std::vector<unsigned>> axes) {
  const int64_t m = mkn[0], k = mkn[1], n = mkn[2];
  auto layout = [&](unsigned a, unsigned b, std::vector<Partial> partial = {}) {
    return Layout::get(mesh, {axes[a], axes[b]}, partial).value_or_throw();
  };
  ProgramBuilder b(mesh);
  unsigned x = b.argument({m, k}, layout(0, 1));
  unsigned w = b.argument({k, n}, layout(1, 2));
  std::vector<Partial> partial;
  for (unsigned axis : axes[1])
    partial.push_back({axis, ReduceKind::Sum});
  unsigned y = b.buffer({m, n}, layout(0, 2, partial));
  b.dot({{m, false, axes[0]}, {n, false, axes[2]}, {k, true, axes[1]}},
        {x, byLoops({0, 2})}, {w, byLoops({2, 1})}, {y, byLoops({0, 1})});
  if (!partial.empty()) {
    unsigned sum = b.buffer({m, n}, layout(0, 2));
    b.collective(CollectiveKind::AllReduce, axes[1], {{y, sum}});
    y = sum;
  }
  b.result(y);
  auto results =
      runProgram(cpu, b.program,
                 {fromFloats(cpu, {m, k}, layout(0, 1), counting(m * k)),
                  fromFloats(cpu, {k, n}, layout(1, 2), counting(k * n, -4))});
  return results.empty() ? std::vector<float>() : floats(results[0].toHost());
}

std::vector<float> expectedMatmul(int64_t m, int64_t k, int64_t n) {
  std::vector<float> out;
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      float sum = 0;
      for (int64_t l = 0; l < k; ++l)
        sum += float(i * k + l) * float(l * n + j - 4);
      out.push_back(sum);
    }
  return out;
}

// Every way to cut a product over a 2x4 mesh, uneven and empty shards included.
TEST_P(Conformance, DotIsRightHoweverItIsCut) {
  Mesh mesh = makeMesh({{"x", 2}, {"y", 4}});
  auto cpu = client(8);
  const std::vector<std::vector<std::vector<unsigned>>> cuts = {
      {{}, {}, {}},     {{0}, {}, {}},   {{}, {0}, {}},  {{}, {}, {1}},
      {{0}, {1}, {}},   {{0}, {}, {1}},  {{}, {0}, {1}}, {{0, 1}, {}, {}},
      {{}, {1, 0}, {}}, {{}, {0, 1}, {}}};
  for (const auto &cut : cuts)
    for (Shape mkn : {Shape{6, 5, 7}, Shape{3, 1, 2}, Shape{9, 8, 1},
                      Shape{2, 0, 3}, Shape{0, 2, 3}})
      EXPECT_EQ(matmul(cpu, mesh, mkn, cut),
                expectedMatmul(mkn[0], mkn[1], mkn[2]))
          << mkn[0] << "x" << mkn[1] << "x" << mkn[2];
}

// A reduction of an empty shard gives its identity.
TEST_P(Conformance, MaximumOverEmptyShardsIsRight) {
  Mesh mesh = makeMesh({{"x", 8}});
  Layout max({}, mesh, {{"x", ReduceKind::Max}});
  ProgramBuilder b(mesh);
  unsigned a = b.argument({3}, Layout({"x"}, mesh));
  unsigned part = b.buffer({}, max);
  unsigned out = b.buffer({}, Layout::replicated(mesh, 0));
  b.kernel("maximum", {{3, true, {0}}}, {{a, byLoops({0})}}, {{part, {}}});
  b.collective(CollectiveKind::AllReduce, {0}, {{part, out}}, ReduceKind::Max);
  b.result(out);
  b.result(part);
  auto cpu = client(8);
  auto results =
      runProgram(cpu, b.program,
                 {fromFloats(cpu, {3}, Layout({"x"}, mesh), {-5, -2, -9})});
  ASSERT_EQ(results.size(), 2u);
  EXPECT_EQ(results[0].item<float>().value_or_throw(), -2);
  EXPECT_EQ(floats(results[1].component(7)->bytes)[0],
            -std::numeric_limits<float>::infinity());
}

// A sum over everything, over a mesh of 512 devices, combined with a count.
TEST_P(Conformance, CombinedAllReduceOver512Devices) {
  Mesh mesh = makeMesh({{"x", 512}});
  Layout partial({}, mesh, {{"x", ReduceKind::Sum}});
  ProgramBuilder b(mesh);
  unsigned a = b.argument({1000, 40}, Layout({"x", UNSHARDED}, mesh));
  unsigned sum = b.buffer({}, partial), count = b.buffer({}, partial);
  unsigned allSum = b.buffer({}, Layout::replicated(mesh, 0)),
           allCount = b.buffer({}, Layout::replicated(mesh, 0));
  b.kernel("total", {{1000, true, {0}}, {40, true}}, {{a, byLoops({0, 1})}},
           {{sum, {}}, {count, {}}});
  b.collective(CollectiveKind::AllReduce, {0},
               {{sum, allSum}, {count, allCount}});
  b.result(allSum);
  b.result(allCount);
  auto cpu = client(512);
  auto executable = cpu->load(Compiled(b.program, testKernels()));
  ASSERT_TRUE(executable) << executable.error().message();
  auto results =
      (*executable)
          ->execute({fromFloats(cpu, {1000, 40}, Layout({"x", UNSHARDED}, mesh),
                                std::vector<float>(40000, 0.5f))});
  ASSERT_TRUE(results);
  EXPECT_EQ((*results)[0].item<float>().value_or_throw(), 20000);
  EXPECT_EQ((*results)[1].item<float>().value_or_throw(), 40000);
  EXPECT_THAT(
      (*executable)->statistics().collectives,
      ElementsAre(CollectiveRecord{1, CollectiveKind::AllReduce, 512, 8}));
}

// ---- Variables

// A gathered value is read after its source was updated: it is the old one.
TEST_P(Conformance, GatheredValueSurvivesTheUpdateOfItsSource) {
  Mesh mesh = makeMesh({{"x", 4}});
  Layout rows({"x", UNSHARDED}, mesh), whole({UNSHARDED, UNSHARDED}, mesh);
  for (bool readBefore : {true, false}) {
    ProgramBuilder b(mesh);
    unsigned w = b.argument({6, 2}, rows), g = b.argument({6, 2}, rows);
    unsigned gathered = b.buffer({6, 2}, whole), after = b.buffer({6, 2}, rows);
    unsigned sum = b.buffer({6, 2}, whole);
    b.collective(CollectiveKind::AllGather, {0}, {{w, gathered}});
    auto read = [&] {
      b.kernel("twice", {{6}, {2}}, {{gathered, byLoops({0, 1})}},
               {{sum, byLoops({0, 1})}});
    };
    if (readBefore)
      read();
    b.kernel("update", {{6, false, {0}}, {2}},
             {{w, byLoops({0, 1})}, {g, byLoops({0, 1})}},
             {{after, byLoops({0, 1})}}, {0});
    if (!readBefore)
      read();
    b.result(after, 0);
    b.result(sum);
    auto cpu = client(4);
    std::vector<Array> arguments;
    arguments.push_back(fromFloats(cpu, {6, 2}, rows, counting(12, 1)));
    arguments.push_back(fromFloats(cpu, {6, 2}, rows, counting(12, 1)));
    auto results = runProgram(cpu, b.program, std::move(arguments));
    ASSERT_EQ(results.size(), 2u);
    EXPECT_EQ(floats(results[0].toHost()), std::vector<float>(12, 0));
    std::vector<float> expected;
    for (int i = 1; i <= 12; ++i)
      expected.push_back(float(2 * i));
    EXPECT_EQ(floats(results[1].toHost()), expected);
  }
}

// The reader needs the update itself, so no order avoids a copy.
TEST_P(Conformance, GatheredValueReadTogetherWithTheUpdate) {
  Mesh mesh = makeMesh({{"x", 4}});
  Layout rows({"x", UNSHARDED}, mesh), whole({UNSHARDED, UNSHARDED}, mesh);
  ProgramBuilder b(mesh);
  unsigned w = b.argument({6, 2}, rows), g = b.argument({6, 2}, rows);
  unsigned gathered = b.buffer({6, 2}, whole), after = b.buffer({6, 2}, rows);
  unsigned allAfter = b.buffer({6, 2}, whole), sum = b.buffer({6, 2}, whole);
  b.collective(CollectiveKind::AllGather, {0}, {{w, gathered}});
  b.kernel("update", {{6, false, {0}}, {2}},
           {{w, byLoops({0, 1})}, {g, byLoops({0, 1})}},
           {{after, byLoops({0, 1})}}, {0});
  b.collective(CollectiveKind::AllGather, {0}, {{after, allAfter}});
  b.kernel("add", {{6}, {2}},
           {{gathered, byLoops({0, 1})}, {allAfter, byLoops({0, 1})}},
           {{sum, byLoops({0, 1})}});
  b.result(after, 0);
  b.result(sum);
  auto cpu = client(4);
  std::vector<Array> arguments;
  arguments.push_back(fromFloats(cpu, {6, 2}, rows, counting(12, 1)));
  arguments.push_back(fromFloats(cpu, {6, 2}, rows, std::vector<float>(12, 1)));
  auto results = runProgram(cpu, b.program, std::move(arguments));
  ASSERT_EQ(results.size(), 2u);
  EXPECT_EQ(floats(results[0].toHost()), counting(12));
  std::vector<float> expected;
  for (int i = 1; i <= 12; ++i)
    expected.push_back(float(2 * i - 1));
  EXPECT_EQ(floats(results[1].toHost()), expected);
}

// One kernel reads the gathered value and updates its source.
TEST_P(Conformance, KernelThatReadsAGatheredViewOfWhatItUpdates) {
  Mesh mesh = makeMesh({{"x", 4}});
  Layout rows({"x", UNSHARDED}, mesh), whole({UNSHARDED, UNSHARDED}, mesh);
  ProgramBuilder b(mesh);
  unsigned w = b.argument({6, 2}, rows), all = b.buffer({6, 2}, whole);
  unsigned after = b.buffer({6, 2}, rows);
  b.collective(CollectiveKind::AllGather, {0}, {{w, all}});
  std::vector<DimAccess> reversed = byLoops({0, 1});
  reversed[0] = {5, {{0, -1}}};
  b.kernel("update", {{6, false, {0}}, {2}},
           {{w, byLoops({0, 1})}, {all, reversed}}, {{after, byLoops({0, 1})}},
           {0});
  b.result(after, 0);
  auto cpu = client(4);
  std::vector<Array> arguments;
  arguments.push_back(fromFloats(cpu, {6, 2}, rows, counting(12)));
  auto results = runProgram(cpu, b.program, std::move(arguments));
  ASSERT_EQ(results.size(), 1u);
  EXPECT_EQ(floats(results[0].toHost()),
            (std::vector<float>{-10, -10, -6, -6, -2, -2, 2, 2, 6, 6, 10, 10}));
}

// A constant that a kernel would overwrite stays what it is in the next run.
TEST_P(Conformance, ConstantsAreNeverOverwritten) {
  Mesh mesh = makeMesh({{"x", 2}});
  Layout layout({"x", UNSHARDED}, mesh);
  ProgramBuilder b(mesh);
  unsigned splat = b.constant({4, 3}, layout, {3});
  unsigned dense = b.constant({4, 3}, layout, counting(12));
  unsigned twice = b.buffer({4, 3}, layout), sum = b.buffer({4, 3}, layout);
  b.kernel("twice_in_place", {{4, false, {0}}, {3}}, {{splat, byLoops({0, 1})}},
           {{twice, byLoops({0, 1})}}, {0});
  b.kernel("add", {{4, false, {0}}, {3}},
           {{twice, byLoops({0, 1})}, {dense, byLoops({0, 1})}},
           {{sum, byLoops({0, 1})}});
  b.result(sum);
  b.result(dense);
  auto cpu = client(2);
  auto executable = cpu->load(Compiled(b.program, testKernels()));
  ASSERT_TRUE(executable) << executable.error().message();
  for (int run = 0; run < 3; ++run) {
    auto results = (*executable)->execute({});
    ASSERT_TRUE(results);
    EXPECT_EQ(floats((*results)[0].toHost()), counting(12, 6));
    EXPECT_EQ(floats((*results)[1].toHost()), counting(12));
  }
}

// ---- Errors

// A kernel that fails is reported with its source location and op.
TEST_P(Conformance, FailingKernelNamesItsSource) {
  Mesh mesh = makeMesh({{"x", 2}});
  ProgramBuilder b(mesh);
  unsigned out = b.buffer({4, 4}, Layout({"x", UNSHARDED}, mesh));
  b.kernel("failing", {{4, false, {0}}, {4}}, {}, {{out, byLoops({0, 1})}});
  b.result(out);
  auto cpu = client(2);
  auto executable = cpu->load(Compiled(b.program, testKernels()));
  ASSERT_TRUE(executable);
  auto results = finished((*executable)->execute({}));
  ASSERT_FALSE(results);
  EXPECT_EQ(results.error().message(),
            "test.mlir:1:3: in 'dtensor.failing': no more ink");
}

// The opt-in check names the first op that makes a nan or an infinity.
TEST_P(Conformance, NonFiniteCheckNamesTheOp) {
  Mesh mesh = makeMesh({{"x", 4}});
  Layout layout({"x", UNSHARDED}, mesh);
  ProgramBuilder b(mesh);
  unsigned a = b.argument({10, 10}, layout), first = b.buffer({10, 10}, layout);
  unsigned second = b.buffer({10, 10}, layout);
  unsigned third = b.buffer({10, 10}, layout);
  const std::vector<Loop> loops = {{10, false, {0}}, {10}};
  b.kernel("twice", loops, {{a, byLoops({0, 1})}}, {{first, byLoops({0, 1})}});
  b.kernel("reciprocal", loops, {{first, byLoops({0, 1})}},
           {{second, byLoops({0, 1})}});
  b.kernel("twice", loops, {{second, byLoops({0, 1})}},
           {{third, byLoops({0, 1})}});
  b.result(third);
  auto cpu = client(4);
  for (bool check : {false, true}) {
    auto executable = cpu->load(Compiled(b.program, testKernels()),
                                {.checkNonFinite = check});
    ASSERT_TRUE(executable);
    auto results =
        (*executable)
            ->execute({fromFloats(cpu, {10, 10}, layout, counting(100, -50))});
    EXPECT_EQ(bool(results), !check);
    if (check) {
      // Over several processes, of which all end alike, it says in which one.
      EXPECT_THAT(results.error().message(),
                  testing::StartsWith(
                      "test.mlir:2:3: in 'dtensor.reciprocal': the result "
                      "'b2' holds a nan or an infinity"));
      auto fine =
          (*executable)
              ->execute({fromFloats(cpu, {10, 10}, layout, counting(100, 1))});
      EXPECT_TRUE(fine);
    }
  }
}

TEST_P(Conformance, LoadErrorsAreClear) {
  Mesh mesh = makeMesh({{"x", 4}});
  ProgramBuilder b(mesh);
  unsigned out = b.buffer({4, 4}, Layout({"x", UNSHARDED}, mesh));
  b.kernel("nonsense", {{4, false, {0}}, {4}}, {}, {{out, byLoops({0, 1})}});
  b.result(out);
  auto missing = client(4)->load(Compiled(b.program, testKernels()));
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().message(),
            "test.mlir:1:3: in 'dtensor.nonsense': no kernel 'nonsense'");
  auto devices = client(2)->load(Compiled(b.program, testKernels()));
  ASSERT_FALSE(devices);
  EXPECT_NE(devices.error().message().find("4 devices"), std::string::npos);
}
} // namespace
