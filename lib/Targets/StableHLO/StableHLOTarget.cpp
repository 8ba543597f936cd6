// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "meshloom/Targets/StableHLO/StableHLOTarget.h"

#include "meshloom/Dialect/StableHLO/StableHLO.h"
#include "meshloom/SPMD/Signature.h"
#include "meshloom/Targets/StableHLO/ExportStableHLO.h"

namespace meshloom {
namespace {

class StableHLOTarget : public Target {
public:
  std::string_view name() const override { return "stablehlo"; }

  void registerDialects(mlir::DialectRegistry &registry) const override {
    registerStableHLODialects(registry);
  }

  void addPasses(mlir::OpPassManager &) const override {}

  FailureOr<Result<Compiled>> emit(mlir::func::FuncOp function,
                                   const EmitOptions &options,
                                   CodeAhead *) const override {
    loadDialects(function.getContext());
    FailureOr<Signature> signature = signatureOf(function);
    if (failed(signature))
      return failure();
    std::vector<CompiledCollective> collectives = collectivesOf(function);
    auto module = function->getParentOfType<ModuleOp>();
    function.setName("main"); // what a plug-in runs
    if (failed(exportStableHLO(module)))
      return failure();
    StableHLOProgram program;
    llvm::raw_string_ostream stream(program.text);
    // Old plug-ins read the generic form, whatever the pretty one was then.
    module.print(stream,
                 mlir::OpPrintingFlags().printGenericOpForm().enableDebugInfo(
                     true, /*prettyForm=*/false));
    return Result<Compiled>(Compiled(std::move(*signature),
                                     std::move(collectives), std::move(program),
                                     options.machine));
  }
};

} // namespace

const Target &stableHLOTarget() {
  static const StableHLOTarget target;
  return target;
}

} // namespace meshloom
