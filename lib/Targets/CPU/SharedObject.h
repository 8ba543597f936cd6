// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels of a saved program: an ELF shared object in memory.
#pragma once

#include "KernelCodegen.h"

namespace meshloom {

/// Compiles `kernels` and links them with ld.lld; the bytes of the .so, which
/// needs nothing but libm.
Result<std::vector<char>> linkKernels(ArrayRef<KernelToCompile> kernels,
                                      KernelCompiler &compiler);

} // namespace meshloom
