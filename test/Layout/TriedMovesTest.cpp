// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The memory of moves leaves out those that are too expensive.
#include "../../lib/Layout/Search/TriedMoves.h"
#include "../../lib/Layout/Search/LayoutMoves.h"
#include "SmallPrograms.h"

#include <limits>
#include <random>

using namespace meshloom;
using namespace meshloom::test;

// Three layers with their gradients; clusters are moved about at random, and
// all moves of each one looked at from there. A second memory starts anew each
// time, so it knows nothing and works all out.
TEST(TriedMovesTest, SkippedMovesAreTooExpensive) {
  const Mesh mesh = *Mesh::get({{"x", 2}, {"y", 4}});
  const Layout rows = Layout::batch_sharded(mesh, "x", 2),
               columns = Layout::inner_sharded(mesh, "y", 2),
               full = Layout::replicated(mesh, 2);
  for (const std::string machine : {"ring", "shared-memory"}) {
    SCOPED_TRACE(machine);
    const MachineModel model = *MachineModel::preset(machine);
    GraphBuilder build;
    unsigned h = build.argument({64, 64}, rows);
    for (int layer = 0; layer < 3; ++layer) {
      const unsigned weight = build.argument({64, 64}, columns), before = h;
      h = build.unary(build.dot(h, weight));
      build.result(build.binary(weight, build.dotT(before, h)), full);
    }
    build.result(h, full);
    const LayoutClusters clusters = findClusters(build.graph);
    LayoutState state(build.graph, clusters, model);
    LayoutMoves moves(build.graph, clusters, state);
    TriedMoves memory(state);
    std::mt19937 random(7);
    constexpr Cost endless = std::numeric_limits<Cost>::max();
    int leftOut = 0, wrongly = 0, total = 0;
    for (int round = 0; round < 60; ++round) {
      const Cost most = state.total().cost;
      for (unsigned cluster = 0; cluster < clusters.clusters.size(); ++cluster)
        for (const LayoutState::Change *move : moves.list(cluster)) {
          auto outcome = TriedMoves(state).outcome(cluster, *move, endless);
          auto found = memory.outcome(cluster, *move, most);
          ++total;
          if (found) {
            ASSERT_TRUE(outcome);
            EXPECT_EQ(found->total, outcome->total);
            EXPECT_EQ(found->work, outcome->work);
            continue;
          }
          leftOut += outcome.has_value();
          wrongly += outcome && outcome->total.cost <= most;
        }
      const unsigned cluster = random() % clusters.clusters.size();
      auto options = moves.list(cluster);
      if (!options.empty() && state.apply(*options[random() % options.size()]))
        state.commit();
    }
    EXPECT_GT(leftOut, total / 4);
    // In shared memory what waits for what depends on other values, too.
    EXPECT_LE(wrongly, machine == "shared-memory" ? total / 1000 : 0);
  }
}
