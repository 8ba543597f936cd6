// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// LLVM's side of compiling kernels. Optimising and code generation take nearly
// all of the time that kernels take, so all cores do it, each kernel in an LLVM
// context of its own.
#include "KernelCodegen.h"

#include "KernelToLLVM.h"
#include "meshloom/ControlFlow/Determinism.h"
#include "meshloom/Core/Timing.h"
#include "meshloom/Targets/Kernels/KernelAccess.h"
#include "meshloom/Targets/Kernels/KernelLowering.h"

#include "mlir/Target/LLVMIR/Export.h"

#include "llvm/ADT/ScopeExit.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/IR/DiagnosticHandler.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"
#include "llvm/TargetParser/X86TargetParser.h"
#include "llvm/Transforms/Utils/LoopUtils.h"

#include <array>
#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <set>
#include <thread>
#include <unordered_map>

using namespace meshloom;

/// The features that the programs of other machines are told about: kernels
/// gain nothing from the rest.
static constexpr const char *relevantFeatures[] = {
    "sse4.2",   "popcnt",   "avx",      "avx2",     "fma",
    "f16c",     "bmi",      "bmi2",     "lzcnt",    "avx512f",
    "avx512bw", "avx512cd", "avx512dq", "avx512vl", "avx512bf16"};

namespace {
/// A CPU that code is made for, in LLVM's words.
struct TargetCpu {
  std::string name;
  llvm::StringMap<bool> features;
  std::string problem; ///< why no code can be made for it; else empty
};
} // namespace

/// The CPU of that name, which MESHLOOM_CPU gives; `host`: the one that its
/// code has to run on.
static TargetCpu namedCpu(StringRef name, const TargetCpu &host) {
  TargetCpu cpu{name.str(), {}, ""};
  SmallVector<StringRef> names, features;
  if (llvm::Triple(llvm::sys::getProcessTriple()).isX86())
    llvm::X86::fillValidCPUArchList(names, /*Only64Bit=*/true);
  if (!llvm::is_contained(names, name)) {
    cpu.problem = "MESHLOOM_CPU is '" + cpu.name +
                  "', which is not an x86-64 " +
                  "processor: take x86-64-v2, x86-64-v3, x86-64-v4 or a name " +
                  "that clang's -march takes, or leave it unset for this one";
    return cpu;
  }
  llvm::X86::getFeaturesForCPU(name, features);
  for (StringRef feature : features)
    cpu.features[feature] = true;
  for (const char *feature : relevantFeatures)
    if (cpu.features.lookup(feature) && !host.features.lookup(feature))
      cpu.problem += (cpu.problem.empty() ? "MESHLOOM_CPU is '" + cpu.name +
                                                "', but this machine lacks "
                                          : ", ") +
                     std::string(feature);
  return cpu;
}

/// This machine's CPU, or the lesser one that MESHLOOM_CPU names. Asking it
/// takes a while on virtual machines.
static const TargetCpu &targetCpu() {
  static const auto &cpu = *new TargetCpu([] {
    TargetCpu host{llvm::sys::getHostCPUName().str(),
                   llvm::sys::getHostCPUFeatures(), ""};
    const char *name = std::getenv("MESHLOOM_CPU");
    return name && *name ? namedCpu(name, host) : host;
  }());
  return cpu;
}

/// LLVM's code generator for this process.
static Result<const llvm::Target *> codeGenerator() {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
  });
  std::string triple = llvm::sys::getProcessTriple(), message;
  const llvm::Target *target =
      llvm::TargetRegistry::lookupTarget(triple, message);
  if (!target)
    return Error("no code generator for " + triple + ": " + message);
  return target;
}

