// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Whole programs that were compiled before, by content.
#pragma once

#include "meshloom/Compiler/Compiler.h"
#include "meshloom/Targets/Target.h"

namespace meshloom {

/// The key of `function` compiled with `options`. Nothing where it has to be
/// compiled: what passes say is wanted, or not all is known that it holds.
std::optional<std::string> programKey(mlir::func::FuncOp function,
                                      const CompileOptions &options);

/// The program, ready to be loaded; nothing where the cache lacks it, or code
/// of its kernels.
std::optional<Compiled> cachedProgram(const std::string &key,
                                      const Target &target,
                                      const EmitOptions &options);
void storeProgram(const std::string &key, const Compiled &compiled);

} // namespace meshloom
