// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// --dtensor-partition: all passes from a dtensor function to a local program
// with collectives, in order.

#include "meshloom/Compiler/Partition.h"
#include "Canonicalize.h"
#include "meshloom/Compiler/AccumulateGradients.h"
#include "meshloom/ControlFlow/Passes.h"
#include "meshloom/Lanes/Passes.h"
#include "meshloom/Layout/ArgumentSearch.h"
#include "meshloom/Layout/Passes.h"
#include "meshloom/SPMD/Passes.h"
#include "meshloom/Targets/Kernels/Passes.h"

#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

namespace meshloom {

namespace {
/// Tells how far the pipeline is. A pass without an argument, so that nothing
/// that reports passes by name sees it.
struct StagePass
    : mlir::PassWrapper<StagePass, mlir::OperationPass<mlir::func::FuncOp>> {
  explicit StagePass(std::function<void(mlir::func::FuncOp)> reached)
      : reached(std::move(reached)) {}
  StagePass(const StagePass &) = default;
  void runOnOperation() override {
    reached(getOperation());
    markAllAnalysesPreserved();
  }
  std::function<void(mlir::func::FuncOp)> reached;
};

/// Accumulates gradients where the function says so.
struct AccumulatePass
    : mlir::PassWrapper<AccumulatePass,
                        mlir::OperationPass<mlir::func::FuncOp>> {
  void runOnOperation() override {
    mlir::func::FuncOp function = getOperation();
    auto count = function->getAttrOfType<IntegerAttr>(accumulateGradientsAttr);
    if (!count)
      return;
    function->removeAttr(accumulateGradientsAttr);
    if (failed(accumulateGradients(function, count.getInt())))
      signalPassFailure();
  }
};

void addStage(mlir::OpPassManager &functions,
              const std::function<void(mlir::func::FuncOp)> &reached) {
  if (reached)
    functions.addPass(std::make_unique<StagePass>(reached));
}
} // namespace

void buildPreparationPipeline(mlir::OpPassManager &functions) {
  // Reads of variables first become values: between two reads, CSE looks at all
  // ops there are.
  functions.addPass(createUnifyMeshes());
  functions.addPass(createLiftVariables());
  // The canonicalizer finds loops that are simple already, so that it does not
  // change the types of what the function returns.
  functions.addPass(createSimplifyControlFlow());
  // Before CSE, what replicas with different numbers of rows compute still
  // looks alike.
  functions.addPass(createMergeSums());
  functions.addPass(createMultiplyBeforeLoops());
  functions.addPass(createCanonicalize());
  functions.addPass(mlir::createCSEPass());
  functions.addPass(createSumAfterLoops());
  functions.addPass(createSimplifyControlFlow());
  functions.addPass(std::make_unique<AccumulatePass>());
}

void buildLayoutPipeline(mlir::OpPassManager &functions,
                         const PartitionOptions &options,
                         const PartitionStages &stages,
                         ArgumentSearch *search) {
  if (options.autoLayout) {
    AutoLayoutOptions automatic;
    automatic.machine = options.machine;
    automatic.memory = options.memory;
    automatic.leastMemory = options.leastMemory;
    automatic.reconsider = options.reconsider;
    automatic.mesh = options.mesh;
    functions.addPass(createAutoLayout(automatic, search));
  }
  buildRefinementPipeline(functions, options, stages);
}

void buildRefinementPipeline(mlir::OpPassManager &functions,
                             const PartitionOptions &options,
                             const PartitionStages &stages) {
  if (options.refine) {
    DistributeOpsOptions distribute;
    distribute.machine = options.machine;
    functions.addPass(createDistributeOps(distribute));
  }
  functions.addPass(createPropagateLayouts());
  if (options.refine) {
    addStage(functions, stages.propagated);
    RefineLayoutsOptions refine;
    refine.machine = options.machine;
    refine.byTime = options.autoLayout;
    refine.memory = options.memory;
    refine.singleMoves = options.singleMoves;
    functions.addPass(createRefineLayouts(refine));
    addStage(functions, stages.refined);
  }
}

void buildPartitionPipeline(mlir::OpPassManager &pm,
                            const PartitionOptions &options,
                            const PartitionStages &stages,
                            ArgumentSearch *search) {
  mlir::OpPassManager &functions = pm.nest<mlir::func::FuncOp>();
  buildPreparationPipeline(functions);
  buildLayoutPipeline(functions, options, stages, search);
  buildExpansionPipeline(functions, options);
}

void buildExpansionPipeline(mlir::OpPassManager &functions,
                            const PartitionOptions &options) {
  if (options.wholeLoops && options.machine.getValue().sharedMemory)
    functions.addPass(createGatherSmallLoops());
  functions.addPass(createDivideSignature());
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
  functions.addPass(createCanonicalize());
  functions.addPass(mlir::createCSEPass());
}

void registerPartitionPipeline() {
  mlir::PassPipelineRegistration<PartitionOptions>(
      "dtensor-partition",
      "Lay out a dtensor function and turn it into one local program with "
      "collectives",
      [](mlir::OpPassManager &pm, const PartitionOptions &options) {
        buildPartitionPipeline(pm, options);
      });
}

} // namespace meshloom
