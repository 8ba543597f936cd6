// From spmd.kernel to the LLVM dialect: one function a kernel, with the
// signature that Runtime/KernelFunction.h gives.
#pragma once

#include "meshloom/Dialect/SPMD/SPMD.h"

#include <string>

namespace meshloom {

/// Appends the code of `kernel`, as function `symbol`, to `module`. The code
/// still has scf, arith and math ops: lowerKernels() removes them.
void emitKernel(spmd::KernelOp kernel, StringRef symbol, ModuleOp module);

/// Turns a module made by emitKernel into the LLVM dialect. f32 exp, tanh, log
/// and so on become polynomials that the loop vectoriser can handle; those
/// without an accurate one, and f64, call libm.
LogicalResult lowerKernels(ModuleOp module);

/// The dialects that the functions above create.
void registerKernelLoweringDialects(mlir::DialectRegistry &registry);

} // namespace meshloom
