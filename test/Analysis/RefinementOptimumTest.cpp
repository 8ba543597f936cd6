// Refinement against exhaustive search on programs of up to six ops.
//
// A program is a number: its digits say which op comes next (seven kinds, over
// matrices and vectors), how arguments and the result are laid out, and how
// large things are. All programs of up to two ops are tried, and of longer ones
// every so many, so that each op follows each other at each place under each
// layout. MESHLOOM_REFINEMENT_SWEEP=<n> in the environment makes the steps n
// times shorter.
#include "../Core/Sanitized.h"
#include "SmallPrograms.h"

#include <cstdlib>
#include <gtest/gtest.h>

using namespace meshloom;
using namespace meshloom::test;

namespace {

constexpr unsigned opKinds = 7, layoutKinds = 3;

class Program {
public:
  Program(const Mesh &mesh, unsigned ops, int64_t code)
      : mesh(mesh), rest(code), n(digit(2) ? 1000 : 64) {
    arguments = {build.argument({n, n}, layout(2)),
                 build.argument({n, n}, layout(2))};
    vector = build.argument({n}, layout(1));
    last = arguments[0];
    for (unsigned i = 0; i < ops; ++i)
      add(digit(opKinds));
    build.result(last, layout(unsigned(build.shape(last).size())));
  }
  const LayoutGraph &graph() const { return build.graph; }
  std::string text;

private:
  int64_t digit(int64_t base) {
    int64_t value = rest % base;
    rest /= base;
    return value;
  }
  /// The mesh's axes on the first dim, on the last, or on none.
  Layout layout(unsigned rank) {
    unsigned where = unsigned(digit(layoutKinds));
    Layout::DimAxes dims(rank);
    for (unsigned axis = 0; axis < mesh.rank() && where < 2 && rank > 0; ++axis)
      dims[(where + axis) % rank].push_back(axis);
    Layout made = *Layout::get(mesh, dims);
    text += made.spec_string() + " ";
    return made;
  }
  void add(int64_t kind) {
    bool matrix = build.shape(last).size() == 2;
    auto note = [&](const char *name, unsigned value) {
      text += std::string(name) + " ";
      last = value;
    };
    unsigned other = arguments[1];
    switch (kind) {
    case 0:
      return note("unary", build.unary(last));
    case 1:
      return note("binary", build.binary(last, matrix ? other : vector));
    case 2:
      return note("dot", matrix ? build.dot(last, other)
                                : build.op("k, k n -> n", {last, other}, {n},
                                           PartialFlow::LinearEach, 2));
    case 3:
      return note("dotT", matrix
                              ? build.dotT(other, last)
                              : build.op("m, n -> m n", {vector, last}, {n, n},
                                         PartialFlow::LinearEach, 1));
    case 4:
      return matrix ? note("transpose", build.transpose(last))
                    : note("square", build.op("n, n -> n", {last, last}, {n}));
    case 5:
      return matrix ? note("sum0", build.op("m n -> n", {last}, {n},
                                            PartialFlow::LinearJoint))
                    : note("columns", build.op("n -> m n", {last}, {n, n},
                                               PartialFlow::Movement, 0));
    default:
      return matrix ? note("sum1", build.op("m n -> m", {last}, {n},
                                            PartialFlow::LinearJoint))
                    : note("rows", build.op("m -> m n", {last}, {n, n},
                                            PartialFlow::Movement, 0));
    }
  }

  const Mesh &mesh;
  int64_t rest, n;
  GraphBuilder build;
  std::vector<unsigned> arguments;
  unsigned vector = 0, last = 0;
};

/// Programs of `ops` ops.
int64_t programs(unsigned ops) {
  int64_t count = 2 * layoutKinds * layoutKinds * layoutKinds * layoutKinds;
  for (unsigned i = 0; i < ops; ++i)
    count *= opKinds;
  return count;
}

struct Tally {
  int tried = 0, optimal = 0, over = 0;
};

/// Every so many of the programs, `count` in all.
void compare(const Mesh &mesh, unsigned ops, int64_t count,
             const std::vector<std::string> &machines, Tally &tally) {
  if (const char *sweep = std::getenv("MESHLOOM_REFINEMENT_SWEEP"))
    count *= std::max(1, std::atoi(sweep));
  if (sanitized)
    count = std::max<int64_t>(1, count / 10);
  count = std::min(count, programs(ops));
  for (int64_t i = 0; i < count; ++i) {
    // All digits change from one to the next.
    int64_t code = int64_t((__int128(i) * programs(ops)) / count) + i % 5;
    Program program(mesh, ops, code % programs(ops));
    for (const std::string &name : machines) {
      MachineModel machine = *MachineModel::preset(name);
      LayoutRefinement found = refineLayouts(program.graph(), machine);
      Optimum best = optimum(program.graph(), machine);
      std::string layouts;
      for (size_t value = 0; value < found.layouts.size(); ++value)
        if (program.graph().values[value].producer >= 0)
          layouts += found.layouts[value].spec_string() + " ";
      ++tally.tried;
      tally.optimal += found.after.cost == best.cost;
      EXPECT_LE(found.after.cost * 10, best.cost * 12)
          << ++tally.over << ": program " << code << " of " << ops << " on "
          << name << ": " << found.before.cost << " -> " << found.after.cost
          << ", best " << best.cost << "\n  " << program.text << "\n  found "
          << layouts << "\n  best " << best.layouts;
      EXPECT_LE(found.peakAfter, found.peakBefore);
    }
  }
}

const Mesh four = *Mesh::get({{"x", 4}});
const Mesh square = *Mesh::get({{"x", 2}, {"y", 2}});
const std::vector<std::string> both = {"ring", "shared-memory"};

} // namespace

TEST(RefinementOptimumTest, ShortPrograms) {
  Tally tally;
  for (unsigned ops : {1, 2})
    compare(four, ops, programs(ops) / 4, both, tally);
  compare(four, 3, 1500, both, tally);
  EXPECT_GE(tally.optimal * 10, tally.tried * 9)
      << tally.optimal << " of " << tally.tried;
}

TEST(RefinementOptimumTest, LongPrograms) {
  Tally tally;
  compare(four, 4, 500, both, tally);
  compare(four, 5, 200, both, tally);
  compare(four, 6, 60, both, tally);
  EXPECT_GE(tally.optimal * 10, tally.tried * 7)
      << tally.optimal << " of " << tally.tried;
}

TEST(RefinementOptimumTest, TwoAxes) {
  Tally tally;
  for (unsigned ops : {1, 2})
    compare(square, ops, 300, both, tally);
  compare(square, 3, 50, both, tally);
  EXPECT_GE(tally.optimal * 10, tally.tried * 7)
      << tally.optimal << " of " << tally.tried;
}
