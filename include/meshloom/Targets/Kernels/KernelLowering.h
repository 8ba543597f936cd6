// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// KernelLowering: from the code of kernels, which emitters write with scf,
// arith and math ops, to the LLVM dialect.
#pragma once

#include "meshloom/Support/LLVM.h"

#include <memory>

namespace meshloom {

/// Where the functions come from that neither a formula nor an instruction
/// computes.
enum class MathLibrary : uint8_t {
  Libm, ///< the C library, which is part of the process
  None  ///< nowhere: more formulas, and errors for the rest
};

/// Turns modules of emitted kernels into the LLVM dialect. exp, tanh, log and
/// so on become polynomials (MathFunctions.h); others come from `library`.
class KernelLowering {
public:
  /// `multiplyAdds`: the target has an instruction for a * b + c.
  KernelLowering(MLIRContext *context, MathLibrary library, bool multiplyAdds);
  ~KernelLowering();
  /// Fails, with a diagnostic at the op, where a function has no code.
  LogicalResult lower(ModuleOp module) const;

private:
  struct Patterns;
  std::unique_ptr<Patterns> patterns;
};

/// The dialects that emitters and lower() create.
void registerKernelLoweringDialects(mlir::DialectRegistry &registry);

} // namespace meshloom
