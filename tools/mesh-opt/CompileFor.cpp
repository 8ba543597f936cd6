// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Chooses what to do with a program, and compiles it for --target=cpu,
// --target=cuda and --target=stablehlo, --contract, --predict and
// --explain=FILE.
#include "Artifact.h"
#include "Targets.h"

#include "meshloom/Compiler/AccumulateGradients.h"
#include "meshloom/Dialect/DTensor/FunctionContract.h"
#include "meshloom/Explain/Explain.h"
#include "meshloom/Import/StableHLO/ReadProgram.h"
#include "meshloom/Support/ContractFile.h"
#include "meshloom/Support/ExplanationText.h"
#include "meshloom/Support/File.h"
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

namespace {

/// The file of --contract, and the function of the program that it is about.
class ContractCheck {
public:
  /// Reads the file, and gives the function its contract. The contract of an
  /// update need not be there yet.
  static Result<ContractCheck> begin(const TargetOptions &options,
                                     mlir::func::FuncOp function) {
    ContractCheck check(options, function.getName().str());
    Result<std::string> text = readFile(options.contract);
    if (!text && options.updateContract &&
        text.error().code() == ErrorCode::NOT_FOUND)
      return check;
    if (!text)
      return Error(text.error().message() +
                   "; --update-contract writes the contract of a program");
    Result<Contracts> contracts = parseContracts(*text, options.contract);
    if (!contracts)
      return contracts.error();
    check.contracts = std::move(*contracts);
    if (options.updateContract)
      return check;
    auto entry = check.contracts.find(check.function);
    if (entry == check.contracts.end())
      return Error("contract '" + options.contract +
                   "' says nothing of the function @" + check.function +
                   "; --update-contract adds it");
    dtensor::setContract(function, entry->second);
    return check;
  }

  /// Writes the contract, or tells how the program differs from it.
  Result<Compiled> end(Result<Compiled> compiled, const Contract &tightest) {
    if (compiled && options.updateContract) {
      contracts[function] = tightest;
      if (Status status = writeFile(options.contract, contractsText(contracts));
          !status)
        return status.error();
    }
    if (options.updateContract)
      return compiled;
    const std::string changes = differences(contracts[function], tightest);
    if (changes.empty())
      return compiled;
    if (!compiled)
      return compiled.error().withMessage(
          compiled.error().message() + "\n" + options.contract + ", @" +
          function + ":\n" + StringRef(changes).rtrim().str());
    llvm::errs() << options.contract << ", @" << function
                 << ": the program sends less than its contract allows "
                    "(--update-contract writes what it sends):\n"
                 << changes;
    return compiled;
  }

private:
  ContractCheck(const TargetOptions &options, std::string function)
      : options(options), function(std::move(function)) {}

  const TargetOptions &options;
  std::string function;
  Contracts contracts;
};

} // namespace

static Result<MachineModel> machineOf(const TargetOptions &options,
                                      const Result<MachineModel> &machine) {
  Result<MachineModel> model =
      options.machine.empty() ? machine : loadMachineModel(options.machine);
  if (!model && options.machine.empty())
    return Error(model.error().message() + "; name one with --machine");
  return model;
}

Result<Input> readInput(const TargetOptions &options, const std::string &text,
                        const Result<MachineModel> &machine,
                        mlir::MLIRContext::Threading threading) {
  Result<MachineModel> model = machineOf(options, machine);
  if (!model)
    return model.error();
  mlir::DialectRegistry registry;
  registerDialects(registry);
  auto context = std::make_unique<mlir::MLIRContext>(registry, threading);
  auto module =
      readProgram(text, options.input, context.get(), options.function);
  if (!module)
    return module.error();
  if (options.microbatches > 0)
    if (Status status =
            askToAccumulate(**module, options.function, options.microbatches);
        !status)
      return status.error();
  return Input{std::move(context), std::move(*module), std::move(*model)};
}

CompileOptions optionsToPredict(const TargetOptions &options,
                                const MachineModel &machine) {
  CompileOptions compileOptions;
  compileOptions.machine = machine;
  // Loops run as one step on CPUs where their work is small.
  compileOptions.target = machine.sharedMemory ? "cpu" : "cuda";
  compileOptions.function = options.function;
  compileOptions.makeCode = false;
  if (options.autoLayout)
    compileOptions.autoLayout = {.memory = *options.autoLayout,
                                 .reconsider = options.reconsider,
                                 .mesh = options.mesh};
  return compileOptions;
}

