// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A profile as a trace that chrome://tracing and ui.perfetto.dev open.
#pragma once

#include "meshloom/Core/Profile.h"

namespace meshloom {

/// JSON in the trace-event format. Each platform is a process with a row for
/// each worker, whose events are parts of steps, and a row of program runs with
/// their loops and branches; threads of the user are a process of their own.
/// Times are in microseconds since the profile began.
std::string profileTrace(const Profile &profile);

} // namespace meshloom
