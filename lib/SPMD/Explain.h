// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Prints the text of --explain: why each collective of a local program is
// there.
#pragma once

#include "meshloom/Core/MachineModel.h"
#include "meshloom/Support/LLVM.h"

namespace mlir::func {
class FuncOp;
} // namespace mlir::func

namespace meshloom {

/// For each collective that sends something: place, op, layouts, bytes, time by
/// `machine`, which should be what the program was made for, the user's
/// annotation it follows from, and what was rejected; a combined one tells all
/// of its values. Then the moves of refinement. `function` comes from
/// --dtensor-partition (any local function will do, but says less).
void explainCollectives(mlir::func::FuncOp function,
                        const MachineModel &machine, raw_ostream &os);

} // namespace meshloom
