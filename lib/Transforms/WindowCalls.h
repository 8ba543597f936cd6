// WindowCalls: convolutions, windows and running reductions as library calls.
#pragma once

#include "LibraryCalls.h"
#include "LibraryCosts.h"

namespace meshloom {

/// Nothing for other ops.
std::optional<LibraryDescription> describeWindowCall(Operation *op);
std::optional<LibraryCost> windowCost(Operation *op);

} // namespace meshloom