/// The features of this machine's CPU that LLVM does not know from its name, as
/// LLVM's options take them: reading an option takes it a while.
static std::string unusualFeatures() {
  const TargetCpu &cpu = targetCpu();
  auto target = codeGenerator();
  if (!target || !cpu.problem.empty())
    return "";
  const std::unique_ptr<llvm::MCSubtargetInfo> usual(
      (*target)->createMCSubtargetInfo(llvm::sys::getProcessTriple(), cpu.name,
                                       ""));
  std::string options;
  for (const auto &feature : usual->getAllProcessorFeatures())
    if (auto present = cpu.features.find(feature.Key);
        present != cpu.features.end() &&
        present->second != usual->getFeatureBits()[feature.Value])
      options += (present->second ? ",+" : ",-") + std::string(feature.Key);
  return options;
}

/// The CPU features that code may use, as LLVM's options take them.
static const std::string &featureOptions(bool portable) {
  static const auto &options = *new std::array<std::string, 2>([] {
    // An instruction that loads or stores lanes one by one takes longer than as
    // many loads and stores, and hides from the vectoriser that strided
    // elements can be picked out of whole vectors.
    const std::string preferences =
        llvm::Triple(llvm::sys::getProcessTriple()).isX86()
            ? "+prefer-no-gather,+prefer-no-scatter"
            : "";
    std::string common;
    SmallVector<StringRef> names;
    const std::string text = targetCpuFeatures();
    StringRef(text).split(names, ',', -1, /*KeepEmpty=*/false);
    for (StringRef name : names)
      common += (",+" + name).str();
    return std::array{preferences + unusualFeatures(), preferences + common};
  }());
  return options[portable];
}

/// For this machine; `portable`: for all that have the features which
/// targetCpuFeatures() names.
static Result<std::unique_ptr<llvm::TargetMachine>>
makeTargetMachine(CodegenMode mode) {
  const TargetCpu &cpu = targetCpu();
  if (!cpu.problem.empty())
    return Error(cpu.problem);
  auto target = codeGenerator();
  if (!target)
    return target.error();
  const std::string triple = llvm::sys::getProcessTriple();
  // Other architectures' levels have no names here: they get the host's.
  bool portable = mode == CodegenMode::Portable && llvm::Triple(triple).isX86();
  llvm::TargetOptions options;
  std::unique_ptr<llvm::TargetMachine> machine((*target)->createTargetMachine(
      triple, portable ? StringRef("x86-64") : StringRef(cpu.name),
      featureOptions(portable), options, llvm::Reloc::PIC_, std::nullopt,
      mode == CodegenMode::Quick ? llvm::CodeGenOptLevel::None
                                 : llvm::CodeGenOptLevel::Default));
  if (!machine)
    return Error("no code generator for " + triple);
  return machine;
}

namespace {
/// The kind of loops in the code: a kernel's loops, a kernel's loops with
/// tiles, or a whole loop op with its body.
enum class LoopKind : uint8_t { Plain, Tiled, Whole };
} // namespace

/// The passes that LLVM runs on a kernel's loops before its back end. The
/// default pipeline makes the same vector loops in twice the time: the IR comes
/// without what most of its passes look for. Behind the vectoriser, which
/// interleaves what gains from it, loops are unrolled only around tiles; the
/// levels of PairwiseSums run once or twice. The back end takes loops that have
/// an entry of their own (loop-simplify).
///
/// A loop that is compiled whole has values on the stack that are to be in
/// registers, and inner loops of known extents: vectors are made of them before
/// they are unrolled.
static std::string loopPipeline(LoopKind kind) {
  if (kind == LoopKind::Whole)
    return "function(sroa<modify-cfg>,early-cse<memssa>,simplifycfg,"
           "instcombine<no-verify-fixpoint>,"
           "loop-mssa(loop-rotate,licm),simplifycfg,"
           "loop(loop-idiom,indvars),"
           "loop-vectorize,instcombine<no-verify-fixpoint>,simplifycfg,"
           "loop(loop-unroll-full),sroa<modify-cfg>,early-cse<memssa>,"
           "slp-vectorizer,instcombine<no-verify-fixpoint>,"
           "loop-mssa(licm),simplifycfg,loop-simplify)";
  return std::string("function(early-cse,simplifycfg,"
                     "loop-mssa(loop-rotate,licm),"
                     "loop(loop-idiom,indvars,loop-unroll-full),"
                     "loop-vectorize,slp-vectorizer,"
                     "instcombine<no-verify-fixpoint>,early-cse,") +
         (kind == LoopKind::Tiled ? "loop-unroll<O2>," : "") +
         "sroa,loop-mssa(licm),simplifycfg,loop-simplify)";
}

