// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Artifact.h"

#include "meshloom/Compiler/Compiler.h"
#include "meshloom/Dialect/StableHLO/StableHLO.h"
#include "meshloom/Import/StableHLO/ReadProgram.h"

#include "mlir/Pass/Pass.h"

namespace meshloom::opt {

namespace {

class EmitArtifact
    : public mlir::PassWrapper<EmitArtifact, mlir::OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(EmitArtifact)

  EmitArtifact(StableHLORelease release, llvm::raw_ostream &output)
      : release(release), output(&output) {}

  void getDependentDialects(mlir::DialectRegistry &registry) const override {
    registry.insert<stablehlo::StableHLODialect>();
  }

  void runOnOperation() override {
    FailureOr<std::string> artifact = writeArtifact(getOperation(), release);
    if (failed(artifact))
      return signalPassFailure();
    *output << *artifact;
  }

private:
  StableHLORelease release;
  llvm::raw_ostream *output;
};

} // namespace

std::unique_ptr<mlir::Pass> createEmitArtifact(StableHLORelease release,
                                               llvm::raw_ostream &output) {
  return std::make_unique<EmitArtifact>(release, output);
}

Result<std::string> artifactOfText(const std::string &text,
                                   StableHLORelease release) {
  mlir::DialectRegistry registry;
  registerDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  auto module = parseProgram(text, "the partitioned program", &context);
  if (!module)
    return module.error();
  FailureOr<std::string> artifact = writeArtifact(**module, release);
  if (failed(artifact)) // its diagnostic says why
    return Error("the program was not written as a portable artifact");
  return *artifact;
}

} // namespace meshloom::opt
