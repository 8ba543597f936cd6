// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Predicts a function with each change of one annotation: estimates, and then
// the changes that are suggested.
#include "meshloom/Advice/Advice.h"

#include "meshloom/Compiler/Annotations.h"
#include "meshloom/Dialect/DTensor/FunctionContract.h"
#include "meshloom/Dialect/DTensor/FunctionLayouts.h"
#include "meshloom/Predict/Predict.h"
#include "meshloom/SPMD/Passes.h"

#include "mlir/IR/Threading.h"

#include <algorithm>
#include <numeric>

using namespace meshloom;
using mlir::func::FuncOp;

namespace {

/// How many changes are tried: 200, and fewer in programs of more than 500 ops.
size_t mostTries(FuncOp function) {
  constexpr size_t most = 200, least = 20, mostOps = 100'000;
  size_t ops = 1;
  function.walk([&](Operation *) { ++ops; });
  return std::clamp(mostOps / ops, least, most);
}

/// A copy of a function, alone in its module, without its contract.
class AdvisedFunction {
public:
  AdvisedFunction(FuncOp function, const CompileOptions &options)
      : options(options), module(copyAlone(function)) {
    this->options.target = options.machine.sharedMemory ? "cpu" : "cuda";
    this->options.makeCode = false;
    this->options.afterPass = nullptr;
  }

  FuncOp function() { return *module->getOps<FuncOp>().begin(); }
  Result<AdvisedProgram> advise(Changes changes);

private:
  Status takeContract();
  void layOutOpenArguments(const Signature &signature);
  bool keepsContract(const Contract &sent) const;
  std::vector<AnnotationChange> changesToTry(LayoutAdvice &advice);
  std::optional<StepCosts> costsOf(const LayoutAdvice &advice,
                                   const AnnotationChange &change,
                                   const CompileOptions &changeOptions);
  std::vector<std::optional<StepCosts>>
  costsOfAll(const LayoutAdvice &advice,
             const std::vector<AnnotationChange> &changes,
             const CompileOptions &changeOptions);
  void estimate(LayoutAdvice &advice, std::vector<AnnotationChange> changes);
  void confirmSuggestions(LayoutAdvice &advice);

