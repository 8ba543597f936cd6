// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From spmd.kernel to the LLVM dialect: one function a kernel, with the
// signature that Runtime/KernelFunction.h gives.
#pragma once

#include "meshloom/Dialect/SPMD/SPMD.h"

#include <memory>
#include <string>

namespace meshloom {

/// Appends the code of `kernel`, as function `symbol`, to `module`. The code
/// still has scf, arith and math ops: KernelLowering removes them.
void emitKernel(spmd::KernelOp kernel, StringRef symbol, ModuleOp module);

/// The same of a loop that is compiled whole: a library call of `loop`.
void emitLoopCall(spmd::LibraryCallOp call, StringRef symbol, ModuleOp module);

/// Turns modules made by the functions above into the LLVM dialect. f32 exp,
/// tanh, log and so on become polynomials that the loop vectoriser can handle;
/// those without an accurate one, and f64, call libm.
class KernelLowering {
public:
  explicit KernelLowering(MLIRContext *context);
  ~KernelLowering();
  LogicalResult lower(ModuleOp module) const;

private:
  struct Patterns;
  std::unique_ptr<Patterns> patterns;
};

/// The dialects that the functions above create.
void registerKernelLoweringDialects(mlir::DialectRegistry &registry);

} // namespace meshloom
