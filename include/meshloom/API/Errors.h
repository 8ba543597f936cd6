// Failures that a program may want to tell from others. Each is a
// meshloom::Error, whose message says what happened.
#pragma once

#include "meshloom/Core/Result.h"

namespace meshloom {

/// Another process of the program, a parameter server or all workers are gone,
/// or a failure elsewhere has ended the run: nothing that needs them works any
/// more. A program of several processes is started again (mesh-launch
/// --max-restarts does that); with parameter servers start what is lost, make
/// strategy and model anew, and restore the newest checkpoint.
class UnavailableError : public Error {
public:
  /// With what happened.
  using Error::Error;
};

/// What was waited for did not come in time: a collective, a barrier, or a
/// process at the start. After a collective the run has ended as with an
/// UnavailableError; a barrier may be waited for again.
class DeadlineExceededError : public Error {
public:
  /// With what happened.
  using Error::Error;
};

/// A function of a ClusterCoordinator was not run, because another one failed
/// before.
class CancelledError : public Error {
public:
  /// With what happened.
  using Error::Error;
};

} // namespace meshloom
