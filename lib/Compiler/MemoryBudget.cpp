// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Choices are made by the prices of the layout search, and checked by the plan
// of the program that comes of them. The search counts memory less exactly, so
// its bound is moved by the difference until the program keeps to the memory.
#include "meshloom/Compiler/MemoryBudget.h"

#include "meshloom/Compiler/AccumulateGradients.h"
#include "meshloom/Dialect/DTensor/Notes.h"
#include "meshloom/Layout/Recompute.h"
#include "meshloom/Predict/Predict.h"
#include "meshloom/Support/MachineModelFile.h"

#include "mlir/Pass/PassManager.h"

#include <fmt/format.h>

#include <limits>
#include <utility>

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
  /// Returns whether it fits and takes little longer than the fastest program.
  bool isGood(const LaidOutProgram &program) const {
    return fits(program) && program.time <= littleLonger;
  }
  /// Orders programs: less is better.
  std::pair<int64_t, int64_t> rank(const LaidOutProgram &program) const {
    return {fits(program) ? 0 : program.peak, program.time};
  }
  /// Returns the bound by the search's count that would bring a program like
  /// this one to the memory.
  int64_t searchBound(const LaidOutProgram &program) const {
    const int64_t excess = program.peak - partition.memory;
    return std::max<int64_t>(program.recomputation.peak - excess, 1);
  }
  FailureOr<LaidOutProgram> layOut(ModuleOp prepared, int64_t memory);
  FailureOr<LaidOutProgram> layOutToFit(ModuleOp prepared, int64_t bound);
  using LayoutSearch = llvm::function_ref<FailureOr<LaidOutProgram>(ModuleOp)>;
  LogicalResult accumulateToFit(ModuleOp prepared, LayoutSearch search,
                                LaidOutProgram &best);
  LogicalResult chooseToFit(ModuleOp prepared, LaidOutProgram &best);
  LogicalResult predictCosts(LaidOutProgram &program);
  LogicalResult improve(LaidOutProgram &program,
                        const Recomputation &recomputation);
  LogicalResult recomputeToFit(LaidOutProgram &program);
  void note(const LaidOutProgram &program) const;

  /// Corrections of the search's bound.
  static constexpr int mostRounds = 4;

  ModuleOp source;
  const Target &target;
  const PartitionOptions &partition;
  int64_t littleLonger = 0; ///< picoseconds
};

/// Lays out a copy of a program, with a bound on memory or without (0).
FailureOr<LaidOutProgram> MemoryBudget::layOut(ModuleOp prepared,
                                               int64_t memory) {
  PartitionOptions options;
  options.copyOptionValuesFrom(partition);
  options.memory = memory;
  options.leastMemory = true;
  LaidOutProgram program{prepared.clone(), {}};
  mlir::PassManager passes(source.getContext());
  passes.enableVerifier(false);
  buildLayoutPipeline(passes.nest<FuncOp>(), options);
  if (failed(passes.run(*program.module)))
    return failure();
  FailureOr<Recomputation> none =
      RecomputationSearch(functionOf(*program.module), partition.machine)
          .none();
  if (failed(none))
    return failure();
  program.recomputation = std::move(*none);
  if (failed(predictCosts(program)))
    return failure();
  return std::move(program);
}

