// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which addresses are this machine's.
#pragma once

#include <string>

namespace meshloom {

/// Returns whether "host:port", "host" or "[::1]:port" is on this machine.
/// False where nothing is known of the host.
bool isThisMachine(const std::string &address);

} // namespace meshloom
