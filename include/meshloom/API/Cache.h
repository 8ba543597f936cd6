// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The cache of compiled programs and kernels, as users see it.
//
// Compiled programs stay on disk, by content: the next process that needs
// the same program compiles nothing. MESHLOOM_CACHE names the folder, or is
// "off"; docs/Environment.md says more.
#pragma once

#include "meshloom/Core/CacheStatistics.h"

namespace meshloom {

/// How often what this process needed had been compiled before.
CacheStatistics cache_statistics();

} // namespace meshloom
