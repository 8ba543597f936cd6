// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// readProgram(): a program in dtensor or StableHLO, as dtensor. It is
// parseProgram() and importProgram().
#pragma once

#include "meshloom/Core/Result.h"
#include "meshloom/Support/LLVM.h"

#include <string>

namespace meshloom {

/// Parses the text of a module, or reads a portable artifact of StableHLO
/// (ReadArtifact.h); StableHLO is imported. `context` knows the dialects
/// (registerDialects); `path` is for messages. The Error has the diagnostics
/// with their source lines. `function` is the one that is to be compiled; empty
/// means main. Where the module has that function, the public functions that it
/// does not call are not imported, and may be on meshes of different numbers of
/// devices.
Result<OwningOpRef<ModuleOp>> readProgram(StringRef bytes,
                                          const std::string &path,
                                          MLIRContext *context,
                                          StringRef function = "");

/// The module as it is written. The Error has the diagnostics with their source
/// lines.
Result<OwningOpRef<ModuleOp>>
parseProgram(StringRef bytes, const std::string &path, MLIRContext *context);

/// Imports the StableHLO of a module that parseProgram read from `bytes`.
Status importProgram(ModuleOp module, StringRef bytes, const std::string &path);

} // namespace meshloom
