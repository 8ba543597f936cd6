// --dtensor-partition: all passes from a dtensor function to a local program
// with collectives, in order.

#include "meshloom/Compiler/Partition.h"
#include "meshloom/ControlFlow/Passes.h"
#include "meshloom/Layout/Passes.h"
#include "meshloom/SPMD/Passes.h"
#include "meshloom/Targets/Kernels/Passes.h"

#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

namespace meshloom {

void buildPartitionPipeline(mlir::OpPassManager &pm,
                            const PartitionOptions &options) {
  mlir::OpPassManager &functions = pm.nest<mlir::func::FuncOp>();
  functions.addPass(createUnifyMeshes());
  functions.addPass(createLiftVariables());
  functions.addPass(createSumAfterLoops());
  functions.addPass(createSimplifyControlFlow());
  if (options.refine) {
    DistributeOpsOptions distribute;
    distribute.machine = options.machine;
    functions.addPass(createDistributeOps(distribute));
  }
  functions.addPass(createPropagateLayouts());
  if (options.refine) {
    RefineLayoutsOptions refine;
    refine.machine = options.machine;
    functions.addPass(createRefineLayouts(refine));
  }
  buildExpansionPipeline(functions, options);
}

void buildExpansionPipeline(mlir::OpPassManager &functions,
                            const PartitionOptions &options) {
  InsertRelayoutsOptions insert;
  insert.machine = options.machine;
  functions.addPass(createInsertRelayouts(insert));
  ExpandToSPMDOptions expand;
  expand.machine = options.machine;
  functions.addPass(createExpandToSPMD(expand));
  functions.addPass(createSimplifyCollectives());
  functions.addPass(createHoistCollectives());
  CombineCollectivesOptions combine;
  combine.mostBytes = options.combineBytes;
  combine.mostValues = options.combineValues;
  functions.addPass(createCombineCollectives(combine));
}

void registerPartitionPipeline() {
  mlir::PassPipelineRegistration<PartitionOptions>(
      "dtensor-partition",
      "Lay out a dtensor function and turn it into one local program with "
      "collectives",
      buildPartitionPipeline);
}

} // namespace meshloom
