// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From kernels to PTX: emitThreads, KernelLowering, LLVM's passes and its NVPTX
// back end, in this process. Nothing of NVIDIA's is needed.
#include "PtxCodegen.h"

#include "CombinationEmitter.h"
#include "LinesEmitter.h"
#include "ProductEmitter.h"
#include "ThreadEmitter.h"
#include "meshloom/ControlFlow/Determinism.h"
#include "meshloom/Core/Timing.h"
#include "meshloom/Targets/Kernels/KernelLowering.h"

#include "mlir/Target/LLVMIR/Export.h"

#include "llvm-c/Target.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Operator.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Target/TargetMachine.h"

#include <mutex>

using namespace meshloom;

/// The version of PTX that the code is written in: that of CUDA 11.8, whose
/// drivers are the oldest that take it.
static constexpr const char *ptxFeatures = "+ptx78";

static Result<std::unique_ptr<llvm::TargetMachine>>
makePtxMachine(bool optimize) {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
  });
  const std::string triple = "nvptx64-nvidia-cuda";
  std::string message;
  const llvm::Target *target =
      llvm::TargetRegistry::lookupTarget(triple, message);
  if (!target)
    return Error("LLVM has no code generator for NVIDIA GPUs: " + message);
  llvm::TargetOptions options;
  // Only ops with the flag `contract` are contracted.
  options.AllowFPOpFusion = llvm::FPOpFusion::Standard;
  std::unique_ptr<llvm::TargetMachine> machine(target->createTargetMachine(
      triple, ptxArchitecture, ptxFeatures, options, llvm::Reloc::PIC_,
      std::nullopt,
      optimize ? llvm::CodeGenOptLevel::Default : llvm::CodeGenOptLevel::Less));
  if (!machine)
    return Error("LLVM has no code generator for NVIDIA GPUs");
  return machine;
}

/// Lets a * b + c be one instruction, which is faster and more accurate, but
/// depends on which ops share a kernel.
static void allowContraction(llvm::Function &function) {
  for (llvm::BasicBlock &block : function)
    for (llvm::Instruction &instruction : block)
      if (isa<llvm::FPMathOperator>(instruction))
        instruction.setHasAllowContract(true);
}

static void optimizeForPtx(llvm::Module &module, llvm::TargetMachine &machine,
                           bool optimize) {
  TimedScope timed("optimise");
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager graph;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine);
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

FailureOr<Result<DeviceCode>>
meshloom::compileToPtx(ArrayRef<std::pair<std::string, Operation *>> kernels,
                       const CommonCode &common, MLIRContext *context,
                       bool optimize) {
  const auto &[products, combinations, lines] = common;
  DeviceCode code;
  if (kernels.empty() && products.empty() && combinations.empty() &&
      lines.empty())
    return Result<DeviceCode>(code);
  TimedScope timed("compile kernels");
  auto machine = makePtxMachine(optimize);
  if (!machine)
    return Result<DeviceCode>(machine.error());
  OwningOpRef<ModuleOp> emitted =
      ModuleOp::create(mlir::UnknownLoc::get(context));
  for (const auto &[symbol, kernel] : kernels)
    code.kernels.push_back(emitThreads(kernel, symbol, *emitted));
  for (const ProductKind &product : products)
    code.kernels.push_back(emitProduct(product, *emitted));
  for (const CombinationKind &combination : combinations)
    code.kernels.push_back(emitCombination(combination, *emitted));
  for (const FourierKind &transform : lines)
    code.kernels.push_back(emitLines(transform, *emitted));
  if (failed(KernelLowering(context, MathLibrary::None, /*multiplyAdds=*/true)
                 .lower(*emitted)))
    return failure();
  llvm::LLVMContext llvmContext;
  std::unique_ptr<llvm::Module> module =
      mlir::translateModuleToLLVMIR(*emitted, llvmContext, "kernels");
  if (!module)
    return Result<DeviceCode>(
        Error("the kernels did not translate to LLVM IR"));
  for (const auto &[symbol, kernel] : kernels)
    if (!isDeterministic(kernel))
      allowContraction(*module->getFunction(symbol));
  module->setDataLayout((*machine)->createDataLayout());
  module->setTargetTriple((*machine)->getTargetTriple().str());
  optimizeForPtx(*module, **machine, optimize);

  TimedScope writing("write PTX");
  llvm::SmallString<0> text;
  llvm::raw_svector_ostream stream(text);
  llvm::legacy::PassManager backEnd;
  if ((*machine)->addPassesToEmitFile(backEnd, stream, nullptr,
                                      llvm::CodeGenFileType::AssemblyFile))
    return Result<DeviceCode>(Error("LLVM's code generator writes no PTX"));
  backEnd.run(*module);
  code.ptx = text.str();
  return Result<DeviceCode>(std::move(code));
}
