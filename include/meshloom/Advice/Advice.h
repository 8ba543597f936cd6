// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Predicts what changes of single layout annotations save or cost.
#pragma once

#include "meshloom/Compiler/Compiler.h"
#include "meshloom/Core/LayoutAdvice.h"

namespace meshloom {

/// A program that was compiled to be predicted, and advice on its layouts.
struct AdvisedProgram {
  Compiled program;
  LayoutAdvice advice;
};

/// Tells whether changes are tried.
enum class Changes : uint8_t { Tried, NotTried };

/// Compiles one function of `module`, which is left as it is, for
/// `options.machine`, and predicts it with each change of one annotation: a
/// layout one axis away, whole on each device, or none. With
/// `options.autoLayout` the layouts that are found are annotations too, and
/// each keeps a layout. Large programs have fewer changes tried; those of large
/// tensors come first. Changes are estimated by a short search for layouts, on
/// all threads of the context, and those that are suggested are compiled as the
/// program itself is. No code is generated, and nothing runs.
/// `options.explain` gets the explanation of the program as it is. Fails where
/// the program cannot be compiled or predicted, and where it is on one device.
Result<AdvisedProgram> adviseLayouts(mlir::ModuleOp module,
                                     const CompileOptions &options,
                                     Changes changes = Changes::Tried);

} // namespace meshloom
