// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From kernels to machine code: an object file each, for the JIT to load or for
// lld to link into a shared object.
#pragma once

#include "meshloom/Core/Result.h"
#include "meshloom/Dialect/SPMD/SPMD.h"

#include <memory>
#include <string>
#include <vector>

namespace meshloom {

/// A kernel to compile, or a loop that is compiled whole, and the name of its
/// function.
struct KernelToCompile {
  std::string symbol;
  Operation *kernel;
  /// The script that is interpreted instead (KernelScript.h); else empty.
  std::string script = {};
};

/// Code is made for this machine's CPU, or for the lesser one that the
/// environment variable MESHLOOM_CPU names.
enum class CodegenMode {
  Quick,   ///< without what takes long
  Full,    ///< optimised
  Portable ///< optimised, for CPUs that have targetCpuFeatures()
};

/// Makes object files of kernels, on all cores, as kernels become known: what a
/// program will probably need is begun with before it is known whether it does.
/// Threads are started as there is work for them.
///
/// `begin` may be called on another thread than `finish`, which comes last and
/// once.
class KernelCompiler {
public:
  explicit KernelCompiler(CodegenMode mode);
  ~KernelCompiler(); ///< stops

  /// Begins to make what any kernel needs, on another thread, where the process
  /// has not made it yet.
  static void prepare(CodegenMode mode);
  /// Begins with kernels that will probably be asked for. Returns when LLVM IR
  /// was made of all of them, or when `finish` was called.
  void begin(ArrayRef<KernelToCompile> kernels);
  /// One object file for each kernel, in their order. Nothing is made for
  /// kernels that still wait for a thread.
  Result<std::vector<std::string>> finish(ArrayRef<KernelToCompile> kernels);
  /// Nothing more is needed: `begin` returns soon.
  void stop();

private:
  struct Work;
  std::unique_ptr<Work> work;
};

/// Returns whether small kernels are interpreted. Programs are the same either
/// way, so that processes may differ in it.
bool usesScripts(CodegenMode mode);

/// All that the code of a kernel depends on beside the kernel, as text.
std::string codegenOptions(CodegenMode mode);

/// The features of that CPU that kernels of a saved program may use:
/// "sse4.2,avx,avx2,...". Programs name them; lib/Runtime/Library/Features.cpp
/// knows them all.
std::string targetCpuFeatures();

} // namespace meshloom
