// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The functions of debug_print and debugging::Assert.
#pragma once

#include "meshloom/Core/CustomCall.h"
#include "meshloom/Core/DebugPrint.h"

namespace meshloom {

/// Returns the target that callbacks of debug_print call.
std::shared_ptr<const CustomTarget> debugPrint();
/// Returns the target that callbacks of debugging::Assert call.
std::shared_ptr<const CustomTarget> assertion();

} // namespace meshloom
