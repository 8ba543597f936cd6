// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// compile(): the named stages of a compilation, and its errors as one text.
#include "meshloom/Compiler/Compiler.h"

#include "Canonicalize.h"
#include "CompileAhead.h"
#include "ContractAdvice.h"
#include "DiagnosticText.h"
#include "ProgramCache.h"
#include "ProgramCosts.h"
#include "Progress.h"
#include "Targets.h"

#include "meshloom/Autodiff/Autodiff.h"
#include "meshloom/Compiler/Annotations.h"
#include "meshloom/Compiler/MemoryBudget.h"
#include "meshloom/Compiler/Partition.h"
#include "meshloom/ControlFlow/Determinism.h"
#include "meshloom/ControlFlow/SourceLocation.h"
#include "meshloom/Core/TensorSize.h"
#include "meshloom/Core/Timing.h"
#include "meshloom/Layout/Passes.h"
#include "meshloom/Predict/Predict.h"
#include "meshloom/SPMD/Passes.h"
#include "meshloom/Support/ExplanationText.h"
#include "meshloom/Support/MachineModelFile.h"

using namespace meshloom;
using mlir::func::FuncOp;

static void registerCommonDialects(mlir::DialectRegistry &registry) {
  registry.insert<mlir::func::FuncDialect, dtensor::DTensorDialect,
                  spmd::SPMDDialect>();
  registerGradients(registry);
  registerDistribution(registry);
  registerCanonicalPatterns(registry);
}

void meshloom::registerDialects(mlir::DialectRegistry &registry) {
  registerCommonDialects(registry);
  for (const Target *target : allTargets())
    target->registerDialects(registry);
}

namespace {
/// Says of a context that it has all dialects, of all targets.
struct AllDialectsLoaded : mlir::DialectInterface::Base<AllDialectsLoaded> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(AllDialectsLoaded)
  explicit AllDialectsLoaded(mlir::Dialect *dialect) : Base(dialect) {}
};
} // namespace

static bool hasAllDialects(MLIRContext *context) {
  auto *dialect = context->getLoadedDialect<dtensor::DTensorDialect>();
  return dialect && dialect->getRegisteredInterface<AllDialectsLoaded>();
}

static void load(MLIRContext *context, const mlir::DialectRegistry &registry) {
  context->appendDialectRegistry(registry);
  for (StringRef name : registry.getDialectNames())
    context->getOrLoadDialect(name);
}

void meshloom::loadDialects(MLIRContext *context) {
  if (hasAllDialects(context))
    return;
  mlir::DialectRegistry registry;
  registerDialects(registry);
  load(context, registry);
  context->getLoadedDialect<dtensor::DTensorDialect>()
      ->addInterfaces<AllDialectsLoaded>();
}

/// Loads the dialects that programs and layouts are written in. Passes and
/// `target` load the others where they need them: loading LLVM's takes as long
/// as the passes of a small program.
static void prepareContext(MLIRContext *context, const Target &target) {
  if (hasAllDialects(context))
    return;
  mlir::DialectRegistry registry;
  registerCommonDialects(registry);
  load(context, registry);
  target.registerDialects(registry);
  context->appendDialectRegistry(registry);
}

namespace {
/// Reports the IR after each pass that changed it.
class StageReporter : public mlir::PassInstrumentation {
public:
  explicit StageReporter(
      std::function<void(std::string_view, const std::string &)> report)
      : report(std::move(report)) {}

  void runAfterPass(mlir::Pass *pass, Operation *op) override {
    if (pass->getArgument().empty()) // an adaptor of passes on functions
      return;
    auto module = dyn_cast<ModuleOp>(op);
    std::string text;
    llvm::raw_string_ostream(text)
        << (module ? module : op->getParentOfType<ModuleOp>());
    if (text != last)
      report(pass->getArgument(), text);
    last = std::move(text);
  }

private:
  std::function<void(std::string_view, const std::string &)> report;
  std::string last;
};

/// Takes the time of each pass, and shows which one runs.
class PassObserver : public mlir::PassInstrumentation {
public:
  explicit PassObserver(Progress *progress) : progress(progress) {}

