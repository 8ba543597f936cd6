// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels that only reduce or copy become library calls, which need no code.
#pragma once

#include "meshloom/Support/LLVM.h"

#include "mlir/IR/Block.h"

namespace meshloom {

/// Replaces kernels that compute nothing but a sum, a maximum or a minimum of
/// many elements by calls of the library function "reduce", those that only
/// find the first maximum or minimum of long lines by calls of "find_extreme",
/// and those that only copy many elements, run by run, by calls of "copy".
void callPlainKernels(Block &block);

} // namespace meshloom
