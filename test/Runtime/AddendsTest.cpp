// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which library calls are cut along what they reduce, so that their parts have
// results of their own.
#include "TestPrograms.h"

#include "meshloom/Runtime/Plan/Shared/StepGraph.h"

using namespace meshloom;
using namespace meshloom::plan;
using namespace meshloom::test;

namespace {
constexpr int64_t MOST_CHUNKS = 8;

// The library reads a large array in order where its outermost dim is cut.
// Parts along the dim that is not reduced would be short pieces of all rows.
TEST(AddendsTest, SumsOverOuterAndInnerDimAreCutAlongTheOuterOne) {
  for (int64_t rows : {64, 8}) {
    Mesh mesh = makeMesh({{"batch", 1}});
    ProgramBuilder b(mesh);
    const unsigned x =
        b.argument({rows, 256, 128}, Layout::replicated(mesh, 3));
    const unsigned sums = b.buffer({256}, Layout::replicated(mesh, 1));
    b.kernel("sums", {{rows, true}, {256}, {128, true}},
             {{x, byLoops({0, 1, 2})}}, {{sums, byLoops({1})}});
    auto &sum = std::get<KernelStep>(b.program.steps[0]);
    sum.library = "reduce";
    sum.options = {{"kind", "sum"}};
    sum.flops = rows * 256 * 128;
    b.result(sums);
    auto graph = buildStepGraph(b.program, MOST_CHUNKS);
    ASSERT_TRUE(graph) << graph.error().message();
    EXPECT_EQ(graph->works[0].addendLoop, rows == 64 ? 0 : -1);
  }
}

// Workers that scatter have results of their own, which are combined, where
// these are smaller than what is read.
TEST(AddendsTest, ScattersIntoFewerPlacesAreCutAlongTheirUpdates) {
  for (int64_t updates : {1 << 17, 1 << 16}) {
    Mesh mesh = makeMesh({{"batch", 1}});
    ProgramBuilder b(mesh);
    const int64_t places = 1 << 16;
    const unsigned x = b.argument({places}, Layout::replicated(mesh, 1));
    const unsigned i = b.argument({updates}, Layout::replicated(mesh, 1));
    const unsigned u = b.argument({updates}, Layout::replicated(mesh, 1));
    const unsigned y = b.buffer({places}, Layout::replicated(mesh, 1));
    b.kernel("add", {{places}, {updates, true}},
             {{x, byLoops({0})}, {i, byLoops({1})}, {u, byLoops({1})}},
             {{y, byLoops({0})}});
    auto &scatter = std::get<KernelStep>(b.program.steps[0]);
    scatter.library = "scatter";
    scatter.options = {{"kind", "sum"}};
    scatter.flops = 8 * updates;
    b.result(y);
    auto graph = buildStepGraph(b.program, MOST_CHUNKS);
    ASSERT_TRUE(graph) << graph.error().message();
    EXPECT_EQ(graph->works[0].addendLoop, updates > places ? 1 : -1);
  }
}

// Counts of 64 kinds are computed in vectors of neighbours: parts of the 65536
// terms are better than a few of the kinds.
TEST(AddendsTest, FewNeighboursAreNotCut) {
  for (int64_t kinds : {64, 512}) {
    Mesh mesh = makeMesh({{"batch", 1}});
    ProgramBuilder b(mesh);
    const unsigned x = b.argument({1 << 16}, Layout::replicated(mesh, 1));
    const unsigned y = b.buffer({kinds}, Layout::replicated(mesh, 1));
    b.kernel("count", {{1 << 16, true}, {kinds}}, {{x, byLoops({0})}},
             {{y, byLoops({1})}});
    auto &count = std::get<KernelStep>(b.program.steps[0]);
    count.flops = 3;
    count.combine = {ReduceKind::Sum};
    b.result(y);
    auto graph = buildStepGraph(b.program, MOST_CHUNKS);
    ASSERT_TRUE(graph) << graph.error().message();
    EXPECT_EQ(graph->works[0].addendLoop, kinds == 64 ? 0 : -1);
  }
}
} // namespace