namespace {
/// The back end. It leaves out LLVM's passes for what kernels do not have,
/// which would find nothing but take a tenth of its time, and strength
/// reduction, which takes a third: vector loops have one index, which x86
/// addresses take as it is; without it fewer pointers are carried along and
/// spilled.
class BackEnd : public llvm::legacy::PassManager {
public:
  void add(llvm::Pass *pass) override {
    if (llvm::is_contained(leftOut, pass->getPassName()))
      delete pass;
    else
      PassManager::add(pass);
  }

private:
  static constexpr StringRef leftOut[] = {
      // Strength reduction, and what prepares for it.
      "Canonicalize Freeze Instructions in Loops", "Loop Strength Reduction",
      // Integers of more than 128 bits, tiles, and vectors of given lengths.
      "Expand large div/rem", "Expand large fp convert",
      "Expand vector predication intrinsics", "Lower AMX intrinsics",
      "Lower AMX type for load/store", "Tile Register Configure",
      "Tile Register Pre-configure", "X86 Lower Tile Copy",
      // Comparisons of memory, and library calls that become instructions.
      "Expand memcmp() to load/stores", "Merge contiguous icmps into a memcmp",
      "Partially inline calls to library functions",
      "Replace intrinsics with calls to vector library",
      // Exceptions, collected garbage, coroutines and thread-local variables.
      "Analyze Machine Code For Garbage Collection",
      "Contiguously Lay Out Funclets", "Exception handling preparation",
      "Fixup Statepoint Caller Saved", "Local Dynamic TLS Access Clean-up",
      "Lower Garbage Collection Instructions", "Shadow Stack GC Lowering",
      "StackMap Liveness Analysis", "TLS Variable Hoist",
      // Lifetimes of stack slots, and other architectures.
      "Argument Stack Rebase", "Local Stack Slot Allocation",
      "Merge disjoint stack slots", "X86 Atom pad short functions",
      "X86 PIC Global Base Reg Initialization", "X86 insert wait instruction",
      // Indirect branches, hardening and instrumentation.
      "Expand indirectbr instructions",
      "Implement the 'patchable-function' attribute",
      "Insert KCFI indirect call checks", "Insert XRay ops",
      "Insert fentry calls", "Insert stack protectors",
      "Instrument function entry/exit with calls to e.g. mcount() (post "
      "inlining)",
      "Machine Sanitizer Binary Metadata", "Prepare callbr",
      "Pseudo Probe Inserter", "Safe Stack instrumentation pass",
      "X86 Discriminate Memory Operands", "X86 Indirect Branch Tracking",
      "X86 Indirect Thunks", "X86 Insert Cache Prefetches",
      "X86 Load Value Injection (LVI) Load Hardening",
      "X86 Load Value Injection (LVI) Ret-Hardening", "X86 Return Thunks",
      "X86 Speculative Execution Side Effect Suppression",
      "X86 Windows Fixup Buffer Security Check",
      "X86 speculative load hardening",
      // Debug information.
      "Live DEBUG_VALUE analysis", "Register Allocation Pass Scoring",
      "Remove Redundant DEBUG_VALUE analysis", "Stack Frame Layout Analysis"};
};

/// Compares f16 numbers as f32. LLVM's passes narrow such comparisons to f16,
/// and its code generator then compares lane by lane.
void widenComparisons(llvm::Module &module) {
  for (llvm::Function &function : module)
    for (llvm::Instruction &instruction : llvm::instructions(function)) {
      auto *compare = llvm::dyn_cast<llvm::FCmpInst>(&instruction);
      llvm::Type *type = compare ? compare->getOperand(0)->getType() : nullptr;
      if (!type || !type->getScalarType()->isHalfTy())
        continue;
      llvm::IRBuilder<> builder(compare);
      llvm::Type *wide = type->getWithNewType(builder.getFloatTy());
      for (llvm::Use &operand : compare->operands())
        operand.set(builder.CreateFPExt(operand.get(), wide));
    }
}

/// Compiles kernels in one thread, one after the other.
class CodeGenerator {
public:
  static Result<std::unique_ptr<CodeGenerator>> create(CodegenMode mode) {
    auto machine = makeTargetMachine(mode);
    if (!machine)
      return machine.error();
    std::unique_ptr<CodeGenerator> generator(
        new CodeGenerator(std::move(*machine), mode));
    if (generator->machine->addPassesToEmitFile(
            generator->backEnd, generator->object, nullptr,
            llvm::CodeGenFileType::ObjectFile))
      return Error("this machine's code generator writes no object files");
    return generator;
  }

