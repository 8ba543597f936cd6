// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The execution matrix as a page of documentation.
#pragma once

#include "Layouts.h"

#include <string>
#include <vector>

namespace meshloom::matrix {

/// The results of one op under one layout, over all meshes and ways to run.
struct Tally {
  int passed = 0, failed = 0;
  std::vector<std::string> failedWhere; ///< "mesh 8, ring", ...
};

/// The contents of a page.
struct Outcome {
  std::vector<OpSpec> ops;
  std::vector<LayoutSpec> layouts;
  std::vector<MeshSpec> meshes;
  std::vector<std::string> machines;
  std::vector<std::vector<Tally>> tallies; ///< of each op, of each layout
  std::vector<std::string> messages;       ///< of what failed
};

/// Markdown: what was run, a row for each op, and what failed.
std::string markdown(const Outcome &outcome);

} // namespace meshloom::matrix