  void runBeforePass(mlir::Pass *pass, Operation *) override {
    const std::string_view name = pass->getArgument();
    if (name.empty()) // an adaptor of passes on functions
      return;
    running.push_back(std::make_unique<TimedScope>(name));
    if (progress)
      progress->setStage(name);
  }
  void runAfterPass(mlir::Pass *pass, Operation *) override {
    if (!pass->getArgument().empty())
      running.pop_back();
  }
  void runAfterPassFailed(mlir::Pass *pass, Operation *op) override {
    runAfterPass(pass, op);
  }

private:
  Progress *progress;
  std::vector<std::unique_ptr<TimedScope>> running;
};

/// Fails on an argument or result that no program can have; reports it.
LogicalResult checkTypes(FuncOp func) {
  auto check = [&](Type type, Location loc, const char *kind, size_t i) {
    if (auto variable = dyn_cast<dtensor::VariableType>(type))
      type = variable.getTensorType();
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (tensor && dtensor::isShard(tensor))
      return mlir::emitError(loc) << kind << " #" << i << " has type " << type
                                  << ", one device's shard: the program is "
                                     "partitioned already";
    auto element = tensor ? dtensor::dtypeOf(tensor.getElementType())
                          : std::optional<DType>();
    if (element && tensor.hasStaticShape()) {
      if (tensorBytes(Shape(tensor.getShape()), *element))
        return InFlightDiagnostic();
      return mlir::emitError(loc) << kind << " #" << i << " has type " << type
                                  << ", which is more than 2^53 bytes";
    }
    return mlir::emitError(loc)
           << kind << " #" << i << " has type " << type
           << "; expected a tensor of fixed shape (or a variable) of f16, "
              "bf16, f32, f64, i1, i8 to i64, ui8 to ui64, complex<f32> or "
              "complex<f64>";
  };
  for (BlockArgument argument : func.getArguments())
    if (failed(check(argument.getType(), argument.getLoc(), "argument",
                     argument.getArgNumber())))
      return failure();
  for (auto [i, type] : llvm::enumerate(func.getResultTypes()))
    if (failed(check(type, func.getLoc(), "result", i)))
      return failure();
  return success();
}

} // namespace

Result<FuncOp> meshloom::functionToCompile(ModuleOp module,
                                           const std::string &name) {
  SmallVector<FuncOp> functions;
  for (FuncOp func : module.getOps<FuncOp>())
    if (!func.isExternal())
      functions.push_back(func);
  const std::string wanted = name.empty() ? "main" : name;
  std::string names;
  for (FuncOp func : functions) {
    if (func.getName() == wanted)
      return func;
    names += (names.empty() ? "" : ", ") + func.getName().str();
  }
  if (functions.empty())
    return Error("the module has no function with a body");
  if (!name.empty())
    return Error("the module has no function '" + name + "', only " + names);
  if (functions.size() > 1)
    return Error("the module has no function 'main' and several others (" +
                 names + "): name one");
  return functions.front();
}

std::function<void(const Explanation &)>
meshloom::explanationPrinter(raw_ostream &os) {
  return [&os](const Explanation &explanation) {
    os << explanationText(explanation);
  };
}

static EmitOptions emitOptionsOf(const CompileOptions &options) {
  return {options.optimizeKernels, options.codeAsBytes,
          machineModelText(options.machine), options.makeCode};
}

void meshloom::beginToPrepare(const CompileOptions &options) {
  Result<const Target *> target = findTarget(options.target);
  if (target && options.makeCode)
    (*target)->prepare(emitOptionsOf(options));
}

/// Compiles a program with its layouts, or with automatic ones that are found
/// from them.
static Result<Compiled> compileAsAsked(ModuleOp module,
                                       const CompileOptions &options) {
  MLIRContext *context = module.getContext();
  Result<const Target *> target = findTarget(options.target);
  if (!target)
    return target.error();
  prepareContext(context, **target);
  DiagnosticText diagnostics(context, options.inspect);
  auto function = functionToCompile(module, options.function);
  if (!function)
    return function.error();
  if (failed(checkTypes(*function)))
    return diagnostics.error("the program has a type that is not supported");
  TimedScope timed("compile");
  const EmitOptions emitOptions = emitOptionsOf(options);
  const std::optional<std::string> key = programKey(*function, options);
  if (key)
    if (auto found = cachedProgram(*key, **target, emitOptions))
      return std::move(*found);
  if ((options.deterministic || isDeterministic(*function)) &&
      options.target != "cpu" && options.target != "cuda")
    return Error("a deterministic program runs on virtual CPUs and on the "
                 "platform cuda only: in which order others add is theirs");
  beginToPrepare(options);
  auto copyFunction = [&] {
    OwningOpRef<ModuleOp> copy = copyAlone(*function);
    if (options.deterministic)
      (*copy->getOps<FuncOp>().begin())
          ->setAttr(deterministicAttr, mlir::UnitAttr::get(context));
    return copy;
  };
  OwningOpRef<ModuleOp> work = copyFunction();

  PartitionOptions partition;
  partition.machine = options.machine;
  partition.refine = options.refine;
  partition.wholeLoops = options.refine && (*target)->compilesLoopsWhole();
  partition.singleMoves = options.singleMoves;
  if (options.autoLayout) {
    partition.autoLayout = true;
    partition.memory = options.autoLayout->memory;
    partition.reconsider = options.autoLayout->reconsider;
    partition.mesh = options.autoLayout->mesh;
  }
  if (auto budget = (*function)->getAttrOfType<IntegerAttr>(memoryBudgetAttr);
      budget && partition.memory == 0) {
    if (options.target == "stablehlo")
      return Error("a memory budget is for programs that run on virtual CPUs "
                   "and on the platform cuda: the memory of others is not "
                   "planned here");
    partition.memory = budget.getInt();
  }
  CompileAhead ahead(*function, **target, emitOptions, partition);
  mlir::PassManager passes(context);
  passes.enableVerifier(false);
  // A target of text has no plan of steps and memory.
  const bool isPlanned = options.target != "stablehlo";
  ArgumentSearch search;
  if (partition.memory > 0 && isPlanned) {
    auto laidOut = layOutWithinMemory(*work, **target, partition);
    if (failed(laidOut))
      return diagnostics.error("the program could not be laid out");
    if (!*laidOut)
      return laidOut->error();
    work = std::move(**laidOut);
    buildExpansionPipeline(passes.nest<FuncOp>(), partition);
  } else {
    if (isPlanned && !partition.singleMoves)
      search = predictingSearch(**target, partition);
    buildPartitionPipeline(passes, partition, ahead.stages(), &search);
  }
  if (options.explain)
    passes.addNestedPass<FuncOp>(createExplainCollectives(options.explain));
  ContractFindings findings;
  passes.addNestedPass<FuncOp>(createCheckContract(findings));
  (*target)->addPasses(passes.nest<FuncOp>());
  if (options.afterPass)
    passes.addInstrumentation(
        std::make_unique<StageReporter>(options.afterPass));
  const std::unique_ptr<Progress> progress = Progress::onTerminal(
      "meshloom: compiling '" + function->getName().str() + "'");
  if (timingEnabled() || progress)
    passes.addInstrumentation(std::make_unique<PassObserver>(progress.get()));
  const LogicalResult partitioned = passes.run(*work);
  if (options.tightestContract)
    *options.tightestContract = findings.tightest;
  if (!findings.causes.empty()) {
    OwningOpRef<ModuleOp> copy = copyFunction();
    diagnostics.addNote(
        contractAdvice(*copy->getOps<FuncOp>().begin(), partition, findings));
  }
  if (failed(partitioned))
    return diagnostics.error("the program could not be partitioned");

  auto func = *work->getOps<FuncOp>().begin();
  auto compiled = [&] {
    TimedScope timed("make the program");
    if (progress)
      progress->setStage("kernels");
    return (*target)->emit(func, emitOptions, ahead.code());
  }();
  if (failed(compiled))
    return diagnostics.error("the program could not be compiled");
  if (key && *compiled)
    storeProgram(*key, **compiled);
  return std::move(*compiled);
}

