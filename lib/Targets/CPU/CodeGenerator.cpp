// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// LLVM's passes for kernels: which ones, and for which processor.
#include "CodeGenerator.h"

#include "IntegerDivisions.h"

#include "KernelScript.h"
#include "MaskedLoops.h"
#include "VectorLoops.h"
#include "meshloom/Core/AvailableCores.h"
#include "meshloom/Core/Timing.h"

#include "llvm/ADT/ScopeExit.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/CodeGen/TargetInstrInfo.h"
#include "llvm/CodeGen/TargetSubtargetInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/PassRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"
#include "llvm/TargetParser/X86TargetParser.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/LoopUtils.h"

#include <array>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <thread>

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
    // elements can be picked out of whole vectors. For Intel's processors LLVM
    // prefers vectors of 256 bits: it would cut each vector of a kernel's loops
    // in two, masks as well, which takes two to three times as long.
    const std::string preferences =
        llvm::Triple(llvm::sys::getProcessTriple()).isX86()
            ? "+prefer-no-gather,+prefer-no-scatter,-prefer-256-bit"
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
  // Levels of other architectures have no names: the host's level is taken.
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

/// The passes that LLVM runs on a kernel's loops before its back end. The
/// default pipeline makes the same vector loops in twice the time: the IR comes
/// without what most of its passes look for. Behind the vectoriser, which
/// interleaves what gains from it, loops are unrolled only around tiles; the
/// levels of PairwiseSums run once or twice. Only iterations that are written
/// out are straight code of which slp-vectorizer makes vectors. The back end
/// takes loops that have an entry of their own (loop-simplify).
///
/// A loop that is compiled whole has values on the stack that are to be in
/// registers, and inner loops of known extents: vectors are made of them before
/// they are unrolled.
static std::string loopPipeline(LoopKind kind) {
  if (kind == LoopKind::Whole)
    return "sroa<modify-cfg>,early-cse<memssa>,simplifycfg,"
           "instcombine<no-verify-fixpoint>,"
           "loop-mssa(loop-rotate,licm),simplifycfg,"
           "loop(loop-idiom,indvars),"
           "loop-vectorize,instcombine<no-verify-fixpoint>,simplifycfg,"
           "loop(loop-unroll-full),sroa<modify-cfg>,early-cse<memssa>,"
           "slp-vectorizer,instcombine<no-verify-fixpoint>,"
           "loop-mssa(licm),simplifycfg,loop-simplify";
  return std::string("early-cse,simplifycfg,"
                     "loop-mssa(loop-rotate,licm),"
                     "loop(loop-idiom,indvars,loop-unroll-full),"
                     "loop-vectorize,") +
         (kind == LoopKind::Plain ? "" : "slp-vectorizer,") +
         "instcombine<no-verify-fixpoint>,early-cse," +
         (kind == LoopKind::Tiled ? "loop-unroll<O2>," : "") +
         "sroa,loop-mssa(licm),simplifycfg,loop-simplify";
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
      // Shorter encodings and constants, copies of registers, and domains of
      // vectors: no program of benchmarks takes longer without them.
      "Early Tail Duplication", "Live Range Shrink",
      "Machine Copy Propagation Pass", "X86 Avoid Store Forwarding Blocks",
      "X86 Byte/Word Instruction Fixup", "X86 Domain Reassignment Pass",
      "X86 Execution Dependency Fix", "X86 Fixup Inst Tuning",
      "X86 Fixup Vector Constants", "X86 LEA Fixup", "X86 LEA Optimize",
      "X86 Partial Reduction",
      // Branches in place of selects: integer divisions by them take twice as
      // long.
      "X86 cmov Conversion",
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

/// Returns whether the instruction chooses the larger or the smaller number.
bool isExtremum(const llvm::Instruction &instruction) {
  auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
  if (!call)
    return false;
  using namespace llvm::Intrinsic;
  return llvm::is_contained({maximum, minimum, maxnum, minnum},
                            call->getIntrinsicID());
}

/// Compares f16 numbers as f32. LLVM's passes narrow such comparisons to f16,
/// and its code generator then compares lane by lane.
void widenComparisons(llvm::Module &module) {
  for (llvm::Function &function : module)
    for (llvm::Instruction &instruction :
         llvm::make_early_inc_range(llvm::instructions(function))) {
      const bool chooses = isExtremum(instruction);
      if (!chooses && !llvm::isa<llvm::FCmpInst>(instruction))
        continue;
      llvm::Type *type = instruction.getOperand(0)->getType();
      if (!type->getScalarType()->isHalfTy())
        continue;
      llvm::IRBuilder<> builder(&instruction);
      llvm::Type *wide = type->getWithNewType(builder.getFloatTy());
      auto widened = [&](unsigned operand) {
        return builder.CreateFPExt(instruction.getOperand(operand), wide);
      };
      if (!chooses) {
        for (unsigned operand : {0U, 1U})
          instruction.setOperand(operand, widened(operand));
        continue;
      }
      llvm::Value *chosen = builder.CreateBinaryIntrinsic(
          llvm::cast<llvm::IntrinsicInst>(instruction).getIntrinsicID(),
          widened(0), widened(1), &instruction);
      instruction.replaceAllUsesWith(builder.CreateFPTrunc(chosen, type));
      instruction.eraseFromParent();
    }
}

/// Inlines functions that are called once: each function takes the back end a
/// while, and arguments that do not fit into registers go through memory. The
/// inlined loads and stores say which pointers have no aliases.
void inlineLoops(llvm::Module &module) {
  for (llvm::Function &function : llvm::make_early_inc_range(module)) {
    if (!function.hasInternalLinkage() || function.hasOptSize() ||
        !function.hasOneUse())
      continue;
    llvm::InlineFunctionInfo info;
    auto *call = llvm::cast<llvm::CallBase>(function.user_back());
    if (llvm::InlineFunction(*call, info, /*MergeAttributes=*/false,
                             /*CalleeAAR=*/nullptr, /*InsertLifetime=*/false)
            .isSuccess())
      function.eraseFromParent();
  }
}

/// Lets vectors have as many lanes as f32 has: LLVM takes conversions of more
/// than four f16 for calls.
void widenVectors(llvm::Module &module) {
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
} // namespace

/// LLVM's passes and what they need.
class CodeGenerator::Passes {
public:
  static Result<std::unique_ptr<Passes>> create(CodegenMode mode) {
    auto machine = makeTargetMachine(mode);
    if (!machine)
      return machine.error();
    std::unique_ptr<Passes> passes(new Passes(std::move(*machine), mode));
    if (passes->machine->addPassesToEmitFile(passes->backEnd, passes->object,
                                             nullptr,
                                             llvm::CodeGenFileType::ObjectFile))
      return Error("this machine's code generator writes no object files");
    return passes;
  }

  /// Returns the instructions of the processor, with the tables about it that
  /// LLVM makes when a kernel first needs them.
  const llvm::TargetInstrInfo &instructions() {
    llvm::LLVMContext context;
    llvm::Module module("tables", context);
    llvm::Function *function = llvm::Function::Create(
        llvm::FunctionType::get(llvm::Type::getVoidTy(context), false),
        llvm::GlobalValue::ExternalLinkage, "function", module);
    tune(*function);
    return *machine->getSubtargetImpl(*function)->getInstrInfo();
  }

  std::string run(const KernelModule &kernel) {
    llvm::Module &module = *kernel.module;
    // a * b + c as one instruction is faster and more accurate, but it depends
    // on which ops share a kernel.
    machine->Options.AllowFPOpFusion =
        kernel.mayContract ? llvm::FPOpFusion::Fast : llvm::FPOpFusion::Strict;
    module.setDataLayout(machine->createDataLayout());
    module.setTargetTriple(machine->getTargetTriple().str());
    divideAsFloats(module);
    if (kernel.hasF16 && targetCpu().features.lookup("f16c"))
      widenVectors(module);
    {
      TimedScope timed("optimise");
      for (llvm::Function &function : module)
        tune(function);
      if (canMask())
        requestMasks(module);
      for (llvm::Function &function : module)
        if (!function.isDeclaration())
          optimize(function, kernel.loops);
      branchAroundMasks(module);
      loops.clear();
      functions.clear();
      graph.clear();
      modules.clear();
      inlineLoops(module);
    }
    widenComparisons(module);
    TimedScope timed("machine code");
    bytes.clear();
    backEnd.run(module);
    return bytes.str().str();
  }

  const CodegenMode mode;

private:
  Passes(std::unique_ptr<llvm::TargetMachine> itsMachine, CodegenMode mode)
      : mode(mode), machine(std::move(itsMachine)),
        builder(machine.get(), tuning(mode != CodegenMode::Quick)) {
    builder.registerModuleAnalyses(modules);
    builder.registerCGSCCAnalyses(graph);
    builder.registerFunctionAnalyses(functions);
    builder.registerLoopAnalyses(loops);
    builder.crossRegisterProxies(loops, functions, graph, modules);
    if (mode == CodegenMode::Quick) {
      // These passes shrink the code, so that all later passes have less to do.
      for (llvm::FunctionPassManager &pipeline : pipelines)
        llvm::cantFail(builder.parsePassPipeline(
            pipeline, "sroa<modify-cfg>,early-cse,"
                      "instcombine<no-verify-fixpoint>,simplifycfg"));
      return;
    }
    llvm::cantFail(builder.parsePassPipeline(
        beforeVectors, "sroa<modify-cfg>,early-cse,simplifycfg"));
    llvm::cantFail(builder.parsePassPipeline(
        afterVectors,
        "early-cse,instcombine<no-verify-fixpoint>,simplifycfg,loop-simplify"));
    for (LoopKind kind : {LoopKind::Plain, LoopKind::Rows, LoopKind::Mixed,
                          LoopKind::Tiled, LoopKind::Whole})
      llvm::cantFail(builder.parsePassPipeline(pipelines[size_t(kind)],
                                               loopPipeline(kind)));
  }

  /// Makes vectors of the loops of a kernel, and runs LLVM's vectoriser where
  /// it may make vectors of more. Functions that are rarely called have none.
  void optimize(llvm::Function &function, LoopKind kind) {
    bool isLeft = true;
    const bool isRare = function.hasOptSize();
    const bool hasVectorLoops =
        kind == LoopKind::Plain || kind == LoopKind::Rows;
    if (mode != CodegenMode::Quick && (hasVectorLoops || isRare)) {
      beforeVectors.run(function, functions);
      isLeft = !isRare &&
               makeVectorLoops(
                   function, functions.getResult<llvm::LoopAnalysis>(function),
                   functions.getResult<llvm::TargetIRAnalysis>(function));
      functions.clear();
    }
    (isLeft ? pipelines[size_t(kind)] : afterVectors).run(function, functions);
  }

  /// Returns whether loads and stores of all types can have a mask.
  bool canMask() const {
    return mode == CodegenMode::Full &&
           llvm::all_of(std::array{"avx512f", "avx512bw", "avx512vl"},
                        [](const char *feature) {
                          return targetCpu().features.lookup(feature);
                        });
  }

  static void tune(llvm::Function &function) {
    function.addFnAttr("tune-cpu", targetCpu().name);
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
  std::array<llvm::FunctionPassManager, 5> pipelines; ///< by LoopKind
  /// The passes around makeVectorLoops, where LLVM's vectoriser need not run.
  llvm::FunctionPassManager beforeVectors, afterVectors;
  /// Where the back end writes to: made once, it serves all kernels.
  llvm::SmallString<0> bytes;
  llvm::raw_svector_ostream object{bytes};
  BackEnd backEnd;
};

namespace {
/// The passes of this process that no generator has.
class IdlePasses {
public:
  static IdlePasses &ofProcess() {
    // Never destroyed: threads may compile while the process ends.
    static IdlePasses &idle = *new IdlePasses;
    return idle;
  }

  /// Makes the first passes of the process on another thread, for the two
  /// threads that compile the kernels of most programs.
  void prepare(CodegenMode mode) {
    std::lock_guard lock(mutex);
    if (std::exchange(begun, true))
      return;
    unfinished = 2;
    // The registry has to outlive the thread: a process that ends destroys
    // static objects in reverse order.
    (void)llvm::PassRegistry::getPassRegistry();
    first = std::thread([this, mode] {
      auto passes = CodeGenerator::Passes::create(mode);
      const llvm::TargetInstrInfo *instructions =
          passes ? &(*passes)->instructions() : nullptr;
      finish(std::move(passes));
      // Only the back end needs this table. Passes are never destroyed.
      if (instructions)
        (void)instructions->getOpcodeAfterMemoryUnfold(
            /*Opc=*/0, /*UnfoldLoad=*/true, /*UnfoldStore=*/false);
      auto others = CodeGenerator::Passes::create(mode);
      if (others)
        (void)(*others)->instructions();
      finish(std::move(others));
    });
    // LLVM's own tables end with the process, and this thread before them.
    static const auto joined = llvm::make_scope_exit([this] { first.join(); });
  }

  Result<std::unique_ptr<CodeGenerator::Passes>> take(CodegenMode mode) {
    {
      std::unique_lock lock(mutex);
      begun = true;
      auto find = [&] {
        return llvm::find_if(
            idle, [mode](const auto &passes) { return passes->mode == mode; });
      };
      changed.wait(lock,
                   [&] { return unfinished == 0 || find() != idle.end(); });
      if (auto found = find(); found != idle.end()) {
        auto passes = std::move(*found);
        idle.erase(found);
        return passes;
      }
    }
    return CodeGenerator::Passes::create(mode);
  }

  void giveBack(std::unique_ptr<CodeGenerator::Passes> passes) {
    std::lock_guard lock(mutex);
    idle.push_back(std::move(passes));
  }

private:
  void finish(Result<std::unique_ptr<CodeGenerator::Passes>> passes) {
    std::lock_guard lock(mutex);
    --unfinished;
    if (passes)
      idle.push_back(std::move(*passes));
    changed.notify_all();
  }

  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::unique_ptr<CodeGenerator::Passes>> idle;
  bool begun = false;
  unsigned unfinished = 0; ///< passes that the first thread still makes
  std::thread first;
};
} // namespace

CodeGenerator::CodeGenerator(std::unique_ptr<Passes> passes)
    : passes(std::move(passes)) {}
CodeGenerator::CodeGenerator(CodeGenerator &&) noexcept = default;
CodeGenerator::~CodeGenerator() {
  if (passes)
    IdlePasses::ofProcess().giveBack(std::move(passes));
}

void CodeGenerator::prepare(CodegenMode mode) {
  if (availableCores() > 1)
    IdlePasses::ofProcess().prepare(mode);
}

Result<CodeGenerator> CodeGenerator::take(CodegenMode mode) {
  auto passes = IdlePasses::ofProcess().take(mode);
  if (!passes)
    return passes.error();
  return CodeGenerator(std::move(*passes));
}

std::string CodeGenerator::run(const KernelModule &kernel) {
  return passes->run(kernel);
}

bool meshloom::usesScripts(CodegenMode mode) {
  static const bool isWanted = [] {
    // Loops of scripts are for this processor, not for a lesser one.
    const char *setting = std::getenv("MESHLOOM_INTERPRET_KERNELS"),
               *name = std::getenv("MESHLOOM_CPU");
    return (!setting || StringRef(setting) != "0") && (!name || !*name);
  }();
  return runsScripts && isWanted && mode != CodegenMode::Portable;
}

std::string meshloom::codegenOptions(CodegenMode mode) {
  const bool portable = mode == CodegenMode::Portable;
  return (Twine(int(mode)) + " " + llvm::sys::getProcessTriple() + " " +
          targetCpu().name + " " + featureOptions(portable) +
          (usesScripts(mode) ? " scripts" : ""))
      .str();
}

std::string meshloom::targetCpuFeatures() {
  std::string result;
  for (const char *name : relevantFeatures)
    if (targetCpu().features.lookup(name))
      result += (result.empty() ? "" : ",") + std::string(name);
  return result;
}