  CompileOptions options;
  OwningOpRef<ModuleOp> module;
  std::optional<Contract> contract;
};

void AdvisedFunction::layOutOpenArguments(const Signature &signature) {
  for (BlockArgument argument : function().getArguments()) {
    const unsigned number = argument.getArgNumber();
    if (isa<RankedTensorType>(argument.getType()) &&
        (options.autoLayout->reconsider ||
         !annotatedLayout(argument.getType())))
      annotate(function(), {.arguments = {number}},
               signature.arguments[number].type.layout);
  }
  // Everything has a layout now; the memory still counts.
  options.autoLayout->mesh.clear();
  options.autoLayout->reconsider = false;
}

bool AdvisedFunction::keepsContract(const Contract &sent) const {
  return !contract || std::ranges::all_of(sent, [&](const Allowance &total) {
    return breach(*contract, total).empty();
  });
}

StepCosts stepCosts(const Prediction &prediction) {
  return {prediction.time, prediction.bytesSent, prediction.memory.peakBytes};
}

/// Returns the costs of the function with a change; nothing where it cannot be
/// compiled so, or where a contract that is broken stays broken.
std::optional<StepCosts>
AdvisedFunction::costsOf(const LayoutAdvice &advice,
                         const AnnotationChange &change,
                         const CompileOptions &changeOptions) {
  OwningOpRef<ModuleOp> copy = copyAlone(function());
  annotate(*copy->getOps<FuncOp>().begin(),
           advice.annotations[change.annotation], change.layout);
  CompileOptions compileOptions = changeOptions;
  Contract sent;
  compileOptions.tightestContract = &sent;
  Result<Compiled> compiled = compile(*copy, compileOptions);
  if (!compiled || !(advice.keepsContract || keepsContract(sent)))
    return std::nullopt;
  Result<Prediction> prediction = predict(*compiled, options.machine);
  return prediction ? std::optional(stepCosts(*prediction)) : std::nullopt;
}

/// Returns the numbers of annotations, those of the largest tensors first.
std::vector<size_t>
largestFirst(FuncOp function,
             const std::vector<LayoutAnnotation> &annotations) {
  std::vector<int64_t> elements;
  for (const LayoutAnnotation &annotation : annotations) {
    int64_t &sum = elements.emplace_back(0);
    for (unsigned argument : annotation.arguments)
      sum += cast<RankedTensorType>(function.getArgument(argument).getType())
                 .getNumElements();
  }
  std::vector<size_t> order(annotations.size());
  std::iota(order.begin(), order.end(), size_t(0));
  std::ranges::stable_sort(order, std::ranges::greater(),
                           [&](size_t number) { return elements[number]; });
  return order;
}

/// Takes the contract off the function, so that a program that breaks it can be
/// predicted.
Status AdvisedFunction::takeContract() {
  FailureOr<std::optional<Contract>> written = dtensor::contractOf(function());
  if (failed(written))
    return Error("the contract of the program cannot be read");
  contract = std::move(*written);
  function()->removeAttr(dtensor::contractAttr);
  return Success();
}

/// Returns the changes that are tried, and counts the others.
std::vector<AnnotationChange>
AdvisedFunction::changesToTry(LayoutAdvice &advice) {
  const size_t most = mostTries(function());
  std::vector<AnnotationChange> changes;
  auto add = [&](size_t annotation, std::optional<Layout> layout) {
    if (changes.size() < most)
      changes.push_back({annotation, std::move(layout), {}});
    else
      ++advice.untried;
  };
  for (size_t number : largestFirst(function(), advice.annotations)) {
    const LayoutAnnotation &annotation = advice.annotations[number];
    for (Layout &layout : layoutsNear(function(), annotation))
      add(number, std::move(layout));
    if (annotation.layout && !options.autoLayout)
      add(number, std::nullopt);
  }
  return changes;
}

/// Returns the costs of each change with these options, computed in parallel;
/// nothing where it cannot be compiled so.
std::vector<std::optional<StepCosts>>
AdvisedFunction::costsOfAll(const LayoutAdvice &advice,
                            const std::vector<AnnotationChange> &changes,
                            const CompileOptions &changeOptions) {
  std::vector<std::optional<StepCosts>> costs(changes.size());
  mlir::parallelFor(module->getContext(), 0, changes.size(), [&](size_t i) {
    costs[i] = costsOf(advice, changes[i], changeOptions);
  });
  return costs;
}

/// Adds the changes to the advice whose costs a short search finds.
void AdvisedFunction::estimate(LayoutAdvice &advice,
                               std::vector<AnnotationChange> changes) {
  CompileOptions quick = options;
  quick.singleMoves = true;
  const auto costs = costsOfAll(advice, changes, quick);
  for (size_t i = 0; i < changes.size(); ++i)
    if (costs[i]) {
      changes[i].costs = *costs[i];
      advice.changes.push_back(std::move(changes[i]));
    }
}

/// Replaces the estimated costs of the changes that are suggested, until all
/// suggestions are by the costs of whole searches.
void AdvisedFunction::confirmSuggestions(LayoutAdvice &advice) {
  std::vector<AnnotationChange> confirmed;
  while (true) {
    std::vector<AnnotationChange> open;
    for (const Suggestion &suggestion : advice.suggestions())
      if (std::ranges::count(confirmed, suggestion.change) == 0 &&
          std::ranges::count(open, suggestion.change) == 0)
        open.push_back(suggestion.change);
    if (open.empty())
      return;
    const auto costs = costsOfAll(advice, open, options);
    for (size_t i = 0; i < open.size(); ++i) {
      auto change = std::ranges::find(advice.changes, open[i]);
      if (costs[i]) {
        change->costs = *costs[i];
        confirmed.push_back(*change);
      } else {
        advice.changes.erase(change);
      }
    }
  }
}

Result<AdvisedProgram> AdvisedFunction::advise(Changes changes) {
  if (Status status = takeContract(); !status)
    return status.error();
  CompileOptions asWritten = options;
  Contract sent;
  asWritten.tightestContract = &sent;
  std::vector<std::string> memoryChoices;
  asWritten.explain = [&](const Explanation &explanation) {
    memoryChoices = explanation.memoryChoices;
    if (options.explain)
      options.explain(explanation);
  };
  Result<Compiled> compiled = compile(*module, asWritten);
  if (!compiled)
    return compiled.error();
  options.explain = nullptr;
  Result<Prediction> prediction = predict(*compiled, options.machine);
  if (!prediction)
    return prediction.error();
  if (prediction->mesh.size() == 1)
    return Error("the program is on one device, where layouts make no "
                 "difference: give it a layout over a mesh");
  if (options.autoLayout)
    layOutOpenArguments(compiled->signature());
  if (failed(exposeAnnotations(*module)))
    return Error("the annotations of the program cannot be read");
  LayoutAdvice advice{.program = prediction->program,
                      .machine = prediction->machine,
                      .mesh = prediction->mesh,
                      .memoryLimit = prediction->memoryLimit,
                      .costs = stepCosts(*prediction),
                      .keepsContract = keepsContract(sent),
                      .annotations = annotationsOf(function()),
                      .memoryChoices = std::move(memoryChoices)};
  std::vector<AnnotationChange> candidates = changesToTry(advice);
  if (changes == Changes::Tried) {
    estimate(advice, std::move(candidates));
    confirmSuggestions(advice);
  } else {
    advice.untried += candidates.size();
  }
  return AdvisedProgram{std::move(*compiled), std::move(advice)};
}

} // namespace

Result<AdvisedProgram> meshloom::adviseLayouts(ModuleOp module,
                                               const CompileOptions &options,
                                               Changes changes) {
  loadDialects(module.getContext());
  Result<FuncOp> function = functionToCompile(module, options.function);
  if (!function)
    return function.error();
  AdvisedFunction advised(*function, options);
  return advised.advise(changes);
}
