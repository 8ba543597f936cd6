// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The steps of a program as a tree of folds: name scopes, loops, branches, and
// parts that are repeated.
#pragma once

#include "meshloom/Core/Program.h"

namespace meshloom {

/// A step, or a fold with what is inside of it.
struct FoldItem {
  static constexpr unsigned NONE = ~0U;
  /// The id of the step, loop or branch; NONE: the fold is no step.
  unsigned step = NONE;
  /// "scope", "loop", "condition", "branch", "case", "repeat", "part"; empty: a
  /// step that holds no others.
  std::string fold;
  std::string name; ///< of a fold
  std::vector<FoldItem> items;
  std::vector<std::string> scope; ///< the scopes around it, outermost first
  /// Equal for items that do the same to tensors of the same types and layouts.
  size_t signature = 0;
};

/// Folds the steps of a program, which stay in their order: neighbours of one
/// scope are together, and long lists of equal parts are a fold of parts. Takes
/// time that is quadratic in the longest list, with a small factor: 0.1 s for
/// ten thousand steps.
std::vector<FoldItem> foldSteps(const Program &program);

} // namespace meshloom
