// LLVM's side of compiling kernels. Optimising and code generation take nearly
// all of a program's compile time, so the kernels are dealt out to threads,
// each with its own LLVM context.
#include "meshloom/Targets/CPU/KernelCodegen.h"

#include "meshloom/Targets/CPU/KernelToLLVM.h"

#include "mlir/Target/LLVMIR/Export.h"

#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/SmallVectorMemoryBuffer.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"

#include <mutex>
#include <thread>

using namespace meshloom;

/// Kernels a thread should have to be worth starting.
static constexpr size_t kernelsPerThread = 3;

/// The CPU features that code may use, as LLVM's options take them.
static std::string featureOptions(bool portable) {
  std::string options;
  auto add = [&](const char *sign, StringRef name) {
    options += (options.empty() ? "" : ",") + (sign + name).str();
  };
  if (portable) {
    SmallVector<StringRef> names;
    std::string text = hostCpuFeatures();
    StringRef(text).split(names, ',', -1, /*KeepEmpty=*/false);
    for (StringRef name : names)
      add("+", name);
  } else {
    for (const auto &feature : llvm::sys::getHostCPUFeatures())
      add(feature.second ? "+" : "-", feature.first());
  }
  return options;
}

/// For this machine; `portable`: for all that have the features which
/// hostCpuFeatures() names.
static Result<std::unique_ptr<llvm::TargetMachine>>
makeTargetMachine(CodegenMode mode) {
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
  // Other architectures' levels have no names here: they get the host's.
  bool portable = mode == CodegenMode::Portable && llvm::Triple(triple).isX86();
  llvm::TargetOptions options;
  // a * b + c as one instruction: faster and more accurate.
  options.AllowFPOpFusion = llvm::FPOpFusion::Fast;
  std::unique_ptr<llvm::TargetMachine> machine(target->createTargetMachine(
      triple, portable ? "x86-64" : llvm::sys::getHostCPUName(),
      featureOptions(portable), options, llvm::Reloc::PIC_, std::nullopt,
      mode == CodegenMode::Quick ? llvm::CodeGenOptLevel::None
                                 : llvm::CodeGenOptLevel::Default));
  if (!machine)
    return Error("no code generator for " + triple);
  return machine;
}

static void optimizeModule(llvm::Module &module, llvm::TargetMachine &machine,
                           CodegenMode mode) {
  bool optimize = mode != CodegenMode::Quick;
  for (llvm::Function &function : module)
    function.addFnAttr("tune-cpu", llvm::sys::getHostCPUName());
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager graph;
  llvm::ModuleAnalysisManager modules;
  llvm::PipelineTuningOptions tuning;
  tuning.LoopVectorization = optimize;
  tuning.LoopInterleaving = optimize;
  llvm::PassBuilder builder(&machine, tuning);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(graph);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, graph, modules);
  builder
      .buildPerModuleDefaultPipeline(optimize ? llvm::OptimizationLevel::O2
                                              : llvm::OptimizationLevel::O1)
      .run(module, modules);
}

/// One object file of the given kernels.
static Result<std::unique_ptr<llvm::MemoryBuffer>>
compileGroup(ArrayRef<KernelToCompile> kernels, CodegenMode mode) {
  spmd::KernelOp first = kernels.front().kernel;
  OwningOpRef<ModuleOp> code =
      ModuleOp::create(mlir::UnknownLoc::get(first.getContext()));
  for (const KernelToCompile &item : kernels)
    emitKernel(item.kernel, item.symbol, *code);
  if (failed(lowerKernels(*code)))
    return Error("a kernel did not lower to LLVM");
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module =
      mlir::translateModuleToLLVMIR(*code, context, "kernels");
  if (!module)
    return Error("a kernel did not translate to LLVM IR");
  auto machine = makeTargetMachine(mode);
  if (!machine)
    return machine.error();
  module->setDataLayout((*machine)->createDataLayout());
  module->setTargetTriple((*machine)->getTargetTriple().str());
  optimizeModule(*module, **machine, mode);

  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream os(bytes);
  llvm::legacy::PassManager passes;
  if ((*machine)->addPassesToEmitFile(passes, os, nullptr,
                                      llvm::CodeGenFileType::ObjectFile))
    return Error("this machine's code generator writes no object files");
  passes.run(*module);
  return std::unique_ptr<llvm::MemoryBuffer>(
      std::make_unique<llvm::SmallVectorMemoryBuffer>(
          std::move(bytes), "kernels.o", /*RequiresNullTerminator=*/false));
}

Result<std::vector<std::unique_ptr<llvm::MemoryBuffer>>>
meshloom::compileKernels(ArrayRef<KernelToCompile> kernels, CodegenMode mode) {
  std::vector<std::unique_ptr<llvm::MemoryBuffer>> objects;
  if (kernels.empty())
    return objects;
  size_t threads = std::max(1u, std::thread::hardware_concurrency());
  threads =
      std::min({threads, size_t(4),
                (kernels.size() + kernelsPerThread - 1) / kernelsPerThread});
  // Without locks in the MLIR context only one thread may make operations.
  spmd::KernelOp first = kernels.front().kernel;
  if (!first.getContext()->isMultithreadingEnabled())
    threads = 1;
  // Large bodies first, then always to the thread that has least to do.
  std::vector<std::pair<size_t, const KernelToCompile *>> bySize;
  for (const KernelToCompile &item : kernels) {
    spmd::KernelOp kernel = item.kernel;
    bySize.emplace_back(kernel.getBlock()->getOperations().size() +
                            4 * kernel.getNumLoops(),
                        &item);
  }
  llvm::sort(bySize, [](auto &a, auto &b) {
    return std::tie(b.first, a.second) < std::tie(a.first, b.second);
  });
  std::vector<std::vector<KernelToCompile>> groups(threads);
  std::vector<size_t> load(threads);
  for (auto &[size, item] : bySize) {
    size_t least = llvm::min_element(load) - load.begin();
    groups[least].push_back(*item);
    load[least] += size;
  }
  using Compiled = Result<std::unique_ptr<llvm::MemoryBuffer>>;
  std::vector<Compiled> results;
  for (size_t i = 0; i < threads; ++i)
    results.emplace_back(Error("not compiled"));
  std::vector<std::thread> workers;
  for (size_t i = 1; i < threads; ++i)
    workers.emplace_back(
        [&, i] { results[i] = compileGroup(groups[i], mode); });
  results[0] = compileGroup(groups[0], mode);
  for (std::thread &worker : workers)
    worker.join();
  for (Compiled &result : results) {
    if (!result)
      return result.error();
    objects.push_back(std::move(*result));
  }
  return objects;
}

std::string meshloom::hostCpuFeatures() {
  static constexpr const char *relevant[] = {
      "sse4.2",   "popcnt",   "avx",      "avx2",     "fma",
      "f16c",     "bmi",      "bmi2",     "lzcnt",    "avx512f",
      "avx512bw", "avx512cd", "avx512dq", "avx512vl", "avx512bf16"};
  auto features = llvm::sys::getHostCPUFeatures();
  std::string result;
  for (const char *name : relevant)
    if (features.lookup(name))
      result += (result.empty() ? "" : ",") + std::string(name);
  return result;
}
