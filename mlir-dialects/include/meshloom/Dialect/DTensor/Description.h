// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Programs that are compiled to be read, and not to run.
#pragma once

#include "llvm/ADT/StringRef.h"

namespace meshloom::dtensor {

/// On a module: its StableHLO is for a reader. Ops that StableHLO has no word
/// for become custom calls of their names.
inline constexpr llvm::StringLiteral describeAttr = "dtensor.describe";

} // namespace meshloom::dtensor
