// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Relayout plans: every plan is carried out on sets of addends, element by
// element. RelayoutOptimumTest.cpp has their costs.
#include "meshloom/Core/RelayoutPlanner.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <set>

using namespace meshloom;

namespace {

Mesh mesh(std::vector<MeshAxis> axes) {
  return *Mesh::get(std::move(axes));
}

/// Every layout of rank `rank` over `mesh`, with sums pending where
/// `withPartial`.
std::vector<Layout> allLayouts(const Mesh &mesh, unsigned rank,
                               bool withPartial) {
  std::vector<Layout> layouts;
  std::set<std::string> seen;
  std::vector<unsigned> order(mesh.rank());
  for (unsigned i = 0; i < order.size(); ++i)
    order[i] = i;
  do {
    // Each axis, in this order, goes to a dim, nowhere, or is partial.
    unsigned choices = rank + 1 + withPartial;
    size_t count = 1;
    for (unsigned i = 0; i < order.size(); ++i)
      count *= choices;
    for (size_t code = 0; code < count; ++code) {
      Layout::DimAxes dims(rank);
      std::vector<Partial> partial;
      size_t remainder = code;
      for (unsigned axis : order) {
        unsigned choice = remainder % choices;
        remainder /= choices;
        if (choice < rank)
          dims[choice].push_back(axis);
        else if (choice == rank + 1)
          partial.push_back({axis, ReduceKind::Sum});
      }
      Layout layout = *Layout::get(mesh, dims, partial);
      if (seen.insert(layout.to_string()).second)
        layouts.push_back(layout);
    }
  } while (std::next_permutation(order.begin(), order.end()));
  return layouts;
}

using Addends = std::set<int64_t>;                      ///< of one element
using Memory = std::map<std::vector<int64_t>, Addends>; ///< of one device

template <typename F> void forEachIndex(const Box &box, F visit) {
  if (box.empty())
    return;
  std::vector<int64_t> index = box.offset;
  while (true) {
    visit(index);
    size_t dim = index.size();
    while (dim-- > 0) {
      if (++index[dim] < box.offset[dim] + box.extent[dim])
        break;
      index[dim] = box.offset[dim];
    }
    if (dim == size_t(-1))
      return;
  }
}

/// Addends that a device has under `layout`, of a value that was partial over
/// `original`: those with its coordinates on the axes that are still pending.
Addends addendsOf(const Mesh &mesh, const Layout &layout,
                  std::span<const Partial> original, int64_t device) {
  Addends addends;
  auto deviceCoords = mesh.coords(device);
  for (int64_t other = 0; other < mesh.size(); ++other) {
    auto coords = mesh.coords(other);
    bool mine = true;
    int64_t id = 0;
    for (Partial partial : original) {
      id = id * 64 + coords[partial.axis];
      bool pending = std::ranges::count(layout.partial(), partial);
      mine &= !pending || coords[partial.axis] == deviceCoords[partial.axis];
    }
    if (mine)
      addends.insert(id);
  }
  return addends;
}

std::vector<Memory> memories(const Layout &layout,
                             std::span<const Partial> original,
                             const Shape &shape) {
  const Mesh &mesh = layout.mesh();
  std::vector<Memory> result(mesh.size());
  for (int64_t device = 0; device < mesh.size(); ++device) {
    Addends addends = addendsOf(mesh, layout, original, device);
    forEachIndex(layout.shard(shape, device),
                 [&](const auto &index) { result[device][index] = addends; });
  }
  return result;
}

/// Carries out one collective with what the devices of each group have. Returns
/// false where an element cannot be had, or an addend would count twice.
bool carryOut(const CollectiveOp &op, const Shape &shape,
              std::vector<Memory> &memory) {
  const Mesh &mesh = op.from.mesh();
  bool reduces = op.kind == CollectiveKind::AllReduce ||
                 op.kind == CollectiveKind::ReduceScatter;
  bool local = op.kind == CollectiveKind::Slice;
  std::vector<Memory> next(memory.size());
  for (int64_t device = 0; device < mesh.size(); ++device) {
    std::vector<int64_t> group;
    auto deviceCoords = mesh.coords(device);
    for (int64_t other = 0; other < mesh.size(); ++other) {
      auto coords = mesh.coords(other);
      bool inGroup = true;
      for (unsigned axis = 0; axis < mesh.rank(); ++axis)
        inGroup &= (!local && std::ranges::count(op.axes, axis)) ||
                   coords[axis] == deviceCoords[axis];
      if (inGroup)
        group.push_back(other);
    }
    bool good = true;
    forEachIndex(op.to.shard(shape, device), [&](const auto &index) {
      Addends &result = next[device][index];
      bool found = false;
      for (int64_t source : group) {
        auto held = memory[source].find(index);
        if (held == memory[source].end()) {
          good &= !reduces;
          continue;
        }
        if (!reduces) {
          good &= !found || result == held->second;
          result = held->second;
        } else {
          size_t before = result.size();
          result.insert(held->second.begin(), held->second.end());
          good &= result.size() == before + held->second.size();
        }
        found = true;
      }
      good &= found;
    });
    if (!good)
      return false;
  }
  memory = std::move(next);
  return true;
}

struct Case {
  Mesh mesh;
  Shape shape;
};

std::vector<Case> cases() {
  Mesh x3 = mesh({{"x", 3}}), x8 = mesh({{"x", 8}});
  Mesh square = mesh({{"x", 2}, {"y", 2}});
  Mesh oblong = mesh({{"x", 2}, {"y", 3}});
  return {{x3, {7}},        {x3, {0}},        {x8, {5}},
          {x8, {8, 3}},     {x3, {4, 6}},     {square, {7}},
          {square, {8}},    {square, {4, 8}}, {square, {3, 5}},
          {oblong, {7}},    {oblong, {12}},   {oblong, {6, 12}},
          {oblong, {5, 7}}, {oblong, {0, 6}}, {square, {2, 4, 6}},
          {x3, {}},         {oblong, {}}};
}

bool partialAllows(const Layout &from, const Layout &to) {
  return std::ranges::all_of(to.partial(), [&](Partial partial) {
    return std::ranges::count(from.partial(), partial) > 0;
  });
}

TEST(RelayoutPlannerTest, BeforeAReductionBegins) {
  Mesh m = mesh({{"x", 2}, {"y", 3}});
  auto layout = [&](Layout::DimAxes dims, std::vector<Partial> partial = {}) {
    return *Layout::get(m, std::move(dims), std::move(partial));
  };
  Partial x{0, ReduceKind::Sum}, y{1, ReduceKind::Sum};
  EXPECT_TRUE(beginsReduction(layout({{0}}), layout({{}}, {x})));
  EXPECT_FALSE(beginsReduction(layout({{}}, {x, y}), layout({{}}, {x})));
  EXPECT_TRUE(
      beginsReduction(layout({{}}, {x}), layout({{}}, {{0, ReduceKind::Max}})));
  // A value that is cut into even blocks stays so.
  EXPECT_EQ(beforeBeginning(layout({{0}}), layout({{}}, {x}), {6}),
            layout({{0}}));
  EXPECT_EQ(beforeBeginning(layout({{0, 1}}), layout({{0}}, {y}), {6}),
            layout({{0, 1}}));
  // Uneven blocks, major axes and axes that do not become pending do not.
  EXPECT_EQ(beforeBeginning(layout({{0}}), layout({{}}, {x}), {5}),
            layout({{}}));
  EXPECT_EQ(beforeBeginning(layout({{0, 1}}), layout({{1}}, {x}), {6}),
            layout({{1}}));
  EXPECT_EQ(beforeBeginning(layout({{1, 0}}), layout({{}}, {x}), {6}),
            layout({{}}));
  // A reduction that was pending is carried out.
  EXPECT_EQ(beforeBeginning(layout({{}}, {x}), layout({{}}, {x, y}), {6}),
            layout({{}}));
  EXPECT_FALSE(planRelayout(layout({{0}}), layout({{}}, {x}), {6}, DType::F32,
                            *MachineModel::preset("ring")));
}

} // namespace

