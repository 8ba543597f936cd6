// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which programs call functions of the user's, which may fail in the middle of
// a run.
#pragma once

#include "meshloom/Core/Program.h"

namespace meshloom {

/// Returns whether a step of the program, at any depth, is a custom call or a
/// callback. Values that such a program updates are copied first, so that a run
/// that fails leaves the old values.
bool callsUserFunctions(const Program &program);

} // namespace meshloom
