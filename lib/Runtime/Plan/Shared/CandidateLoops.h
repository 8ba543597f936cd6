// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// CandidateLoops: along which of its loops work is cut into chunks, and into
// how many.
#pragma once

#include "meshloom/Runtime/Plan/Shared/StepGraph.h"

namespace meshloom::plan {

/// Sorts the loops along which the work may be cut, the best one first, and
/// drops those that do not pay. Loops that the compiler cut over devices come
/// before others, as it saw to it that they run without communication; then
/// long ones, outer ones.
void rankCandidates(const Program &program, const StepGraph &graph,
                    std::span<const Loop> loops, int64_t chunks, Work &work);

} // namespace meshloom::plan
