// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The functions that the files of --target use: they compile a program's text.
#pragma once

#include "CompileFor.h"

#include "meshloom/Compiler/Compiler.h"
#include "meshloom/Core/Explanation.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"

#include <memory>

namespace meshloom::opt {

/// A program, and the machine that it is compiled for.
struct Input {
  std::unique_ptr<mlir::MLIRContext> context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  MachineModel machine;
};

/// Reads the program in `text`, with what the options ask of its function. The
/// machine is the one that options.machine names, or else `machine`.
Result<Input> readInput(const TargetOptions &options, const std::string &text,
                        const Result<MachineModel> &machine,
                        mlir::MLIRContext::Threading threading =
                            mlir::MLIRContext::Threading::DISABLED);

/// The options by which a program is compiled to be predicted: it has its steps
/// and no code.
CompileOptions optionsToPredict(const TargetOptions &options,
                                const MachineModel &machine);

/// The function for CompileOptions::explain that does what the options ask for:
/// it prints the explanation, and keeps it in `explanation`, if not null, for a
/// file.
std::function<void(const Explanation &)> explainer(const TargetOptions &options,
                                                   Explanation *explanation);

/// `machine` is the model where the options name none. `lowered`, if not null,
/// gets the program after the last pass, and `explanation` what is to be
/// written to a file.
Result<Compiled> compileText(const TargetOptions &options,
                             const std::string &text, const std::string &target,
                             const Result<MachineModel> &machine,
                             std::string *lowered = nullptr,
                             Explanation *explanation = nullptr);

} // namespace meshloom::opt
