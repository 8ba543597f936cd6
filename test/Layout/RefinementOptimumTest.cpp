// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Refinement against the optimum on all small programs (AllPrograms.h): the
// vocabulary is exp, add, dot, transpose, sums over either dim and broadcasts
// to either, the mesh one axis of 4, the extents 64 (collectives decide) and
// 1000 (work does), the machines ring and shared-memory, the arguments and the
// result on rows, columns or none.
//
// All of them up to two ops, and of longer ones every so many, so that it takes
// seconds. MESHLOOM_REFINEMENT_SWEEP=<n> in the environment makes the steps n
// times shorter; docs/Rationale.md has what a long run found.
#include "AllPrograms.h"

#include <cstdlib>
#include <gtest/gtest.h>

using namespace meshloom;
using namespace meshloom::test;

namespace {

struct Tally {
  int64_t programs = 0, tried = 0, optimal = 0, over = 0;
  double worst = 1;
};

/// Programs of `ops` ops, every `step`-th of their ways to be laid out.
void compare(const Mesh &mesh, unsigned ops, bool chains, int64_t step,
             Tally &tally) {
  if (const char *sweep = std::getenv("MESHLOOM_REFINEMENT_SWEEP"))
    step = std::max<int64_t>(1, step / std::max(1, std::atoi(sweep)));
  const MachineModel machines[] = {*MachineModel::preset("ring"),
                                   *MachineModel::preset("shared-memory")};
  int64_t next = 0;
  auto check = [&](const SmallProgram &program, const MachineModel &machine) {
    LayoutRefinement found = refineLayouts(program.graph(), machine);
    const Cost best = optimumFrom(program.graph(), machine, found.layouts,
                                  allowedPeak(found.peakBefore));
    std::string layouts;
    for (size_t value = 0; value < found.layouts.size(); ++value)
      if (program.graph().values[value].producer >= 0)
        layouts += found.layouts[value].spec_string() + " ";
    ++tally.tried;
    tally.optimal += found.after.cost <= best;
    if (best > 0)
      tally.worst =
          std::max(tally.worst, double(found.after.cost) / double(best));
    EXPECT_LE(found.after.cost * 10, best * 12)
        << ++tally.over << ": " << program.text << " on " << machine.name
        << ": " << found.before.cost << " -> " << found.after.cost << ", best "
        << best << "\n  found " << layouts;
    EXPECT_LE(found.peakAfter, allowedPeak(found.peakBefore)) << program.text;
  };
  AllPrograms(ops, chains, [&](const std::vector<Step> &steps) {
    ++tally.programs;
    bool second = std::ranges::any_of(
        steps, [](const Step &step) { return step.lhs == 1 || step.rhs == 1; });
    // A program on columns is another one, transposed, on rows.
    for (unsigned first : {0u, 2u})
      for (unsigned other = 0; other < (second ? 3u : 1u); ++other)
        for (unsigned result = 0; result < 3; ++result)
          for (int64_t n : {64, 1000})
            for (const MachineModel &machine : machines)
              if (next++ % step == 0)
                check(SmallProgram(mesh, steps, n, {first, other, result}),
                      machine);
  });
  std::printf(
      "up to %s, %s%u ops: %ld programs, %ld compared, %ld optimal, worst "
      "%.3f times the optimum\n",
      mesh.spec_string().c_str(), chains ? "chains of " : "", ops,
      long(tally.programs), long(tally.tried), long(tally.optimal),
      tally.worst);
}

const Mesh four = *Mesh::get({{"x", 4}});
const Mesh square = *Mesh::get({{"x", 2}, {"y", 2}});

} // namespace

TEST(RefinementOptimumTest, ShortPrograms) {
  Tally tally;
  for (unsigned ops : {1, 2})
    compare(four, ops, /*chains=*/false, 1, tally);
  compare(four, 3, /*chains=*/false, 23, tally);
  EXPECT_GE(tally.optimal * 10, tally.tried * 7);
}

TEST(RefinementOptimumTest, LongPrograms) {
  Tally tally;
  compare(four, 4, /*chains=*/false, 2003, tally);
  for (unsigned ops : {3, 4, 5, 6})
    compare(four, ops, /*chains=*/true, std::vector{7, 97, 499, 2999}[ops - 3],
            tally);
  EXPECT_GE(tally.optimal * 10, tally.tried * 7);
}

TEST(RefinementOptimumTest, TwoAxes) {
  Tally tally;
  for (unsigned ops : {1, 2})
    compare(square, ops, /*chains=*/false, 3, tally);
  compare(square, 3, /*chains=*/false, 211, tally);
  EXPECT_GE(tally.optimal * 10, tally.tried * 7);
}

// Branch and bound leaves nothing out. Memory limits no plan of the small
// tensors, so that equal frontiers are compared.
TEST(RefinementOptimumTest, BranchAndBoundIsTheOptimum) {
  int64_t next = 0;
  auto compareWithAll = [&](const Mesh &mesh, const std::vector<Step> &steps,
                            int64_t extent) {
    for (const char *name : {"ring", "shared-memory"}) {
      MachineModel machine = *MachineModel::preset(name);
      SmallProgram program(mesh, steps, extent, {0, unsigned(next % 3), 2});
      const LayoutGraph &graph = program.graph();
      std::vector<Layout> layouts;
      for (const LayoutGraph::Value &value : graph.values)
        layouts.push_back(value.layout());
      const int64_t limit = allowedPeak(priceLayouts(graph, machine).peak);
      EXPECT_EQ(optimumFrom(graph, machine, layouts, extent == 32 ? -1 : limit),
                optimum(graph, machine).cost)
          << program.text;
    }
  };
  AllPrograms(3, /*chains=*/false, [&](const std::vector<Step> &steps) {
    ++next;
    for (int64_t extent : {32, 64}) {
      if (next % 29 == 0)
        compareWithAll(four, steps, extent);
      if (next % 401 == 0)
        compareWithAll(square, steps, extent);
    }
  });
}
