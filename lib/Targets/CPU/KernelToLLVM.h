// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From spmd.kernel to the LLVM dialect: one function a kernel, with the
// signature that Runtime/KernelFunction.h gives.
#pragma once

#include "meshloom/Dialect/SPMD/SPMD.h"

namespace meshloom {

/// Appends the code of `kernel`, as function `symbol`, to `module`. The code
/// still has scf, arith and math ops: KernelLowering removes them.
void emitKernel(spmd::KernelOp kernel, StringRef symbol, ModuleOp module);

/// The same of a loop that is compiled whole: a library call of `loop`.
void emitLoopCall(spmd::LibraryCallOp call, StringRef symbol, ModuleOp module);

} // namespace meshloom
