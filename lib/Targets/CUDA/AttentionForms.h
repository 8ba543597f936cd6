// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which steps of a program are attention.
#pragma once

#include "meshloom/Core/DeviceCode.h"
#include "meshloom/Targets/Kernels/ToProgram.h"

namespace meshloom {

/// Finds the attentions of a function, whatever its kernels are. Adds the
/// kernels of their masks, which are in `masks`, to `kernels`.
std::vector<Attention>
findAttentions(mlir::func::FuncOp function, const LoweredProgram &lowered,
               ModuleOp masks,
               std::vector<std::pair<std::string, Operation *>> &kernels);

} // namespace meshloom
