// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// AutoLayout: lays the arguments of a function out in several ways, refines
// each, and keeps the layouts that the cheapest plan came to.

#include "FunctionGraph.h"
#include "LaidOut.h"
#include "LayoutFlow.h"
#include "TensorParallelDims.h"

#include "meshloom/ControlFlow/ReturnTypes.h"
#include "meshloom/Dialect/DTensor/FunctionLayouts.h"
#include "meshloom/Dialect/DTensor/Notes.h"
#include "meshloom/Dialect/DTensor/OpenSignature.h"
#include "meshloom/Dialect/DTensor/WrittenLayouts.h"
#include "meshloom/Layout/ArgumentSearch.h"
#include "meshloom/Layout/LayoutReport.h"
#include "meshloom/Layout/Passes.h"
#include "meshloom/Layout/Search/LayoutSearch.h"
#include "meshloom/Layout/Search/LayoutStarts.h"

#include "mlir/IR/Threading.h"
#include "mlir/Pass/PassManager.h"

#include <algorithm>
#include <thread>

namespace meshloom {
#define GEN_PASS_DEF_AUTOLAYOUT
#include "meshloom/Layout/Passes.h.inc"

namespace {
using Plan = ArgumentPlan;

/// Returns the mesh that a text as "x=2,y=4" names.
Result<Mesh> meshOf(StringRef text) {
  std::vector<MeshAxis> axes;
  for (StringRef axis : llvm::split(text, ',')) {
    auto [name, number] = axis.split('=');
    int64_t size = 0;
    if (number.getAsInteger(10, size))
      return Error("expected names of axes and their sizes, as in x=2,y=4, or "
                   "a number of devices");
    axes.push_back({name.str(), size});
  }
  return Mesh::get(std::move(axes));
}

/// Holds back the diagnostics of the thread that it lives in.
class QuietThread {
public:
  explicit QuietThread(MLIRContext *context)
      : handler(context,
                [thread = std::this_thread::get_id()](mlir::Diagnostic &) {
                  return success(thread == std::this_thread::get_id());
                }) {}

private:
  mlir::ScopedDiagnosticHandler handler;
};

class AutoLayoutPass : public impl::AutoLayoutBase<AutoLayoutPass> {
public:
  using AutoLayoutBase::AutoLayoutBase;
  AutoLayoutPass(AutoLayoutOptions options, ArgumentSearch *search)
      : AutoLayoutBase(std::move(options)), search(search) {}

private:
  void runOnOperation() override {
    mlir::func::FuncOp function = getOperation();
    if (function.isExternal())
      return;
    FailureOr<std::vector<Mesh>> meshes = meshesFor(function);
    if (failed(meshes) || failed(expectOneBlock(function)))
      return signalPassFailure();
    findOpenArguments();
    leastCost.reset();
    if (meshes->front().size() == 1 || open.empty())
      return;
    if (reconsider)
      forgetLayouts(function);
    propagated.clear();
    unmoved.clear();
    predicted.clear();
    necessaryStarts = 1;
    std::vector<std::vector<Layout>> starts;
    if (search && !search->starts.empty())
      starts = search->starts;
    else
      starts = startsOn(*meshes);
    const bool isEstimate = search && search->isEstimate;
    const std::vector<std::vector<Layout>> begins =
        isEstimate ? starts : promising(starts);
    searchedStarts = 0;
    std::vector<Plan> plans = planFrom(
        begins, isEstimate ? SearchDepth::SingleMoves : SearchDepth::Chains);
    // Propagation says what is wrong with the program.
    if (plans.empty())
      return;
    const Cost most = std::ranges::max_element(plans, {}, &Plan::cost)->cost;
    const Plan best = isEstimate ? bestOf(plans) : searchWhole(plans);
    if (search) {
      search->plans = std::move(plans);
      search->plans.push_back(best);
    }
    if (memory > 0 && !leastMemory && best.peak > memory) {
      mlir::emitError(function.getLoc(),
                      "no layouts were found in which a device holds at "
                      "most ")
          << int64_t(memory) << " bytes; those that take least take "
          << best.peak
          << " at the peak of a step. Use more devices, or allow more memory";
      return signalPassFailure();
    }
    const bool isAsWritten = isFasterAsWritten(best);
    report(best, meshes->size(), starts.size(), most);
    layOutAnew(function, best.arguments);
    if (isAsWritten)
      function->setAttr(refineAsWrittenAttr,
                        mlir::UnitAttr::get(&getContext()));
  }

