// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Parsing, compiling and verifying .mlir programs.
#include "Source.h"

#include "meshloom/Advice/Advice.h"
#include "meshloom/Compiler/AccumulateGradients.h"
#include "meshloom/Compiler/Compiler.h"
#include "meshloom/Core/ProcessMachine.h"
#include "meshloom/Dialect/DTensor/DTensor.h"
#include "meshloom/Dialect/DTensor/Notes.h"
#include "meshloom/Explain/Explain.h"
#include "meshloom/Import/StableHLO/ReadProgram.h"
#include "meshloom/Interpreter/Interpreter.h"
#include "meshloom/Support/AdviceFile.h"
#include "meshloom/Support/File.h"
#include "meshloom/Support/LLVM.h"
#include "meshloom/Support/MachineModelFile.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/DialectRegistry.h"
#include "llvm/Support/ThreadPool.h"
#include "llvm/Support/raw_ostream.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

namespace meshloom::run {

struct Source::Impl {
  Options options;
  std::string target;
  /// A context with one has locks, so that kernels may be compiled while
  /// passes run.
  llvm::DefaultThreadPool pool{llvm::hardware_concurrency(1)};
  MLIRContext context{MLIRContext::Threading::DISABLED};
  OwningOpRef<ModuleOp> module;
  Explanation explanation;            ///< of the compiled program, for a page
  std::optional<LayoutAdvice> advice; ///< on that program, if asked for

