// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Choices are made by the prices of the layout search, and checked by the plan
// of the program that comes of them. The search counts memory less exactly, so
// its bound is moved by the difference until the program keeps to the memory.
// Searches for layouts take most of the time. One finds the fastest program.
// Short searches for microbatches begin with the layouts that it found, and
// whole ones follow where they promise a better program.
#include "meshloom/Compiler/MemoryBudget.h"

#include "ProgramCosts.h"

#include "meshloom/Compiler/AccumulateGradients.h"
#include "meshloom/Dialect/DTensor/Notes.h"
#include "meshloom/Layout/ArgumentSearch.h"
#include "meshloom/Layout/Recompute.h"

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
  ArgumentSearch search; ///< for its layouts
  Recomputation recomputation;
  size_t batching = 0; ///< its number
  ProgramCosts costs;
};

FuncOp functionOf(ModuleOp module) {
  return *module.getOps<FuncOp>().begin();
}

/// A program with a number of microbatches, and what its fastest layouts take.
struct Batching {
  OwningOpRef<ModuleOp> prepared;
  size_t number = 0;     ///< 0: all in one batch; else 2^number microbatches
  ArgumentSearch search; ///< for these layouts, a short one if number > 0
  int64_t time = 0;      ///< picoseconds
  int64_t peak = 0;      ///< bytes of each device, the search's count
  int64_t bound = 0;     ///< of the search, for layouts that keep to the memory
};

using Starts = std::vector<std::vector<Layout>>;

/// Adds the arguments of the `most` plans that are least by `order`.
void addStarts(
    Starts &starts, std::vector<ArgumentPlan> plans, size_t most,
    llvm::function_ref<std::pair<int64_t, int64_t>(const ArgumentPlan &)>
        order) {
  std::ranges::stable_sort(plans, {}, order);
  const size_t end = starts.size() + most;
  for (ArgumentPlan &plan : plans)
    if (starts.size() < end && !llvm::is_contained(starts, plan.arguments))
      starts.push_back(std::move(plan.arguments));
}

/// Returns the arguments of the fastest plans and of those that take least
/// memory.
Starts startsFrom(const std::vector<ArgumentPlan> &plans, size_t most) {
  Starts starts;
  addStarts(starts, plans, most, [](const ArgumentPlan &plan) {
    return std::pair(plan.cost, plan.peak);
  });
  addStarts(starts, plans, most, [](const ArgumentPlan &plan) {
    return std::pair(plan.peak, plan.cost);
  });
  return starts;
}

/// Returns all starts of both.
Starts joined(Starts starts, const Starts &others) {
  for (const std::vector<Layout> &start : others)
    if (!llvm::is_contained(starts, start))
      starts.push_back(start);
  return starts;
}

class MemoryBudget {
public:
  MemoryBudget(ModuleOp source, const Target &target,
               const PartitionOptions &partition)
      : source(source), target(target), partition(partition) {}

