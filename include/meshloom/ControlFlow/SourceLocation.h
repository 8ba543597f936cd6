// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where in a user's source an op comes from, as messages say it.
#pragma once

#include "meshloom/Support/LLVM.h"

#include <optional>
#include <string>

namespace meshloom {

/// `location` with the part of the user's program that it belongs to, such as
/// "encoder/block_3".
Location inPart(Location location, StringRef part);

/// "file:line:column", and " in " its part if it has one, of the first place in
/// the source that `location` names.
std::optional<std::string> sourcePosition(Location location);

/// The same, or "unknown location".
std::string locationText(Location location);

} // namespace meshloom
