// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs that were launched, for a process that ends.
#pragma once

#include <chrono>

namespace meshloom::plan {

/// Waits until all runs that `execute` left to other threads, and in which
/// other processes take part, are over; false where that takes longer.
bool waitForLaunchedRuns(std::chrono::milliseconds timeout);

} // namespace meshloom::plan
