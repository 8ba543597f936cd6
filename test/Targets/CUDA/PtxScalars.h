// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The arithmetic of PTX on the bits of registers.
#pragma once

#include "PtxProgram.h"

#include <array>
#include <optional>

namespace meshloom::ptx {

/// The bits of an instruction's operands, of which it may have fewer.
using OperandBits = std::array<uint64_t, 4>;

/// The result of an instruction that is neither a memory access nor a branch,
/// as bits, which may be sign-extended. Nothing where integers are divided by
/// zero.
std::optional<uint64_t> evaluate(const Instruction &instruction,
                                 const OperandBits &operands);

} // namespace meshloom::ptx