  CompileOptions compileOptions(const MachineModel &machine) const;
};

CompileOptions Source::Impl::compileOptions(const MachineModel &machine) const {
  CompileOptions compileOptions;
  compileOptions.machine = machine;
  compileOptions.refine = options.refine;
  if (options.autoLayout)
    compileOptions.autoLayout = {.memory = *options.autoLayout,
                                 .reconsider = options.reconsider,
                                 .mesh = options.mesh};
  compileOptions.deterministic = options.deterministic;
  compileOptions.function = options.function;
  compileOptions.target = target;
  compileOptions.codeAsBytes = !options.emitProgram.empty();
  return compileOptions;
}

Source::Source(std::unique_ptr<Impl> impl) : impl(std::move(impl)) {}
Source::~Source() = default;

Result<std::unique_ptr<Source>> Source::open(const Options &options,
                                             std::string_view target) {
  CompileOptions prepared;
  prepared.target = target;
  prepared.codeAsBytes = !options.emitProgram.empty();
  beginToPrepare(prepared);
  auto impl = std::make_unique<Impl>();
  impl->options = options;
  impl->target = target;
  mlir::DialectRegistry registry;
  registerDialects(registry);
  impl->context.appendDialectRegistry(registry);

  if (options.writesExplanation())
    if (Status ok = checkExplanationPath(options.explain); !ok)
      return ok.error();
  Result<std::string> text = readFile(options.program);
  if (!text)
    return text.error();
  auto module =
      readProgram(*text, options.program, &impl->context, options.function);
  if (!module)
    return module.error();
  if (options.microbatches > 0)
    if (Status status =
            askToAccumulate(**module, options.function, options.microbatches);
        !status)
      return status.error();
  impl->module = std::move(*module);
  impl->context.setThreadPool(impl->pool);
  return std::unique_ptr<Source>(new Source(std::move(impl)));
}

Result<Compiled> Source::compile(std::span<const int> processes) const {
  const Options &options = impl->options;
  Result<MachineModel> machine = loadMachineModel(options.machine);
  if (!machine)
    return machine.error();
  if (options.workers > 0)
    machine->workers = options.workers;
  // Memory is shared within a process only.
  if (processes.size() > 1 && machine->sharedMemory) {
    loadDialects(&impl->context);
    const Mesh mesh = dtensor::meshOf(*impl->module).getMesh();
    *machine = machineOfProcesses(
        *machine, mesh,
        blocksOfProcesses(mesh.size(), mesh.size() / std::ssize(processes)),
        processes);
  }
  CompileOptions compileOptions = impl->compileOptions(*machine);
  if (options.explain == "-")
    compileOptions.explain = explanationPrinter(llvm::outs());
  else if (options.writesExplanation())
    compileOptions.explain = [this](const Explanation &explanation) {
      impl->explanation = explanation;
    };
  compileOptions.inspect = [](const InspectedLayout &inspected) {
    llvm::errs() << inspected.text << "\n";
  };
  Result<Compiled> compiled = meshloom::compile(*impl->module, compileOptions);
  compileOptions.explain = nullptr; // it was printed
  if (compiled && options.suggest) {
    Result<AdvisedProgram> advised =
        adviseLayouts(*impl->module, compileOptions);
    if (!advised)
      return advised.error();
    llvm::outs() << adviceText(advised->advice);
    impl->advice = std::move(advised->advice);
  }
  llvm::outs().flush();
  return compiled;
}

Result<CompiledPipeline> Source::compilePipeline() const {
  Result<MachineModel> machine = loadMachineModel(impl->options.machine);
  if (!machine)
    return machine.error();
  Result<PipelineOptions> pipeline =
      PipelineOptions::parse(*impl->options.pipeline);
  if (!pipeline)
    return pipeline.error();
  const CompileOptions compileOptions = impl->compileOptions(*machine);
  Result<PipelineProgram> program =
      cutIntoPipeline(*impl->module, *pipeline, compileOptions);
  if (!program)
    return program.error();
  Result<std::vector<Compiled>> parts = compileParts(*program, compileOptions);
  if (!parts)
    return parts.error();
  return CompiledPipeline{std::move(*program), std::move(*parts)};
}

Result<PipelinePlan>
Source::planPipeline(const CompiledPipeline &pipeline) const {
  Result<MachineModel> machine = loadMachineModel(impl->options.machine);
  if (!machine)
    return machine.error();
  return meshloom::planPipeline(pipeline.program, pipeline.parts, *machine);
}

Result<Signature> Source::signature() const {
  auto source = signatureOf(*impl->module, impl->options.function);
  if (!source)
    return source.error();
  Signature signature;
  signature.name = source->name;
  auto typeOf = [](const ValueSignature &value) {
    return ArrayType{value.type, value.shape,
                     Layout::replicated(*Mesh::get({{"device", 1}}),
                                        unsigned(value.shape.size()))};
  };
  for (const ValueSignature &argument : source->arguments)
    signature.arguments.push_back({argument.name, typeOf(argument)});
  for (const ValueSignature &result : source->results)
    signature.results.push_back({result.name, typeOf(result)});
  return signature;
}

Status Source::writeExplanation(const Compiled &compiled,
                                const Profile *measured) const {
  return meshloom::writeExplanation(
      impl->options.explain,
      std::array{ExplainedProgram{compiled, impl->explanation, impl->advice}},
      measured);
}

namespace {
/// Returns whether a result has numbers, and each is nan.
bool isNanThroughout(const HostValue &value) {
  auto areNan = [](const std::vector<double> &numbers) {
    return std::ranges::all_of(numbers, [](double x) { return std::isnan(x); });
  };
  return !value.floats.empty() && areNan(value.floats) &&
         areNan(value.imaginaries);
}

int64_t nansInBoth(const HostValue &got, const HostValue &expected) {
  int64_t count = 0;
  for (auto part : {&HostValue::floats, &HostValue::imaginaries})
    for (size_t i = 0; i < (got.*part).size(); ++i)
      count += std::isnan((got.*part)[i]) && std::isnan((expected.*part)[i]);
  return count;
}

/// "3 of 8 elements are".
std::string countOf(int64_t count, const HostValue &value) {
  const int64_t total = value.count() * (value.isComplex() ? 2 : 1);
  return fmt::format("{} of {} {} {}", count, total,
                     value.isComplex() ? "parts" : "elements",
                     count == 1 ? "is" : "are");
}

/// Where rounding by each op has left no number of what is one in `expected`, a
/// sum or a product overflows on its way, in some order of its terms. An
/// element that is not a number in `got` then (or is 0, as what was divided by
/// it) counts as expected. Returns how many such elements there are.
int64_t leaveOutOverflows(const HostValue &got, HostValue &expected,
                          HostValue &rounded) {
  int64_t count = 0;
  for (auto part : {&HostValue::floats, &HostValue::imaginaries})
    for (size_t i = 0; i < (got.*part).size(); ++i) {
      const double number = (got.*part)[i];
      double &wanted = (expected.*part)[i], &sample = (rounded.*part)[i];
      if (std::isfinite(sample) ||
          !std::isfinite(roundToType(got.type, wanted)))
        continue;
      if (!std::isfinite(number) || number == 0) {
        wanted = number;
        count += !std::isfinite(number);
      }
      sample = wanted;
    }
  return count;
}
} // namespace

Status Source::verify(const std::vector<HostBytes> &inputs,
                      const std::vector<HostBytes> &results,
                      const Signature &compiled) const {
  auto signature = signatureOf(*impl->module, impl->options.function);
  if (!signature)
    return signature.error();
  if (signature->results.size() != results.size())
    return Error(fmt::format("the compiled program has {} results, the source "
                             "{}",
                             results.size(), signature->results.size()));
  std::vector<HostValue> values;
  for (size_t i = 0; i < inputs.size(); ++i) {
    auto value = HostValue::fromBytes(signature->arguments[i].type,
                                      signature->arguments[i].shape, inputs[i]);
    if (!value)
      return value.error();
    values.push_back(std::move(*value));
  }
  auto expected = interpret(*impl->module, impl->options.function, values);
  if (!expected)
    return expected.error();

  int64_t contraction =
      longestContraction(*impl->module, impl->options.function);
  // Errors of an iteration are handed on to the next ones.
  bool loops = false;
  (*impl->module)->walk([&](dtensor::WhileOp) { loops = true; });
  const double rounds = loops ? 4 : 1;
  std::optional<std::vector<HostValue>> rounded; // made when it is asked for
  size_t wrong = 0, unchecked = 0;
  for (size_t i = 0; i < results.size(); ++i) {
    const auto &[name, type, alias] = compiled.results[i];
    auto got = HostValue::fromBytes(type.dtype, type.shape, results[i]);
    if (!got)
      return got.error();
    const double tolerance = rounds * verifyTolerance(type.dtype, contraction);
    double allowed = tolerance;
    HostValue wanted = (*expected)[i];
    Comparison comparison = compare(*got, wanted);
    bool right = comparison.within(allowed);
    int64_t overflows = 0;
    if (!right) {
      if (!rounded) {
        auto again = interpret(*impl->module, impl->options.function, values,
                               Rounding::ByEachOp);
        if (!again)
          return again.error();
        rounded = std::move(*again);
      }
      HostValue sample = (*rounded)[i];
      overflows = leaveOutOverflows(*got, wanted, sample);
      const Comparison others = compare(*got, wanted);
      // Allows what one sample of rounding moves, and 16 times that.
      Comparison noise = compare(sample, wanted);
      if (got->isFloating() && noise.mismatch.empty())
        allowed += 16 * noise.error;
      right = others.within(allowed) ||
              compare(*got, (*rounded)[i]).within(tolerance);
    }
    const bool isNan = right && isNanThroughout(*got);
    wrong += !right;
    unchecked += isNan;
    std::string notes;
    if (overflows)
      notes += fmt::format(", {} not finite, as something overflows on the way",
                           countOf(overflows, *got));
    if (const int64_t nans = nansInBoth(*got, (*expected)[i]))
      notes += fmt::format(", {} nan in both", countOf(nans, *got));
    fmt::print("verify {} {}: {}, allowed {:.2g}{}: {}\n",
               describe("result", i, name), describe(type.dtype, type.shape),
               comparison.mismatch.empty()
                   ? fmt::format("error {:.2g}", comparison.error)
                   : comparison.mismatch,
               allowed, notes,
               !right  ? "WRONG"
               : isNan ? "NAN THROUGHOUT"
                       : "ok");
  }
  if (wrong)
    return Error(
        fmt::format("{} of {} results differ from the reference interpreter's",
                    wrong, results.size()));
  if (unchecked && unchecked == results.size())
    return Error(
        fmt::format("all results are nan throughout, so the comparison says "
                    "nothing: give inputs whose results are numbers, by "
                    "--input or as {} of the arguments",
                    std::string_view(dtensor::inputRangeAttr)));
  return Success();
}

} // namespace meshloom::run
