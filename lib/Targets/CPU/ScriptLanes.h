// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The ops of scripts: loops over the elements of a block.
#pragma once

#include "FormulaLanes.h"
#include "meshloom/Support/LLVM.h"

namespace meshloom {

/// Registers of a script, each of a block's elements, that fit on the stack.
constexpr unsigned mostScriptRegisters = 96;

/// Returns the loop of the op with this name, as scriptOpName gives it; null:
/// there is none.
ScriptLanes findScriptLanes(StringRef name);

/// Returns the name of an op for findScriptLanes: "strict", where products that
/// it adds have to be rounded, what the op is called, its predicate, the type
/// of its last operand and of its result.
std::string scriptOpName(Operation *op, Contraction contraction);

/// Returns the bytes of an element of a type that scripts have, in memory and
/// in registers; 0 for others.
unsigned scriptBytes(StringRef type);

} // namespace meshloom
