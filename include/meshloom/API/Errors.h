// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The exceptions of the user API. Each is a meshloom::Error: `what()` says what
// happened, for people, and `code()` says what kind of failure it is. The class
// follows from the code, so a program catches the class that it can act on:
//
//   try { model.fit(data); }
//   catch (const UnavailableError &) { return restart; }
#pragma once

#include "meshloom/Core/Result.h"

namespace meshloom {

/// An argument cannot be used: its shape, its type, its layout or its value.
using InvalidArgumentError = ErrorOf<ErrorCode::INVALID_ARGUMENT>;

/// The object or the program is not in the state that the call needs.
using FailedPreconditionError = ErrorOf<ErrorCode::FAILED_PRECONDITION>;

/// A file or a name does not exist.
using NotFoundError = ErrorOf<ErrorCode::NOT_FOUND>;

/// The user of the process may not read or write a file.
using PermissionDeniedError = ErrorOf<ErrorCode::PERMISSION_DENIED>;

/// Memory, disk space or another resource does not suffice.
using ResourceExhaustedError = ErrorOf<ErrorCode::RESOURCE_EXHAUSTED>;

/// The devices, or this build, do not support the operation.
using UnimplementedError = ErrorOf<ErrorCode::UNIMPLEMENTED>;

/// A stored program or a message is damaged.
using DataLossError = ErrorOf<ErrorCode::DATA_LOSS>;

/// Meshloom or a library that it uses broke its own rules: please report it.
using InternalError = ErrorOf<ErrorCode::INTERNAL>;

/// Another process of the program, a parameter server or all workers are gone,
/// or a failure elsewhere has ended the run: nothing that needs them works any
/// more. A program of several processes is started again (mesh-launch
/// --max-restarts does that); with parameter servers start what is lost, make
/// strategy and model anew, and restore the newest checkpoint.
using UnavailableError = ErrorOf<ErrorCode::UNAVAILABLE>;

/// A collective, a barrier or a process at the start did not come in time.
/// After a collective the run has ended as with an UnavailableError; a barrier
/// may be waited for again.
using DeadlineExceededError = ErrorOf<ErrorCode::DEADLINE_EXCEEDED>;

/// A function of a ClusterCoordinator was not run, because another one failed
/// before.
using CancelledError = ErrorOf<ErrorCode::CANCELLED>;

} // namespace meshloom
