// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The mark of regions that end when kernels are formed.
#pragma once

#include "llvm/ADT/StringRef.h"

namespace meshloom::dtensor {

/// A unit attribute of a case of one branch with `dtensor.recomputed`. When the
/// kernels of the region are formed, their ops move into the block around it,
/// so that the memory of both is planned together.
constexpr llvm::StringLiteral inlinedAttr = "dtensor.inlined";

} // namespace meshloom::dtensor
