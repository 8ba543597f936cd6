// mesh-opt: runs Meshloom's passes, and the usual upstream ones, on a .mlir
// file. Its options are those of every mlir-opt; `mesh-opt --help` lists them.

#include "meshloom/Autodiff/Passes.h"
#include "meshloom/Compiler/Compiler.h"
#include "meshloom/Compiler/Partition.h"
#include "meshloom/ControlFlow/Passes.h"
#include "meshloom/Dialect/StableHLO/SourceText.h"
#include "meshloom/Dialect/StableHLO/StableHLO.h"
#include "meshloom/Import/StableHLO/ImportStableHLO.h"
#include "meshloom/Layout/Passes.h"
#include "meshloom/SPMD/Passes.h"
#include "meshloom/Targets/Kernels/Passes.h"
#include "meshloom/Targets/StableHLO/ExportStableHLO.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"

#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/ToolOutputFile.h"

static llvm::cl::opt<bool> explainFlag(
    "explain",
    llvm::cl::desc("After the passes, print to the standard error why each "
                   "collective is there, what it costs, and what was "
                   "rejected"));

/// The pipeline of the command line, and the pass that --explain adds.
static mlir::MlirOptMainConfig configuration() {
  auto config = mlir::MlirOptMainConfig::createFromCLOptions();
  if (!explainFlag)
    return config;
  auto asked = config;
  return config.setPassPipelineSetupFn([asked](mlir::PassManager &passes) {
    if (failed(asked.setupPassPipeline(passes)))
      return mlir::failure();
    passes.addNestedPass<mlir::func::FuncOp>(
        meshloom::createExplainCollectives());
    return mlir::success();
  });
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  mlir::DialectRegistry registry;
  meshloom::registerDialects(registry);
  meshloom::registerStableHLODialects(registry);
  registry.insert<mlir::arith::ArithDialect, mlir::math::MathDialect>();

  mlir::registerTransformsPasses();
  meshloom::registerControlFlowPasses();
  meshloom::registerLayoutPasses();
  meshloom::registerSPMDPasses();
  meshloom::registerKernelsPasses();
  meshloom::registerAutodiffPasses();
  meshloom::registerStableHLOToDTensor();
  meshloom::registerSPMDToStableHLO();
  meshloom::registerPartitionPipeline();
  auto [inputName, outputName] = mlir::registerAndParseCLIOptions(
      argc, argv, "Meshloom's optimizer driver\n", registry);
  mlir::MlirOptMainConfig config = configuration();
  if (config.shouldShowDialects())
    return mlir::asMainReturnCode(
        mlir::MlirOptMain(argc, argv, inputName, outputName, registry));

  std::string error;
  auto input = mlir::openInputFile(inputName, &error);
  if (input)
    input = meshloom::readableSource(input->getBuffer(),
                                     input->getBufferIdentifier());
  auto output = input ? mlir::openOutputFile(outputName, &error) : nullptr;
  if (!output) {
    llvm::errs() << error << "\n";
    return EXIT_FAILURE;
  }
  if (failed(
          mlir::MlirOptMain(output->os(), std::move(input), registry, config)))
    return EXIT_FAILURE;
  output->keep();
  return EXIT_SUCCESS;
}
