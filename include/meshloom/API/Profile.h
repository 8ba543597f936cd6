// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// profile: where the time of what runs goes.
#pragma once

#include "meshloom/Core/StepCost.h"

#include <filesystem>
#include <memory>
#include <vector>

namespace meshloom {

namespace detail {
class ProfileState;
}

/// While it lives, all that runs in the process is recorded, in any thread:
///
///   {
///     auto recorded = profile("step.json");
///     for (int i = 0; i < 5; ++i)
///       train_step(batch);
///   }
///
/// The trace has a row for each worker, with what it did of which step, when
/// and how fast; open it in ui.perfetto.dev or chrome://tracing. Without a path
/// the ten costliest steps are printed instead, unless the scope is asked for
/// them first. Programs compile in the first call: call once before, to see
/// only what later ones cost. Recorded programs take some 0.1 us more for each
/// part of a step; nothing is left of it when no scope lives.
///
/// Its functions may be called from one thread at a time.
class [[nodiscard]] ProfileScope {
public:
  /// Begins. The first one of a process measures the machine's peak, for some
  /// 0.1 s. Throws meshloom::Error if `trace` cannot be written, or another
  /// scope lives.
  explicit ProfileScope(
      std::filesystem::path trace = {},
      std::source_location where = std::source_location::current());
  /// Calls stop(); prints errors.
  ~ProfileScope();
  ProfileScope(const ProfileScope &) = delete;
  ProfileScope &operator=(const ProfileScope &) = delete;

  /// Ends recording: waits for what began in the meantime, and writes the
  /// trace. Later calls do nothing. Throws meshloom::Error if that cannot be
  /// written.
  void stop(std::source_location where = std::source_location::current());
  /// The cost of each step, the costliest first. Stops.
  std::vector<StepCost> steps();
  /// The costliest steps as a table. Stops.
  std::string table(size_t count = 10);
  /// Writes what was recorded as a trace. Stops. Throws meshloom::Error if the
  /// file cannot be written.
  void write(const std::filesystem::path &trace,
             std::source_location where = std::source_location::current());

private:
  const std::unique_ptr<detail::ProfileState> state;
};

/// Records what runs while the result lives: auto recorded =
/// profile("step.json");
inline ProfileScope
profile(std::filesystem::path trace = {},
        std::source_location where = std::source_location::current()) {
  return ProfileScope(std::move(trace), where);
}

} // namespace meshloom
