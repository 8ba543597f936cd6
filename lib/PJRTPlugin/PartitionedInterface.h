// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The arguments and results of one device's program, as callers read them off
// its text.
#pragma once

#include "ProgramCompiler.h"

#include "mlir/IR/BuiltinOps.h"

namespace meshloom::plugin {

/// Gives a partitioned program the tokens and dims that its source has, and
/// says how its arguments and results are parts of the source's, and in which
/// order their dims lie in memory.
void addInterface(mlir::ModuleOp module, const ProgramInterface &interface,
                  const std::vector<std::string> &argumentShardings,
                  const std::vector<std::string> &resultShardings);

} // namespace meshloom::plugin
