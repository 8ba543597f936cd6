// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The kernel that makes words of masks.
#pragma once

#include "meshloom/Core/DeviceCode.h"
#include "meshloom/Dialect/SPMD/SPMD.h"

namespace meshloom {

/// Adds the function maskWordsSymbol, and returns how it is launched.
KernelShape emitMaskWords(ModuleOp module);

} // namespace meshloom
