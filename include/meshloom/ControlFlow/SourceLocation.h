// Where in a user's source an op comes from, as messages say it.
#pragma once

#include "meshloom/Support/LLVM.h"

#include <optional>
#include <string>

namespace meshloom {

/// "file:line:column" of the first place in the source that `location` names.
std::optional<std::string> sourcePosition(Location location);

/// The same, or "unknown location".
std::string locationText(Location location);

} // namespace meshloom
