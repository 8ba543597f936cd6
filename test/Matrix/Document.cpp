// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Writes docs/Matrix.md: ops as rows, layouts as columns, in each cell how
// often it was right, or why there is nothing to try.
#include "Document.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>

namespace meshloom::matrix {
namespace {

/// The reasons why cells are empty, numbered as they come up.
class Notes {
public:
  std::string mark(const std::string &reason) {
    auto [entry, isNew] = numbers.try_emplace(reason, reasons.size());
    if (isNew)
      reasons.push_back(reason);
    return std::string(1, char('a' + entry->second));
  }
  std::string list() const {
    std::string text;
    for (size_t i = 0; i < reasons.size(); ++i)
      text += fmt::format("- **{}**: {}.\n", char('a' + i), reasons[i]);
    return text;
  }

private:
  std::map<std::string, size_t> numbers;
  std::vector<std::string> reasons;
};

std::string cell(const Outcome &outcome, size_t op, size_t layout,
                 Notes &notes) {
  const Tally &tally = outcome.tallies[op][layout];
  if (tally.failed)
    return fmt::format("{}, **wrong**: {}", tally.passed,
                       fmt::join(tally.failedWhere, "; "));
  if (tally.passed)
    return std::to_string(tally.passed);
  // The mesh with most axes: what does not apply there applies nowhere.
  const MeshSpec &mesh =
      *std::max_element(outcome.meshes.begin(), outcome.meshes.end(),
                        [](const MeshSpec &a, const MeshSpec &b) {
                          return a.axes.size() < b.axes.size();
                        });
  return notes.mark(whyNot(outcome.ops[op], outcome.layouts[layout], mesh));
}

} // namespace

std::string markdown(const Outcome &outcome) {
  std::vector<std::string> meshes;
  for (const MeshSpec &mesh : outcome.meshes)
    meshes.push_back(fmt::format("`{}`", mesh.attribute));
  int passed = 0, failed = 0, gradients = 0;
  for (const auto &row : outcome.tallies)
    for (const Tally &tally : row) {
      passed += tally.passed;
      failed += tally.failed;
    }
  for (const OpSpec &op : outcome.ops)
    gradients += op.gradient;

  std::string table = "| op | gradient |";
  for (const LayoutSpec &layout : outcome.layouts)
    table += fmt::format(" {} |", layout.name);
  table += "\n|---|---|";
  for (size_t i = 0; i < outcome.layouts.size(); ++i)
    table += "---|";
  table += "\n";
  Notes notes;
  for (size_t o = 0; o < outcome.ops.size(); ++o) {
    const OpSpec &op = outcome.ops[o];
    table += fmt::format("| `{}` | {} |", op.name, op.gradient ? "yes" : "");
    for (size_t l = 0; l < outcome.layouts.size(); ++l)
      table += fmt::format(" {} |", cell(outcome, o, l, notes));
    table += "\n";
  }

  std::string text = fmt::format(
      "# Which op works under which layout\n\n"
      "Written by the execution matrix (`test/Matrix`): run "
      "`MATRIX_DOC=docs/Matrix.md MatrixTest` to write it again.\n\n"
      "{} ways to use an op, {} of them with a gradient, were compiled and run "
      "under {} layouts on {} meshes of virtual CPUs ({}), for {} machine "
      "models ({}), each in shared and in private memories, and every result "
      "and every gradient was compared with the reference interpreter.\n\n"
      "A number says on how many pairs of mesh and machine model a cell was "
      "right: the results and, where the op has a gradient, the gradients of "
      "all its operands, in both kinds of memory. Layouts on two axes are for "
      "meshes of two axes. **{}** were right, **{}** wrong.\n\n",
      outcome.ops.size(), gradients, outcome.layouts.size(), meshes.size(),
      fmt::join(meshes, ", "), outcome.machines.size(),
      fmt::join(outcome.machines, ", "), passed, failed);

  text += "## Layouts\n\n"
          "A layout comes with the extents M x N that an op's dims are made "
          "of; `x` is the first axis of the mesh, `y` the last.\n\n"
          "| layout | M | N | |\n|---|---|---|---|\n";
  for (const LayoutSpec &layout : outcome.layouts)
    text += fmt::format("| {} | {} | {} | {} |\n", layout.name, layout.rows,
                        layout.columns, describe(layout.where));

  text += "\n## Ops\n\n" + table;
  if (std::string list = notes.list(); !list.empty())
    text += "\nA letter says why there is nothing to run:\n\n" + list;
  if (!outcome.messages.empty())
    text += "\n## What is wrong\n\n";
  for (const std::string &message : outcome.messages)
    text += fmt::format("- {}\n", message);
  return text;
}

} // namespace meshloom::matrix
