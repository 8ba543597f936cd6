// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The types of the operands that products read.
#pragma once

#include "meshloom/Support/LLVM.h"
#include "meshloom/Targets/Kernels/KernelPolicy.h"

namespace meshloom {

/// Chooses what products read, their operands or these in a wider type:
/// - bf16 and f16, whose result is f32, are converted to f32 everywhere if the
///   target's library has no such products (`policy`), else where a kernel or
///   the code of a loop computes them;
/// - integers of 8 and 16 bits are converted to 32 bits in large products that
///   the library has. The result is converted back, and has the same bits;
/// - operands that were converted to f32 from bf16 or f16, or to 32 bits from
/// 8,
///   are read as they were before, in products of the library that has them.
void chooseProductTypes(Block &block, const KernelPolicy &policy);

} // namespace meshloom
