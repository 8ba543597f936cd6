// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>

namespace meshloom {

/// Returns the number of cores that this process may use: those that taskset,
/// a container or a batch system leaves it, and at least one.
int64_t availableCores();

} // namespace meshloom