  /// The object file of `module`.
  std::string run(llvm::Module &module, bool mayContract, LoopKind kind) {
    // a * b + c as one instruction is faster and more accurate, but it depends
    // on which ops share a kernel.
    machine->Options.AllowFPOpFusion =
        mayContract ? llvm::FPOpFusion::Fast : llvm::FPOpFusion::Strict;
    module.setDataLayout(machine->createDataLayout());
    module.setTargetTriple(machine->getTargetTriple().str());
    {
      TimedScope timed("optimise");
      for (llvm::Function &function : module)
        function.addFnAttr("tune-cpu", targetCpu().name);
      pipelines[size_t(kind)].run(module, modules);
      loops.clear();
      functions.clear();
      graph.clear();
      modules.clear();
    }
    widenComparisons(module);
    TimedScope timed("machine code");
    bytes.clear();
    backEnd.run(module);
    return bytes.str().str();
  }

private:
  CodeGenerator(std::unique_ptr<llvm::TargetMachine> itsMachine,
                CodegenMode mode)
      : machine(std::move(itsMachine)),
        builder(machine.get(), tuning(mode != CodegenMode::Quick)) {
    builder.registerModuleAnalyses(modules);
    builder.registerCGSCCAnalyses(graph);
    builder.registerFunctionAnalyses(functions);
    builder.registerLoopAnalyses(loops);
    builder.crossRegisterProxies(loops, functions, graph, modules);
    if (mode == CodegenMode::Quick) {
      // These passes shrink the code, so that all later passes have less to do.
      for (llvm::ModulePassManager &pipeline : pipelines)
        llvm::cantFail(builder.parsePassPipeline(
            pipeline, "function(sroa<modify-cfg>,early-cse,"
                      "instcombine<no-verify-fixpoint>,simplifycfg)"));
      return;
    }
    for (LoopKind kind : {LoopKind::Plain, LoopKind::Tiled, LoopKind::Whole})
      llvm::cantFail(builder.parsePassPipeline(pipelines[size_t(kind)],
                                               loopPipeline(kind)));
  }

  static llvm::PipelineTuningOptions tuning(bool optimize) {
    llvm::PipelineTuningOptions tuning;
    tuning.LoopVectorization = optimize;
    tuning.LoopInterleaving = optimize;
    return tuning;
  }

  std::unique_ptr<llvm::TargetMachine> machine;
  llvm::PassBuilder builder;
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager graph;
  llvm::ModuleAnalysisManager modules;
  std::array<llvm::ModulePassManager, 3> pipelines; ///< by LoopKind
  /// Where the back end writes to: made once, it serves all kernels.
  llvm::SmallString<0> bytes;
  llvm::raw_svector_ostream object{bytes};
  BackEnd backEnd;
};

/// A kernel in LLVM IR, in a context of its own: any thread may go on with it.
struct KernelModule {
  bool mayContract = true;
  LoopKind loops = LoopKind::Plain;
  std::unique_ptr<llvm::LLVMContext> context;
  std::unique_ptr<llvm::Module> module;
};
} // namespace