  /// Returns the number of the result that is the argument's next value.
  static std::optional<unsigned> nextValueOf(mlir::func::FuncOp function,
                                             unsigned argument) {
    auto alias =
        function.getArgAttrOfType<IntegerAttr>(argument, dtensor::aliasAttr);
    return alias ? std::optional(unsigned(alias.getInt())) : std::nullopt;
  }

  /// Lets the next values of arguments be laid out as they come: a constraint
  /// brings each of them to the layout that the argument was written with.
  void forgetLayouts(mlir::func::FuncOp function) {
    Operation *terminator = function.getBody().front().getTerminator();
    for (unsigned number : open) {
      std::optional<unsigned> result = nextValueOf(function, number);
      if (!result)
        continue;
      OpOperand &next = terminator->getOpOperand(*result);
      auto constraint = next.get().getDefiningOp<dtensor::ConstraintOp>();
      if (constraint && !dtensor::wishOf(constraint))
        next.set(constraint.getOperand());
    }
  }

  /// The meshes that may be chosen: the function's, or the option's for a
  /// program of one device.
  FailureOr<std::vector<Mesh>> meshesFor(mlir::func::FuncOp function) {
    FailureOr<Mesh> named = onlyMesh(function);
    if (failed(named))
      return failure();
    if (mesh.empty())
      return std::vector{*named};
    int64_t devices = 0;
    if (!StringRef(mesh).getAsInteger(10, devices))
      return meshesOf(devices, *named);
    Result<Mesh> axes = meshOf(mesh);
    if (!axes)
      return mlir::emitError(function.getLoc(), "'")
             << std::string(mesh)
             << "' is not a mesh: " << axes.error().message();
    if (named->size() > 1 && !(*named == *axes))
      return mlir::emitError(function.getLoc(), "the program is on mesh ")
             << named->spec_string() << ", not on the mesh "
             << axes->spec_string() << " that the option names";
    return std::vector{*axes};
  }

  /// The meshes of so many devices for a program on mesh `named`.
  FailureOr<std::vector<Mesh>> meshesOf(int64_t devices, const Mesh &named) {
    constexpr int64_t mostDevices = 1'000'000;
    if (devices < 2 || devices > mostDevices)
      return mlir::emitError(getOperation().getLoc(), "layouts over ")
             << devices << " devices were asked for; expected 2 to "
             << mostDevices;
    if (named.size() > 1 && named.size() != devices)
      return mlir::emitError(getOperation().getLoc(), "the program is on mesh ")
             << named.spec_string() << ", which has " << named.size()
             << " devices, not the " << devices << " that the option names";
    return named.size() > 1 ? std::vector{named} : meshesOfDevices(devices);
  }

  void findOpenArguments() {
    mlir::func::FuncOp function = getOperation();
    open.clear();
    for (BlockArgument argument : function.getArguments())
      if (isa<RankedTensorType>(argument.getType()) &&
          (reconsider || !annotatedLayout(argument.getType())))
        open.push_back(argument.getArgNumber());
  }

  static OpenArgument::Kind kindOf(mlir::func::FuncOp function,
                                   unsigned number) {
    if (!nextValueOf(function, number))
      return OpenArgument::Kind::Input;
    BlockArgument argument = function.getArgument(number);
    const SmallVector<int64_t> shape = dtensor::globalShape(argument.getType());
    const bool isMoment = llvm::all_of(argument.getUsers(), [&](Operation *op) {
      return llvm::all_of(op->getResultTypes(), [&](Type type) {
        return isa<RankedTensorType>(type) &&
               dtensor::globalShape(type) == shape;
      });
    });
    return isMoment ? OpenArgument::Kind::Moment : OpenArgument::Kind::Weight;
  }

