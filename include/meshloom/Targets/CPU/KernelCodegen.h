// From kernels to machine code: an object file each, for the JIT to load or for
// lld to link into a shared object.
#pragma once

#include "meshloom/Core/Result.h"
#include "meshloom/Dialect/SPMD/SPMD.h"

#include <string>
#include <vector>

namespace meshloom {

/// A kernel to compile and the name of its function.
struct KernelToCompile {
  std::string symbol;
  spmd::KernelOp kernel;
};

/// Code is made for this machine's CPU, or for the lesser one that the
/// environment variable MESHLOOM_CPU names.
enum class CodegenMode {
  Quick,   ///< without what takes long
  Full,    ///< optimised
  Portable ///< optimised, for CPUs that have targetCpuFeatures()
};

/// One object file for each kernel, in their order; made on all cores.
Result<std::vector<std::string>>
compileKernels(ArrayRef<KernelToCompile> kernels, CodegenMode mode);

/// Makes this machine known to LLVM. Comes before code is made or loaded.
void initializeCodeGenerator();

/// All that the code of a kernel depends on beside the kernel, as text.
std::string codegenOptions(CodegenMode mode);

/// The features of that CPU that kernels of a saved program may use:
/// "sse4.2,avx,avx2,...". Programs name them; lib/Runtime/Library/Features.cpp
/// knows them all.
std::string targetCpuFeatures();

} // namespace meshloom