/// Lets vectors have as many lanes as f32 has: LLVM takes conversions of more
/// than four f16 for calls.
static void widenVectors(llvm::Module &module) {
  const bool isWide = targetCpu().features.lookup("avx512f");
  for (llvm::Function &function : module) {
    if (function.isDeclaration())
      continue;
    llvm::DominatorTree dominators(function);
    llvm::LoopInfo loops(dominators);
    for (llvm::Loop *loop : loops.getLoopsInPreorder())
      if (loop->isInnermost())
        llvm::addStringMetadataToLoop(loop, "llvm.loop.vectorize.width",
                                      isWide ? 16 : 8);
  }
}

static bool hasF16(Operation *op) {
  auto isF16 = [](Type type) { return type.isF16(); };
  return op
      ->walk([&](Operation *inner) {
        return llvm::any_of(inner->getOperandTypes(), isF16) ||
                       llvm::any_of(inner->getResultTypes(), isF16)
                   ? mlir::WalkResult::interrupt()
                   : mlir::WalkResult::advance();
      })
      .wasInterrupted();
}

namespace {
/// Leaves out LLVM's warnings of loops of which it makes no vectors although
/// `widenVectors` asked for a width: a user can change nothing about them.
class Silent : public llvm::DiagnosticHandler {
public:
  bool handleDiagnostics(const llvm::DiagnosticInfo &info) override {
    return info.getSeverity() != llvm::DS_Error;
  }
};
} // namespace

/// `item` in LLVM IR.
static Result<KernelModule> translate(const KernelToCompile &item,
                                      const KernelLowering &lowering) {
  OwningOpRef<ModuleOp> code =
      ModuleOp::create(mlir::UnknownLoc::get(item.kernel->getContext()));
  KernelModule kernelModule{!isDeterministic(item.kernel), LoopKind::Plain,
                            std::make_unique<llvm::LLVMContext>(), nullptr};
  kernelModule.context->setDiagnosticHandler(std::make_unique<Silent>());
  if (auto loop = dyn_cast<spmd::LibraryCallOp>(item.kernel)) {
    emitLoopCall(loop, item.symbol, *code);
    kernelModule.loops = LoopKind::Whole;
  } else {
    auto kernel = cast<spmd::KernelOp>(item.kernel);
    emitKernel(kernel, item.symbol, *code);
    if (loopOrder(kernel).tiled >= 0)
      kernelModule.loops = LoopKind::Tiled;
  }
  if (failed(lowering.lower(*code)))
    return Error("a kernel did not lower to LLVM");
  kernelModule.module =
      mlir::translateModuleToLLVMIR(*code, *kernelModule.context, "kernels");
  if (!kernelModule.module)
    return Error("a kernel did not translate to LLVM IR");
  if (targetCpu().features.lookup("f16c") && hasF16(item.kernel))
    widenVectors(*kernelModule.module);
  return kernelModule;
}

/// Large bodies first, so that no thread is left with one in the end.
static std::vector<KernelToCompile>
largestFirst(ArrayRef<KernelToCompile> kernels) {
  std::vector<std::pair<size_t, size_t>> bySize;
  for (auto [index, item] : llvm::enumerate(kernels)) {
    size_t size = 0;
    item.kernel->walk([&](Operation *op) {
      auto kernel = dyn_cast<spmd::KernelOp>(op);
      size += kernel ? 4 * kernel.getNumLoops() : 1;
    });
    bySize.emplace_back(size, index);
  }
  llvm::sort(bySize, [](auto &a, auto &b) {
    return std::tie(b.first, a.second) < std::tie(a.first, b.second);
  });
  std::vector<KernelToCompile> sorted;
  for (auto [size, index] : bySize)
    sorted.push_back(kernels[index]);
  return sorted;
}

