// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>

namespace meshloom {

/// Returns the name that this machine has for itself; "localhost" where it has
/// none.
std::string hostName();

} // namespace meshloom