// A plan is a chain from `from` to `to`, every step is what its kind says, and
// carrying it out gives every device exactly its shard of the combined value.
TEST(RelayoutPlannerTest, PlansGiveEachDeviceItsShard) {
  for (const Case &example : cases())
    for (const Layout &from :
         allLayouts(example.mesh, example.shape.size(), /*withPartial=*/true))
      for (const Layout &to : allLayouts(example.mesh, example.shape.size(),
                                         /*withPartial=*/true)) {
        if (!partialAllows(from, to))
          continue;
        auto plan = planRelayout(from, to, example.shape, DType::F32,
                                 *MachineModel::preset("ring"));
        ASSERT_TRUE(plan) << plan.error().message();
        std::string context = from.spec_string() + " -> " + to.spec_string();
        auto memory = memories(from, from.partial(), example.shape);
        Layout current = from;
        for (const CollectiveOp &op : plan->steps) {
          ASSERT_EQ(op.from, current) << context;
          Status valid = verify(op);
          ASSERT_TRUE(valid) << context << ": " << valid.error().message();
          ASSERT_TRUE(carryOut(op, example.shape, memory))
              << context << " at " << name(op.kind);
          current = op.to;
        }
        ASSERT_EQ(current, to);
        ASSERT_EQ(memory, memories(to, from.partial(), example.shape))
            << context;
      }
}

