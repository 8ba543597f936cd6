// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Relayout plans against an exhaustive search, for all pairs of layouts of
// meshes of up to eight devices: shortest paths over all layouts, by all
// collectives that Core's verifier accepts, without any heuristic, under the
// planner's bound on memory.
//
// Paths are shared between sources: one search backwards from each target for
// each bound. MESHLOOM_PLANNER_SWEEP=1 in the environment adds shapes and
// machines (minutes).
#include "LayoutEnumeration.h"

#include "meshloom/Core/RelayoutPlanner.h"

#include <cstdlib>
#include <gtest/gtest.h>
#include <map>
#include <queue>
#include <unordered_map>

using namespace meshloom;

namespace {

constexpr Cost far = INT64_MAX / 4;

struct LayoutHash {
  size_t operator()(const Layout &layout) const { return layout.hash(); }
};

/// All layouts of a rank, and all collectives between them.
struct World {
  Mesh mesh;
  Shape shape;
  std::vector<Layout> layouts;
  std::vector<int64_t> bytes; ///< of one device
  struct Edge {
    unsigned from, to;
    CollectiveOp op;
  };
  std::vector<Edge> edges;
  std::vector<std::vector<unsigned>> into; ///< edges, per layout

  World(Mesh theMesh, Shape theShape)
      : mesh(std::move(theMesh)), shape(std::move(theShape)) {
    test::forEachLayout(mesh, unsigned(shape.size()), ReduceKind::Sum,
                        [&](const Layout &layout) {
                          layouts.push_back(layout);
                          bytes.push_back(
                              localBytes(layout, shape, DType::F32));
                        });
    into.resize(layouts.size());
    std::vector<std::vector<int>> places;
    for (const Layout &layout : layouts)
      places.push_back(placesOf(layout));
    for (unsigned i = 0; i < layouts.size(); ++i)
      for (unsigned j = 0; j < layouts.size(); ++j)
        if (i != j)
          connect(i, j, places);
  }

  /// Per axis where it is: what else its dim has before it, too.
  std::vector<int> placesOf(const Layout &layout) const {
    std::vector<int> places(mesh.rank(), -1);
    for (unsigned dim = 0; dim < layout.rank(); ++dim) {
      int64_t major = 1;
      for (unsigned axis : layout.axes(dim)) {
        places[axis] = int(dim * 64 + major);
        major *= mesh.axis_size(axis);
      }
    }
    for (Partial partial : layout.partial())
      places[partial.axis] = -2;
    return places;
  }

  static int64_t shards(const Layout &layout) {
    int64_t count = 1;
    for (unsigned dim = 0; dim < layout.rank(); ++dim)
      count *= layout.num_shards(dim);
    return count;
  }

  void connect(unsigned i, unsigned j,
               const std::vector<std::vector<int>> &places) {
    std::vector<unsigned> axes;
    for (unsigned axis = 0; axis < mesh.rank(); ++axis)
      if (places[i][axis] != places[j][axis])
        axes.push_back(axis);
    for (CollectiveKind kind :
         {CollectiveKind::AllReduce, CollectiveKind::AllGather,
          CollectiveKind::ReduceScatter, CollectiveKind::AllToAll,
          CollectiveKind::Permute, CollectiveKind::Slice}) {
      CollectiveOp op{kind, axes, layouts[i], layouts[j]};
      // One that changes the number of shards is looked at by itself.
      if (!verify(op) || (kind == CollectiveKind::Permute &&
                          shards(layouts[i]) != shards(layouts[j])))
        continue;
      into[j].push_back(unsigned(edges.size()));
      edges.push_back({i, j, std::move(op)});
    }
  }

  /// Returns the distance of each layout from `target` on chains whose layouts,
  /// both ends included, take at most `bound` bytes.
  std::vector<Cost> distances(unsigned target, int64_t bound,
                              const std::vector<Cost> &costs) const {
    std::vector<Cost> distance(layouts.size(), far);
    using Entry = std::pair<Cost, unsigned>;
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
    distance[target] = 0;
    queue.push({0, target});
    while (!queue.empty()) {
      auto [cost, node] = queue.top();
      queue.pop();
      if (cost > distance[node] || bytes[node] > bound)
        continue;
      for (unsigned edge : into[node]) {
        unsigned source = edges[edge].from;
        if (cost + costs[edge] < distance[source]) {
          distance[source] = cost + costs[edge];
          queue.push({distance[source], source});
        }
      }
    }
    return distance;
  }
};

bool partialAllows(const Layout &from, const Layout &to) {
  return std::ranges::all_of(to.partial(), [&](Partial partial) {
    return std::ranges::count(from.partial(), partial) > 0;
  });
}

/// Whether the axes that `layout` has come in the mesh's order, those that it
/// does not have last.
bool inOrder(const Layout &layout) {
  std::vector<unsigned> axes;
  for (unsigned dim = 0; dim < layout.rank(); ++dim)
    axes.insert(axes.end(), layout.axes(dim).begin(), layout.axes(dim).end());
  for (Partial partial : layout.partial())
    axes.push_back(partial.axis);
  for (unsigned i = 0; i < axes.size(); ++i)
    if (axes[i] != i)
      return false;
  return true;
}

/// Every plan of `world` on `machine` costs what the best chain costs. Among
/// sources that differ in the names of axes alone all are asked, or only the
/// one that is `inOrder`, which is enough where all axes are alike.
void expectOptimal(const World &world, const MachineModel &machine,
                   bool onlyInOrder = false) {
  std::vector<Cost> costs;
  int64_t whole = globalBytes(world.shape, DType::F32);
  for (const World::Edge &edge : world.edges)
    costs.push_back(machine.collective(
        edge.op,
        countedBytes(edge.op, world.bytes[edge.from], world.bytes[edge.to]),
        whole));
  std::vector<int64_t> sizes = world.bytes;
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());

