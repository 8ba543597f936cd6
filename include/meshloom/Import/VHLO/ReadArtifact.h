// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// readArtifact(): a portable artifact of StableHLO, as JAX and StableHLO's
// tools write it, read as a module of StableHLO.
#pragma once

#include "meshloom/Core/Result.h"
#include "meshloom/Support/LLVM.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <optional>
#include <string>

namespace meshloom {

/// The artifact in `bytes`: these themselves where they are bytecode that
/// StableHLO's serializer wrote, or the module in what JAX's
/// `exported.serialize()` returns. None: there is no artifact.
std::optional<StringRef> artifactIn(StringRef bytes);

/// Reads an artifact: ops of VHLO become those of stablehlo and func; ops and
/// attributes of sdy stay. `context` knows these dialects
/// (registerStableHLODialects); `path` is for messages. The bytes may be
/// anything: an Error says where they are damaged, what is too new, or which op
/// does not verify.
Result<OwningOpRef<ModuleOp>>
readArtifact(StringRef artifact, const std::string &path, MLIRContext *context);

} // namespace meshloom
