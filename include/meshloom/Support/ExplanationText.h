// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Explanations as text for people.
#pragma once

#include "meshloom/Core/Explanation.h"

namespace meshloom {

/// For each collective: its place, op, layouts, bytes, time, the user's
/// annotation that it follows from, and the plan that was rejected. A combined
/// collective tells all of its values. Then the moves of refinement.
std::string explanationText(const Explanation &explanation);

} // namespace meshloom
