// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// --suggest and --auto-layout: layouts to copy, and what changes of them cost.
#include "Targets.h"

#include "meshloom/Advice/Advice.h"
#include "meshloom/Explain/Explain.h"
#include "meshloom/Support/AdviceFile.h"
#include "meshloom/Support/File.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/raw_ostream.h"

namespace meshloom::opt {

Status advise(const TargetOptions &options, const std::string &text) {
  // The search for automatic layouts begins at several places at once, and
  // several changes are tried at once.
  Result<Input> input = readInput(options, text, MachineModel::preset("ring"),
                                  mlir::MLIRContext::Threading::ENABLED);
  if (!input)
    return input.error();
  CompileOptions compileOptions = optionsToPredict(options, input->machine);
  Explanation explanation;
  compileOptions.explain = explainer(options, &explanation);
  Result<AdvisedProgram> advised =
      adviseLayouts(*input->module, compileOptions,
                    options.suggest ? Changes::Tried : Changes::NotTried);
  if (!advised)
    return advised.error();
  auto &[program, advice] = *advised;
  if (options.output != "-") {
    if (Status done = writeFile(options.output, adviceJson(advice)); !done)
      return done;
  } else {
    llvm::outs() << adviceText(advice);
  }
  if (options.explanationFile.empty())
    return Success();
  const ExplainedProgram explained{std::move(program), std::move(explanation),
                                   std::move(advice)};
  return writeExplanation(options.explanationFile, std::span(&explained, 1));
}

} // namespace meshloom::opt
