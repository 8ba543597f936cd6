// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Folders that examples write to.
#pragma once

#include <filesystem>

namespace example {

/// Removes what an earlier run has left there. The first of several processes
/// does so, before any of them goes on.
void clearFolder(const std::filesystem::path &folder);

} // namespace example
