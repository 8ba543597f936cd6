// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Failure: why a run of several processes ends.
#pragma once

#include "meshloom/Core/Result.h"

#include <cstdint>
#include <string>

namespace meshloom {

/// The first thing that went wrong in a run, the same on every rank.
struct Failure {
  enum class Kind : uint8_t {
    /// The rank's process ended, or nothing was heard of it for too long.
    LOST,
    /// The rank said so itself (CoordinationClient::reportFailure).
    REPORTED,
    /// The rank may not be in this run: another version, another program.
    REFUSED,
    /// The coordination service is gone; `rank` is the one that it ran in, -1
    /// where it had a process of its own.
    SERVICE_LOST,
    /// The run was ended from outside (CoordinationService::abort); `rank` is
    /// -1.
    ABORTED
  };
  Kind kind = Kind::LOST;
  int64_t rank = -1;
  std::string host; ///< where the rank runs
  int64_t pid = 0;  ///< there
  std::string text; ///< what happened
  ErrorCode code = ErrorCode::UNAVAILABLE;

  /// "rank 2 (host b, process 4711) ended: ...", a line without a newline.
  std::string message() const;
  /// The error of everything that needs the run.
  Error error() const { return Error(message(), code); }
};

} // namespace meshloom
