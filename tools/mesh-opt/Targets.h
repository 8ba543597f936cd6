// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What both files of --target use: a program's text, compiled.
#pragma once

#include "CompileFor.h"

#include "meshloom/Compiler/Compiler.h"

namespace meshloom::opt {

/// `machine` is the model where the options name none. What is left in
/// `lowered`, if not null, is the program after the last pass.
Result<Compiled> compileText(const TargetOptions &options,
                             const std::string &text, const std::string &target,
                             const Result<MachineModel> &machine,
                             std::string *lowered = nullptr);

} // namespace meshloom::opt
