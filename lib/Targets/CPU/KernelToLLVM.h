// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From spmd.kernel to the LLVM dialect: one function a kernel, with the
// signature that Runtime/KernelFunction.h gives.
#pragma once

#include "meshloom/Dialect/SPMD/SPMD.h"
#include "meshloom/Targets/Kernels/KernelAccess.h"

namespace meshloom {

/// Returns the order of the loops of `kernel` in a function of its own. A short
/// sum stays a loop where a vector with a mask has all terms: written out, it
/// takes longer, and up to five times as long to compile.
LoopOrder functionLoopOrder(spmd::KernelOp kernel);

/// Returns the name of the function of a kernel `symbol` that is right for huge
/// arguments, too. It takes long to compile, so that it can be in an object
/// file of its own.
std::string exactSymbol(StringRef symbol);

/// Appends the code of `kernel`, as function `symbol`, to `module`. The code
/// still has scf, arith and math ops: KernelLowering removes them.
void emitKernel(spmd::KernelOp kernel, StringRef symbol, ModuleOp module);

/// The same of a loop that is compiled whole: a library call of `loop`.
void emitLoopCall(spmd::LibraryCallOp call, StringRef symbol, ModuleOp module);

} // namespace meshloom
