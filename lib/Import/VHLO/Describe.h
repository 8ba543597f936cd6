// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Describes ops of this program's dialects as ops of an artifact.
#pragma once

#include "OpFacts.h"

namespace meshloom::vhlo {

/// The op of VHLO that does what `op` of stablehlo or func does, in the newest
/// version that StableHLO 1.`release` has, with all attributes of that version.
/// Fails, with a diagnostic, where there is none.
FailureOr<OpDescription> describe(Operation *op, unsigned release);

} // namespace meshloom::vhlo
