// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products of matrices as kernels.
#pragma once

#include "meshloom/Core/DeviceCode.h"
#include "meshloom/Support/LLVM.h"

namespace meshloom {

/// Appends the code of all products of `kind` to `module`, as entry point
/// kind.symbol(), and says how they are launched: like emitThreads.
KernelShape emitProduct(const ProductKind &kind, ModuleOp module);

} // namespace meshloom
