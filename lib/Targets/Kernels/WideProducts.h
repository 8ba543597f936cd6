// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products of narrow numbers that are computed as products of wide ones.
#pragma once

#include "meshloom/Support/LLVM.h"
#include "meshloom/Targets/Kernels/KernelPolicy.h"

namespace meshloom {

/// Converts the operands of products before they are multiplied:
/// - bf16 and f16, whose result is f32, to f32: everywhere if the target's
///   library has no such products (`policy`), else where a kernel or the code
///   of a loop computes them;
/// - integers of 8 and 16 bits to 32 bits, of large products that the library
///   has. The result is converted back, and has the same bits.
void widenProducts(Block &block, const KernelPolicy &policy);

} // namespace meshloom
