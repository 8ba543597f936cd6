// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ArgumentSearch: what searches for the layouts of the same arguments pass on
// to one another.
#pragma once

#include "meshloom/Core/AxisLink.h"
#include "meshloom/Core/Layout.h"
#include "meshloom/Layout/Passes.h"

#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace meshloom {

/// How RefineLayouts refines a function whose arguments are laid out.
enum class Refinement : uint8_t {
  ByTime, ///< for the least time, as after a search for their layouts
  Written ///< as where its user has laid them out
};

/// The attribute of a function that AutoLayout has laid out and RefineLayouts
/// is to refine as if its user had.
inline constexpr llvm::StringLiteral refineAsWrittenAttr =
    "dtensor.refine_as_written";

/// The plan that a search comes to from some layouts of open arguments.
struct ArgumentPlan {
  std::vector<Layout> arguments; ///< per open one
  Cost cost = 0;
  int64_t peak = 0; ///< bytes per device
  /// No layouts of the open arguments have a cheaper plan within the memory.
  bool isOptimal = false;
  size_t start = 0;              ///< the number of the start it came from
  std::optional<Cost> predicted; ///< the time of the program, if it was asked
};

/// A search of AutoLayout for the layouts of open arguments. A caller that
/// makes several, with other bounds or for programs with the same arguments,
/// lets one begin with what another one found.
struct ArgumentSearch {
  /// The search begins with these layouts; empty: with those of AutoLayout.
  std::vector<std::vector<Layout>> starts;
  /// Only single groups of ops move, from all of the starts.
  bool isEstimate = false;
  /// Predicts the time of a step of a module whose arguments are laid out, by
  /// the program that it is compiled to with this refinement. It is called by
  /// several threads. If there is none, the search's own costs choose between
  /// plans.
  std::function<FailureOr<Cost>(mlir::OwningOpRef<mlir::ModuleOp>, Refinement)>
      predictTime;
  /// Results: the plans that the search found, the last one the best, and,
  /// unless it is an estimate, its starts with the best propagated plans.
  std::vector<ArgumentPlan> plans;
  std::vector<std::vector<Layout>> promising;
};

/// Returns the pass. `search`, which outlives it, may be null.
std::unique_ptr<mlir::Pass> createAutoLayout(AutoLayoutOptions options,
                                             ArgumentSearch *search);

} // namespace meshloom
