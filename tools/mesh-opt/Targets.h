// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The function that both files of --target use: it compiles a program's text.
#pragma once

#include "CompileFor.h"

#include "meshloom/Compiler/Compiler.h"

namespace meshloom::opt {

/// `machine` is the model where the options name none. `lowered`, if not null,
/// gets the program after the last pass.
Result<Compiled> compileText(const TargetOptions &options,
                             const std::string &text, const std::string &target,
                             const Result<MachineModel> &machine,
                             std::string *lowered = nullptr);

} // namespace meshloom::opt