/// The state that threads share. The thread that brings a kernel lowers it; the
/// kernel then waits until any thread compiles it. `finish` lets the threads go
/// when no kernel waits and no thread lowers.
struct KernelCompiler::Work {
  struct Kernel {
    KernelModule module;
    bool done = false;
    std::string object;
  };

  const CodegenMode mode;
  const std::string stage = TimedScope::current();
  std::mutex mutex;
  std::condition_variable changed;
  std::unordered_map<std::string, Kernel> kernels; ///< by symbol
  std::set<const Kernel *> wanted;                 ///< where `finishing`
  std::deque<Kernel *> waiting;
  unsigned lowering = 0; ///< threads that bring kernels
  unsigned busy = 0;     ///< helpers that compile a kernel
  bool finishing = false;
  /// Made by a helper that has nothing else to do, for who calls `finish`.
  std::unique_ptr<CodeGenerator> spare;
  bool triedSpare = false;
  std::string problem; ///< the first one
  std::vector<std::thread> helpers;

  explicit Work(CodegenMode mode) : mode(mode) {}

  void failedWith(const Error &error) {
    std::lock_guard lock(mutex);
    if (problem.empty())
      problem = error.message();
    changed.notify_all();
  }
  /// Whether more kernels wait than helpers will soon begin with. Under the
  /// lock.
  bool needsHelp() const { return waiting.size() > helpers.size() - busy; }
  /// Under the lock.
  void startHelper() {
    if (helpers.size() + 1 < std::thread::hardware_concurrency())
      helpers.emplace_back([this] { run("helpers"); });
  }
  /// Lowers those that nobody has, but stops where `finish` asks for others.
  void lower(ArrayRef<KernelToCompile> brought, bool last);
  /// lower(), of a thread that has counted itself as one that does, and does
  /// not any more behind it.
  void lowerCounted(ArrayRef<KernelToCompile> brought, bool last) {
    auto done = llvm::make_scope_exit([&] {
      std::lock_guard lock(mutex);
      --lowering;
      changed.notify_all();
    });
    lower(brought, last);
  }
  /// Compiles what is waiting; its time is that of `name`, if any.
  void run(const char *name);
};

void KernelCompiler::Work::lower(ArrayRef<KernelToCompile> brought, bool last) {
  if (brought.empty())
    return;
  TimedScope timed("lower to LLVM", stage);
  KernelLowering lowering(brought.front().kernel->getContext(),
                          MathLibrary::Libm);
  for (const KernelToCompile &item : largestFirst(brought)) {
    Kernel *kernel = nullptr;
    {
      std::lock_guard lock(mutex);
      if (finishing && !last)
        return;
      auto [entry, isNew] = kernels.try_emplace(item.symbol);
      if (!isNew)
        continue;
      kernel = &entry->second;
    }
    auto module = [&]() -> Result<KernelModule> {
      // `finish` waits for who has begun with a kernel.
      try {
        return translate(item, lowering);
      } catch (const std::bad_alloc &) {
        return Error("there is not enough memory to compile a kernel",
                     ErrorCode::RESOURCE_EXHAUSTED);
      }
    }();
    std::lock_guard lock(mutex);
    const bool isWanted = last || wanted.contains(kernel);
    if (!module && isWanted && problem.empty())
      problem = module.error().message();
    if (!module || (finishing && !isWanted)) {
      kernels.erase(item.symbol);
      return changed.notify_all();
    }
    kernel->module = std::move(*module);
    waiting.push_back(kernel);
    if (needsHelp())
      startHelper();
    changed.notify_all();
  }
}