static std::string kinds(const RelayoutPlan &plan) {
  std::string text;
  for (const CollectiveOp &op : plan.steps)
    text += (text.empty() ? "" : ", ") + std::string(name(op.kind));
  return text;
}

// The worked example of the design: bytes that each device sends.
TEST(RelayoutPlannerTest, WeightGradientExample) {
  Mesh batch = mesh({{"batch", 8}});
  MachineModel ring = *MachineModel::preset("ring");
  Layout full = Layout::replicated(batch, 2),
         rows = Layout::batch_sharded(batch, "batch", 2),
         columns = Layout::inner_sharded(batch, "batch", 2),
         partial = full.with_partial({{0, ReduceKind::Sum}});
  auto plan = [&](const Layout &from, const Layout &to, Shape shape) {
    return *planRelayout(from, to, shape, DType::F32, ring);
  };
  EXPECT_EQ(plan(rows, columns, {128, 784}).bytesSent, 43904);
  EXPECT_EQ(plan(rows, full, {128, 700}).bytesSent, 313600);
  EXPECT_EQ(plan(rows, full, {784, 700}).bytesSent, 1920800);
  EXPECT_EQ(plan(partial, full, {784, 700}).bytesSent, 3841600);
  EXPECT_EQ(kinds(plan(partial, full, {784, 700})), "all_reduce");
  EXPECT_EQ(kinds(plan(rows, columns, {128, 784})), "all_to_all");
  EXPECT_EQ(kinds(plan(partial, rows, {784, 700})), "reduce_scatter");
  EXPECT_EQ(kinds(plan(full, rows, {784, 700})), "slice");
}

// With a latency per collective, axes are gathered and reduced together.
TEST(RelayoutPlannerTest, AxesAreTakenTogether) {
  Mesh two = mesh({{"x", 2}, {"y", 4}});
  MachineModel machine = *MachineModel::preset("ring-latency");
  Layout full = Layout::replicated(two, 2);
  auto chain = [&](const Layout &from, const Layout &to) {
    return kinds(*planRelayout(from, to, {16, 32}, DType::F32, machine));
  };
  EXPECT_EQ(chain(Layout({"x", "y"}, two), full), "all_gather");
  EXPECT_EQ(chain(full, Layout({"x", "y"}, two)), "slice");
  EXPECT_EQ(
      chain(full.with_partial({{0, ReduceKind::Sum}, {1, ReduceKind::Sum}}),
            full),
      "all_reduce");
  EXPECT_EQ(chain(Layout({Axes{"x", "y"}, UNSHARDED}, two),
                  Layout({UNSHARDED, Axes{"x", "y"}}, two)),
            "all_to_all");
}