  /// Returns the dims of arguments that tensor parallelism cuts.
  std::vector<std::optional<unsigned>> tensorParallelDims() {
    mlir::func::FuncOp function = getOperation();
    std::vector<bool> isWeight;
    for (unsigned number = 0; number < function.getNumArguments(); ++number)
      isWeight.push_back(kindOf(function, number) ==
                         OpenArgument::Kind::Weight);
    return meshloom::tensorParallelDims(function, isWeight);
  }

  /// Returns the starts on these meshes. The user's layouts come first, then
  /// data parallelism.
  std::vector<std::vector<Layout>> startsOn(const std::vector<Mesh> &meshes) {
    mlir::func::FuncOp function = getOperation();
    const std::vector<std::optional<unsigned>> tensorDims =
        tensorParallelDims();
    std::vector<OpenArgument> arguments;
    std::vector<Layout> asWritten;
    bool isWritten = false;
    for (unsigned number : open) {
      Type type = function.getArgument(number).getType();
      SmallVector<int64_t> shape = dtensor::globalShape(type);
      arguments.push_back({Shape(shape.begin(), shape.end()),
                           kindOf(function, number), tensorDims[number]});
      std::optional<Layout> layout = annotatedLayout(type);
      isWritten |= layout.has_value();
      asWritten.push_back(
          layout ? *layout
                 : Layout::replicated(meshes.front(), unsigned(shape.size())));
    }
    std::vector<std::vector<Layout>> starts;
    for (const Mesh &candidate : meshes)
      llvm::append_range(
          starts, layoutStarts(candidate, arguments,
                               [&](auto &lists) { return placesOf(lists); }));
    std::swap(starts.front(), starts[std::min<size_t>(1, starts.size() - 1)]);
    if (isWritten)
      starts.insert(starts.begin(), std::move(asWritten));
    necessaryStarts = isWritten ? 2 : 1;
    return starts;
  }

  /// Finds the propagated plans of these starts. Returns whether they have
  /// some.
  bool propagate(const std::vector<std::vector<Layout>> &starts) {
    std::vector<std::vector<Layout>> others;
    for (const std::vector<Layout> &start : starts)
      if (!llvm::is_contained(others, start) &&
          !llvm::is_contained(
              llvm::map_range(propagated, std::mem_fn(&Plan::arguments)),
              start))
        others.push_back(start);
    const std::vector<std::vector<Plan>> plans =
        searchAll(others, Arguments::Propagated);
    for (const std::vector<Plan> &plan : plans)
      propagated.push_back(plan.front());
    return plans.size() == others.size();
  }

  /// Returns the places of lists of layouts by their propagated plans; nothing
  /// where the program is wrong.
  std::vector<size_t> placesOf(const std::vector<std::vector<Layout>> &lists) {
    if (!propagate(lists))
      return {};
    llvm::stable_sort(propagated, [this](const Plan &plan, const Plan &other) {
      return isBetter(plan, other);
    });
    std::vector<size_t> places;
    for (const std::vector<Layout> &list : lists)
      places.push_back(
          size_t(std::ranges::find(propagated, list, &Plan::arguments) -
                 propagated.begin()));
    return places;
  }

  /// Returns the plans that the starts come to, with the starts themselves;
  /// nothing where the program is wrong. The layouts that the search moves
  /// arguments to are planned once more with arguments that stay, which is how
  /// the program will be compiled.
  std::vector<Plan> planFrom(const std::vector<std::vector<Layout>> &starts,
                             SearchDepth depth) {
    std::vector<Plan> plans, movedPlans;
    for (std::vector<Plan> &both :
         searchAll(starts, {Arguments::Stay, Arguments::Move}, depth)) {
      for (Plan &plan : both)
        plan.start = searchedStarts;
      ++searchedStarts;
      plans.push_back(std::move(both[0]));
      movedPlans.push_back(std::move(both[1]));
    }
    std::vector<std::vector<Layout>> moved;
    std::vector<size_t> startOf;
    for (Plan &plan : movedPlans) {
      if (plan.isOptimal)
        leastCost = plan.cost;
      if (llvm::is_contained(starts, plan.arguments) ||
          llvm::is_contained(moved, plan.arguments))
        continue;
      moved.push_back(std::move(plan.arguments));
      startOf.push_back(plan.start);
    }
    for (auto [start, plan] :
         llvm::zip(startOf, searchAll(moved, Arguments::Stay, depth))) {
      plan.front().start = start;
      plans.push_back(std::move(plan.front()));
    }
    return plans;
  }

