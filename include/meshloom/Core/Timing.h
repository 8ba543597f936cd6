// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where the time of a process went: tracing, each pass, code generation, ...
#pragma once

#include <chrono>
#include <string>
#include <string_view>

namespace meshloom {

/// Returns whether times are taken: MESHLOOM_TIMING is set to anything but 0,
/// or enableTiming was called. They are printed to the standard error when the
/// process ends.
bool timingEnabled();
void enableTiming();

/// The table, in the order of the first time that each was entered. A stage
/// stands below the one that it ran in; what ran on several threads at the same
/// time is their sum.
std::string timingReport();

/// Takes the time of what runs while it lives, under `name`, as part of what
/// the thread is taking the time of already. Costs nothing where times are not
/// taken. Scopes of one thread end in the reverse order of their beginning.
class TimedScope {
public:
  explicit TimedScope(std::string_view name);
  /// On a thread that works for the one in `parent`.
  TimedScope(std::string_view name, const std::string &parent);
  ~TimedScope();
  TimedScope(const TimedScope &) = delete;
  TimedScope &operator=(const TimedScope &) = delete;

  /// The entry that this thread is timing, to be given to helpers.
  static std::string current();

private:
  void begin(std::string_view name, const std::string &parent);
  std::string outer; ///< what the thread was in
  bool active = false;
  std::chrono::steady_clock::time_point start;
};

} // namespace meshloom
