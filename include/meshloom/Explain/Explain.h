// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Writes all that is known of a compiled program into one file: a page that a
// browser shows without a network, or the facts of that page as JSON.
// docs/Explain.md describes both.
#pragma once

#include "meshloom/Core/Compiled.h"
#include "meshloom/Core/Explanation.h"
#include "meshloom/Core/LayoutAdvice.h"
#include "meshloom/Core/MachineModel.h"
#include "meshloom/Core/Profile.h"

namespace meshloom {

/// A program, and what only its compiler knows.
struct ExplainedProgram {
  /// It must have steps: a target that plans steps itself gives it none.
  Compiled compiled;
  Explanation explanation;
  /// The suggestions of the advice, where it has any, are a section of the
  /// page. It is nothing where the user asked for none.
  std::optional<LayoutAdvice> advice = std::nullopt;
};

/// Returns nothing where a page may have that path, and else an error: the path
/// must end in .html or .json.
Status checkExplanationPath(const std::string &path);

/// Writes the programs to `path`: as a page where that ends in .html, and as
/// JSON where it ends in .json. Each program is predicted for the machine that
/// it was compiled for. `measured`: the profile of a run whose events are shown
/// beside the prediction; null: there is none. Fails where a program cannot be
/// predicted or the file cannot be written.
Status writeExplanation(const std::string &path,
                        std::span<const ExplainedProgram> programs,
                        const Profile *measured = nullptr);

} // namespace meshloom
