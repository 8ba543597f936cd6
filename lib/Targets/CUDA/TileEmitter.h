// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels that transpose, by tiles.
#pragma once

#include "meshloom/Core/DeviceCode.h"
#include "meshloom/Dialect/SPMD/SPMD.h"

namespace meshloom {

/// Returns whether blocks go over tiles of the kernel's results.
bool isTiled(spmd::KernelOp kernel);

/// Appends the code of `kernel`, which is tiled, as emitThreads does.
KernelShape emitTiles(spmd::KernelOp kernel, StringRef symbol, ModuleOp module);

} // namespace meshloom
