// mesh-opt: runs Meshloom's passes, and the usual upstream ones, on a .mlir
// file. Its options are those of every mlir-opt; `mesh-opt --help` lists them.

#include "meshloom/Autodiff/Passes.h"
#include "meshloom/Compiler/Compiler.h"
#include "meshloom/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  meshloom::registerDialects(registry);
  registry.insert<mlir::arith::ArithDialect, mlir::math::MathDialect>();

  mlir::registerTransformsPasses();
  meshloom::registerTransformsPasses();
  meshloom::registerAutodiffPasses();
  meshloom::registerPartitionPipeline();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "Meshloom's optimizer driver\n", registry));
}
