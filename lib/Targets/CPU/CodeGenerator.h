// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// LLVM's side of compiling kernels: from LLVM IR to machine code, on one
// thread.
#pragma once

#include "KernelCodegen.h"

#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"

namespace meshloom {

/// The kind of loops in the code: a kernel's loops; those of a kernel that
/// reduces many short rows; those of a kernel that also writes out iterations,
/// of which only LLVM's passes make vectors; a kernel's loops with tiles; or a
/// whole loop op with its body.
enum class LoopKind : uint8_t { Plain, Rows, Mixed, Tiled, Whole };

/// A kernel in LLVM IR, in a context of its own: any thread may go on with it.
struct KernelModule {
  bool mayContract = true, hasF16 = false;
  LoopKind loops = LoopKind::Plain;
  std::unique_ptr<llvm::LLVMContext> context;
  std::unique_ptr<llvm::Module> module;
};

/// Compiles kernels, one after the other. LLVM's passes take a while to make,
/// so the process keeps those of generators that have ended for later ones.
class CodeGenerator {
public:
  /// Begins to make passes on another thread, where the process has none yet.
  static void prepare(CodegenMode mode);
  static Result<CodeGenerator> take(CodegenMode mode);
  CodeGenerator(CodeGenerator &&) noexcept;
  ~CodeGenerator();

  /// Returns the object file of `kernel`.
  std::string run(const KernelModule &kernel);

  class Passes;

private:
  explicit CodeGenerator(std::unique_ptr<Passes> passes);

  std::unique_ptr<Passes> passes;
};

} // namespace meshloom
