// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The code that copies the operands of inverse Fourier transforms.
#pragma once

#include "meshloom/Core/DeviceCode.h"
#include "meshloom/Support/LLVM.h"

namespace meshloom {

/// Appends the code of `kind`, as entry point kind.symbol(), to `module`, and
/// says how it is launched: see emitThreads.
KernelShape emitLines(const FourierKind &kind, ModuleOp module);

} // namespace meshloom