// Axes of different sizes change places at once, not by all_to_alls over both.
TEST(RelayoutPlannerTest, AxesOfTwoSizesChangePlacesByOnePermute) {
  Mesh two = mesh({{"x", 2}, {"y", 4}});
  auto plan = planRelayout(Layout({"x", "y"}, two), Layout({"y", "x"}, two),
                           {16, 24}, DType::F32, *MachineModel::preset("ring"));
  ASSERT_TRUE(plan);
  EXPECT_EQ(kinds(*plan), "permute");
  EXPECT_EQ(plan->bytesSent, 8 * 6 * 4);
}

// Several axes move between several dims in one all_to_all, each device
// keeping its own part; on large meshes, too.
TEST(RelayoutPlannerTest, SeveralDimsChangeInOneAllToAll) {
  for (int64_t others : {1, 5}) {
    std::vector<MeshAxis> axes{{"x", 2}, {"y", 4}};
    for (int64_t i = 1; i < others; ++i)
      axes.push_back({"other" + std::to_string(i), 2});
    Mesh two = mesh(axes);
    auto moves = [&](std::vector<DimSpec> from, std::vector<DimSpec> to) {
      auto plan =
          planRelayout(Layout(from, two), Layout(to, two), {16, 16, 16, 16},
                       DType::F32, *MachineModel::preset("ring"));
      EXPECT_EQ(plan->bytesSent, 16 * 16 * 16 * 16 / 8 * 4 * 7 / 8);
      return kinds(*plan);
    };
    EXPECT_EQ(moves({"x", "y", UNSHARDED, UNSHARDED},
                    {UNSHARDED, UNSHARDED, "y", "x"}),
              "all_to_all");
    EXPECT_EQ(moves({"x", "y", UNSHARDED, UNSHARDED},
                    {UNSHARDED, UNSHARDED, Axes{"y", "x"}, UNSHARDED}),
              "all_to_all");
    EXPECT_EQ(moves({Axes{"x", "y"}, UNSHARDED, UNSHARDED, UNSHARDED},
                    {UNSHARDED, Axes{"y", "x"}, UNSHARDED, UNSHARDED}),
              "all_to_all");
  }
}

// The cost of a permute counts the larger of what a device gets and what it
// sends.
TEST(RelayoutPlannerTest, PermuteCountsWhatIsSentWhereThatIsMore) {
  Mesh two = mesh({{"x", 2}, {"y", 4}});
  MachineModel ring = *MachineModel::preset("ring");
  auto permute = [&](std::vector<DimSpec> from, std::vector<DimSpec> to,
                     Shape shape) {
    auto plan = planRelayout(Layout(from, two), Layout(to, two), shape,
                             DType::F32, ring);
    EXPECT_EQ(kinds(*plan), "permute");
    return plan->bytesSent / 4;
  };
  EXPECT_EQ(permute({"x", "y"}, {"y", "x"}, {9, 16}), 3 * 8); // from 5x4
  EXPECT_EQ(permute({"y", "x"}, {"x", "y"}, {9, 16}), 3 * 8); // to 5x4
  // Another number of shards: each block of 3 is at two devices, four want it.
  EXPECT_EQ(permute({"y"}, {"x"}, {11}), 6);
  EXPECT_EQ(permute({"x"}, {"y"}, {2}), 1);
  auto even = planRelayout(Layout({"y"}, two), Layout({"x"}, two), {16},
                           DType::F32, ring);
  EXPECT_EQ(kinds(*even), "slice, permute, all_gather");
  EXPECT_EQ(even->bytesSent, 8 * 4);
}

TEST(RelayoutPlannerTest, PermuteTo) {
  Mesh two = mesh({{"x", 2}, {"y", 4}});
  auto op = permuteTo(Layout({"x", UNSHARDED}, two), {{}, {1}});
  ASSERT_TRUE(op);
  EXPECT_TRUE(verify(*op));
  EXPECT_EQ(op->axes, (std::vector<unsigned>{0, 1}));
  EXPECT_FALSE(permuteTo(Layout({"x"}, two), {{0}}));
  Layout pending = Layout({"x"}, two).with_partial({{1, ReduceKind::Sum}});
  EXPECT_FALSE(permuteTo(pending, {{1}}));
}

