// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// replaceClientOps(): ops of chlo as the calls that XLA reads.
#pragma once

#include "meshloom/Support/LLVM.h"

#include "mlir/IR/BuiltinOps.h"

namespace meshloom {

/// Replaces erf, erf_inv and top_k of chlo by custom calls of stablehlo.
/// Portable artifacts have no ops of chlo, and XLA's converter to HLO refuses
/// them. XLA and this project's import read the calls as these ops again.
void replaceClientOps(ModuleOp module);

} // namespace meshloom
