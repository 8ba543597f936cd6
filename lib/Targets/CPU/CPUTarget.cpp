// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "meshloom/Targets/CPU/CPUTarget.h"

#include "KernelCache.h"

#include "Jit.h"
#include "KernelScript.h"
#include "KernelToLLVM.h"
#include "SharedObject.h"
#include "meshloom/Targets/Kernels/KernelLowering.h"
#include "meshloom/Targets/Kernels/KernelPolicy.h"
#include "meshloom/Targets/Kernels/Passes.h"
#include "meshloom/Targets/Kernels/ToProgram.h"

#include "llvm/ADT/StringSet.h"

#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"

namespace meshloom {
namespace {

/// Tells the runtime that loads the code which format the code has.
constexpr const char *codeFormat = "x86-64-elf";

/// The runtime's library does products of floats, large ones of f64, i32 and
/// complex numbers, and plain reductions; all else is compiled.
KernelPolicy policy() {
  KernelPolicy policy;
  // Kernels that cost so much take 2 us longer, and one takes 5 ms to compile.
  policy.smallStep = 20'000;
  policy.widensProducts = true;
  policy.multipliesBytes = true;
  policy.isLibraryDot = [](Type elementType, const DotSize &size) {
    // Fewer are less than a call of the library, which computes batches of
    // small matrices at once; those of f64 may have many terms.
    constexpr int64_t few = 4096, batch = 16, manyTerms = 256;
    const bool isBatch = size.batch >= batch && size.rows > 1 &&
                         size.columns > 1 && size.terms > 1 &&
                         (elementType.isF64() || size.terms <= manyTerms);
    const bool isWide = elementType.isF64() || elementType.isInteger(32) ||
                        isa<mlir::ComplexType>(elementType);
    return elementType.isF32() || elementType.isBF16() || elementType.isF16() ||
           (isWide && (isBatch || size.multiplications() >= few));
  };
  return policy;
}

/// The kernels that `steps` call, each once.
void findSymbols(const std::vector<Step> &steps, llvm::StringSet<> &found,
                 std::vector<std::string> &symbols) {
  for (const Step &step : steps) {
    if (auto *kernel = std::get_if<KernelStep>(&step);
        kernel && !kernel->symbol.empty() &&
        found.insert(kernel->symbol).second)
      symbols.push_back(kernel->symbol);
    for (const std::vector<Step> *inner : nestedLists(step))
      findSymbols(*inner, found, symbols);
  }
}

CodegenMode modeFor(const EmitOptions &options) {
  return options.asBytes ? CodegenMode::Portable
                         : meshloom::modeFor(options.optimize);
}

/// Returns the kernels of a program. Other machines get machine code only.
std::vector<KernelToCompile> kernelsOf(LoweredProgram &lowered,
                                       CodegenMode mode) {
  const bool isInterpreted = usesScripts(mode);
  std::vector<KernelToCompile> kernels;
  for (auto &[symbol, kernel] : lowered.kernels)
    kernels.push_back(
        {symbol, kernel, isInterpreted ? scriptOf(kernel) : std::string()});
  return kernels;
}

Result<Code> codeOf(ArrayRef<KernelToCompile> kernels,
                    const EmitOptions &options, KernelCompiler &compiler) {
  Code code{codeFormat, kernels.empty() ? "" : targetCpuFeatures(), {}, {}};
  if (options.asBytes) {
    auto bytes = linkKernels(kernels, compiler);
    if (!bytes)
      return bytes.error();
    code.bytes = std::move(*bytes);
    return code;
  }
  auto symbols = loadKernels(kernels, options.optimize, compiler);
  if (!symbols)
    return symbols.error();
  code.symbols = std::move(*symbols);
  return code;
}

/// Which kernels a program has depends little on how it is laid out.
class KernelsAhead : public CodeAhead {
public:
  explicit KernelsAhead(CodegenMode mode) : mode(mode), compiler(mode) {}
  void begin(mlir::func::FuncOp function) override {
    FailureOr<LoweredProgram> lowered = toProgram(function);
    if (failed(lowered))
      return;
    std::vector<KernelToCompile> kernels = kernelsOf(*lowered, mode);
    llvm::erase_if(kernels, [&](const KernelToCompile &item) {
      return !item.script.empty() || isKernelCached(item.symbol, mode);
    });
    compiler.begin(kernels);
  }
  void stop() override { compiler.stop(); }

  const CodegenMode mode;
  KernelCompiler compiler;
};

class CPUTarget : public Target {
public:
  std::string_view name() const override { return "cpu"; }

  void registerDialects(mlir::DialectRegistry &registry) const override {
    registerKernelLoweringDialects(registry);
    mlir::registerBuiltinDialectTranslation(registry);
    mlir::registerLLVMDialectTranslation(registry);
  }

  void addPasses(mlir::OpPassManager &functions) const override {
    functions.addPass(createFormKernels(policy()));
  }

  bool compilesLoopsWhole() const override { return policy().wholeLoops; }

  FailureOr<Result<Compiled>> emit(mlir::func::FuncOp function,
                                   const EmitOptions &options,
                                   CodeAhead *ahead) const override {
    FailureOr<LoweredProgram> lowered = toProgram(function, options.makeCode);
    if (failed(lowered))
      return failure();
    if (Status ok = lowered->program.verify(); !ok)
      return Result<Compiled>(ok.error());
    if (!options.makeCode)
      return Result<Compiled>(
          Compiled({std::move(lowered->program), Code()}, options.machine));
    const std::vector<KernelToCompile> kernels =
        kernelsOf(*lowered, modeFor(options));
    if (llvm::any_of(kernels, [](const KernelToCompile &item) {
          return item.script.empty();
        }))
      loadDialects(function.getContext());
    std::optional<KernelCompiler> localCompiler;
    KernelCompiler &compiler =
        ahead ? static_cast<KernelsAhead *>(ahead)->compiler
              : localCompiler.emplace(modeFor(options));
    auto code = codeOf(kernels, options, compiler);
    if (!code)
      return Result<Compiled>(code.error());
    return Result<Compiled>(Compiled(
        {std::move(lowered->program), std::move(*code)}, options.machine));
  }

  void prepare(const EmitOptions &options) const override {
    KernelCompiler::prepare(modeFor(options));
  }

  std::unique_ptr<CodeAhead>
  makeAhead(const EmitOptions &options) const override {
    return std::make_unique<KernelsAhead>(modeFor(options));
  }

  std::optional<Compiled> restore(Compiled compiled,
                                  const EmitOptions &options) const override {
    if (options.asBytes)
      return compiled;
    std::vector<std::string> symbols;
    llvm::StringSet<> found;
    findSymbols(compiled.program().steps, found, symbols);
    auto loaded = loadCachedKernels(symbols, options.optimize);
    if (!loaded || !*loaded)
      return std::nullopt;
    Code code = compiled.code();
    code.symbols = std::move(*loaded);
    return Compiled({compiled.program(), std::move(code)}, compiled.machine());
  }

  std::string machineCode() const override {
    return codegenOptions(CodegenMode::Full);
  }
};

} // namespace

const Target &cpuTarget() {
  static const CPUTarget target;
  return target;
}

Result<Code>
compileForHost(ArrayRef<std::pair<std::string, Operation *>> kernels,
               const EmitOptions &options) {
  std::vector<KernelToCompile> functions;
  for (const auto &[symbol, kernel] : kernels)
    functions.push_back({symbol, kernel, {}});
  KernelCompiler compiler(modeFor(options));
  return codeOf(functions, options, compiler);
}

} // namespace meshloom