/// Lays out a copy of a program so that it keeps to the memory, or takes least
/// of it. The search begins with the bound `bound`.
FailureOr<LaidOutProgram> MemoryBudget::layOutToFit(ModuleOp prepared,
                                                    int64_t bound) {
  FailureOr<LaidOutProgram> best = layOut(prepared, bound);
  // Where the search did not keep to a bound, it does not to a lower one.
  for (int round = 1; round < mostRounds && succeeded(best) && !fits(*best) &&
                      best->recomputation.peak <= bound;
       ++round) {
    bound = searchBound(*best);
    FailureOr<LaidOutProgram> next = layOut(prepared, bound);
    if (failed(next))
      return failure();
    if (rank(*next) >= rank(*best))
      break;
    best = std::move(next);
  }
  return best;
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

/// Returns how many recomputations are predicted at a time: fewer in large
/// programs, whose predictions take longer, and one for an estimate.
size_t mostPredictions(FuncOp function, bool isEstimate) {
  constexpr size_t most = 12, least = 3, mostOps = 3'000;
  if (isEstimate)
    return 1;
  size_t ops = 1;
  function.walk([&](Operation *) { ++ops; });
  return std::clamp(mostOps / ops, least, most);
}

/// Replaces the program by the same layouts with a recomputation, where that is
/// better.
LogicalResult MemoryBudget::improve(LaidOutProgram &program,
                                    const Recomputation &recomputation) {
  LaidOutProgram next{program.module->clone(), recomputation};
  if (failed(predictCosts(next)))
    return failure();
  if (rank(next) < rank(program))
    program = std::move(next);
  return success();
}

/// Chooses values to gather and to compute again so that the program keeps to
/// the memory, or takes least of it. The search's count is off by about as much
/// for programs that are alike, so the best one so far corrects its bound.
LogicalResult MemoryBudget::recomputeToFit(LaidOutProgram &program) {
  OwningOpRef<ModuleOp> module = program.module->clone();
  FuncOp function = functionOf(*module);
  const RecomputationSearch search(function, partition.machine);
  const FailureOr<Recomputation> gathers = search.gathersAgain();
  if (failed(gathers) || failed(improve(program, *gathers)))
    return failure();
  const size_t most = mostPredictions(function, partition.singleMoves);
  std::vector<Recomputation> predicted;
  for (int round = 0; round < mostRounds; ++round) {
    const int64_t bound = searchBound(program);
    const FailureOr<std::vector<Recomputation>> found =
        search.candidates(program.recomputation.gathers, bound);
    if (failed(found))
      return failure();
    const auto before = rank(program);
    for (const Recomputation &candidate :
         llvm::ArrayRef(*found).take_front(most)) {
      if (llvm::is_contained(predicted, candidate))
        continue;
      predicted.push_back(candidate);
      if (failed(improve(program, candidate)))
        return failure();
    }
    // Where no candidate keeps to a bound, none does to a lower one.
    if (found->empty() || found->front().peak > bound ||
        rank(program) == before)
      break;
  }
  return success();
}

/// Writes the recomputation into the notes of the function.
void MemoryBudget::note(const LaidOutProgram &program) const {
  FuncOp function = functionOf(*program.module);
  Builder builder(function.getContext());
  SmallVector<Attribute> lines;
  if (auto notes =
          function->getAttrOfType<mlir::ArrayAttr>(dtensor::memoryChoicesAttr))
    llvm::append_range(lines, notes);
  for (const GatherAgain &gather : program.recomputation.gathers)
    lines.push_back(builder.getStringAttr(
        fmt::format("gather the operand of the op at {} again in the backward "
                    "part, as FSDP does: {} bytes per device less",
                    gather.place, gather.savedBytes)));
  for (const RecomputedPart &part : program.recomputation.parts)
    lines.push_back(builder.getStringAttr(fmt::format(
        "recompute {}, as jax.checkpoint does: {} bytes per device less",
        part.place, part.savedBytes)));
  function->setAttr(dtensor::memoryChoicesAttr, builder.getArrayAttr(lines));
}

/// Replaces the program by one that accumulates gradients over microbatches,
/// where that is better: as few as suffice, or fewer with values to compute
/// again. Their number is doubled as long as that takes less memory.
LogicalResult MemoryBudget::accumulateToFit(ModuleOp prepared,
                                            LayoutSearch search,
                                            LaidOutProgram &best) {
  constexpr int64_t mostMicrobatches = 64;
  int64_t peak = std::numeric_limits<int64_t>::max();
  for (int64_t count = 2; count <= mostMicrobatches; count *= 2) {
    OwningOpRef<ModuleOp> accumulated = prepared.clone();
    if (!tryToAccumulateGradients(functionOf(*accumulated), count))
      break;
    FailureOr<LaidOutProgram> program = search(*accumulated);
    if (failed(program))
      return failure();
    const bool isLast = fits(*program) || program->peak >= peak;
    peak = program->peak;
    if (!fits(*program) && failed(recomputeToFit(*program)))
      return failure();
    if (rank(*program) < rank(best))
      best = std::move(*program);
    if (isLast || isGood(best))
      break;
  }
  return success();
}

/// Replaces the program, the fastest one, by one that keeps to the memory, or
/// takes least of it. Layouts for the memory take longest to find, so they are
/// sought only where they may save much time.
LogicalResult MemoryBudget::chooseToFit(ModuleOp prepared,
                                        LaidOutProgram &best) {
  littleLonger = best.time + best.time / 16;
  const int64_t bound = searchBound(best);
  auto fastest = [&](ModuleOp program) { return layOut(program, 0); };
  auto smallest = [&](ModuleOp program) { return layOutToFit(program, bound); };
  if (failed(recomputeToFit(best)) ||
      (!isGood(best) && failed(accumulateToFit(prepared, fastest, best))))
    return failure();
  if (isGood(best))
    return success();
  FailureOr<LaidOutProgram> laidOut = smallest(prepared);
  if (failed(laidOut) || (!fits(*laidOut) && failed(recomputeToFit(*laidOut))))
    return failure();
  if (rank(*laidOut) < rank(best))
    best = std::move(*laidOut);
  return isGood(best) ? success() : accumulateToFit(prepared, smallest, best);
}

FailureOr<Result<OwningOpRef<ModuleOp>>> MemoryBudget::run() {
  OwningOpRef<ModuleOp> prepared = source.clone();
  mlir::PassManager passes(source.getContext());
  passes.enableVerifier(false);
  buildPreparationPipeline(passes.nest<FuncOp>());
  if (failed(passes.run(*prepared)))
    return failure();
  FailureOr<LaidOutProgram> best = layOut(*prepared, /*memory=*/0);
  if (failed(best) || (!fits(*best) && failed(chooseToFit(*prepared, *best))))
    return failure();
  if (!fits(*best))
    return Result<OwningOpRef<ModuleOp>>(Error(
        fmt::format(
            "no layouts, values to compute again and microbatches "
            "were found with which a device holds at most {} bytes; those that "
            "take least take {} at the peak of a step. Use more "
            "devices, or allow more memory",
            int64_t(partition.memory), best->peak),
        ErrorCode::INVALID_ARGUMENT));
  if (!best->recomputation.isEmpty()) {
    note(*best);
    recompute(functionOf(*best->module), best->recomputation);
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
