// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Predicts programs by compiling them up to their plan of steps, without code.
#include "ProgramCosts.h"

#include "meshloom/Predict/Predict.h"
#include "meshloom/Support/MachineModelFile.h"

namespace meshloom {

using mlir::func::FuncOp;

FailureOr<ProgramCosts> predictCosts(OwningOpRef<ModuleOp> module,
                                     const Target &target,
                                     const PartitionOptions &partition) {
  mlir::PassManager passes(module->getContext());
  passes.enableVerifier(false);
  buildExpansionPipeline(passes.nest<FuncOp>(), partition);
  target.addPasses(passes.nest<FuncOp>());
  if (failed(passes.run(*module)))
    return failure();
  EmitOptions plan;
  plan.machine = machineModelText(partition.machine);
  plan.makeCode = false;
  const FuncOp function = *module->getOps<FuncOp>().begin();
  FailureOr<Result<Compiled>> compiled =
      target.emit(function, plan, /*ahead=*/nullptr);
  if (failed(compiled) || !*compiled)
    return failure();
  const Result<Prediction> prediction = predict(**compiled, partition.machine);
  if (!prediction)
    return mlir::emitError(FuncOp(function).getLoc(),
                           prediction.error().message());
  return ProgramCosts{prediction->time, prediction->memory.peakBytes};
}

ArgumentSearch predictingSearch(const Target &target,
                                const PartitionOptions &partition) {
  ArgumentSearch search;
  search.predictTime = [&](OwningOpRef<ModuleOp> module,
                           Refinement refinement) -> FailureOr<Cost> {
    PartitionOptions options;
    options.copyOptionValuesFrom(partition);
    options.autoLayout = refinement == Refinement::ByTime;
    mlir::PassManager passes(module->getContext());
    passes.enableVerifier(false);
    buildRefinementPipeline(passes.nest<FuncOp>(), options);
    if (failed(passes.run(*module)))
      return failure();
    FailureOr<ProgramCosts> costs =
        predictCosts(std::move(module), target, partition);
    return failed(costs) ? FailureOr<Cost>(failure()) : costs->time;
  };
  return search;
}

} // namespace meshloom
