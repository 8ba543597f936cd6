// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels of the running process: compiled once, loaded with LLVM's ORC JIT,
// shared by all programs that use them.
#pragma once

#include "KernelCodegen.h"

#include "meshloom/Core/Compiled.h"

namespace meshloom {

/// Returns the mode for code that this process runs. If the environment
/// variable MESHLOOM_OPTIMIZE_KERNELS is 0, no such code is optimised.
CodegenMode modeFor(bool optimize);

/// Returns a table that has all of `kernels`. Kernels that an earlier call
/// loaded (at the same level) and that a program still uses are reused, and so
/// are kernels whose object files are in the cache; `compiler` compiles the
/// remaining ones, and is finished with that. Thread safe; a failure leaves
/// nothing behind.
Result<std::shared_ptr<const CodeSymbols>>
loadKernels(ArrayRef<KernelToCompile> kernels, bool optimize,
            KernelCompiler &compiler);

/// The same of kernels that are known by name alone. Null where one of them was
/// never compiled, or has been forgotten.
Result<std::shared_ptr<const CodeSymbols>>
loadCachedKernels(ArrayRef<std::string> symbols, bool optimize);

} // namespace meshloom