void KernelCompiler::Work::run(const char *name) {
  const bool isHelper = name != nullptr;
  std::optional<TimedScope> timed;
  auto beginTime = [&] {
    if (isHelper && !timed)
      timed.emplace(name, stage);
  };
  auto make = [&](std::unique_ptr<CodeGenerator> &generator) {
    auto created = CodeGenerator::create(mode);
    if (!created)
      failedWith(created.error());
    else
      generator = std::move(*created);
  };
  std::unique_ptr<CodeGenerator> generator;
  beginTime();
  if (isHelper)
    make(generator);
  std::unique_lock lock(mutex);
  while (problem.empty()) {
    if (isHelper ? waiting.empty() : !needsHelp()) {
      if (finishing && lowering == 0)
        return;
      if (!finishing && !std::exchange(triedSpare, true)) {
        lock.unlock();
        std::unique_ptr<CodeGenerator> other;
        make(other);
        lock.lock();
        spare = std::move(other);
        continue;
      }
      timed.reset();
      changed.wait(lock);
      continue;
    }
    if (!generator)
      generator = std::move(spare);
    if (!generator) {
      lock.unlock();
      make(generator);
      lock.lock();
      continue;
    }
    Kernel *kernel = waiting.front();
    waiting.pop_front();
    busy += isHelper;
    lock.unlock();
    beginTime();
    {
      KernelModule module = std::move(kernel->module);
      kernel->object =
          generator->run(*module.module, module.mayContract, module.loops);
    }
    lock.lock();
    busy -= isHelper;
    kernel->done = true;
    changed.notify_all();
  }
}

KernelCompiler::KernelCompiler(CodegenMode mode)
    : work(std::make_unique<Work>(mode)) {}

KernelCompiler::~KernelCompiler() {
  stop();
  for (std::thread &helper : work->helpers)
    helper.join();
}

void KernelCompiler::stop() {
  {
    std::lock_guard lock(work->mutex);
    work->finishing = true;
    work->waiting.clear();
  }
  work->changed.notify_all();
}

void KernelCompiler::warmUp() {
  std::lock_guard lock(work->mutex);
  work->startHelper();
}

void KernelCompiler::begin(ArrayRef<KernelToCompile> kernels) {
  {
    std::lock_guard lock(work->mutex);
    ++work->lowering;
  }
  work->lowerCounted(kernels, /*last=*/false);
}

Result<std::vector<std::string>>
KernelCompiler::finish(ArrayRef<KernelToCompile> kernels) {
  std::vector<std::string> objects;
  if (kernels.empty())
    return objects;
  TimedScope timed("compile kernels");
  {
    std::lock_guard lock(work->mutex);
    work->finishing = true;
    ++work->lowering;
    for (const KernelToCompile &item : kernels)
      if (auto entry = work->kernels.find(item.symbol);
          entry != work->kernels.end())
        work->wanted.insert(&entry->second);
    std::erase_if(work->waiting, [&](const Work::Kernel *kernel) {
      return !work->wanted.contains(kernel);
    });
    if (work->helpers.empty())
      work->startHelper();
  }
  work->lowerCounted(kernels, /*last=*/true);
  work->run(nullptr);
  std::unique_lock lock(work->mutex);
  for (const KernelToCompile &item : kernels) {
    Work::Kernel *kernel = nullptr;
    work->changed.wait(lock, [&] {
      if (!work->problem.empty())
        return true;
      kernel = &work->kernels.at(item.symbol);
      return kernel->done;
    });
    if (!work->problem.empty())
      return Error(work->problem);
    objects.push_back(std::move(kernel->object));
  }
  return objects;
}

std::string meshloom::codegenOptions(CodegenMode mode) {
  const bool portable = mode == CodegenMode::Portable;
  return (Twine(int(mode)) + " " + llvm::sys::getProcessTriple() + " " +
          targetCpu().name + " " + featureOptions(portable))
      .str();
}

std::string meshloom::targetCpuFeatures() {
  std::string result;
  for (const char *name : relevantFeatures)
    if (targetCpu().features.lookup(name))
      result += (result.empty() ? "" : ",") + std::string(name);
  return result;
}
