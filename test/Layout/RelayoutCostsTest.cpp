// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Prices of relayouts, and the trees that the search and InsertRelayouts take.
#include "meshloom/Layout/Search/RelayoutCosts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace meshloom;
using testing::ElementsAre;

namespace {

/// Trees over a value f32 [64, 64] on a mesh of 2 x 4.
class Trees {
public:
  explicit Trees(const MachineModel &machine = *MachineModel::preset("ring"))
      : costs(mesh, machine) {}

  /// [x, y], or partial over x by sum where `pending`.
  LayoutId layout(Layout::DimAxes dims, bool pending = false) {
    std::vector<Partial> partial;
    if (pending)
      partial.push_back({0, ReduceKind::Sum});
    return costs.intern(*Layout::get(mesh, std::move(dims), partial));
  }
  /// (from, to) of each edge; nothing where there is no tree.
  std::optional<std::vector<std::pair<LayoutId, LayoutId>>>
  tree(std::vector<LayoutId> have, std::vector<LayoutId> targets) {
    std::vector<RelayoutCosts::Edge> result;
    if (!costs.tree(kind, have, targets, result))
      return std::nullopt;
    std::vector<std::pair<LayoutId, LayoutId>> edges;
    for (const RelayoutCosts::Edge &edge : result)
      edges.emplace_back(edge.from, edge.to);
    return edges;
  }

  const Mesh mesh = *Mesh::get({{"x", 2}, {"y", 4}});
  RelayoutCosts costs;
  TensorKind kind = costs.kindOf({64, 64}, DType::F32);
};

TEST(RelayoutCostsTest, APendingReductionIsResolvedOnce) {
  Trees trees;
  LayoutId pending = trees.layout({{}, {}}, true);
  LayoutId whole = trees.layout({{}, {}}), rows = trees.layout({{0}, {}}),
           columns = trees.layout({{}, {0}});
  auto edges = trees.tree({pending}, {rows, whole, columns});
  ASSERT_TRUE(edges);
  ASSERT_EQ(edges->size(), 3u);
  EXPECT_EQ((*edges)[0], std::pair(pending, whole));
  EXPECT_EQ((*edges)[1].first, whole);
  EXPECT_EQ((*edges)[2].first, whole);
}

TEST(RelayoutCostsTest, NewLayoutsAreMadeFromExistingOnes) {
  Trees trees;
  LayoutId rows = trees.layout({{0}, {}}), whole = trees.layout({{}, {}}),
           others = trees.layout({{1}, {}});
  EXPECT_THAT(*trees.tree({rows, whole}, {others}),
              ElementsAre(std::pair(whole, others)));
  EXPECT_THAT(*trees.tree({whole, rows}, {others}),
              ElementsAre(std::pair(whole, others)));
  EXPECT_THAT(*trees.tree({rows}, {others}),
              ElementsAre(std::pair(rows, others)));
}

TEST(RelayoutCostsTest, LinksDecideWhatIsMadeFromWhat) {
  MachineModel slow = *MachineModel::preset("ring");
  slow.links["x"].bytesPerSecond = 100'000'000;
  Trees even, uneven(slow);
  for (Trees *trees : {&even, &uneven}) {
    LayoutId rows = trees->layout({{0}, {}}), byY = trees->layout({{}, {1}}),
             byX = trees->layout({{}, {0}});
    auto edges = trees->tree({rows}, {byY, byX});
    ASSERT_TRUE(edges);
    EXPECT_EQ((*edges)[0], std::pair(rows, byY));
    EXPECT_EQ((*edges)[1], std::pair(trees == &even ? rows : byY, byX));
  }
}

// Ways are stored for the process: those of one machine are not the other's.
TEST(RelayoutCostsTest, HostsDecideWhatARelayoutCosts) {
  Trees gpus(*hostMachine("gpu:h100")), processes(*hostMachine("cpu:tcp"));
  auto gather = [](Trees &trees) {
    return trees.costs
        .way(trees.kind, trees.layout({{0}, {}}), trees.layout({{}, {}}))
        ->cost;
  };
  EXPECT_LT(gather(gpus), gather(processes));
}

// A reduction begins where a value becomes pending, and nothing is made from
// that: the others are as they would be alone.
TEST(RelayoutCostsTest, ABeginningReductionIsMadeFromTheValue) {
  Trees trees;
  LayoutId rows = trees.layout({{0}, {}}), whole = trees.layout({{}, {}}),
           pending = trees.layout({{}, {}}, true);
  EXPECT_THAT(*trees.tree({rows}, {pending}),
              ElementsAre(std::pair(rows, pending)));
  EXPECT_THAT(*trees.tree({rows}, {whole, pending}),
              testing::UnorderedElementsAre(std::pair(rows, whole),
                                            std::pair(rows, pending)));
}

TEST(RelayoutCostsTest, AKindIsAShapeAndAType) {
  Trees trees;
  EXPECT_EQ(trees.costs.kindOf({64, 64}, DType::F32), trees.kind);
  EXPECT_NE(trees.costs.kindOf({64, 32}, DType::F32), trees.kind);
  EXPECT_NE(trees.costs.kindOf({64, 64}, DType::F64), trees.kind);
  // Twice the bytes take twice the time.
  LayoutId rows = trees.layout({{0}, {}}), whole = trees.layout({{}, {}});
  EXPECT_EQ(
      trees.costs.way(trees.costs.kindOf({64, 64}, DType::F64), rows, whole)
          ->cost,
      2 * trees.costs.way(trees.kind, rows, whole)->cost);
}

} // namespace
