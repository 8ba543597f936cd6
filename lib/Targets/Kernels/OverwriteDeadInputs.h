// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In-place kernels: outputs that take the memory of an input.
#pragma once

#include "meshloom/Support/LLVM.h"

#include "mlir/IR/Block.h"

namespace meshloom {

/// Sets `in_place` of the kernels and library calls in `block` wherever an
/// input of an output's type, read where the output is written, is not needed
/// afterwards.
void overwriteDeadInputs(Block &block);

} // namespace meshloom
