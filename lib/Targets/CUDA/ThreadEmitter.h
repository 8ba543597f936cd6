// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From spmd.kernel, or several that go over the same rows, to a function that
// the threads of a grid run.
#pragma once

#include "meshloom/Core/DeviceCode.h"
#include "meshloom/Dialect/SPMD/SPMD.h"

namespace meshloom {

/// Appends the code of `op`, a kernel or a call of `rows`, as entry point
/// `symbol`, to `module`, and says how it is launched. The code still has scf,
/// arith and math ops: KernelLowering removes them.
KernelShape emitThreads(Operation *op, StringRef symbol, ModuleOp module);

/// Returns how many parts of the terms of each result are to be reduced side by
/// side, so that all of a card has work, at most.
int64_t reductionParts(spmd::KernelOp kernel);

/// The dialects that emitThreads creates beside those of KernelLowering.
void registerThreadDialects(mlir::DialectRegistry &registry);

} // namespace meshloom
