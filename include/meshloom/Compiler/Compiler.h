// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// compile(): a dtensor module in, what a runtime loads out. The one entry to
// the compiler for the API, mesh-run and tests.
#pragma once

#include "meshloom/Core/Compiled.h"
#include "meshloom/Core/Contract.h"
#include "meshloom/Core/Explanation.h"
#include "meshloom/Core/MachineModel.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace llvm {
class raw_ostream;
} // namespace llvm
namespace mlir {
class DialectRegistry;
class MLIRContext;
class ModuleOp;
namespace func {
class FuncOp;
} // namespace func
} // namespace mlir

namespace meshloom {

/// How the layouts of arguments that nobody laid out are found.
struct AutomaticLayouts {
  /// Most bytes that a device may hold at a time; 0: any number.
  int64_t memory = 0;
  /// Layouts that arguments have are a start, and may change.
  bool reconsider = false;
  /// The mesh of a program that names none, as in "x=2,y=4", or a number of
  /// devices, whose best mesh is found.
  std::string mesh = "";
};

/// The layout of a value that the program asks to be told, as by
/// jax.debug.inspect_array_sharding.
struct InspectedLayout {
  /// A line for readers: "file:1:2: remark: ...".
  std::string text;
  /// The backend_config of the custom call that asks.
  std::string config;
  /// Nothing: each device has a value of its own, as in jax.shard_map.
  std::optional<Layout> layout;
};

struct CompileOptions {
  MachineModel machine;
  /// Let the machine model change layouts that no user gave.
  bool refine = true;
  /// Refine by moves of single clusters of ops only: an estimate of what a
  /// whole search comes to, in a fraction of its time.
  bool singleMoves = false;
  /// Lay arguments out so that a step takes the least time; nothing: as
  /// propagation and refinement do. See docs/AutomaticLayouts.md.
  std::optional<AutomaticLayouts> autoLayout = std::nullopt;
  /// The same bits for every mesh, layout and way of running: see
  /// docs/Threads.md. A function that says so itself (dtensor.deterministic)
  /// needs no option.
  bool deterministic = false;
  /// The target that the program is compiled for: see targetNames().
  std::string target = "cpu";
  /// Full optimisation of the kernels; false compiles several times faster.
  bool optimizeKernels = true;
  /// False: the program has its steps and no code of their kernels, so that it
  /// can be looked at, and not run.
  bool makeCode = true;
  /// The result is to be saved: Code::bytes rather than Code::symbols.
  bool codeAsBytes = false;
  /// Empty: main, or the only function.
  std::string function;
  /// Called with the reasons for the layouts and collectives of the program,
  /// also where it breaks its contract; empty: not.
  std::function<void(const Explanation &)> explain;
  /// Where to write the contract that the program just keeps, also where it
  /// breaks its own (the attribute dtensor.contract); nullptr: nowhere.
  Contract *tightestContract = nullptr;
  /// Called with the layouts that the program asks to be told; empty: not.
  std::function<void(const InspectedLayout &)> inspect;
  /// Called after each pass on the function with the pass's name
  /// ("dtensor-propagate-layouts") and the module as text; empty: not.
  std::function<void(std::string_view pass, const std::string &ir)> afterPass;
};

/// The targets there are: "cpu", "cuda", "stablehlo".
std::vector<std::string> targetNames();

/// The function of `module` that CompileOptions::function `name` means. Fails
/// where there is none, or where several may be meant.
Result<mlir::func::FuncOp> functionToCompile(mlir::ModuleOp module,
                                             const std::string &name);

/// Compiles one function of `module`, which is left as it is. The Error holds
/// all diagnostics with their locations. Kernels that were compiled before in
/// this process are reused. Thread-safe: for modules of one context, if that
/// has a thread pool and loadDialects has been called for it.
Result<Compiled> compile(mlir::ModuleOp module, const CompileOptions &options);

/// Begins to make what the first program of a process with these options needs
/// to be compiled, on another thread: a front end that calls it before it reads
/// or traces a program waits less for the code. compile() does so too.
void beginToPrepare(const CompileOptions &options);

/// A function for CompileOptions::explain that writes to `os` what --explain
/// prints.
std::function<void(const Explanation &)>
explanationPrinter(llvm::raw_ostream &os);

/// Registers all dialects and external models that Meshloom's passes need, and
/// the dialects of programs that are read, StableHLO's among them.
void registerDialects(mlir::DialectRegistry &registry);
/// Registers and loads these dialects unless the context has them.
void loadDialects(mlir::MLIRContext *context);

} // namespace meshloom