/// Returns a copy of a program whose layouts stay as they are written, as its
/// user would compile it: it keeps to the memory of automatic layouts.
static OwningOpRef<ModuleOp> asWritten(FuncOp function, int64_t memory) {
  OwningOpRef<ModuleOp> copy = copyAlone(function);
  FuncOp written = *copy->getOps<FuncOp>().begin();
  if (memory > 0 && !written->hasAttr(memoryBudgetAttr))
    written->setAttr(memoryBudgetAttr,
                     Builder(copy->getContext()).getI64IntegerAttr(memory));
  return copy;
}

/// Compiles a program whose layouts are a start. The search refines other
/// layouts than the written ones, and by its own costs. So the program as it is
/// written is predicted, too, and is the result where that is faster.
static Result<Compiled> compileReconsidered(FuncOp function,
                                            const CompileOptions &options) {
  const OwningOpRef<ModuleOp> written =
      asWritten(function, options.autoLayout->memory);
  CompileOptions writtenOptions = options;
  writtenOptions.autoLayout.reset();
  CompileOptions plan = writtenOptions;
  plan.makeCode = false;
  plan.explain = nullptr;
  plan.tightestContract = nullptr;
  plan.inspect = nullptr;
  plan.afterPass = nullptr;
  const Result<Compiled> before = compileAsAsked(*written, plan);
  if (!before) // It does not keep to the memory, or is wrong.
    return compileAsAsked(function->getParentOfType<ModuleOp>(), options);
  std::vector<Explanation> explanations;
  CompileOptions searchOptions = options;
  if (options.explain)
    searchOptions.explain = [&](const Explanation &explanation) {
      explanations.push_back(explanation);
    };
  Result<Compiled> found =
      compileAsAsked(function->getParentOfType<ModuleOp>(), searchOptions);
  if (found) {
    const Result<Prediction> writtenCosts = predict(*before, options.machine),
                             foundCosts = predict(*found, options.machine);
    if (!writtenCosts || !foundCosts ||
        foundCosts->time <= writtenCosts->time) {
      for (const Explanation &explanation : explanations)
        options.explain(explanation);
      return found;
    }
  }
  return compileAsAsked(*written, writtenOptions);
}

Result<Compiled> meshloom::compile(ModuleOp module,
                                   const CompileOptions &options) {
  if (!options.autoLayout || !options.autoLayout->reconsider ||
      options.target == "stablehlo") // which has no plan of its steps
    return compileAsAsked(module, options);
  auto function = functionToCompile(module, options.function);
  if (!function)
    return function.error();
  const bool isLaidOut =
      llvm::any_of(function->getArgumentTypes(), [](Type type) {
        return isa<RankedTensorType>(type) && annotatedLayout(type);
      });
  return isLaidOut ? compileReconsidered(*function, options)
                   : compileAsAsked(module, options);
}