  /// How the open arguments are laid out: a search moves them or not, or none
  /// is made, and the plan is that of propagation.
  enum class Arguments { Move, Stay, Propagated };

  /// Returns the starts that long searches begin with. If there are many, the
  /// ones with the best propagated plans are searched by moves of single
  /// clusters, and the arguments of the best plans found are returned. The
  /// first starts are always among them: the user's layouts, and data
  /// parallelism, whose sums overlap work, which the search's costs do not say.
  std::vector<std::vector<Layout>>
  promising(std::vector<std::vector<Layout>> starts) {
    constexpr size_t mostEstimated = 9, mostLong = 4;
    const std::vector<std::vector<Layout>> first(
        starts.begin(), starts.begin() + std::ptrdiff_t(std::min(
                                             necessaryStarts, starts.size())));
    if (starts.size() > mostEstimated)
      starts = propagate(starts) ? bestStarts(first, propagated, mostEstimated)
                                 : std::vector<std::vector<Layout>>();
    if (search)
      search->promising = starts;
    if (starts.size() > mostLong) {
      std::vector<Plan> plans = planFrom(starts, SearchDepth::SingleMoves);
      llvm::copy_if(plans, std::back_inserter(unmoved), [&](const Plan &plan) {
        return llvm::is_contained(starts, plan.arguments);
      });
      starts = bestStarts(first, std::move(plans), mostLong);
    }
    return starts;
  }

  /// Adds the arguments of the best plans to some starts, up to `most`.
  std::vector<std::vector<Layout>>
  bestStarts(std::vector<std::vector<Layout>> starts, std::vector<Plan> plans,
             size_t most) const {
    llvm::stable_sort(plans, [this](const Plan &plan, const Plan &other) {
      return isBetter(plan, other);
    });
    for (Plan &plan : plans)
      if (starts.size() < most && !llvm::is_contained(starts, plan.arguments))
        starts.push_back(std::move(plan.arguments));
    return starts;
  }

  /// Searches from several lists of layouts, from each in these ways; nothing
  /// where one fails.
  std::vector<std::vector<Plan>>
  searchAll(const std::vector<std::vector<Layout>> &starts,
            llvm::ArrayRef<Arguments> ways,
            SearchDepth depth = SearchDepth::Whole) {
    std::vector<std::vector<Plan>> plans(starts.size());
    mlir::parallelFor(&getContext(), 0, starts.size(), [&](size_t start) {
      plans[start] = plansFor(starts[start], ways, depth);
    });
    if (llvm::any_of(plans, [](const auto &list) { return list.empty(); }))
      return {};
    return plans;
  }

  /// Returns how many bytes a plan takes that are not there.
  int64_t excess(const Plan &plan) const {
    return memory > 0 ? std::max<int64_t>(plan.peak - memory, 0) : 0;
  }

  /// Whether `plan` is the better one: it keeps to the memory, or takes less
  /// where neither does; then it takes less time, then less memory.
  bool isBetter(const Plan &plan, const Plan &other) const {
    return std::tuple(excess(plan), plan.cost, plan.peak) <
           std::tuple(excess(other), other.cost, other.peak);
  }

  const Plan &bestOf(const std::vector<Plan> &plans) const {
    return *std::ranges::min_element(
        plans, [this](const Plan &plan, const Plan &other) {
          return isBetter(plan, other);
        });
  }

