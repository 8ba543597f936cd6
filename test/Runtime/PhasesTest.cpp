// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The shared-memory plan of a program: which steps share a phase, what is a
// view, and where memory lies.
#include "TestPrograms.h"

#include "../../lib/Runtime/Backends/CPU/Placement.h"
#include "meshloom/Runtime/Plan/Shared/Addends.h"

#include <algorithm>

using namespace meshloom;
using namespace meshloom::cpu;
using namespace meshloom::plan;
using namespace meshloom::test;

namespace {
constexpr int64_t CHUNKS = 8, WORKERS = 2;

std::vector<std::vector<unsigned>> stepsOfPhases(const StepGraph &graph) {
  std::vector<std::vector<unsigned>> phases;
  for (const Phase &phase : schedule(graph, CHUNKS, WORKERS).phases) {
    phases.emplace_back();
    for (const Item &item : phase.items)
      phases.back().push_back(graph.works[item.work].step);
  }
  return phases;
}

using Phases = std::vector<std::vector<unsigned>>;

/// A data-parallel training step: h = 2 (x w), gradient x^T h summed over the
/// batch, w updated in place; the loss is the sum of h.
struct TrainingStep {
  explicit TrainingStep(int64_t devices)
      : mesh(makeMesh({{"batch", devices}})), b(mesh) {
    Layout rows({"batch", UNSHARDED}, mesh),
        whole({UNSHARDED, UNSHARDED}, mesh);
    Layout addends({UNSHARDED, UNSHARDED}, mesh, {{"batch", ReduceKind::Sum}});
    Layout addend({}, mesh, {{"batch", ReduceKind::Sum}});
    x = b.argument({256, 64}, rows);
    w = b.argument({64, 96}, whole);
    unsigned h0 = b.buffer({256, 96}, rows);
    h = b.buffer({256, 96}, rows);
    unsigned part = b.buffer({64, 96}, addends);
    gradient = b.buffer({64, 96}, whole);
    after = b.buffer({64, 96}, whole);
    lossPart = b.buffer({}, addend);
    loss = b.buffer({}, Layout::replicated(mesh, 0));
    unsigned count = b.buffer({}, addend);
    unsigned allCount = b.buffer({}, Layout::replicated(mesh, 0));
    b.dot({{256, false, {0}}, {96}, {64, true}}, {x, byLoops({0, 2})},
          {w, byLoops({2, 1})}, {h0, byLoops({0, 1})}); // 0
    b.kernel("twice", {{256, false, {0}}, {96}}, {{h0, byLoops({0, 1})}},
             {{h, byLoops({0, 1})}}); // 1
    b.kernel("total", {{256, true, {0}}, {96, true}}, {{h, byLoops({0, 1})}},
             {{lossPart, {}}, {count, {}}}); // 2
    b.dot({{64}, {96}, {256, true, {0}}}, {x, byLoops({2, 0})},
          {h, byLoops({2, 1})}, {part, byLoops({0, 1})}); // 3
    b.collective(CollectiveKind::AllReduce, {0},
                 {{part, gradient}, {lossPart, loss}, {count, allCount}}); // 4
    b.kernel("update", {{64}, {96}},
             {{w, byLoops({0, 1})}, {gradient, byLoops({0, 1})}},
             {{after, byLoops({0, 1})}}, {0}); // 5
    b.result(loss);
    b.result(after, 1);
  }
  Mesh mesh;
  ProgramBuilder b;
  unsigned x, w, h, gradient, after, lossPart, loss;
};

/// y = 2 x of [512, 32, 32], its sums over all dims but the last, and z = y
/// minus those. No layout cuts anything.
struct Sums {
  Sums() : mesh(makeMesh({{"batch", 1}})), b(mesh) {
    const Layout whole = Layout::replicated(mesh, 3);
    x = b.argument({512, 32, 32}, whole);
    y = b.buffer({512, 32, 32}, whole);
    sums = b.buffer({32}, Layout::replicated(mesh, 1));
    z = b.buffer({512, 32, 32}, whole);
    b.kernel("twice", {{512}, {32}, {32}}, {{x, byLoops({0, 1, 2})}},
             {{y, byLoops({0, 1, 2})}}); // 0
    b.kernel("sums", {{512, true}, {32, true}, {32}}, {{y, byLoops({0, 1, 2})}},
             {{sums, byLoops({2})}}); // 1
    b.kernel("minus", {{512}, {32}, {32}},
             {{y, byLoops({0, 1, 2})}, {sums, byLoops({2})}},
             {{z, byLoops({0, 1, 2})}}); // 2
    b.result(z);
    for (Step &step : b.program.steps)
      std::get<KernelStep>(step).flops = 1;
  }
  void combine(std::optional<ReduceKind> kind) {
    auto &sum = std::get<KernelStep>(b.program.steps[1]);
    sum.combine = kind ? std::vector{*kind} : std::vector<ReduceKind>();
  }
  Mesh mesh;
  ProgramBuilder b;
  unsigned x, y, sums, z;
};

// Rows of 32 sums are too short to cut: the dims that are reduced are, in one
// part a chunk, behind the chunk's elementwise work. A step that reads the sums
// waits for them rather than run column by column.
TEST(PhasesTest, SumsOfShortRowsAreCutWhereTheyReduce) {
  Sums p;
  p.combine(ReduceKind::Sum);
  auto graph = buildStepGraph(p.b.program, CHUNKS);
  ASSERT_TRUE(graph) << graph.error().message();
  ASSERT_EQ(graph->works.size(), 4u); // and what combines the parts
  EXPECT_EQ(graph->works[1].addendLoop, 0);
  EXPECT_EQ(graph->works[1].instances.size(), size_t(CHUNKS));
  EXPECT_EQ(graph->works[2].kind, Work::Kind::Reduce);
  EXPECT_EQ(graph->works[2].addends[0].size(), size_t(CHUNKS));
  EXPECT_EQ(stepsOfPhases(*graph), (Phases{{0, 1}, {1}, {2}}));
  for (const Phase &phase : schedule(*graph, CHUNKS, WORKERS).phases)
    for (const Item &item : phase.items)
      if (item.work != 2) {
        EXPECT_NE(item.loop, 2u);
      }
}

// A reduction whose parts do not combine, an index for one, is left whole.
TEST(PhasesTest, ReductionsThatDoNotCombineAreNotCut) {
  Sums p;
  p.combine(std::nullopt);
  auto graph = buildStepGraph(p.b.program, CHUNKS);
  ASSERT_TRUE(graph) << graph.error().message();
  EXPECT_EQ(graph->works.size(), 3u);
  EXPECT_EQ(graph->works[1].addendLoop, -1);
}

// Forward is one phase, gradient and update the other, whatever the device
// count: the all_reduce of the gradient is a view of one merged sum.
TEST(PhasesTest, TrainingStepIsTwoPhases) {
  for (int64_t devices : {2, 8, 512}) {
    TrainingStep step(devices);
    auto graph = buildStepGraph(step.b.program, CHUNKS);
    ASSERT_TRUE(graph) << graph.error().message();
    EXPECT_EQ(graph->buffers[step.gradient].copies, 1);
    Phases phases = stepsOfPhases(*graph);
    ASSERT_EQ(phases.size(), 2u) << devices << " devices";
    EXPECT_EQ(std::vector<unsigned>(phases[0].begin(), phases[0].begin() + 2),
              (std::vector<unsigned>{0, 1}));
    // The update follows its gradient at once.
    auto gradient = std::find(phases[1].begin(), phases[1].end(), 3u);
    ASSERT_NE(gradient, phases[1].end());
    EXPECT_EQ(gradient[1], 5u);
  }
}

// A reduction with nothing else to share out keeps an addend per chunk, made
// where its operands are still in cache.
TEST(PhasesTest, ScalarSumKeepsAnAddendPerChunk) {
  TrainingStep step(8);
  auto graph = buildStepGraph(step.b.program, CHUNKS);
  ASSERT_TRUE(graph);
  EXPECT_EQ(graph->buffers[step.lossPart].copies, CHUNKS);
  Phases phases = stepsOfPhases(*graph);
  EXPECT_NE(std::find(phases[0].begin(), phases[0].end(), 2u), phases[0].end());
}

// Copies of an argument, one for each step of a chain, could all be computed
// at the beginning. They wait for their step.
TEST(PlacementTest, WorkLongBeforeItsTurnDoesNotFillMemory) {
  Mesh mesh = makeMesh({{"x", 1}});
  Layout layout({UNSHARDED, UNSHARDED}, mesh);
  constexpr int64_t n = 1024, bytes = n * n * 4;
  ProgramBuilder b(mesh);
  const unsigned x = b.argument({n, n}, layout);
  unsigned sum = x;
  for (int i = 0; i < 16; ++i) {
    const unsigned copy = b.buffer({n, n}, layout);
    const unsigned next = b.buffer({n, n}, layout);
    b.kernel("copy", {{n}, {n}}, {{x, byLoops({0, 1})}},
             {{copy, byLoops({0, 1})}});
    b.kernel("add", {{n}, {n}},
             {{sum, byLoops({1, 0})}, {copy, byLoops({0, 1})}},
             {{next, byLoops({0, 1})}});
    sum = next;
  }
  b.result(sum);
  auto graph = buildStepGraph(b.program, CHUNKS);
  ASSERT_TRUE(graph);
  const Schedule phases = schedule(*graph, CHUNKS, WORKERS);
  EXPECT_LT(place(*graph, phases, WORKERS).arenaBytes, 10 * bytes);
}

// Columns that are cut over devices are one array in shared memory: chunks are
// rows of it, of which the memory is read in order, and so are those of a sum.
TEST(PhasesTest, ColumnsOfDevicesAreCutIntoRows) {
  const Mesh mesh = makeMesh({{"x", 8}});
  ProgramBuilder b(mesh);
  const Layout columns({UNSHARDED, "x"}, mesh);
  const unsigned x = b.argument({1024, 1024}, columns),
                 y = b.buffer({1024, 1024}, columns),
                 part =
                     b.buffer({}, Layout({}, mesh, {{"x", ReduceKind::Sum}})),
                 sum = b.buffer({}, Layout::replicated(mesh, 0));
  b.kernel("twice", {{1024}, {1024, false, {0}}}, {{x, byLoops({0, 1})}},
           {{y, byLoops({0, 1})}});
  b.kernel("total", {{1024, true}, {1024, true, {0}}}, {{x, byLoops({0, 1})}},
           {{part, {}}});
  b.collective(CollectiveKind::AllReduce, {0}, {{part, sum}});
  b.result(y);
  b.result(sum);
  auto graph = buildStepGraph(b.program, CHUNKS);
  ASSERT_TRUE(graph) << graph.error().message();
  EXPECT_EQ(graph->works[0].candidates.front(), 0U);
  EXPECT_EQ(graph->works[1].addendLoop, 0);
  EXPECT_EQ(graph->buffers[part].copies, CHUNKS);
}

// The gradient never exists as a whole.
TEST(PlacementTest, GradientLivesInTheWorkersScratch) {
  TrainingStep step(8);
  auto graph = buildStepGraph(step.b.program, CHUNKS);
  ASSERT_TRUE(graph);
  Placement placement =
      place(*graph, schedule(*graph, CHUNKS, WORKERS), WORKERS);
  const Place &gradient =
      placement.places[graph->buffers[step.gradient].memory];
  EXPECT_EQ(gradient.kind, Place::Kind::Worker);
  EXPECT_EQ(gradient.extent, (Shape{8, 96}));
  // h is read by all chunks of the second phase.
  EXPECT_EQ(placement.places[graph->buffers[step.h].memory].kind,
            Place::Kind::Arena);
  EXPECT_TRUE(
      graph->plan.memories[graph->buffers[step.after].memory].overwritten);
}

// A chunk that reads what another one writes ends the phase.
TEST(PhasesTest, TransposedReadEndsThePhase) {
  Mesh mesh = makeMesh({{"x", 1}});
  Layout layout({UNSHARDED, UNSHARDED}, mesh);
  ProgramBuilder b(mesh);
  unsigned a = b.argument({64, 64}, layout), t = b.buffer({64, 64}, layout);
  unsigned out = b.buffer({64, 64}, layout);
  b.kernel("twice", {{64}, {64}}, {{a, byLoops({0, 1})}},
           {{t, byLoops({0, 1})}});
  b.kernel("add", {{64}, {64}}, {{t, byLoops({0, 1})}, {t, byLoops({1, 0})}},
           {{out, byLoops({0, 1})}});
  b.result(out);
  auto graph = buildStepGraph(b.program, CHUNKS);
  ASSERT_TRUE(graph);
  EXPECT_EQ(stepsOfPhases(*graph), (Phases{{0}, {1}}));
}

// A chunk that overwrites what another one reads ends it, too.
TEST(PhasesTest, WriteAfterReadEndsThePhase) {
  Mesh mesh = makeMesh({{"x", 1}});
  Layout layout({UNSHARDED, UNSHARDED}, mesh);
  ProgramBuilder b(mesh);
  unsigned a = b.argument({64, 64}, layout), t = b.buffer({64, 64}, layout);
  unsigned after = b.buffer({64, 64}, layout);
  b.kernel("add", {{64}, {64}}, {{a, byLoops({0, 1})}, {a, byLoops({1, 0})}},
           {{t, byLoops({0, 1})}});
  b.kernel("twice_in_place", {{64}, {64}}, {{a, byLoops({0, 1})}},
           {{after, byLoops({0, 1})}}, {0});
  b.result(t);
  b.result(after, 0);
  auto graph = buildStepGraph(b.program, CHUNKS);
  ASSERT_TRUE(graph);
  EXPECT_EQ(stepsOfPhases(*graph), (Phases{{0}, {1}}));
}

// How the first product is cut decides whether a second one can follow: rows.
TEST(PhasesTest, ProductsChainByRows) {
  Mesh mesh = makeMesh({{"x", 1}});
  Layout layout({UNSHARDED, UNSHARDED}, mesh);
  ProgramBuilder b(mesh);
  unsigned a = b.argument({32, 64}, layout), w = b.argument({64, 48}, layout);
  unsigned v = b.argument({48, 32}, layout), y = b.buffer({32, 48}, layout);
  unsigned z = b.buffer({32, 32}, layout);
  // Columns are the first loop.
  b.dot({{48}, {32}, {64, true}}, {a, byLoops({1, 2})}, {w, byLoops({2, 0})},
        {y, byLoops({1, 0})});
  b.dot({{32}, {32}, {48, true}}, {y, byLoops({1, 2})}, {v, byLoops({2, 0})},
        {z, byLoops({1, 0})});
  b.result(z);
  auto graph = buildStepGraph(b.program, CHUNKS);
  ASSERT_TRUE(graph);
  EXPECT_EQ(stepsOfPhases(*graph), (Phases{{0, 1}}));
}

// Scores of 12 heads, their exponentials, and the products with values: the
// phase may be cut until each chunk has one head, as the products' matrices
// stay whole. Cut along rows, or with sums over heads behind, it stays as it
// is.
TEST(PhasesTest, PhasesOfWholeMatricesCanBeCutFiner) {
  Mesh mesh = makeMesh({{"x", 1}});
  auto graphOf = [&](ProgramBuilder &b, bool heads) {
    auto layout = [&](size_t rank) { return Layout::replicated(mesh, rank); };
    const unsigned q = b.argument({12, 64, 16}, layout(3)),
                   k = b.argument({12, 64, 16}, layout(3)),
                   s = b.buffer({12, 64, 64}, layout(3)),
                   p = b.buffer({12, 64, 64}, layout(3)),
                   y = b.buffer({12, 64, 16}, layout(3));
    b.dot({{heads ? 12 : 1}, {64}, {64}, {16, true}}, {q, byLoops({0, 1, 3})},
          {k, byLoops({0, 2, 3})}, {s, byLoops({0, 1, 2})});
    b.kernel("twice", {{heads ? 12 : 1}, {64}, {64}}, {{s, byLoops({0, 1, 2})}},
             {{p, byLoops({0, 1, 2})}});
    b.dot({{heads ? 12 : 1}, {64}, {16}, {64, true}}, {p, byLoops({0, 1, 3})},
          {k, byLoops({0, 3, 2})}, {y, byLoops({0, 1, 2})});
    b.result(y);
    auto graph = buildStepGraph(b.program, CHUNKS);
    EXPECT_TRUE(graph) << graph.error().message();
    return std::move(*graph);
  };
  for (bool heads : {true, false}) {
    ProgramBuilder b(mesh);
    const StepGraph graph = graphOf(b, heads);
    const Schedule planned = schedule(graph, 4, 1);
    ASSERT_EQ(planned.phases.size(), 1U);
    EXPECT_EQ(planned.phases[0].chunks, 4);
    EXPECT_EQ(countsMatrices(graph, b.program, planned.phases[0]), heads);
    const Placement before = place(graph, planned, 1);
    ASSERT_EQ(before.phaseBytes.size(), 1U);
    EXPECT_EQ(before.phaseBytes[0], before.workerBytes);
    if (!heads)
      continue;
    Schedule finer = planned;
    EXPECT_TRUE(cutInto(graph, finer.phases[0], 16, 1));
    EXPECT_EQ(finer.phases[0].chunks, 16);
    EXPECT_LT(place(graph, finer, 1).workerBytes, before.workerBytes / 2);
  }
}

// Scores of 16 x 4 small heads: chunks of a row or two of each head, which what
// follows could be cut into as well, would be a call of the library for each.
TEST(PhasesTest, ManySmallProductsAreNotCutIntoRows) {
  constexpr int64_t MANY = 32;
  Mesh mesh = makeMesh({{"x", 1}});
  for (int64_t rows : {49, 64}) {
    ProgramBuilder b(mesh);
    auto layout = Layout::replicated(mesh, 4);
    const unsigned q = b.argument({16, 4, rows, 8}, layout),
                   k = b.argument({16, 4, rows, 8}, layout),
                   s = b.buffer({16, 4, rows, rows}, layout);
    b.dot({{16}, {4}, {rows}, {rows}, {8, true}}, {q, byLoops({0, 1, 2, 4})},
          {k, byLoops({0, 1, 3, 4})}, {s, byLoops({0, 1, 2, 3})});
    b.result(s);
    auto graph = buildStepGraph(b.program, MANY);
    ASSERT_TRUE(graph) << graph.error().message();
    for (unsigned loop : graph->works[0].candidates)
      EXPECT_LT(loop, 2U);
    for (const Grid &grid : graph->works[0].grids)
      EXPECT_LT(std::max(grid.first, grid.second), 2U);
    EXPECT_FALSE(graph->works[0].candidates.empty() &&
                 graph->works[0].grids.empty());
  }
}

// A product of one row, and one of 20, are cut along the columns of a large
// matrix: of one that lies row by row into pieces of a page, of one that lies
// column by column into any number. So is one of 200 rows: 25 of them a chunk
// would copy all of the other matrix.
/// Returns the work of a product, whose second operand lies by rows, [terms,
/// columns], or by columns.
Work product(int64_t rows, int64_t columns, int64_t terms, bool byRows) {
  Mesh mesh = makeMesh({{"x", 1}});
  ProgramBuilder b(mesh);
  auto layout = Layout::replicated(mesh, 2);
  const unsigned x = b.argument({rows, terms}, layout),
                 w = b.argument(byRows ? Shape{terms, columns}
                                       : Shape{columns, terms},
                                layout),
                 y = b.buffer({rows, columns}, layout);
  b.dot({{rows}, {columns}, {terms, true}}, {x, byLoops({0, 2})},
        {w, byRows ? byLoops({2, 1}) : byLoops({1, 2})}, {y, byLoops({0, 1})});
  b.result(y);
  auto graph = buildStepGraph(b.program, CHUNKS);
  EXPECT_TRUE(graph) << graph.error().message();
  return graph->works.at(0);
}

TEST(PhasesTest, ProductsOfFewRowsAreCutAlongTheOtherOperand) {
  for (int64_t rows : {1, 20}) {
    const Work byRows = product(rows, 3072, 768, true),
               byColumns = product(rows, 3072, 768, false);
    EXPECT_EQ(byRows.candidates, std::vector<unsigned>{1});
    EXPECT_EQ(byRows.mostChunks, 3);
    EXPECT_EQ(byColumns.candidates, std::vector<unsigned>{1});
    EXPECT_EQ(byColumns.mostChunks, 0);
  }
  const Work large = product(200, 4096, 512, false),
             small = product(200, 1024, 512, false);
  for (const Work &work : {large, small}) {
    EXPECT_EQ(work.candidates, (std::vector<unsigned>{1, 0}));
    EXPECT_EQ(work.numBest, work.grids.size() + 1);
    EXPECT_EQ(work.mostChunks, 0);
  }
  // Cuts of many rows leave enough for all chunks.
  EXPECT_EQ(product(2000, 1024, 512, false).candidates,
            (std::vector<unsigned>{0, 1}));
}

// A chunk of a small product takes what the whole takes: each of them copies
// the other operand.
TEST(PhasesTest, SmallProductsAreCutIntoFewChunks) {
  EXPECT_EQ(product(128, 64, 64, false).mostChunks, 4);
  EXPECT_EQ(product(512, 64, 64, false).mostChunks, 0);
}

// Work that goes to one chunk as a whole goes to one of those that there are.
TEST(PhasesTest, PhasesCanBeCutCoarser) {
  Mesh mesh = makeMesh({{"x", 1}});
  ProgramBuilder b(mesh);
  Layout vector = Layout::replicated(mesh, 1);
  for (int i = 0; i < 3; ++i) {
    const unsigned a = b.argument({1}, vector), t = b.buffer({1}, vector);
    b.kernel("twice", {{1}}, {{a, byLoops({0})}}, {{t, byLoops({0})}});
    b.result(t);
  }
  const unsigned a = b.argument({64}, vector), t = b.buffer({64}, vector);
  b.kernel("twice", {{64}}, {{a, byLoops({0})}}, {{t, byLoops({0})}});
  b.result(t);
  auto graph = buildStepGraph(b.program, 8);
  ASSERT_TRUE(graph) << graph.error().message();
  Schedule planned = schedule(*graph, 8, 2);
  ASSERT_EQ(planned.phases.size(), 1U);
  ASSERT_TRUE(cutInto(*graph, planned.phases[0], 2, 2));
  EXPECT_EQ(planned.phases[0].chunks, 2);
  for (const Item &item : planned.phases[0].items) {
    const Work &work = graph->works[item.work];
    int64_t iterations = 0;
    for (int64_t c = 0; c < 2; ++c)
      if (!item.instances(work, 2, c).empty()) {
        Shape begin{0}, extent = work.extents;
        item.narrow(work, 2, c, begin, extent);
        iterations += extent[0];
      }
    EXPECT_EQ(iterations, work.extents[0]);
  }
}

// Two workers that have 128 bytes of each row take all lines from each other;
// where rows are longer, the four lines at their border; where rows have some
// pages, no line.
TEST(PhasesTest, WorkersTakeLinesOfCutRowsFromEachOther) {
  for (auto [columns, expected] :
       {std::pair(64, 100 * 4), {512, 100 * 4}, {32, 100 * 2}, {2048, 0}}) {
    Mesh mesh = makeMesh({{"x", 1}});
    ProgramBuilder b(mesh);
    const Shape shape{100, columns};
    const Layout whole = Layout::replicated(mesh, 2);
    const unsigned a = b.argument(shape, whole), t = b.buffer(shape, whole);
    b.kernel("running", {{100, true}, {columns}}, {{a, byLoops({0, 1})}},
             {{t, byLoops({0, 1})}});
    b.result(t);
    auto graph = buildStepGraph(b.program, 8);
    ASSERT_TRUE(graph) << graph.error().message();
    const Schedule planned = schedule(*graph, 8, 2);
    ASSERT_EQ(planned.phases.size(), 1U);
    EXPECT_EQ(contendedLines(*graph, planned.phases[0], 2), expected);
  }
}

// Values of a loop that stay in a core's cache are worth fewer cores.
TEST(PhasesTest, KernelsOfValuesInTheCacheCostLess) {
  auto costOf = [](int64_t elements) {
    ProgramBuilder b(makeMesh({{"x", 1}}));
    const Layout whole = Layout::replicated(b.program.mesh, 1);
    const unsigned a = b.argument({elements}, whole),
                   t = b.buffer({elements}, whole);
    b.kernel("add", {{elements}}, {{a, byLoops({0})}}, {{t, byLoops({0})}});
    b.result(t);
    auto graph = buildStepGraph(b.program, 8);
    EXPECT_TRUE(graph);
    return graph->works[0].cost;
  };
  EXPECT_GT(costOf(1 << 24), 2 * 256 * costOf(1 << 16));
}

/// How often chunks of an item run each of the iterations of its work.
std::vector<int> runsOf(const Item &item, const Work &work, int64_t chunks) {
  std::vector<int> runs(size_t(elementCount(work.extents)));
  for (int64_t c = 0; c < chunks; ++c) {
    if (item.instances(work, chunks, c).empty())
      continue;
    Shape begin(work.extents.size()), extent = work.extents;
    item.narrow(work, chunks, c, begin, extent);
    for (int64_t i = 0; i < elementCount(extent); ++i) {
      int64_t remainder = i, index = 0, stride = 1;
      for (size_t l = extent.size(); l-- > 0; remainder /= extent[l]) {
        index += (begin[l] + remainder % extent[l]) * stride;
        stride *= work.extents[l];
      }
      ++runs[size_t(index)];
    }
  }
  return runs;
}

// 64 chunks of 1,024 rows would have 16 rows each and read all of the other
// matrix: blocks of rows and columns are larger. An elementwise step that
// follows, and lies in memory in another order, goes by the same blocks.
TEST(PhasesTest, ProductsAreCutAlongTwoLoopsWhereOneLeavesFewRows) {
  constexpr int64_t MANY = 64, MANY_WORKERS = 16;
  Mesh mesh = makeMesh({{"x", 1}});
  ProgramBuilder b(mesh);
  Layout layout({UNSHARDED, UNSHARDED}, mesh);
  const unsigned x = b.argument({1024, 64}, layout),
                 w = b.argument({64, 768}, layout),
                 y = b.buffer({1024, 768}, layout),
                 z = b.buffer({768, 1024}, layout);
  b.dot({{1024}, {768}, {64, true}}, {x, byLoops({0, 2})}, {w, byLoops({2, 1})},
        {y, byLoops({0, 1})});
  b.kernel("twice", {{768}, {1024}}, {{y, byLoops({1, 0})}},
           {{z, byLoops({0, 1})}});
  b.result(z);
  auto graph = buildStepGraph(b.program, MANY);
  ASSERT_TRUE(graph) << graph.error().message();
  ASSERT_FALSE(graph->works[0].grids.empty());
  const Schedule planned = schedule(*graph, MANY, MANY_WORKERS);
  ASSERT_EQ(planned.phases.size(), 1U);
  ASSERT_EQ(planned.phases[0].items.size(), 2U);
  const Item &product = planned.phases[0].items[0],
             &kernel = planned.phases[0].items[1];
  EXPECT_EQ(product.loop, 0U);
  EXPECT_EQ(product.second, 1);
  EXPECT_EQ(kernel.loop, 1U);
  EXPECT_EQ(kernel.second, 0);
  EXPECT_EQ(kernel.parts, product.parts);
  EXPECT_TRUE(std::ranges::all_of(runsOf(kernel, graph->works[1], MANY),
                                  [](int runs) { return runs == 1; }));
  // Other numbers of chunks only where they are so many of each part.
  Schedule other = planned;
  EXPECT_FALSE(cutInto(*graph, other.phases[0], 15, MANY_WORKERS));
  EXPECT_TRUE(cutInto(*graph, other.phases[0], 2 * MANY, MANY_WORKERS));

  auto few = buildStepGraph(b.program, CHUNKS);
  ASSERT_TRUE(few);
  EXPECT_TRUE(few->works[0].grids.empty());
}

// A batch of 4 x 256 rows is 8 chunks of 128 rows that follow each other, not
// four times 32 in each.
TEST(PhasesTest, RowsOfTwoLoopsStayTogether) {
  Mesh mesh = makeMesh({{"x", 1}});
  ProgramBuilder b(mesh);
  const unsigned x = b.argument({4, 256, 768}, Layout::replicated(mesh, 3)),
                 w = b.argument({768, 768}, Layout::replicated(mesh, 2)),
                 y = b.buffer({4, 256, 768}, Layout::replicated(mesh, 3));
  b.dot({{4}, {256}, {768}, {768, true}}, {x, byLoops({0, 1, 3})},
        {w, byLoops({3, 2})}, {y, byLoops({0, 1, 2})});
  b.result(y);
  auto graph = buildStepGraph(b.program, CHUNKS);
  ASSERT_TRUE(graph) << graph.error().message();
  const Work &work = graph->works[0];
  EXPECT_TRUE(std::ranges::any_of(work.grids, [](const Grid &grid) {
    return grid.first == 0 && grid.second == 1 && grid.parts == 4;
  }));
  EXPECT_NE(work.candidates.front(), 1U);
}

// Heads of a batch are cut as matrices, 8 x 12 of them, rather than each along
// its rows; the phase has both products and what is between.
TEST(PhasesTest, AttentionIsCutAlongBatchAndHeads) {
  constexpr int64_t MANY = 64, MANY_WORKERS = 16;
  Mesh mesh = makeMesh({{"x", 1}});
  ProgramBuilder b(mesh);
  const Layout layout = Layout::replicated(mesh, 4);
  const unsigned q = b.argument({8, 12, 128, 64}, layout),
                 s = b.buffer({8, 12, 128, 128}, layout),
                 p = b.buffer({8, 12, 128, 128}, layout),
                 y = b.buffer({8, 12, 128, 64}, layout);
  b.dot({{8}, {12}, {128}, {128}, {64, true}}, {q, byLoops({0, 1, 2, 4})},
        {q, byLoops({0, 1, 3, 4})}, {s, byLoops({0, 1, 2, 3})});
  b.kernel("twice", {{8}, {12}, {128}, {128}}, {{s, byLoops({0, 1, 2, 3})}},
           {{p, byLoops({0, 1, 2, 3})}});
  b.dot({{8}, {12}, {128}, {64}, {128, true}}, {p, byLoops({0, 1, 2, 4})},
        {q, byLoops({0, 1, 4, 3})}, {y, byLoops({0, 1, 2, 3})});
  b.result(y);
  auto graph = buildStepGraph(b.program, MANY);
  ASSERT_TRUE(graph) << graph.error().message();
  const Schedule planned = schedule(*graph, MANY, MANY_WORKERS);
  ASSERT_EQ(planned.phases.size(), 1U);
  EXPECT_TRUE(countsMatrices(*graph, b.program, planned.phases[0]));
  for (const Item &item : planned.phases[0].items) {
    EXPECT_EQ(item.loop, 0U);
    EXPECT_EQ(item.second, 1);
  }
}

// A product that is partial over devices is one sum in shared memory, cut along
// rows and columns: 64 addends of it would be written and read again. One that
// has little else to be cut along has as many addends as chunks, where they
// are small.
TEST(PhasesTest, LargeProductsHaveFewAddends) {
  constexpr int64_t MANY = 64;
  Mesh mesh = makeMesh({{"x", 4}});
  auto workOf = [&](int64_t rows, int64_t columns, int64_t terms) {
    ProgramBuilder b(mesh);
    const Layout layout({UNSHARDED, UNSHARDED}, mesh);
    const unsigned x = b.argument({rows, terms},
                                  Layout({UNSHARDED, "x"}, mesh)),
                   w = b.argument({terms, columns},
                                  Layout({"x", UNSHARDED}, mesh)),
                   part = b.buffer({rows, columns},
                                   Layout({UNSHARDED, UNSHARDED}, mesh,
                                          {{"x", ReduceKind::Sum}})),
                   sum = b.buffer({rows, columns}, layout);
    b.dot({{rows}, {columns}, {terms, true, {0}}}, {x, byLoops({0, 2})},
          {w, byLoops({2, 1})}, {part, byLoops({0, 1})});
    b.collective(CollectiveKind::AllReduce, {0}, {{part, sum}});
    b.result(sum);
    auto graph = buildStepGraph(b.program, MANY);
    EXPECT_TRUE(graph) << graph.error().message();
    return graph->works.at(0);
  };
  const Work large = workOf(1024, 768, 768), small = workOf(16, 32, 1 << 16);
  EXPECT_EQ(large.addendLoop, -1);
  EXPECT_FALSE(large.grids.empty());
  EXPECT_EQ(small.addendLoop, 2);
  EXPECT_EQ(small.instances.size(), size_t(MANY));
}

// One row a head, as in decoding: 8 x 12 small products are cut along batch and
// heads, each of them whole, rather than along what each sums.
TEST(PhasesTest, BatchesOfSmallProductsAreNotCutWhereTheySum) {
  constexpr int64_t MANY = 64;
  Mesh mesh = makeMesh({{"x", 1}});
  ProgramBuilder b(mesh);
  const Layout layout = Layout::replicated(mesh, 4);
  const unsigned p = b.argument({8, 12, 1, 256}, layout),
                 v = b.argument({8, 12, 256, 64}, layout),
                 y = b.buffer({8, 12, 1, 64}, layout);
  b.dot({{8}, {12}, {1}, {64}, {256, true}}, {p, byLoops({0, 1, 2, 4})},
        {v, byLoops({0, 1, 4, 3})}, {y, byLoops({0, 1, 2, 3})});
  b.result(y);
  for (int64_t chunks : {CHUNKS, MANY}) {
    auto graph = buildStepGraph(b.program, chunks);
    ASSERT_TRUE(graph) << graph.error().message();
    EXPECT_EQ(graph->works[0].addendLoop, -1);
    for (const Grid &grid : graph->works[0].grids) {
      EXPECT_EQ(grid.first, 0U);
      EXPECT_EQ(grid.second, 1U);
    }
    EXPECT_EQ(graph->works[0].grids.empty(), chunks == CHUNKS);
  }
}

// Scores of 4 heads are cut along rows into 8 chunks, and so is the kernel that
// finds each row's maximum beside its scores: that maxima lie side by side does
// not count, and the scores never leave the chunk.
TEST(PhasesTest, OneNumberARowDoesNotKeepRowsFromBeingCut) {
  Mesh mesh = makeMesh({{"x", 1}});
  auto layout = [&](size_t rank) { return Layout::replicated(mesh, rank); };
  ProgramBuilder b(mesh);
  const unsigned q = b.argument({4, 128, 16}, layout(3)),
                 k = b.argument({4, 128, 16}, layout(3)),
                 s = b.buffer({4, 128, 128}, layout(3)),
                 p = b.buffer({4, 128, 128}, layout(3)),
                 most = b.buffer({4, 128}, layout(2)),
                 y = b.buffer({4, 128, 16}, layout(3));
  b.dot({{4}, {128}, {128}, {16, true}}, {q, byLoops({0, 1, 3})},
        {k, byLoops({0, 2, 3})}, {s, byLoops({0, 1, 2})});
  b.kernel("masked", {{4}, {128}, {128, true}}, {{s, byLoops({0, 1, 2})}},
           {{p, byLoops({0, 1, 2})}, {most, byLoops({0, 1})}});
  b.dot({{4}, {128}, {16}, {128, true}}, {p, byLoops({0, 1, 3})},
        {k, byLoops({0, 3, 2})}, {y, byLoops({0, 1, 2})});
  b.result(y);
  b.result(most);
  std::get<KernelStep>(b.program.steps[1]).flops = 20;
  auto graph = buildStepGraph(b.program, CHUNKS);
  ASSERT_TRUE(graph) << graph.error().message();
  EXPECT_EQ(stepsOfPhases(*graph), (Phases{{0, 1, 2}}));
  EXPECT_LE(
      place(*graph, schedule(*graph, CHUNKS, WORKERS), WORKERS).arenaBytes, 0);
}

// Chunks cover everything once, in order, on round numbers.
TEST(PhasesTest, ChunkBoundsCoverTheExtent) {
  for (int64_t extent = 0; extent < 300; ++extent)
    for (int64_t chunks : {1, 2, 3, 8, 64}) {
      EXPECT_EQ(chunkBound(extent, chunks, 0), 0);
      EXPECT_EQ(chunkBound(extent, chunks, chunks), extent);
      for (int64_t c = 0; c < chunks; ++c)
        EXPECT_LE(chunkBound(extent, chunks, c),
                  chunkBound(extent, chunks, c + 1))
            << extent << " in " << chunks;
    }
  EXPECT_EQ(chunkBound(784, 8, 1), 96);
}
} // namespace
