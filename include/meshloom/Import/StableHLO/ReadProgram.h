// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// readProgram(): a program in dtensor or StableHLO, as dtensor.
#pragma once

#include "meshloom/Core/Result.h"
#include "meshloom/Support/LLVM.h"

#include <string>

namespace meshloom {

/// Of an argument of i8 or ui8: its numbers are integers of so many bits, 4 or
/// 2. NumPy saves them as int8 or uint8, or as bytes.
inline constexpr llvm::StringLiteral bitsAttr = "dtensor.bits";
/// Of an argument: random inputs of it lie in [low, high), as in
/// {dtensor.range = array<f64: 0.0, 1.0>}.
inline constexpr llvm::StringLiteral inputRangeAttr = "dtensor.range";

/// Parses the text of a module, or reads a portable artifact of StableHLO
/// (ReadArtifact.h); StableHLO is imported. `context` knows the dialects
/// (registerDialects, registerStableHLODialects); `path` is for messages. The
/// Error has the diagnostics with their source lines.
Result<OwningOpRef<ModuleOp>>
readProgram(StringRef bytes, const std::string &path, MLIRContext *context);

} // namespace meshloom
