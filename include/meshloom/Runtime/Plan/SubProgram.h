// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SubProgram: a run of steps without loops and branches, as a Program of its
// own.
#pragma once

#include "meshloom/Core/Program.h"

#include <set>
#include <span>

namespace meshloom::plan {

/// A Program whose arguments and results are buffers of another one.
struct SubProgram {
  Program program;
  /// The other program's buffers.
  std::vector<unsigned> arguments, results;
  /// For each step, its id in the other program.
  std::vector<unsigned> ids;
};

/// `steps`, none of which is control, with `results` of what they write. Splat
/// constants that they read are theirs; all else that they read and do not
/// write are arguments. `firstId`: the id of the first step; the others follow.
SubProgram extract(const Program &outer, std::span<const Step> steps,
                   const std::set<unsigned> &results, unsigned firstId);

} // namespace meshloom::plan
