// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs that were launched, for a process that ends.
#pragma once

#include <chrono>

namespace meshloom {

/// Something that other processes take part in and that goes on in other
/// threads, as long as this lives: a run that `execute` left to them, a
/// transfer.
class LaunchedRun {
public:
  /// `counts`: whether other processes take part.
  explicit LaunchedRun(bool counts = true);
  ~LaunchedRun();
  LaunchedRun(const LaunchedRun &) = delete;
  LaunchedRun &operator=(const LaunchedRun &) = delete;

private:
  const bool counts;
};

/// Waits until all of these are over; false where that takes longer.
bool waitForLaunchedRuns(std::chrono::milliseconds timeout);

} // namespace meshloom
