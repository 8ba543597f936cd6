// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loops whose steps a backend plans as one, for all turns.
#pragma once

#include "meshloom/Core/Program.h"

namespace meshloom::plan {

/// Returns how often the body of a loop runs where that is known and its
/// condition does nothing but decide that; else -1. A function of a library in
/// a condition may do more.
int64_t staticTurns(const LoopStep &loop);

/// Returns `program` with loops written out: those whose turns are known and
/// whose bodies have no control but such loops, as long as there are at most
/// `mostSteps` steps. A step of a body reads what the turn before it has
/// written, which the plan of memory lets it overwrite where nobody else needs
/// it.
Program unrollLoops(const Program &program, int64_t mostSteps);

} // namespace meshloom::plan
