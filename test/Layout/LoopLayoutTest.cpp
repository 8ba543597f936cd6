// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The search over layouts where loops carry values: what a loop carries moves
// like any other value, and what happens in the loop counts as often as it
// runs.
#include "SmallPrograms.h"

#include <gtest/gtest.h>

using namespace meshloom;
using namespace meshloom::test;

namespace {

const Mesh line = *Mesh::get({{"x", 4}});
const Layout rows = Layout::batch_sharded(line, "x", 2);
const Layout columns = Layout::inner_sharded(line, "x", 2);
const Layout full = Layout::replicated(line, 2);

/// v = a; `trips` times: v = v w; the result is v on columns. Carried values
/// are laid out as `carried` at the start.
struct ProductLoop {
  GraphBuilder build;
  unsigned inside, after, next;

  ProductLoop(int64_t trips, const Layout &weight, const Layout &carried,
              const Layout &result = columns) {
    LayoutGraph &graph = build.graph;
    unsigned a = build.argument({64, 64}, rows),
             w = build.argument({64, 64}, weight);
    LayoutGraph::Op join;
    ShardingRule rule = *ShardingRule::parse("m n, m n -> m n, m n");
    EXPECT_TRUE(rule.bind({{64, 64}, {64, 64}}, {{64, 64}, {64, 64}}));
    join.rule = std::make_shared<ShardingRule>(std::move(rule));
    join.flopsPerPoint = 0;
    join.join = true;
    join.loop = 0;
    join.runs = trips * runsOnce;
    join.block = 1;
    inside = unsigned(graph.values.size());
    LayoutGraph::Value &in = build.addValue({64, 64}, carried, 0);
    in.runs = trips * runsOnce;
    in.block = 1;
    after = inside + 1;
    build.addValue({64, 64}, carried, 0);
    join.results = {inside, after};
    graph.ops.push_back(join);
    next = build.dot(inside, w);
    graph.ops.back().runs = graph.values[next].runs = trips * runsOnce;
    graph.ops.back().block = graph.values[next].block = 1;
    graph.ops[0].operands = {a, next};
    graph.loops = {{1, 1}};
    build.result(after, result);
  }
};

} // namespace

// Laid out as the result is, each iteration would send something; on rows none
// does, and the result is brought to columns behind the loop.
TEST(LoopLayoutTest, CarriedValuesMove) {
  for (const char *machine : {"ring", "shared-memory"}) {
    ProductLoop loop(8, full, columns);
    LayoutRefinement found =
        refineLayouts(loop.build.graph, *MachineModel::preset(machine));
    EXPECT_EQ(found.layouts[loop.inside], rows) << machine;
    EXPECT_EQ(found.layouts[loop.after], rows) << machine;
    EXPECT_EQ(found.layouts[loop.next], rows) << machine;
    EXPECT_LE(found.peakAfter, allowedPeak(found.peakBefore));
  }
}

// A value from outside is gathered once, in front of the loop.
TEST(LoopLayoutTest, CapturedValuesAreBroughtOnce) {
  MachineModel ring = *MachineModel::preset("ring");
  ProductLoop loop(8, columns, columns);
  LayoutRefinement found = refineLayouts(loop.build.graph, ring);
  EXPECT_EQ(found.layouts[loop.inside], rows);
  LayoutGraph after = loop.build.graph;
  for (size_t i = 0; i < after.values.size(); ++i)
    after.values[i].layOut(found.layouts[i]);
  const LayoutClusters clusters = findClusters(after);
  LayoutState state(after, clusters, ring);
  int64_t sent = 0;
  for (const PlannedRelayout &relayout :
       state.relayouts(std::vector<unsigned>{0, 1, 2, 3, 4}))
    sent += relayout.plan->bytesSent * relayout.runs / runsOnce;
  EXPECT_EQ(sent, 64 * 64 * 4 * 3 / 4 + 64 * 16 * 4 * 3 / 4);
}

// Relayouts and work in the loop cost as often as it runs.
TEST(LoopLayoutTest, IterationsCount) {
  MachineModel ring = *MachineModel::preset("ring");
  auto cost = [&](int64_t trips) {
    ProductLoop loop(trips, full, columns);
    LayoutClusters clusters = findClusters(loop.build.graph);
    return LayoutState(loop.build.graph, clusters, ring).total().cost;
  };
  Cost perTurn = cost(2) - cost(1);
  EXPECT_GT(perTurn, 0);
  EXPECT_EQ(cost(10), cost(1) + 9 * perTurn);
  // However often: nothing overflows.
  EXPECT_GT(cost(int64_t(1) << 20), cost(int64_t(1) << 19));
}

// The value after the loop is the carried one: both are laid out alike, and so
// is what a result wants where a loop runs once.
TEST(LoopLayoutTest, ArgumentAndResultStayTogether) {
  for (int64_t trips : {1, 2, 100})
    for (const Layout &start : {rows, columns, full}) {
      ProductLoop loop(trips, full, start, full);
      LayoutRefinement found =
          refineLayouts(loop.build.graph, *MachineModel::preset("ring"));
      EXPECT_EQ(found.layouts[loop.inside], found.layouts[loop.after]);
      EXPECT_LE(found.after.cost, found.before.cost);
    }
}
