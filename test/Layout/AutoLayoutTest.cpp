// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Automatic layouts against the optimum on small programs (AllPrograms.h) of up
// to 8 ops, whose arguments nobody laid out, on meshes of 4, 2 x 2, 8 and 2 x 4
// devices. A part of them, so that it takes seconds;
// MESHLOOM_REFINEMENT_SWEEP=<n> in the environment compares n times as many.
#include "AllPrograms.h"

#include "meshloom/Layout/Search/LayoutStarts.h"

#include <cstdlib>
#include <gtest/gtest.h>

using namespace meshloom;
using namespace meshloom::test;

namespace {

/// A program whose arguments are open; `result` says on which dims its result
/// is wanted, or that any layout will do.
enum class ResultLayout { First, Last, None, Open };

LayoutGraph openProgram(const Mesh &mesh, const std::vector<Step> &steps,
                        int64_t extent, ResultLayout result,
                        std::string *text = nullptr) {
  constexpr unsigned none = 2;
  const unsigned where = std::min(unsigned(result), none);
  SmallProgram program(mesh, steps, extent, {none, none, where});
  if (text)
    *text = program.text;
  LayoutGraph graph = program.graph();
  for (LayoutGraph::Value &value : graph.values)
    value.open = value.argument;
  graph.outputs.front().open = result == ResultLayout::Open;
  return graph;
}

/// Returns all starts of few axes, which are not compared.
std::vector<std::vector<Layout>>
fewStarts(const Mesh &mesh, const std::vector<OpenArgument> &arguments) {
  return layoutStarts(mesh, arguments, [](const auto &) {
    ADD_FAILURE() << "starts are compared";
    return std::vector<size_t>();
  });
}

/// The plan of a whole search from the best of all starts. Ops begin as the
/// arguments suggest, as after propagation.
LayoutRefinement automaticPlan(const Mesh &mesh, const std::vector<Step> &steps,
                               int64_t extent, ResultLayout result,
                               const MachineModel &machine) {
  const OpenArgument argument{{extent, extent}};
  LayoutGraph best;
  std::optional<Cost> leastCost;
  for (const std::vector<Layout> &start :
       fewStarts(mesh, {argument, argument})) {
    LayoutGraph graph = openProgram(mesh, steps, extent, result);
    for (unsigned value = 0; value < start.size(); ++value)
      graph.values[value].layOut(start[value]);
    const Cost cost =
        findLayouts(graph, machine, /*memory=*/0, SearchDepth::Chains)
            .after.cost;
    if (!leastCost || cost < *leastCost) {
      leastCost = cost;
      best = std::move(graph);
    }
  }
  return findLayouts(best, machine, /*memory=*/0);
}

void compareWithOptimum(unsigned ops, bool chains, int64_t step) {
  if (const char *sweep = std::getenv("MESHLOOM_REFINEMENT_SWEEP"))
    step = std::max<int64_t>(1, step / std::max(1, std::atoi(sweep)));
  const std::vector<Mesh> meshes{
      *Mesh::get({{"x", 4}}), *Mesh::get({{"x", 2}, {"y", 2}}),
      *Mesh::get({{"x", 8}}), *Mesh::get({{"x", 2}, {"y", 4}})};
  const std::vector<MachineModel> machines{
      *MachineModel::preset("ring"), *MachineModel::preset("ring-latency"),
      *MachineModel::preset("shared-memory")};
  int64_t next = 0, compared = 0, proven = 0;
  AllPrograms(ops, chains, [&](const std::vector<Step> &steps) {
    if (next++ % step != 0)
      return;
    const int64_t kind = next / step;
    const Mesh &mesh = meshes[size_t(kind) % meshes.size()];
    const int64_t extent = kind % 2 ? 64 : 1000;
    const auto result = ResultLayout(kind % 3 + kind / 7 % 2);
    for (const MachineModel &machine : machines) {
      std::string text;
      const LayoutGraph graph = openProgram(mesh, steps, extent, result, &text);
      const LayoutRefinement found =
          automaticPlan(mesh, steps, extent, result, machine);
      ++compared;
      const std::string where =
          text + " on " + machine.name + ", " + mesh.spec_string();
      proven += found.isOptimal;
      EXPECT_EQ(found.after.cost,
                optimumFrom(graph, machine, found.layouts, -1))
          << where;
    }
  });
  EXPECT_GT(compared, 0);
  // The search itself gives up one in a thousand.
  EXPECT_GE(proven, compared * 99 / 100 - 1);
}

} // namespace

TEST(AutoLayoutTest, ShortProgramsAreOptimal) {
  compareWithOptimum(2, /*chains=*/false, 1);
  compareWithOptimum(3, /*chains=*/false, 41);
  compareWithOptimum(4, /*chains=*/false, 4003);
}

TEST(AutoLayoutTest, ChainsAreOptimal) {
  compareWithOptimum(4, /*chains=*/true, 31);
  compareWithOptimum(5, /*chains=*/true, 211);
  compareWithOptimum(6, /*chains=*/true, 2003);
  compareWithOptimum(7, /*chains=*/true, 10007);
  compareWithOptimum(8, /*chains=*/true, 100003);
}

