// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The arithmetic of PTX on the bits of registers.
#pragma once

#include "PtxProgram.h"

#include <array>
#include <optional>

namespace meshloom::ptx {

/// The result of an instruction that is neither a memory access nor a branch,
/// as bits, which may be sign-extended. Nothing where integers are divided by
/// zero.
std::optional<uint64_t> evaluate(const Instruction &instruction,
                                 const std::array<uint64_t, 3> &operands);

} // namespace meshloom::ptx
