// WindowCalls: what library functions are told about convolutions, windows and
// running reductions.
#pragma once

#include "LibraryDescription.h"

namespace meshloom {

/// Nothing for other ops.
std::optional<LibraryDescription> describeWindowCall(Operation *op);

} // namespace meshloom
