// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// --suggest and --auto-layout: layouts to copy, and what changes of them cost.
#include "Targets.h"

#include "meshloom/Advice/Advice.h"
#include "meshloom/Dialect/StableHLO/StableHLO.h"
#include "meshloom/Import/StableHLO/ReadProgram.h"
#include "meshloom/Support/AdviceFile.h"
#include "meshloom/Support/File.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectRegistry.h"
#include "llvm/Support/raw_ostream.h"

namespace meshloom::opt {

Result<LayoutAdvice> adviceOn(const TargetOptions &options,
                              const std::string &text) {
  Result<MachineModel> machine =
      machineOf(options, MachineModel::preset("ring"));
  if (!machine)
    return machine.error();
  mlir::DialectRegistry registry;
  registerDialects(registry);
  registerStableHLODialects(registry);
  // The search for automatic layouts begins at several places at once.
  mlir::MLIRContext context(registry);
  auto module = readProgram(text, options.input, &context, options.function);
  if (!module)
    return module.error();
  CompileOptions compileOptions = optionsToPredict(options, *machine);
  if (options.explain == "-")
    compileOptions.explain = explanationPrinter(llvm::errs());
  return adviseLayouts(**module, compileOptions,
                       options.suggest ? Changes::Tried : Changes::NotTried);
}

Status advise(const TargetOptions &options, const std::string &text) {
  Result<LayoutAdvice> advice = adviceOn(options, text);
  if (!advice)
    return advice.error();
  if (options.output != "-")
    return writeFile(options.output, adviceJson(*advice));
  llvm::outs() << adviceText(*advice);
  return Success();
}

} // namespace meshloom::opt
