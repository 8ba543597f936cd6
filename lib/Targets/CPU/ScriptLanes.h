// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The ops of scripts: loops over the elements of a block.
#pragma once

#include "meshloom/Support/LLVM.h"

namespace meshloom {

/// Registers of a script, each of a block's elements, that fit on the stack.
constexpr unsigned mostScriptRegisters = 96;

/// result[i] = op(operands[0][i], ...) for `count` elements. Arrays are dense,
/// have the types that the op has, a byte for each i1, and do not overlap.
using ScriptLanes = void (*)(void *result, const void *const *operands,
                             int64_t count);

/// Returns the loop of the op with this name, as scriptOp gives it; null: there
/// is none.
ScriptLanes findScriptLanes(StringRef name);

/// Returns the name of an op for findScriptLanes: what the op is called, its
/// predicate, the type of its last operand and of its result.
std::string scriptOpName(Operation *op);

/// Returns the bytes of an element of a type that scripts have, in memory and
/// in registers; 0 for others.
unsigned scriptBytes(StringRef type);

} // namespace meshloom