std::function<void(const Explanation &)> explainer(const TargetOptions &options,
                                                   Explanation *explanation) {
  if (!options.explain && (!explanation || options.explanationFile.empty()))
    return nullptr;
  return
      [isPrinted = options.explain, explanation](const Explanation &explained) {
        if (isPrinted)
          llvm::errs() << explanationText(explained);
        if (explanation)
          *explanation = explained;
      };
}

Result<Compiled> compileText(const TargetOptions &options,
                             const std::string &text, const std::string &target,
                             const Result<MachineModel> &machine,
                             std::string *lowered, Explanation *explanation) {
  Result<Input> input = readInput(options, text, machine);
  if (!input)
    return input.error();
  CompileOptions compileOptions = optionsToPredict(options, input->machine);
  const bool isPlanOnly =
      options.predict ||
      (!options.explanationFile.empty() && options.target.empty());
  compileOptions.makeCode = !isPlanOnly;
  if (!isPlanOnly)
    compileOptions.target = target;
  compileOptions.explain = explainer(options, explanation);
  // Only to be seen.
  compileOptions.optimizeKernels = false;
  if (lowered)
    compileOptions.afterPass = [&](std::string_view, const std::string &ir) {
      *lowered = ir;
    };
  if (options.contract.empty())
    return compile(*input->module, compileOptions);
  Result<mlir::func::FuncOp> function =
      functionToCompile(*input->module, options.function);
  if (!function)
    return function.error();
  Result<ContractCheck> check = ContractCheck::begin(options, *function);
  if (!check)
    return check.error();
  Contract tightest;
  compileOptions.tightestContract = &tightest;
  return check->end(compile(*input->module, compileOptions), tightest);
}

Status compileFor(const TargetOptions &options) {
  std::string problem;
  auto input = mlir::openInputFile(options.input, &problem);
  if (!input)
    return Error(problem);
  const std::string text = input->getBuffer().str();
  if (StringRef(options.target).starts_with("tpu:"))
    return compileForTPU(options, text);
  if (!options.whatIf.empty())
    return predictRange(options, text);
  if (options.pipeline)
    return predictStages(options, text);
  if (options.suggest || (options.target.empty() && options.contract.empty() &&
                          !options.predict && options.explanationFile.empty()))
    return advise(options, text);
  const std::string target =
      options.target.empty() ? "stablehlo" : options.target;
  const std::vector<std::string> names = targetNames();
  if (!llvm::is_contained(names, target))
    return Error("there is no target '" + target + "'; the targets are " +
                 llvm::join(names, ", ") +
                 ", and TPUs by topology, as in tpu:v5e:2x4");

  // Virtual CPUs, and the logical devices of a GPU, share memory; what
  // StableHLO is for does not.
  const bool onCPU = target == "cpu";
  const bool sharesMemory = onCPU || target == "cuda";
  std::string lowered;
  Explanation explanation;
  auto compiled =
      compileText(options, text, target,
                  MachineModel::preset(sharesMemory ? "shared-memory" : "ring"),
                  &lowered, &explanation);
  if (!compiled)
    return compiled.error();
  if (!options.explanationFile.empty()) {
    const ExplainedProgram explained{*compiled, std::move(explanation)};
    if (Status done =
            writeExplanation(options.explanationFile, std::span(&explained, 1));
        !done)
      return done;
  }
  if (options.predict) {
    Result<MachineModel> machine = loadMachineModel(compiled->machine());
    return machine ? writePrediction(options, *compiled, *machine)
                   : machine.error();
  }
  if (options.target.empty())
    return Success();
  const StableHLOProgram *exported = compiled->stableHLO();
  if (exported && options.artifact) {
    Result<std::string> artifact =
        artifactOfText(exported->text, *options.artifact);
    if (!artifact)
      return artifact.error();
    lowered = std::move(*artifact);
  } else if (exported) {
    lowered = exported->text;
  }
  auto output = mlir::openOutputFile(options.output, &problem);
  if (!output)
    return Error(problem);
  if (exported || onCPU)
    output->os() << lowered;
  else // text, as the target's format is
    output->os() << StringRef(compiled->code().bytes.data(),
                              compiled->code().bytes.size());
  output->keep();
  return Success();
}

} // namespace meshloom::opt