TEST(AutoLayoutTest, AxesTakeTheirBestRolesInTurn) {
  const Mesh mesh = *Mesh::get({{"x", 2}, {"y", 4}});
  const std::vector<OpenArgument> arguments{
      {{16, 3}, OpenArgument::Kind::Input},
      {{4, 64}, OpenArgument::Kind::Weight},
      {{7}, OpenArgument::Kind::Weight}};
  // These lists are better than all others, the first one best.
  const std::vector<std::string> order{
      "[{x, y}, *][*, {x, y}][*]", "[{x, y}, *][*, y][*]",
      "[{x, y}, *][*, x][*]", "[{x, y}, *][*, *][*]"};
  size_t compared = 0;
  auto textOf = [](const std::vector<Layout> &start) {
    std::string text;
    for (const Layout &layout : start)
      text += layout.spec_string();
    return text;
  };
  std::vector<std::string> texts;
  for (const std::vector<Layout> &start :
       layoutStarts(mesh, arguments, [&](const auto &lists) {
         std::vector<size_t> places;
         for (const std::vector<Layout> &list : lists)
           places.push_back(
               size_t(std::ranges::find(order, textOf(list)) - order.begin()));
         compared += lists.size();
         return places;
       }))
    texts.push_back(textOf(start));
  EXPECT_EQ(compared, 24u); // two descents, two axes, six roles
  EXPECT_EQ(texts.front(), "[*, *][*, *][*]");
  EXPECT_EQ(std::ranges::count(texts, order[0]), 1);
  // Data parallel along x, the state cut along y; no axis divides 7.
  EXPECT_EQ(std::ranges::count(texts, "[x, *][*, y][*]"), 1);
  // There are 16 lists in all, some of which are not tried.
  EXPECT_LT(texts.size(), 16u);
}

TEST(AutoLayoutTest, ManyAxesHaveFewStarts) {
  std::vector<MeshAxis> axes;
  for (const char *name : {"a", "b", "c", "d", "e", "f"})
    axes.push_back({name, 2});
  const Mesh mesh = *Mesh::get(axes);
  const std::vector<OpenArgument> arguments{
      {{64, 64}, OpenArgument::Kind::Input},
      {{64, 64}, OpenArgument::Kind::Weight}};
  const auto starts = layoutStarts(mesh, arguments, [](const auto &lists) {
    return std::vector<size_t>(lists.size());
  });
  EXPECT_GT(starts.size(), 12u);
  EXPECT_LE(starts.size(), 72u);
}

TEST(AutoLayoutTest, MomentsAreCutAlone) {
  const Mesh mesh = *Mesh::get({{"x", 2}});
  const std::vector<OpenArgument> arguments{
      {{16, 3}, OpenArgument::Kind::Input},
      {{8, 8}, OpenArgument::Kind::Weight},
      {{8, 8}, OpenArgument::Kind::Moment}};
  std::vector<std::string> texts;
  for (const std::vector<Layout> &start : fewStarts(mesh, arguments)) {
    std::string &text = texts.emplace_back();
    for (const Layout &layout : start)
      text += layout.spec_string();
  }
  EXPECT_EQ(texts.size(), 7u);
  EXPECT_TRUE(std::ranges::count(texts, "[x, *][*, *][x, *]")); // ZeRO-1
  // The first or the last one of equally large dims is cut.
  EXPECT_TRUE(std::ranges::count(texts, "[x, *][x, *][x, *]"));
  EXPECT_TRUE(std::ranges::count(texts, "[x, *][*, x][*, x]"));
}

TEST(AutoLayoutTest, TensorParallelismIsAStart) {
  const Mesh mesh = *Mesh::get({{"x", 2}});
  const std::vector<OpenArgument> arguments{
      {{16, 3}, OpenArgument::Kind::Input},
      {{8, 32}, OpenArgument::Kind::Weight, 1},
      {{32, 64}, OpenArgument::Kind::Weight, 0}};
  std::vector<std::string> texts;
  for (const std::vector<Layout> &start : fewStarts(mesh, arguments)) {
    std::string &text = texts.emplace_back();
    for (const Layout &layout : start)
      text += layout.spec_string();
  }
  EXPECT_TRUE(std::ranges::count(texts, "[*, *][*, x][x, *]"));
}

TEST(AutoLayoutTest, MeshesOfANumberOfDevices) {
  std::vector<std::string> texts;
  for (const Mesh &mesh : meshesOfDevices(12))
    texts.push_back(mesh.spec_string());
  EXPECT_EQ(texts,
            (std::vector<std::string>{"<x=12>", "<x=6, y=2>", "<x=4, y=3>",
                                      "<x=3, y=4>", "<x=2, y=6>"}));
  EXPECT_EQ(meshesOfDevices(7).size(), 1u);
  EXPECT_EQ(meshesOfDevices(5040).size(), 12u);
}
