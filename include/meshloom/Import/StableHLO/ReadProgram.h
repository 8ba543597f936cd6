// readProgram(): the text of a program, in dtensor or StableHLO, as dtensor.
#pragma once

#include "meshloom/Core/Result.h"
#include "meshloom/Support/LLVM.h"

#include <string>

namespace meshloom {

/// Of an argument: its bytes (ui8) are signed integers of so many bits, 4 or 2.
/// What NumPy saves of them are bytes, or numbers of i8.
inline constexpr llvm::StringLiteral signedBitsAttr = "dtensor.signed_bits";

/// Parses the text of a module; StableHLO is imported. `context` knows the
/// dialects (registerDialects, registerStableHLODialects); `path` is for
/// messages. The Error has the diagnostics with their source lines.
Result<OwningOpRef<ModuleOp>>
readProgram(StringRef text, const std::string &path, MLIRContext *context);

} // namespace meshloom