TEST(RelayoutPlannerTest, ErrorsNameTheAxis) {
  Mesh two = mesh({{"x", 2}, {"y", 3}}), other = mesh({{"z", 6}});
  MachineModel ring = *MachineModel::preset("ring");
  Layout full = Layout::replicated(two, 1);
  auto message = [&](const Layout &from, const Layout &to) {
    auto plan = planRelayout(from, to, {6}, DType::F32, ring);
    return plan ? "" : plan.error().message();
  };
  EXPECT_NE(message(full, full.with_partial({{1, ReduceKind::Sum}}))
                .find("partial over 'y'"),
            std::string::npos);
  EXPECT_NE(
      message(full, Layout::replicated(other, 1)).find("different meshes"),
      std::string::npos);
  EXPECT_NE(message(full, Layout::replicated(two, 2)).find("rank"),
            std::string::npos);
}

// Many small axes: a valid chain within a bounded search.
TEST(RelayoutPlannerTest, ManyAxes) {
  std::vector<MeshAxis> axes;
  std::vector<std::string> names, reversed;
  for (char c = 'a'; c < 'a' + 9; ++c) {
    axes.push_back({std::string(1, c), 2});
    names.push_back(axes.back().name);
  }
  reversed.assign(names.rbegin(), names.rend());
  Mesh cube = mesh(axes);
  Layout from({Axes(names), UNSHARDED}, cube),
      to({UNSHARDED, Axes(reversed)}, cube);
  auto plan = planRelayout(from, to, {1024, 1024}, DType::F32,
                           *MachineModel::preset("ring"));
  ASSERT_TRUE(plan);
  Layout current = from;
  for (const CollectiveOp &op : plan->steps) {
    EXPECT_EQ(op.from, current);
    EXPECT_TRUE(verify(op));
    current = op.to;
  }
  EXPECT_EQ(current, to);
}

// A value needed in two layouts: gathering first makes the other one free.
TEST(RelayoutPlannerTest, CheapestTreeSharesWhatIsDear) {
  // Costs from the value, from target 0, from target 1.
  const Cost costs[3][2] = {{10, 6}, {0, 0}, {9, 0}};
  auto price = [&](int source, unsigned target) -> std::optional<TreePrice> {
    return TreePrice{costs[source + 1][target], 1};
  };
  EXPECT_EQ(*cheapestTree(2, price), (std::vector<TreeEdge>{{-1, 0}, {0, 1}}));
  EXPECT_TRUE(cheapestTree(0, price)->empty());
  auto never = [](int, unsigned) { return std::optional<TreePrice>(); };
  EXPECT_FALSE(cheapestTree(1, never));
  EXPECT_FALSE(cheapestTree(6, never));
  // Many targets, each made from the one before it.
  auto chain = [](int source, unsigned target) -> std::optional<TreePrice> {
    return TreePrice{source + 1 == int(target) ? 1 : 5, 1};
  };
  EXPECT_EQ(cheapestTree(7, chain)->back(), (TreeEdge{5, 6}));
}

// Among trees that cost the same, the one with fewer collectives is taken.
TEST(RelayoutPlannerTest, CheapestTreeSendsTheSameInFewerCollectives) {
  auto price = [](int source, unsigned target) -> std::optional<TreePrice> {
    return TreePrice{3, source < 0 && target == 1 ? 2 : 1};
  };
  EXPECT_EQ(*cheapestTree(2, price), (std::vector<TreeEdge>{{-1, 0}, {0, 1}}));
}

// Six layouts of a value: the last one costs most from the value, and makes all
// others free; taking the cheapest next one from the start would never see it.
TEST(RelayoutPlannerTest, CheapestTreeOfManyMayBeginWithTheDearestOne) {
  auto price = [](int source, unsigned target) -> std::optional<TreePrice> {
    if (source == 5)
      return TreePrice{0, 0};
    return TreePrice{target == 5 ? 10 : 9, 1};
  };
  std::vector<TreeEdge> tree = *cheapestTree(6, price);
  EXPECT_EQ(tree.front(), (TreeEdge{-1, 5}));
  for (size_t i = 1; i < tree.size(); ++i)
    EXPECT_EQ(tree[i].source, 5);
}
