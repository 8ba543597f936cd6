// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels that only reduce become library calls.
#pragma once

#include "meshloom/Support/LLVM.h"

#include "mlir/IR/Block.h"

namespace meshloom {

/// Replaces kernels that compute nothing but a sum, a maximum or a minimum of
/// many elements by calls of the library function "reduce", which need no code.
void callReductions(Block &block);

} // namespace meshloom