  /// Returns the best plan of all, those included that whole searches from the
  /// best of `plans` find, which are added to these.
  Plan searchWhole(std::vector<Plan> &plans) {
    constexpr size_t mostWhole = 2;
    const size_t chains = plans.size();
    predictBest(plans, necessaryStarts, mostPredicted());
    predictBest(unmoved, /*firstStart=*/0, 2 * mostPredicted());
    std::vector<std::vector<Layout>> starts = bestStarts({}, plans, mostWhole);
    const Plan *fastest = fasterOf(fastestOf(plans), fastestOf(unmoved));
    if (fastest && !llvm::is_contained(starts, fastest->arguments))
      starts.back() = fastest->arguments;
    llvm::append_range(plans, planFrom(starts, SearchDepth::Whole));
    Plan best = bestOf(plans);
    // The search has begun with `starts` already.
    if (!llvm::is_contained(starts, best.arguments) && improve(best)) {
      best.start = searchedStarts++;
      plans.push_back(best);
    }
    predictBest(llvm::MutableArrayRef(plans).drop_front(chains),
                /*firstStart=*/0, mostPredicted());
    fastest = fasterOf(fastestOf(plans), fastestOf(unmoved));
    return fastest ? *fastest : best;
  }

  /// Returns how many plans are predicted at a time: the more the smaller their
  /// programs are, and none of large ones, whose predictions take longest.
  size_t mostPredicted() {
    constexpr size_t mostOps = 20'000, least = 2, most = 5;
    size_t ops = 1;
    getOperation().walk([&](Operation *) { ++ops; });
    return mostOps / ops < least ? 0 : std::min(most, mostOps / ops);
  }

  /// Predicts the programs of all plans of starts in front of `firstStart`, and
  /// of the best plans of others: `most` in all.
  void predictBest(llvm::MutableArrayRef<Plan> plans, size_t firstStart,
                   size_t most) {
    if (!search || !search->predictTime)
      return;
    llvm::stable_sort(plans, [this](const Plan &plan, const Plan &other) {
      return isBetter(plan, other);
    });
    auto isFirst = [=](const Plan &plan) { return plan.start < firstStart; };
    std::vector<Plan *> finalists;
    auto add = [&](Plan &plan) {
      if (llvm::none_of(finalists, [&](const Plan *other) {
            return other->arguments == plan.arguments ||
                   (other->start == plan.start && !isFirst(plan));
          }))
        finalists.push_back(&plan);
    };
    for (Plan &plan : plans)
      if (isFirst(plan))
        add(plan);
    for (Plan &plan : plans)
      if (!isFirst(plan))
        add(plan);
    finalists.resize(std::min(finalists.size(), most));
    mlir::parallelFor(&getContext(), 0, finalists.size(), [&](size_t index) {
      Plan &plan = *finalists[index];
      const auto found = llvm::find_if(predicted, [&](const Plan &other) {
        return other.arguments == plan.arguments;
      });
      plan.predicted =
          found == predicted.end() ? predict(plan.arguments) : found->predicted;
    });
    for (const Plan *plan : finalists)
      predicted.push_back(*plan);
  }

  /// Predicts the program with arguments that are laid out so; nothing where it
  /// cannot be compiled.
  std::optional<Cost> predict(const std::vector<Layout> &arguments,
                              Refinement refinement = Refinement::ByTime) {
    mlir::OwningOpRef<mlir::ModuleOp> copy = copyAlone();
    layOutAnew(functionOf(*copy), arguments);
    const QuietThread quiet(&getContext());
    FailureOr<Cost> time = search->predictTime(std::move(copy), refinement);
    return succeeded(time) ? std::optional(*time) : std::nullopt;
  }

  /// Returns whether the program is faster where it is refined as if a user had
  /// written these layouts, which is also how a copy of them is compiled.
  bool isFasterAsWritten(const Plan &plan) {
    if (!plan.predicted)
      return false;
    const std::optional<Cost> time =
        predict(plan.arguments, Refinement::Written);
    return time && *time < *plan.predicted;
  }

