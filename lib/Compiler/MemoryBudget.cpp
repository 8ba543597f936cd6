// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Choices are made by the prices of the layout search, and checked by the plan
// of the program that comes of them. The search counts memory less exactly, so
// its bound is moved by the difference until the program keeps to the memory.
#include "MemoryBudget.h"

#include "meshloom/Dialect/DTensor/Notes.h"
#include "meshloom/Layout/Recompute.h"
#include "meshloom/Predict/Predict.h"
#include "meshloom/Support/MachineModelFile.h"

#include "mlir/Pass/PassManager.h"

#include <fmt/format.h>

#include <limits>

namespace meshloom {

using mlir::func::FuncOp;

namespace {

/// A program that has been laid out, and its predicted costs.
struct LaidOutProgram {
  OwningOpRef<ModuleOp> module;
  Recomputation recomputation;
  int64_t time = 0; ///< picoseconds
  int64_t peak = 0; ///< bytes of each device
};

FuncOp functionOf(ModuleOp module) {
  return *module.getOps<FuncOp>().begin();
}

class MemoryBudget {
public:
  MemoryBudget(ModuleOp source, const Target &target,
               const PartitionOptions &partition)
      : source(source), target(target), partition(partition) {}

  FailureOr<Result<OwningOpRef<ModuleOp>>> run();

private:
  bool fits(const LaidOutProgram &program) const {
    return program.peak <= partition.memory;
  }
  FailureOr<LaidOutProgram> layOut(int64_t memory);
  FailureOr<LaidOutProgram> layOutToFit();
  LogicalResult predictCosts(LaidOutProgram &program);
  LogicalResult recomputeToFit(LaidOutProgram &program);
  void note(const LaidOutProgram &program) const;

  /// Corrections of the search's bound.
  static constexpr int mostRounds = 4;

  ModuleOp source;
  const Target &target;
  const PartitionOptions &partition;
};

/// Lays out a copy of the program, with a bound on memory or without (0).
FailureOr<LaidOutProgram> MemoryBudget::layOut(int64_t memory) {
  PartitionOptions options;
  options.copyOptionValuesFrom(partition);
  options.memory = memory;
  options.leastMemory = true;
  LaidOutProgram program{source.clone(), {}};
  mlir::PassManager passes(source.getContext());
  passes.enableVerifier(false);
  buildLayoutPipeline(passes, options);
  if (failed(passes.run(*program.module)) || failed(predictCosts(program)))
    return failure();
  return std::move(program);
}

/// Lays out a copy of the program so that it keeps to the memory, or takes
/// least of it.
FailureOr<LaidOutProgram> MemoryBudget::layOutToFit() {
  FailureOr<LaidOutProgram> program = layOut(partition.memory);
  int64_t bound = partition.memory;
  for (int round = 1; round < mostRounds; ++round) {
    if (failed(program) || fits(*program))
      break;
    bound = std::max<int64_t>(bound - (program->peak - partition.memory), 1);
    FailureOr<LaidOutProgram> next = layOut(bound);
    if (failed(next))
      return failure();
    if (next->peak >= program->peak)
      break;
    program = std::move(next);
  }
  return program;
}

/// Predicts the program that comes of the module with its recomputation.
LogicalResult MemoryBudget::predictCosts(LaidOutProgram &program) {
  OwningOpRef<ModuleOp> copy = program.module->clone();
  recompute(functionOf(*copy), program.recomputation);
  mlir::PassManager passes(source.getContext());
  passes.enableVerifier(false);
  buildExpansionPipeline(passes.nest<FuncOp>(), partition);
  target.addPasses(passes.nest<FuncOp>());
  if (failed(passes.run(*copy)))
    return failure();
  EmitOptions plan;
  plan.machine = machineModelText(partition.machine);
  plan.makeCode = false;
  FailureOr<Result<Compiled>> compiled =
      target.emit(functionOf(*copy), plan, /*ahead=*/nullptr);
  if (failed(compiled) || !*compiled)
    return failure();
  Result<Prediction> prediction = predict(**compiled, partition.machine);
  if (!prediction)
    return mlir::emitError(functionOf(source).getLoc(),
                           prediction.error().message());
  program.time = prediction->time;
  program.peak = prediction->memory.peakBytes;
  return success();
}

/// Chooses values to compute again until the program keeps to the memory, or
/// computing more again does not help.
LogicalResult MemoryBudget::recomputeToFit(LaidOutProgram &program) {
  FuncOp function = functionOf(*program.module);
  FailureOr<Recomputation> none = findRecomputation(
      function, partition.machine, std::numeric_limits<int64_t>::max());
  if (failed(none))
    return failure();
  int64_t bound = none->peak - (program.peak - partition.memory);
  for (int round = 0; round < mostRounds && !fits(program); ++round) {
    FailureOr<Recomputation> found = findRecomputation(
        functionOf(*program.module), partition.machine, bound);
    if (failed(found))
      return failure();
    LaidOutProgram next{program.module->clone(), std::move(*found)};
    if (failed(predictCosts(next)))
      return failure();
    if (next.peak >= program.peak)
      break;
    program = std::move(next);
    bound -= program.peak - partition.memory;
  }
  return success();
}

/// Adds the recomputation to the notes of the plan for --explain.
void MemoryBudget::note(const LaidOutProgram &program) const {
  FuncOp function = functionOf(*program.module);
  SmallVector<Attribute> lines;
  if (auto notes =
          function->getAttrOfType<mlir::ArrayAttr>(dtensor::autoLayoutAttr))
    llvm::append_range(lines, notes);
  Builder builder(function.getContext());
  for (const RecomputedPart &part : program.recomputation.parts)
    lines.push_back(builder.getStringAttr(fmt::format(
        "recompute {}, as jax.checkpoint does: {} bytes per device less",
        part.place, part.savedBytes)));
  function->setAttr(dtensor::autoLayoutAttr, builder.getArrayAttr(lines));
}

FailureOr<Result<OwningOpRef<ModuleOp>>> MemoryBudget::run() {
  FailureOr<LaidOutProgram> best = layOutToFit();
  if (failed(best))
    return failure();
  if (!fits(*best)) {
    FailureOr<LaidOutProgram> fastest = layOut(/*memory=*/0);
    if (failed(fastest) || failed(recomputeToFit(*fastest)) ||
        failed(recomputeToFit(*best)))
      return failure();
    auto rank = [&](const LaidOutProgram &choice) {
      return std::pair(fits(choice) ? 0 : choice.peak, choice.time);
    };
    if (rank(*fastest) < rank(*best))
      best = std::move(fastest);
  }
  if (!fits(*best))
    return Result<OwningOpRef<ModuleOp>>(Error(
        fmt::format("no layouts and no values to compute again were found "
                    "with which a device holds at most {} bytes; those that "
                    "take least take {} at the peak of a step. Use more "
                    "devices, or allow more memory",
                    int64_t(partition.memory), best->peak),
        ErrorCode::INVALID_ARGUMENT));
  if (!best->recomputation.parts.empty()) {
    recompute(functionOf(*best->module), best->recomputation);
    note(*best);
  }
  return Result<OwningOpRef<ModuleOp>>(std::move(best->module));
}

} // namespace

FailureOr<Result<OwningOpRef<ModuleOp>>>
layOutWithinMemory(ModuleOp module, const Target &target,
                   const PartitionOptions &partition) {
  return MemoryBudget(module, target, partition).run();
}

} // namespace meshloom
