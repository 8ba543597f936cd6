// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "meshloom/Support/LLVM.h"

namespace meshloom::dtensor {

/// On an argument without `dtensor.alias`: the caller gives it up, as a step
/// gives up the weights that it updates. So it is no batch.
inline constexpr llvm::StringLiteral donatedAttr = "dtensor.donated";

} // namespace meshloom::dtensor