  FailureOr<Result<OwningOpRef<ModuleOp>>> run();

private:
  bool fits(const LaidOutProgram &program) const {
    return program.costs.peak <= partition.memory;
  }
  /// Returns whether it fits and takes little longer than the fastest program.
  bool isGood(const LaidOutProgram &program) const {
    return fits(program) && program.costs.time <= littleLonger;
  }
  /// Orders programs: less is better.
  std::pair<int64_t, int64_t> rank(const LaidOutProgram &program) const {
    return {fits(program) ? 0 : program.costs.peak, program.costs.time};
  }
  /// Returns the bound by the search's count that would bring a program like
  /// this one to the memory.
  int64_t searchBound(const LaidOutProgram &program) const {
    const int64_t excess = program.costs.peak - partition.memory;
    return std::max<int64_t>(program.recomputation.peak - excess, 1);
  }
  enum class Search : uint8_t { Estimate, Whole };
  FailureOr<LaidOutProgram> layOut(ModuleOp prepared, int64_t memory,
                                   Search depth, Starts starts);
  LogicalResult layOutToFit(const Batching &batching, LaidOutProgram &best);
  Batching batchingOf(OwningOpRef<ModuleOp> prepared,
                      const LaidOutProgram &fastest) const {
    return {
        std::move(prepared), fastest.batching,           fastest.search,
        fastest.costs.time,  fastest.recomputation.peak, searchBound(fastest)};
  }
  LogicalResult consider(LaidOutProgram program, LaidOutProgram &best);
  LogicalResult accumulate(std::vector<Batching> &batchings,
                           LaidOutProgram &best);
  bool promises(const Batching &batching, const LaidOutProgram &best) const;
  LogicalResult fitLayouts(const std::vector<Batching> &batchings,
                           LaidOutProgram &best);
  LogicalResult layOutOtherwise(const std::vector<Batching> &batchings,
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
                                               int64_t memory, Search depth,
                                               Starts starts) {
  PartitionOptions options;
  options.copyOptionValuesFrom(partition);
  options.memory = memory;
  options.leastMemory = true;
  options.singleMoves = partition.singleMoves || depth == Search::Estimate;
  LaidOutProgram program{.module = prepared.clone()};
  if (memory == 0 && !options.singleMoves)
    program.search = predictingSearch(target, partition);
  program.search.starts = std::move(starts);
  program.search.isEstimate = options.singleMoves;
  mlir::PassManager passes(source.getContext());
  passes.enableVerifier(false);
  buildLayoutPipeline(passes.nest<FuncOp>(), options, {}, &program.search);
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

/// Predicts the program that comes of the module with its recomputation.
LogicalResult MemoryBudget::predictCosts(LaidOutProgram &program) {
  OwningOpRef<ModuleOp> copy = program.module->clone();
  recompute(functionOf(*copy), program.recomputation);
  FailureOr<ProgramCosts> costs =
      meshloom::predictCosts(std::move(copy), target, partition);
  if (failed(costs))
    return failure();
  program.costs = *costs;
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
  LaidOutProgram next{program.module->clone(), program.search, recomputation,
                      program.batching};
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

/// Replaces the best program by another one, with values to compute again where
/// it does not fit, if that is better.
LogicalResult MemoryBudget::consider(LaidOutProgram program,
                                     LaidOutProgram &best) {
  if (!fits(program) && failed(recomputeToFit(program)))
    return failure();
  if (rank(program) < rank(best))
    best = std::move(program);
  return success();
}

/// Adds programs of more and more microbatches to that of one, with the fastest
/// layouts that short searches find: as many as suffice, or as long as that
/// takes less memory.
LogicalResult MemoryBudget::accumulate(std::vector<Batching> &batchings,
                                       LaidOutProgram &best) {
  constexpr int64_t mostMicrobatches = 64;
  constexpr size_t most = 2;
  const Starts near = startsFrom(batchings.front().search.plans, most);
  Starts starts = near;
  int64_t peak = std::numeric_limits<int64_t>::max();
  for (int64_t count = 2; count <= mostMicrobatches && !isGood(best);
       count *= 2) {
    OwningOpRef<ModuleOp> prepared = batchings.front().prepared->clone();
    if (!tryToAccumulateGradients(functionOf(*prepared), count))
      break;
    FailureOr<LaidOutProgram> program =
        layOut(*prepared, /*memory=*/0, Search::Estimate, starts);
    if (failed(program))
      return failure();
    const bool isLast = fits(*program) || program->costs.peak >= peak;
    peak = program->costs.peak;
    program->batching = batchings.size();
    batchings.push_back(batchingOf(std::move(prepared), *program));
    starts = joined(near, startsFrom(program->search.plans, 1));
    if (failed(consider(std::move(*program), best)))
      return failure();
    if (isLast)
      break;
  }
  return success();
}

/// Replaces the best program by one with layouts that a whole search finds
/// within the memory, if that is better: by the fastest ones where these fit.
LogicalResult MemoryBudget::layOutToFit(const Batching &batching,
                                        LaidOutProgram &best) {
  // A whole search has begun with these layouts, or none is wanted.
  const bool isFirst = batching.number > 0 && !partition.singleMoves;
  int64_t bound = isFirst ? 0 : batching.bound;
  size_t most = isFirst ? 2 : 1;
  int64_t peak = std::numeric_limits<int64_t>::max();
  std::vector<ArgumentPlan> plans = batching.search.plans;
  for (int round = 0; round < mostRounds; ++round) {
    FailureOr<LaidOutProgram> program = layOut(
        *batching.prepared, bound, Search::Whole, startsFrom(plans, most));
    if (failed(program))
      return failure();
    // Where the search did not keep to a bound, it does not to a lower one.
    const bool isLast = fits(*program) || program->costs.peak >= peak ||
                        (bound > 0 && program->recomputation.peak > bound);
    const int64_t enough = program->costs.time + program->costs.time / 16;
    program->batching = batching.number;
    peak = program->costs.peak;
    bound = searchBound(*program);
    plans = program->search.plans;
    most = 1;
    if (failed(consider(std::move(*program), best)))
      return failure();
    if (isLast || (fits(best) && best.costs.time <= enough))
      break;
  }
  return success();
}

/// Returns whether to search for layouts of a program that keep to the memory.
/// They seldom take less than half of what the fastest ones take, and are no
/// faster.
bool MemoryBudget::promises(const Batching &batching,
                            const LaidOutProgram &best) const {
  const bool mayFit = batching.bound >= batching.peak / 2;
  if (!fits(best))
    return mayFit;
  return batching.time < best.costs.time / 3 * 2 ||
         (mayFit && batching.time <= best.costs.time);
}

/// Searches for layouts that keep to the memory, with few microbatches first.
LogicalResult MemoryBudget::fitLayouts(const std::vector<Batching> &batchings,
                                       LaidOutProgram &best) {
  for (const Batching &batching : batchings) {
    const bool isLast = &batching == &batchings.back();
    if (!promises(batching, best) && (fits(best) || !isLast))
      continue;
    if (failed(layOutToFit(batching, best)))
      return failure();
    if (isGood(best))
      break;
  }
  return success();
}

/// Searches for layouts of the best number of microbatches from starts that the
/// fastest program did not come from, too.
LogicalResult
MemoryBudget::layOutOtherwise(const std::vector<Batching> &batchings,
                              LaidOutProgram &best) {
  if (best.batching == 0 || batchings.front().search.promising.empty())
    return success();
  OwningOpRef<ModuleOp> prepared =
      ModuleOp(*batchings[best.batching].prepared).clone();
  FailureOr<LaidOutProgram> program =
      layOut(*prepared, /*memory=*/0, Search::Estimate,
             batchings.front().search.promising);
  if (failed(program))
    return failure();
  program->batching = best.batching;
  return layOutToFit(batchingOf(std::move(prepared), *program), best);
}

/// Replaces the program, the fastest one, by one that keeps to the memory, or
/// takes least of it. Layouts for the memory take longest to find, so they are
/// sought only where they may save much time.
LogicalResult MemoryBudget::chooseToFit(ModuleOp prepared,
                                        LaidOutProgram &best) {
  littleLonger = best.costs.time + best.costs.time / 16;
  std::vector<Batching> batchings;
  batchings.push_back(batchingOf(prepared.clone(), best));
  if (failed(recomputeToFit(best)))
    return failure();
  if (isGood(best))
    return success();
  if (failed(accumulate(batchings, best)))
    return failure();
  if (isGood(best)) // A short search found it, which suffices for an estimate.
    return partition.singleMoves ? success()
                                 : layOutToFit(batchings.back(), best);
  if (failed(fitLayouts(batchings, best)))
    return failure();
  return isGood(best) ? success() : layOutOtherwise(batchings, best);
}

FailureOr<Result<OwningOpRef<ModuleOp>>> MemoryBudget::run() {
  OwningOpRef<ModuleOp> prepared = source.clone();
  mlir::PassManager passes(source.getContext());
  passes.enableVerifier(false);
  buildPreparationPipeline(passes.nest<FuncOp>());
  if (failed(passes.run(*prepared)))
    return failure();
  FailureOr<LaidOutProgram> best =
      layOut(*prepared, /*memory=*/0, Search::Whole, /*starts=*/{});
  if (failed(best) || (!fits(*best) && failed(chooseToFit(*prepared, *best))))
    return failure();
  if (!fits(*best))
    return Result<OwningOpRef<ModuleOp>>(Error(
        fmt::format(
            "no layouts, values to compute again and microbatches "
            "were found with which a device holds at most {} bytes; those that "
            "take least take {} at the peak of a step. Use more "
            "devices, or allow more memory",
            int64_t(partition.memory), best->costs.peak),
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
