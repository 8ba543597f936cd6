// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Target: what a partitioned program is compiled for.
#pragma once

#include "meshloom/Core/Compiled.h"
#include "meshloom/Support/LLVM.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassManager.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace meshloom {

struct EmitOptions {
  /// Full optimisation of generated code; false compiles several times faster.
  bool optimize = true;
  /// The result is to be saved: its code as bytes, not only in this process.
  bool asBytes = false;
  /// The machine model that the program was partitioned for, as text: part of
  /// what is compiled.
  std::string machine;
  /// False: the program without the code of its kernels.
  bool makeCode = true;
};

/// Code that is made while it is not yet known whether the program needs it.
class CodeAhead {
public:
  virtual ~CodeAhead() = default;
  /// `function` has gone through the target's passes, and a program that is
  /// alike will be emitted. Works until then, or until all is made. On another
  /// thread than `emit`; reports nothing.
  virtual void begin(mlir::func::FuncOp function) = 0;
  /// The program was emitted, or will not be: `begin` returns soon.
  virtual void stop() = 0;
};

/// One way to go on from a partitioned function: passes of its own, then what a
/// runtime loads. Adding one is a folder of lib/Targets and a line of
/// lib/Compiler/Targets.cpp; it knows no runtime.
class Target {
public:
  virtual ~Target() = default;
  /// "cpu"; what `mesh-opt --target=` and CompileOptions::target name.
  virtual std::string_view name() const = 0;
  /// Adds what runs on the function after partitioning, with the target's own
  /// policy of what goes into one kernel.
  virtual void addPasses(mlir::OpPassManager &functions) const = 0;
  /// Returns whether those passes make one step of a loop whose turns do little
  /// work, where every device has its values whole.
  virtual bool compilesLoopsWhole() const { return false; }
  /// `function`, alone in its module, has gone through those passes. Fails with
  /// diagnostics at ops that the target cannot express, or with an Error that
  /// says all where there is no op to point at.
  /// `ahead` is what `makeAhead` gave, or null.
  virtual FailureOr<Result<Compiled>> emit(mlir::func::FuncOp function,
                                           const EmitOptions &options,
                                           CodeAhead *ahead) const = 0;
  /// A program will probably be emitted with these options: begins to make what
  /// that needs, on another thread.
  virtual void prepare(const EmitOptions &options) const {}
  /// Where making code takes long: what may begin with it before emit(), with
  /// the same options.
  virtual std::unique_ptr<CodeAhead>
  makeAhead(const EmitOptions &options) const {
    return nullptr;
  }
  /// A program that emit() made, in this process or another one, and that has
  /// been serialised since: with what was left behind, code in memory. Nothing
  /// where that is not to be had without compiling.
  virtual std::optional<Compiled> restore(Compiled compiled,
                                          const EmitOptions &options) const {
    return compiled;
  }
  /// The property of this machine that code depends on, beside the program and
  /// the options.
  virtual std::string machineCode() const { return ""; }
  /// The dialects and translations that emit() needs.
  virtual void registerDialects(mlir::DialectRegistry &registry) const = 0;
  /// Loads these dialects, which `context` knows of. While it lacks one of
  /// them, no other thread may use it.
  void loadDialects(MLIRContext *context) const {
    mlir::DialectRegistry registry;
    registerDialects(registry);
    for (StringRef name : registry.getDialectNames())
      context->getOrLoadDialect(name);
  }
};

} // namespace meshloom