  for (unsigned target = 0; target < world.layouts.size(); ++target) {
    std::map<int64_t, std::vector<Cost>> byBound;
    auto distances = [&](int64_t bound) -> const std::vector<Cost> & {
      auto [entry, isNew] = byBound.try_emplace(bound);
      if (isNew)
        entry->second = world.distances(target, bound, costs);
      return entry->second;
    };
    const Layout &to = world.layouts[target];
    for (unsigned source = 0; source < world.layouts.size(); ++source) {
      const Layout &from = world.layouts[source];
      if (!partialAllows(from, to) || (onlyInOrder && !inOrder(from)))
        continue;
      // The least bound from the larger end on that a chain keeps to.
      int64_t bound = std::max(world.bytes[source], world.bytes[target]);
      auto next = std::ranges::lower_bound(sizes, bound);
      while (distances(*next)[source] == far)
        ASSERT_NE(++next, sizes.end());
      auto plan = planRelayout(from, to, world.shape, DType::F32, machine);
      auto context = [&] {
        return machine.name + ": " + from.spec_string() + " -> " +
               to.spec_string();
      };
      ASSERT_TRUE(plan) << context();
      ASSERT_FALSE(plan->cutShort) << context();
      // One permute of another number of shards, if that sends less.
      Cost best = distances(*next)[source];
      bool isOne = plan->steps.size() == 1 &&
                   plan->steps[0].kind == CollectiveKind::Permute;
      if (isOne && world.shards(from) != world.shards(to)) {
        ASSERT_LT(plan->cost, best) << context();
      } else {
        ASSERT_EQ(plan->cost, best) << context();
        auto one = permuteTo(from, to.dim_axes());
        if (one && one->to == to && !machine.sharedMemory) {
          int64_t counted =
              countedBytes(*one, world.bytes[source], world.bytes[target]);
          ASSERT_FALSE(
              machine.collective(*one, counted, whole) < best &&
              bytesSent(one->kind, counted, groupSize(world.mesh, one->axes)) <
                  plan->bytesSent)
              << context();
        }
      }
      ASSERT_LE(plan->peakBytes, *next) << context();
      Layout current = from;
      for (const CollectiveOp &op : plan->steps) {
        ASSERT_EQ(op.from, current) << context();
        ASSERT_TRUE(verify(op)) << context();
        current = op.to;
      }
      ASSERT_EQ(current, to) << context();
    }
  }
}

MachineModel machineOf(const std::string &name) {
  if (name != "slow-y")
    return *MachineModel::preset(name);
  MachineModel machine = *MachineModel::preset("ring");
  machine.name = name;
  machine.links["y"] = {1'000'000'000, 20'000'000};
  return machine;
}

bool sweeping() {
  const char *wish = std::getenv("MESHLOOM_PLANNER_SWEEP");
  return wish && *wish && *wish != '0';
}

void expectOptimal(const std::vector<int64_t> &sizes,
                   const std::vector<Shape> &shapes,
                   const std::vector<std::string> &machines,
                   bool onlyInOrder = false) {
  for (const Shape &shape : shapes) {
    World world(test::makeMesh(sizes), shape);
    for (const std::string &name : machines)
      ASSERT_NO_FATAL_FAILURE(
          expectOptimal(world, machineOf(name), onlyInOrder));
  }
}

const std::vector<std::string> allMachines = {"ring", "ring-latency",
                                              "shared-memory", "slow-y"};

} // namespace

TEST(RelayoutOptimumTest, OneAxis) {
  for (int64_t size : {1, 2, 3, 4, 5, 6, 7, 8})
    expectOptimal({size},
                  {{}, {16}, {7}, {0}, {8, 16}, {5, 3}, {8, 24, 16}, {3, 9, 1}},
                  allMachines);
}

