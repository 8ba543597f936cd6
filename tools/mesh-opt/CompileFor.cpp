// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// --target=cpu, --target=cuda and --target=stablehlo.
#include "Targets.h"

#include "meshloom/Dialect/StableHLO/StableHLO.h"
#include "meshloom/Import/StableHLO/ReadProgram.h"
#include "meshloom/Support/MachineModelFile.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Support/FileUtilities.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/ToolOutputFile.h"
#include "llvm/Support/raw_ostream.h"

namespace meshloom::opt {

Result<Compiled> compileText(const TargetOptions &options,
                             const std::string &text, const std::string &target,
                             const Result<MachineModel> &machine,
                             std::string *lowered) {
  Result<MachineModel> model =
      options.machine.empty() ? machine : loadMachineModel(options.machine);
  if (!model)
    return Error(model.error().message() +
                 (options.machine.empty() ? "; name one with --machine" : ""));
  mlir::DialectRegistry registry;
  registerDialects(registry);
  registerStableHLODialects(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  auto module = readProgram(text, options.input, &context);
  if (!module)
    return module.error();
  CompileOptions compileOptions;
  compileOptions.machine = std::move(*model);
  compileOptions.target = target;
  compileOptions.function = options.function;
  compileOptions.explain = options.explain ? &llvm::errs() : nullptr;
  // Only to be seen.
  compileOptions.optimizeKernels = false;
  if (lowered)
    compileOptions.afterPass = [&](std::string_view, const std::string &ir) {
      *lowered = ir;
    };
  return compile(**module, compileOptions);
}

Status compileFor(const TargetOptions &options) {
  std::string problem;
  auto input = mlir::openInputFile(options.input, &problem);
  if (!input)
    return Error(problem);
  const std::string text = input->getBuffer().str();
  if (StringRef(options.target).starts_with("tpu:"))
    return compileForTPU(options, text);
  const std::vector<std::string> names = targetNames();
  if (!llvm::is_contained(names, options.target))
    return Error("there is no target '" + options.target +
                 "'; the targets are " + llvm::join(names, ", ") +
                 ", and TPUs by topology, as in tpu:v5e:2x4");

  // Virtual CPUs, and the logical devices of a GPU, share memory; what
  // StableHLO is for does not.
  const bool onCPU = options.target == "cpu";
  const bool sharesMemory = onCPU || options.target == "cuda";
  std::string lowered;
  auto compiled = compileText(
      options, text, options.target,
      MachineModel::preset(sharesMemory ? "shared-memory" : "ring"), &lowered);
  if (!compiled)
    return compiled.error();
  auto output = mlir::openOutputFile(options.output, &problem);
  if (!output)
    return Error(problem);
  if (const StableHLOProgram *exported = compiled->stableHLO())
    output->os() << exported->text;
  else if (onCPU)
    output->os() << lowered;
  else // text, as the target's format is
    output->os() << StringRef(compiled->code().bytes.data(),
                              compiled->code().bytes.size());
  output->keep();
  return Success();
}

} // namespace meshloom::opt
