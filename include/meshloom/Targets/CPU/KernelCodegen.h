// From kernels to machine code: object files, for the JIT to load or for lld to
// link into a shared object.
#pragma once

#include "meshloom/Core/Result.h"
#include "meshloom/Dialect/SPMD/SPMD.h"

#include "llvm/Support/MemoryBuffer.h"

namespace meshloom {

/// A kernel to compile and the name of its function.
struct KernelToCompile {
  std::string symbol;
  spmd::KernelOp kernel;
};

enum class CodegenMode {
  Quick,   ///< for this CPU, without what takes long
  Full,    ///< for this CPU, optimised
  Portable ///< optimised, for CPUs that have hostCpuFeatures()
};

/// Several object files, made in parallel.
Result<std::vector<std::unique_ptr<llvm::MemoryBuffer>>>
compileKernels(ArrayRef<KernelToCompile> kernels, CodegenMode mode);

/// The features of this CPU that kernels of a saved program may use:
/// "sse4.2,avx,avx2,...". Programs name them; lib/Runtime/Library/Features.cpp
/// knows them all.
std::string hostCpuFeatures();

} // namespace meshloom
