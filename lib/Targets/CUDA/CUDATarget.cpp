// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "meshloom/Targets/CUDA/CUDATarget.h"

#include "AttentionForms.h"
#include "EpilogueForms.h"
#include "PtxCodegen.h"
#include "ThreadEmitter.h"
#include "meshloom/Targets/CPU/CPUTarget.h"
#include "meshloom/Targets/Kernels/KernelLowering.h"
#include "meshloom/Targets/Kernels/KernelPolicy.h"
#include "meshloom/Targets/Kernels/Passes.h"
#include "meshloom/Targets/Kernels/ToProgram.h"

#include "llvm/ADT/StringSet.h"

#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"

namespace meshloom {
namespace {

/// The format of the code, which is DeviceCode::text.
constexpr const char *codeFormat = "ptx";

KernelPolicy policy() {
  KernelPolicy policy;
  policy.isLibraryDot = [](Type elementType, const DotSize &) {
    return elementType.isF32() || elementType.isBF16() || elementType.isF16();
  };
  policy.widensProducts = true;
  // A loop that one thread of the host runs fast is slow on one of a GPU.
  policy.wholeLoops = false;
  policy.callsPlainKernels = false;
  // A host node would take the whole arrays to the host and back.
  policy.picksElements = true;
  policy.callsSolver = true;
  policy.joinsRows = true;
  // Smaller ones are over before accesses of 16 bytes are worth their code.
  policy.largeKernel = int64_t(1) << 18;
  policy.reductionParts = [](Operation *kernel) {
    return reductionParts(cast<spmd::KernelOp>(kernel));
  };
  return policy;
}

/// The functions that a program's steps call: kernels on the device, and the
/// functions of library calls, which the host runs.
struct SymbolUses {
  llvm::StringSet<> onDevice, onHost;
  CommonCode common;
};

/// Returns whether addends of a value are kept for a caller. Others are merged,
/// so that nothing combines them.
bool keepsAddends(const Program &program) {
  auto isPartial = [&](const auto &value) {
    return program.buffers[value.buffer].layout.is_partial();
  };
  return std::ranges::any_of(program.arguments, isPartial) ||
         std::ranges::any_of(program.results, isPartial);
}

/// Adds the combinations that a collective may need: of flat arrays between
/// cards, and of values where a caller keeps addends. The host does others.
void findCombinations(const Program &program, const CollectiveStep &step,
                      bool keepsAddends, SymbolUses &uses) {
  if (step.kind != CollectiveKind::AllReduce &&
      step.kind != CollectiveKind::ReduceScatter)
    return;
  for (const CollectiveStep::Move &move : step.moves) {
    const BufferDecl &target = program.buffers[move.to];
    // Sums of bits are no additions.
    if (target.type != DType::I1 || step.reduce == ReduceKind::And ||
        step.reduce == ReduceKind::Or) {
      uses.common.combinations.insert({target.type, step.reduce, 1});
      if (keepsAddends)
        uses.common.combinations.insert(
            {target.type, step.reduce, unsigned(target.shape.size())});
    }
  }
}

void findSymbols(const Program &program, const std::vector<Step> &steps,
                 SymbolUses &uses) {
  for (const Step &step : steps) {
    if (auto *dot = std::get_if<DotStep>(&step))
      if (auto kind = ProductKind::of(program, *dot))
        uses.common.products.insert(*kind);
    if (auto *collective = std::get_if<CollectiveStep>(&step))
      findCombinations(program, *collective, keepsAddends(program), uses);
    auto *kernel = std::get_if<KernelStep>(&step);
    if (kernel)
      if (auto kind = ProductKind::of(program, *kernel))
        uses.common.products.insert(*kind);
    if (kernel && !program.deterministic)
      if (auto kind = FourierKind::of(program, *kernel);
          kind && kind->isCopied() && kind->length > 0)
        uses.common.lines.insert(*kind);
    if (kernel && !kernel->symbol.empty())
      (kernel->library.empty() ? uses.onDevice : uses.onHost)
          .insert(kernel->symbol);
    for (const std::vector<Step> *inner : nestedLists(step))
      findSymbols(program, *inner, uses);
  }
}

class CUDATarget : public Target {
public:
  std::string_view name() const override { return "cuda"; }

  void registerDialects(mlir::DialectRegistry &registry) const override {
    registerKernelLoweringDialects(registry);
    registerThreadDialects(registry);
    mlir::registerBuiltinDialectTranslation(registry);
    mlir::registerLLVMDialectTranslation(registry);
    mlir::registerNVVMDialectTranslation(registry);
  }

  void addPasses(mlir::OpPassManager &functions) const override {
    functions.addPass(createFormKernels(policy()));
  }

  FailureOr<Result<Compiled>> emit(mlir::func::FuncOp function,
                                   const EmitOptions &options,
                                   CodeAhead *) const override {
    FailureOr<LoweredProgram> lowered = toProgram(function, options.makeCode);
    if (failed(lowered))
      return failure();
    if (Status ok = lowered->program.verify(); !ok)
      return Result<Compiled>(ok.error());
    if (!options.makeCode)
      return Result<Compiled>(
          Compiled({std::move(lowered->program), Code()}, options.machine));
    loadDialects(function.getContext());
    SymbolUses uses;
    findSymbols(lowered->program, lowered->program.steps, uses);
    std::vector<std::pair<std::string, Operation *>> kernels, functions;
    for (auto &[symbol, op] : lowered->kernels) {
      if (uses.onDevice.contains(symbol))
        kernels.emplace_back(symbol, op);
      if (uses.onHost.contains(symbol))
        functions.emplace_back(symbol, op);
    }
    std::vector<Attention> attentions;
    OwningOpRef<ModuleOp> masks = ModuleOp::create(function.getLoc());
    if (!lowered->program.deterministic)
      attentions = findAttentions(function, *lowered, *masks, kernels);
    auto compiled = compileToPtx(kernels, uses.common, function.getContext(),
                                 options.optimize);
    if (failed(compiled))
      return failure();
    if (!*compiled)
      return Result<Compiled>(compiled->error());
    if (!lowered->program.deterministic && !uses.common.products.empty())
      (*compiled)->epilogues = findEpilogues(function);
    (*compiled)->attentions = std::move(attentions);
    std::shared_ptr<const CodeSymbols> symbols;
    if (!functions.empty()) {
      auto host = compileForHost(functions, options);
      if (!host)
        return Result<Compiled>(host.error());
      (*compiled)->hostObject = std::move(host->bytes);
      (*compiled)->hostFeatures = std::move(host->requirements);
      symbols = std::move(host->symbols);
    }
    const std::string text = (*compiled)->text();
    Code code{codeFormat, (*compiled)->kernels.empty() ? "" : ptxArchitecture,
              std::vector<char>(text.begin(), text.end()), std::move(symbols)};
    return Result<Compiled>(Compiled(
        {std::move(lowered->program), std::move(code)}, options.machine));
  }

  /// The functions for the host have been left behind.
  std::optional<Compiled> restore(Compiled compiled,
                                  const EmitOptions &options) const override {
    SymbolUses uses;
    findSymbols(compiled.program(), compiled.program().steps, uses);
    if (!uses.onHost.empty() && !options.asBytes)
      return std::nullopt;
    return compiled;
  }
};

} // namespace

const Target &cudaTarget() {
  static const CUDATarget target;
  return target;
}

} // namespace meshloom