  /// Returns the plan whose program is predicted to be the fastest one of those
  /// that take no more memory than there is, or than the best one does; null
  /// where none was predicted.
  const Plan *fastestOf(const std::vector<Plan> &plans) const {
    const Plan *fastest = nullptr;
    for (const Plan &plan : plans)
      if (plan.predicted && excess(plan) <= excess(bestOf(plans)) &&
          (!fastest || *plan.predicted < *fastest->predicted))
        fastest = &plan;
    return fastest;
  }

  /// Returns the one whose program is predicted to be faster, the first one
  /// where both take as long; null where neither was predicted.
  static const Plan *fasterOf(const Plan *plan, const Plan *other) {
    if (!plan || !other)
      return plan ? plan : other;
    return *other->predicted < *plan->predicted ? other : plan;
  }

  /// Begins again with what was found, as long as that helps. Returns whether
  /// it does.
  bool improve(Plan &plan) {
    constexpr int mostRounds = 4;
    for (int round = 0; round < mostRounds; ++round) {
      std::vector<Plan> next =
          plansFor(plan.arguments, Arguments::Move, SearchDepth::Whole);
      if (next.empty() || next.front().arguments == plan.arguments)
        return round > 0;
      next =
          plansFor(next.front().arguments, Arguments::Stay, SearchDepth::Whole);
      if (next.empty() || !isBetter(next.front(), plan))
        return round > 0;
      plan = std::move(next.front());
    }
    return true;
  }

  /// Returns a module with a copy of the function.
  mlir::OwningOpRef<mlir::ModuleOp> copyAlone() {
    mlir::func::FuncOp function = getOperation();
    auto module = function->getParentOfType<mlir::ModuleOp>();
    mlir::OwningOpRef<mlir::ModuleOp> copy =
        mlir::ModuleOp::create(function.getLoc());
    if (module)
      (*copy)->setDiscardableAttrs(module->getDiscardableAttrDictionary());
    copy->push_back(function.clone());
    return copy;
  }

  static mlir::func::FuncOp functionOf(mlir::ModuleOp module) {
    return *module.getOps<mlir::func::FuncOp>().begin();
  }

  /// Propagates `start` through a copy of the function, and searches from there
  /// for the cheapest plan in each of these ways. Nothing where that fails.
  std::vector<Plan> plansFor(const std::vector<Layout> &start,
                             llvm::ArrayRef<Arguments> ways,
                             SearchDepth depth) {
    MLIRContext *context = &getContext();
    const mlir::OwningOpRef<mlir::ModuleOp> copy = copyAlone();
    const mlir::func::FuncOp trial = functionOf(*copy);
    layOut(trial, start);
    const QuietThread quiet(context);
    mlir::PassManager passes(context);
    passes.enableVerifier(false);
    passes.addNestedPass<mlir::func::FuncOp>(createPropagateLayouts());
    if (failed(passes.run(*copy)))
      return {};
    std::vector<Plan> plans;
    for (Arguments way : ways) {
      FailureOr<Plan> plan = planFor(trial, start, way, depth);
      if (failed(plan))
        return {};
      plans.push_back(std::move(*plan));
    }
    return plans;
  }

  /// Returns the cheapest plan that a search finds for a propagated function.
  FailureOr<Plan> planFor(mlir::func::FuncOp trial,
                          const std::vector<Layout> &start, Arguments arguments,
                          SearchDepth depth) {
    SmallVector<int64_t> moving;
    if (arguments == Arguments::Move)
      moving.assign(open.begin(), open.end());
    trial->setAttr(dtensor::openArgumentsAttr,
                   Builder(trial.getContext()).getDenseI64ArrayAttr(moving));
    FunctionGraph nodes;
    if (failed(nodes.build(trial, FunctionGraph::Steps::Repeated)))
      return failure();
    if (arguments == Arguments::Propagated) {
      const auto [cost, peak] = priceLayouts(nodes.graph, machine);
      return Plan{.arguments = start, .cost = cost.cost, .peak = peak};
    }
    const LayoutRefinement found =
        findLayouts(nodes.graph, machine, memory, depth);
    Plan plan{.cost = found.after.cost,
              .peak = found.peakAfter,
              .isOptimal = arguments == Arguments::Move && found.isOptimal};
    for (unsigned number : open)
      plan.arguments.push_back(found.layouts[nodes.argumentValue(number)]);
    return plan;
  }

