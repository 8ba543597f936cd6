// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How a library's convolutions and windows are cut.
#include "TestPrograms.h"

#include "meshloom/Runtime/Plan/Shared/StepGraph.h"

#include <algorithm>

using namespace meshloom;
using namespace meshloom::plan;
using namespace meshloom::test;

namespace {
// Eight images, channels first, are not cut along their features for 16 chunks:
// a library computes vectors of those.
TEST(GridsTest, ConvolutionsAreNotCutIntoFewFeatures) {
  Mesh mesh = makeMesh({{"x", 1}});
  ProgramBuilder b(mesh);
  const Layout whole = Layout::replicated(mesh, 4);
  const unsigned x = b.argument({8, 64, 28, 28}, whole),
                 w = b.argument({64, 64, 3, 3}, whole),
                 y = b.buffer({8, 64, 28, 28}, whole);
  std::vector<Loop> loops{{8},  {64, true}, {64}, {28}, {3},
                          {28}, {3},        {28}, {28}};
  for (unsigned held : {4U, 6U, 7U, 8U})
    loops[held].held = true;
  b.kernel("", loops, {{x, byLoops({0, 1, 7, 8})}, {w, byLoops({2, 1, 4, 6})}},
           {{y, byLoops({0, 2, 3, 5})}});
  std::get<KernelStep>(b.program.steps[0]).library = "convolution";
  b.result(y);
  auto graph = buildStepGraph(b.program, /*chunks=*/16);
  ASSERT_TRUE(graph) << graph.error().message();
  EXPECT_EQ(std::ranges::count(graph->works[0].candidates, 2U), 0);
  EXPECT_EQ(graph->works[0].candidates.size(), 3U);
}

// Windows of 1,000 rows are not cut along them: each part would read all rows
// before it again. Windows of 15 rows are cut into enough rows each.
TEST(GridsTest, LargeWindowsAreNotCutIntoFewRows) {
  auto workOf = [](int64_t window) {
    Mesh mesh = makeMesh({{"x", 1}});
    ProgramBuilder b(mesh);
    const Layout whole = Layout::replicated(mesh, 2);
    const unsigned x = b.argument({1000, 200}, whole),
                   initial = b.argument({}, Layout::replicated(mesh, 0)),
                   y = b.buffer({1000, 200}, whole);
    std::vector<Loop> loops{{1000}, {200}, {1000}};
    loops[2].held = true;
    b.kernel("", loops, {{x, byLoops({2, 1})}, {initial, {}}},
             {{y, byLoops({0, 1})}});
    auto &step = std::get<KernelStep>(b.program.steps[0]);
    step.library = "reduce_window";
    step.options["window_dimensions"] = std::vector<int64_t>{window, 1};
    step.options["window_strides"] = std::vector<int64_t>{1, 1};
    b.result(y);
    auto graph = buildStepGraph(b.program, /*chunks=*/16);
    EXPECT_TRUE(graph) << graph.error().message();
    return graph ? std::move(graph->works[0]) : Work{};
  };
  EXPECT_EQ(workOf(1000).candidates, std::vector{1U});
  EXPECT_EQ(workOf(15).candidates.front(), 0U);
}

// A triangular system with 31 right sides is not cut: each part would read the
// whole matrix. 100 of them are cut into three parts.
TEST(GridsTest, SystemsAreCutIntoManyRightSides) {
  for (int64_t count : {31, 100}) {
    Mesh mesh = makeMesh({{"x", 1}});
    ProgramBuilder b(mesh);
    const Layout whole = Layout::replicated(mesh, 2);
    const unsigned a = b.argument({200, 200}, whole),
                   sides = b.argument({200, count}, whole),
                   x = b.buffer({200, count}, whole);
    std::vector<Loop> loops{{200}, {count}};
    loops[0].held = true;
    b.kernel("", loops, {{a, byLoops({0, 0})}, {sides, byLoops({0, 1})}},
             {{x, byLoops({0, 1})}});
    std::get<KernelStep>(b.program.steps[0]).library = "triangular_solve";
    b.result(x);
    auto graph = buildStepGraph(b.program, /*chunks=*/16);
    ASSERT_TRUE(graph) << graph.error().message();
    EXPECT_EQ(graph->works[0].candidates.empty(), count == 31);
    EXPECT_EQ(graph->works[0].mostChunks, count == 31 ? 0 : 3);
  }
}
} // namespace
