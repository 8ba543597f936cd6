// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "meshloom/Targets/CUDA/CUDATarget.h"

#include "PtxCodegen.h"
#include "ThreadEmitter.h"
#include "meshloom/Targets/Kernels/KernelLowering.h"
#include "meshloom/Targets/Kernels/KernelPolicy.h"
#include "meshloom/Targets/Kernels/Passes.h"
#include "meshloom/Targets/Kernels/ToProgram.h"

#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"

namespace meshloom {
namespace {

/// The format of the code, which is DeviceCode::text.
constexpr const char *codeFormat = "ptx";

KernelPolicy policy() {
  KernelPolicy policy;
  policy.isLibraryDot = [](Type elementType, int64_t) {
    return elementType.isF32() || elementType.isBF16() || elementType.isF16();
  };
  // A loop that one thread of the host runs fast is slow on one of a GPU.
  policy.wholeLoops = false;
  return policy;
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
    FailureOr<LoweredProgram> lowered = toProgram(function);
    if (failed(lowered))
      return failure();
    if (Status ok = lowered->program.verify(); !ok)
      return Result<Compiled>(ok.error());
    // Scalar functions of library calls are kernels without loops.
    std::vector<std::pair<std::string, spmd::KernelOp>> kernels;
    for (auto &[symbol, op] : lowered->kernels)
      kernels.emplace_back(symbol, cast<spmd::KernelOp>(op));
    auto compiled =
        compileToPtx(kernels, function.getContext(), options.optimize);
    if (failed(compiled))
      return failure();
    if (!*compiled)
      return Result<Compiled>(compiled->error());
    const std::string text = (*compiled)->text();
    Code code{codeFormat,
              kernels.empty() ? "" : ptxArchitecture,
              std::vector<char>(text.begin(), text.end()),
              {}};
    return Result<Compiled>(Compiled(
        {std::move(lowered->program), std::move(code)}, options.machine));
  }
};

} // namespace

const Target &cudaTarget() {
  static const CUDATarget target;
  return target;
}

} // namespace meshloom