TEST(RelayoutOptimumTest, TwoAxes) {
  for (std::vector<int64_t> sizes : std::vector<std::vector<int64_t>>{
           {2, 4}, {4, 2}, {2, 2}, {2, 3}, {3, 2}, {1, 5}})
    expectOptimal(sizes,
                  {{},
                   {24},
                   {7},
                   {0},
                   {24, 48},
                   {5, 7},
                   {1, 12},
                   {24, 12, 24},
                   {3, 5, 9}},
                  allMachines);
}

// Two dims give their axes to two others at once.
TEST(RelayoutOptimumTest, RankFour) {
  for (std::vector<int64_t> sizes :
       std::vector<std::vector<int64_t>>{{2, 4}, {2, 2}})
    expectOptimal(sizes, {{8, 16, 24, 8}, {3, 5, 9, 2}}, allMachines);
  if (sweeping())
    expectOptimal({2, 2, 2}, {{8, 16, 24, 8}, {3, 5, 9, 2}}, {"ring"});
}

TEST(RelayoutOptimumTest, ThreeAxesOfRankTwo) {
  expectOptimal({2, 2, 2}, {{}, {16}, {7}, {8, 16}, {5, 7}, {1, 9}},
                allMachines);
}

TEST(RelayoutOptimumTest, ThreeAxesOfRankThree) {
  expectOptimal({2, 2, 2}, {{8, 16, 24}}, {"ring", "shared-memory"}, true);
  expectOptimal({2, 2, 2}, {{5, 7, 3}}, {"ring-latency"}, true);
  if (sweeping())
    expectOptimal({2, 2, 2}, {{8, 16, 24}, {5, 7, 3}, {1, 16, 5}, {0, 4, 8}},
                  allMachines);
}

// Blocks of {x, y} and {y, x} are different where they are uneven; pieces of
// them are sent all the same, and nobody holds more than at both ends.
TEST(RelayoutOptimumTest, NothingOnTheWayIsLargerThanBothEnds) {
  Mesh mesh = test::makeMesh({2, 3});
  MachineModel ring = *MachineModel::preset("ring");
  Layout xy({Axes{"x", "y"}}, mesh), yx({Axes{"y", "x"}}, mesh);
  for (int64_t extent : {12, 7}) {
    auto plan = *planRelayout(xy, yx, {extent}, DType::F32, ring);
    EXPECT_EQ(plan.peakBytes, 8);
    EXPECT_EQ(plan.steps.front().kind, CollectiveKind::Permute);
  }
  Layout rows({Axes{"x", "y"}, UNSHARDED}, mesh),
      other({Axes{"y", "x"}, UNSHARDED}, mesh);
  auto round = *planRelayout(rows, other, {7, 600}, DType::F32, ring);
  EXPECT_EQ(round.peakBytes, 2 * 4 * 600);
}

// An axis that is cut into parts is as many axes, and its link is theirs.
TEST(RelayoutOptimumTest, PartsOfAnAxis) {
  MachineModel slow = *MachineModel::preset("ring");
  slow.name = "slow-x";
  slow.links["x"] = {1'000'000'000, 20'000'000};
  for (auto axes :
       {std::vector<MeshAxis>{{"x:(1)4", 4}, {"x:(4)2", 2}},
        std::vector<MeshAxis>{{"x:(1)2", 2}, {"x:(2)2", 2}, {"y", 2}}}) {
    Mesh mesh = *Mesh::get(axes);
    EXPECT_EQ(slow.link(mesh, 0).bytesPerSecond, 1'000'000'000);
    for (const Shape &shape : std::vector<Shape>{{64}, {24, 48}, {5, 7}}) {
      World world(mesh, shape);
      for (const MachineModel &machine : {*MachineModel::preset("ring"), slow})
        ASSERT_NO_FATAL_FAILURE(expectOptimal(world, machine));
    }
  }
}

// A chain that is cheaper but larger on the way is taken where the caller
// allows it.
TEST(RelayoutOptimumTest, CallerMayAllowMoreMemory) {
  Mesh mesh = test::makeMesh({2, 2});
  MachineModel latency = *MachineModel::preset("ring");
  latency.defaultLink.latency = 1'000'000'000; // fewer collectives, always
  Layout from({"x", "y"}, mesh), to({UNSHARDED, "x"}, mesh);
  Shape shape{64, 64};
  auto bounded = *planRelayout(from, to, shape, DType::F32, latency);
  EXPECT_LE(bounded.peakBytes, 64 * 32 * 4);
  auto allowed = *planRelayout(from, to, shape, DType::F32, latency,
                               {.peakBytes = 64 * 64 * 4});
  EXPECT_LT(allowed.collectives(), bounded.collectives());
  EXPECT_LE(allowed.cost, bounded.cost);
}
