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

/// Compiles for this machine's CPU; several object files, made in parallel.
/// `optimize` = false skips all but what makes code short.
Result<std::vector<std::unique_ptr<llvm::MemoryBuffer>>>
compileKernels(ArrayRef<KernelToCompile> kernels, bool optimize);

/// The features of this CPU that compiled kernels may use, of those that
/// differ between CPUs in use: "avx,avx2,avx512f,...". Programs name them.
std::string hostCpuFeatures();

} // namespace meshloom