  /// Lays open arguments out, and the results that are their next values.
  void layOut(mlir::func::FuncOp function,
              const std::vector<Layout> &layouts) const {
    SmallVector<Type> results(function.getResultTypes());
    for (auto [number, layout] : llvm::zip_equal(open, layouts)) {
      BlockArgument argument = function.getArgument(number);
      setLayout(argument, layout);
      if (std::optional<unsigned> result = nextValueOf(function, number))
        results[*result] = argument.getType();
    }
    function.setFunctionType(mlir::FunctionType::get(
        function.getContext(), function.getBody().front().getArgumentTypes(),
        results));
  }

  /// Lays open arguments out anew, and says so in the function's attributes.
  void layOutAnew(mlir::func::FuncOp function,
                  const std::vector<Layout> &layouts) const {
    forgetWrittenLayouts(function, layouts);
    layOut(function, layouts);
    matchReturnTypes(function);
  }

  /// An argument that moves is no longer laid out as it was written.
  void forgetWrittenLayouts(mlir::func::FuncOp function,
                            const std::vector<Layout> &layouts) const {
    for (auto [number, layout] : llvm::zip_equal(open, layouts)) {
      std::optional<Layout> before =
          annotatedLayout(function.getArgument(number).getType());
      if (!before || *before == layout)
        continue;
      function.removeArgAttr(number, dtensor::writtenAttr);
      if (std::optional<unsigned> result = nextValueOf(function, number))
        function.removeResultAttr(
            *result,
            StringAttr::get(function.getContext(), dtensor::writtenAttr));
    }
  }

  /// Notes for --explain what was found, on how many meshes and from how many
  /// starts. `most`: the cost of the most expensive of the plans that the
  /// starts came to.
  void report(const Plan &plan, size_t meshes, size_t starts, Cost most) {
    mlir::func::FuncOp function = getOperation();
    std::vector<NamedLayout> layouts;
    for (auto [number, layout] : llvm::zip_equal(open, plan.arguments)) {
      auto name =
          function.getArgAttrOfType<StringAttr>(number, dtensor::nameAttr);
      layouts.push_back(
          {name ? name.str() : "#" + std::to_string(number), layout});
    }
    Builder builder(&getContext());
    const std::string chosen =
        meshes > 1 ? "mesh " + plan.arguments.front().mesh().spec_string() +
                         ", the best of " + std::to_string(meshes) + "; "
                   : "";
    SmallVector<Attribute> lines{builder.getStringAttr(
        chosen + "predicted " + formatTime(plan.cost) + " a step, " +
        std::to_string(plan.peak) +
        " bytes per device at the peak; the best of " + std::to_string(starts) +
        " starts, which came to up to " + formatTime(most) +
        (meshes == 1 && leastCost && plan.cost <= *leastCost
             ? "; no layouts are faster"
             : ""))};
    for (const std::string &line : reportLines(layouts))
      lines.push_back(builder.getStringAttr(line));
    function->setAttr(dtensor::autoLayoutAttr, builder.getArrayAttr(lines));
  }

  SmallVector<unsigned> open;   ///< arguments, by number
  std::vector<Plan> propagated; ///< of the starts that were propagated
  /// The plans of the promising starts in which their arguments stay, as people
  /// write them by hand.
  std::vector<Plan> unmoved;
  std::vector<Plan> predicted;
  size_t searchedStarts = 0;
  size_t necessaryStarts = 1; ///< so many are always searched from
  ArgumentSearch *search = nullptr;
  /// The least cost of all plans for the last mesh, where it is known.
  std::optional<Cost> leastCost;
};
} // namespace

std::unique_ptr<mlir::Pass> createAutoLayout(AutoLayoutOptions options,
                                             ArgumentSearch *search) {
  return std::make_unique<AutoLayoutPass>(std::move(options), search);
}
} // namespace meshloom
