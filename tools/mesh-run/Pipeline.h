// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// --pipeline: a program in stages, each on a set of virtual devices, in one
// process or several.
#pragma once

#include "Options.h"

#include "meshloom/Core/Result.h"
#include "meshloom/Processes/Join.h"
#include "meshloom/Runtime/Platform.h"

namespace meshloom::run {

/// Runs the program as often as options.repeat says, in the stages that
/// options.pipeline asks for, prints and writes the last results, and compares
/// them with the interpreter's if options.verify is set. Each of the processes
/// has a part of the stages, and all get the results.
Status runPipeline(Platform &platform, const JoinedProcesses &processes,
                   const Options &options);

} // namespace meshloom::run
