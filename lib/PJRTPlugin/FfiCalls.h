// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Calls of a program to handlers that users registered by jax.ffi.
#pragma once

#include "meshloom/Core/Result.h"
#include "meshloom/Dialect/StableHLO/StableHLO.h"
#include "meshloom/Support/LLVM.h"

#include <vector>

namespace meshloom::plugin {

/// Returns the address of the handler that is registered under `name`, a C
/// string, or null. It is a function of the Python package.
using HandlerFinder = void *(*)(const char *name);
void setHandlerFinder(HandlerFinder finder);

/// Has the program's calls of registered handlers call custom functions, one
/// for each handler, list of attributes, and types. Calls that the importer
/// knows by itself stay.
Status bindHandlers(ModuleOp module);

/// Returns the operand whose memory each result of the call takes, or -1.
std::vector<int64_t> aliasedOperands(stablehlo::CustomCallOp call);

} // namespace meshloom::plugin
