// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// All small programs: every straight-line program over two matrices, up to
// symmetry.
#pragma once

#include "SmallPrograms.h"

#include <string>

namespace meshloom::test {

/// The vocabulary, on n x n matrices and vectors of n elements: a function of
/// each element (`exp`), the sum of two tensors (`add`), the product of two
/// matrices (`dot`), `transpose`, sums along the first (`sum0`) and second
/// (`sum1`) dim, and a vector made a matrix, as each of its rows or columns.
enum class Kind { Exp, Transpose, Sum0, Sum1, Rows, Columns, Add, Dot };

struct Step {
  Kind kind;
  int lhs, rhs = -1; ///< 0 and 1: the arguments, then results by step
  auto operator<=>(const Step &) const = default;
};

/// Calls `visit` for each program of `count` steps. One program stands for all
/// that differ in the order of steps that do not depend on each other, or of
/// the operands of an add, or that make something twice. Every step is used,
/// the last one is the result, and the first argument is used.
class AllPrograms {
public:
  using Visit = std::function<void(const std::vector<Step> &)>;
  /// `chains`: each step but the first takes the one before it, and the second
  /// argument where it needs two.
  AllPrograms(unsigned count, bool chains, Visit visit)
      : count(count), chains(chains), visit(std::move(visit)),
        isMatrix{true, true}, used{0, 0} {
    extend();
  }

private:
  void extend() {
    unsigned unused = 0;
    for (unsigned i = 2; i < used.size(); ++i)
      unused += used[i] == 0;
    if (steps.size() == count) {
      if (unused == 1 && used[0] > 0)
        visit(steps);
      return;
    }
    // A step uses up to two results and makes one.
    if (unused > count - steps.size() + 1)
      return;
    for (const Step &step : possible()) {
      bool uses = step.lhs == last() || step.rhs == last();
      if (!steps.empty() && !uses && step < steps.back())
        continue;
      if (std::ranges::count(steps, step) > 0)
        continue;
      steps.push_back(step);
      ++used[step.lhs];
      if (step.rhs >= 0)
        ++used[step.rhs];
      isMatrix.push_back(step.kind == Kind::Sum0 || step.kind == Kind::Sum1
                             ? false
                         : step.kind == Kind::Exp || step.kind == Kind::Add
                             ? bool(isMatrix[step.lhs])
                             : true);
      used.push_back(0);
      extend();
      used.pop_back();
      isMatrix.pop_back();
      if (step.rhs >= 0)
        --used[step.rhs];
      --used[step.lhs];
      steps.pop_back();
    }
  }
  int last() const { return int(isMatrix.size()) - 1; }
  std::vector<Step> possible() const {
    std::vector<Step> found;
    int first = !chains ? 0 : steps.empty() ? 0 : last();
    int end = chains && steps.empty() ? 0 : last();
    for (int i = first; i <= end; ++i) {
      found.push_back({Kind::Exp, i});
      if (isMatrix[i])
        for (Kind kind : {Kind::Transpose, Kind::Sum0, Kind::Sum1})
          found.push_back({kind, i});
      else
        for (Kind kind : {Kind::Rows, Kind::Columns})
          found.push_back({kind, i});
      for (int j = 0; j <= last(); ++j) {
        if (isMatrix[i] != isMatrix[j] || (chains && j != 1))
          continue;
        if (j >= i || chains)
          found.push_back({Kind::Add, i, j});
        if (isMatrix[i])
          found.push_back({Kind::Dot, i, j});
      }
    }
    return found;
  }

  unsigned count;
  bool chains;
  Visit visit;
  std::vector<Step> steps;
  std::vector<char> isMatrix;
  std::vector<int> used;
};

/// The graph of a program; `layouts`: where the mesh's axes are for the two
/// arguments and the result, on the first dim, the last, or none.
class SmallProgram {
public:
  SmallProgram(const Mesh &mesh, const std::vector<Step> &steps, int64_t n,
               std::array<unsigned, 3> layouts)
      : mesh(mesh) {
    std::vector<unsigned> values{build.argument({n, n}, layout(2, layouts[0])),
                                 build.argument({n, n}, layout(2, layouts[1]))};
    text += ":";
    for (const Step &step : steps)
      values.push_back(add(step, values, n));
    text += " -> ";
    build.result(
        values.back(),
        layout(unsigned(build.shape(values.back()).size()), layouts[2]));
    text += " n=" + std::to_string(n);
  }
  const LayoutGraph &graph() const { return build.graph; }
  std::string text;

private:
  Layout layout(unsigned rank, unsigned where) {
    Layout::DimAxes dims(rank);
    for (unsigned axis = 0; axis < mesh.rank() && where < 2; ++axis)
      dims[(where + axis) % rank].push_back(axis);
    Layout layout = *Layout::get(mesh, dims);
    text += layout.spec_string();
    return layout;
  }
  unsigned add(const Step &step, const std::vector<unsigned> &values,
               int64_t n) {
    unsigned a = values[step.lhs], b = step.rhs < 0 ? 0 : values[step.rhs];
    auto name = [&](const char *suffix) {
      text += std::string(" ") + suffix + "(%" + std::to_string(step.lhs) +
              (step.rhs < 0 ? "" : " %" + std::to_string(step.rhs)) + ")";
    };
    switch (step.kind) {
    case Kind::Exp:
      name("exp");
      return build.unary(a);
    case Kind::Transpose:
      name("transpose");
      return build.transpose(a);
    case Kind::Sum0:
      name("sum0");
      return build.op("m n -> n", {a}, {n}, PartialFlow::LinearJoint);
    case Kind::Sum1:
      name("sum1");
      return build.op("m n -> m", {a}, {n}, PartialFlow::LinearJoint);
    case Kind::Rows:
      name("rows");
      return build.op("n -> m n", {a}, {n, n}, PartialFlow::Movement, 0);
    case Kind::Columns:
      name("columns");
      return build.op("m -> m n", {a}, {n, n}, PartialFlow::Movement, 0);
    case Kind::Add:
      name("add");
      return build.binary(a, b);
    case Kind::Dot:
      name("dot");
      return build.dot(a, b);
    }
    return 0;
  }

  const Mesh &mesh;
  GraphBuilder build;
};

} // namespace meshloom::test
