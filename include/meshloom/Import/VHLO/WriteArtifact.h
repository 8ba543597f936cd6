// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// writeArtifact(): a module of StableHLO as a portable artifact, which JAX and
// StableHLO's tools read.
#pragma once

#include "meshloom/Core/Result.h"
#include "meshloom/Support/LLVM.h"

#include "mlir/IR/BuiltinOps.h"

#include <string>

namespace meshloom {

/// A release of StableHLO 1: readers of it and of all later ones read an
/// artifact that is written for it.
struct StableHLORelease {
  unsigned minor = 13;
  unsigned patch = 3;

  /// Reads "1.13.3"; releases from 1.0.0 to 1.17.0 can be written.
  static Result<StableHLORelease> parse(StringRef text);
};

/// Writes a module of ops of stablehlo and func. Fails, with a diagnostic, on
/// ops of other dialects (an annotated program has to be partitioned first),
/// and on what the release has no form for.
FailureOr<std::string> writeArtifact(ModuleOp module, StableHLORelease release);

} // namespace meshloom
