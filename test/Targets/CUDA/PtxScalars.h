// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The arithmetic of PTX on the bits of registers.
#pragma once

#include "PtxProgram.h"

namespace meshloom::ptx {

/// Returns how the result of an instruction is computed. Null: it is a memory
/// access or a branch, or has to do with other threads.
Computation computationOf(const Instruction &instruction);

/// Returns whether an instruction that divides integers divides by zero.
bool dividesByZero(const Instruction &instruction, const uint64_t *slots);

} // namespace meshloom::ptx
