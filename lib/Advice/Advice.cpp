// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compiles and predicts a function with each change of one annotation.
#include "meshloom/Advice/Advice.h"

#include "meshloom/Compiler/Annotations.h"
#include "meshloom/Dialect/DTensor/FunctionContract.h"
#include "meshloom/Dialect/DTensor/FunctionLayouts.h"
#include "meshloom/Predict/Predict.h"
#include "meshloom/SPMD/Passes.h"

#include <algorithm>
#include <numeric>

using namespace meshloom;
using mlir::func::FuncOp;

namespace {

/// How many changes are tried: 200, and fewer in programs of more than 500 ops.
/// A transformer of 2 layers takes some 300 ms for each.
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
    this->options.tightestContract = &sent;
  }

  FuncOp function() { return *module->getOps<FuncOp>().begin(); }
  Result<LayoutAdvice> advise(Changes changes);

private:
  Status takeContract();
  Result<Prediction> predictStep(ModuleOp program);
  void layOutOpenArguments(const Signature &signature);
  bool keepsContract() const;
  void tryChanges(LayoutAdvice &advice, size_t tries);
  void tryChange(LayoutAdvice &advice, size_t annotation,
                 const std::optional<Layout> &layout);

  CompileOptions options;
  OwningOpRef<ModuleOp> module;
  std::optional<Contract> contract;
  Contract sent; ///< what the program that was compiled last sends
};

void AdvisedFunction::layOutOpenArguments(const Signature &signature) {
  for (BlockArgument argument : function().getArguments()) {
    const unsigned number = argument.getArgNumber();
    if (isa<RankedTensorType>(argument.getType()) &&
        !givenLayout(argument.getType()))
      annotate(function(), {.arguments = {number}},
               signature.arguments[number].type.layout);
  }
  // Everything has a layout now; the memory still counts.
  options.autoLayout->mesh.clear();
  options.autoLayout->reconsider = false;
}

Result<Prediction> AdvisedFunction::predictStep(ModuleOp program) {
  sent.clear();
  Result<Compiled> compiled = compile(program, options);
  return compiled ? predict(*compiled, options.machine) : compiled.error();
}

bool AdvisedFunction::keepsContract() const {
  return !contract || std::ranges::all_of(sent, [&](const Allowance &total) {
    return breach(*contract, total).empty();
  });
}

StepCosts costsOf(const Prediction &prediction) {
  return {prediction.time, prediction.bytesSent, prediction.memory.peakBytes};
}

void AdvisedFunction::tryChange(LayoutAdvice &advice, size_t annotation,
                                const std::optional<Layout> &layout) {
  OwningOpRef<ModuleOp> copy = copyAlone(function());
  annotate(*copy->getOps<FuncOp>().begin(), advice.annotations[annotation],
           layout);
  // A program that cannot be laid out so is no change to suggest.
  Result<Prediction> prediction = predictStep(*copy);
  if (prediction && (advice.keepsContract || keepsContract()))
    advice.changes.push_back({annotation, layout, costsOf(*prediction)});
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

/// Tries so many changes, and counts the others.
void AdvisedFunction::tryChanges(LayoutAdvice &advice, size_t tries) {
  for (size_t number : largestFirst(function(), advice.annotations)) {
    const LayoutAnnotation &annotation = advice.annotations[number];
    std::vector<std::optional<Layout>> layouts;
    for (Layout &layout : layoutsNear(function(), annotation))
      layouts.push_back(std::move(layout));
    if (annotation.layout && !options.autoLayout)
      layouts.push_back(std::nullopt);
    const size_t few = std::min(tries, layouts.size());
    for (size_t i = 0; i < few; ++i)
      tryChange(advice, number, layouts[i]);
    tries -= few;
    advice.untried += layouts.size() - few;
  }
}

Result<LayoutAdvice> AdvisedFunction::advise(Changes changes) {
  if (Status status = takeContract(); !status)
    return status.error();
  Result<Compiled> compiled = compile(*module, options);
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
                      .costs = costsOf(*prediction),
                      .keepsContract = keepsContract(),
                      .annotations = annotationsOf(function())};
  tryChanges(advice, changes == Changes::Tried ? mostTries(function()) : 0);
  return advice;
}

} // namespace

Result<LayoutAdvice> meshloom::adviseLayouts(ModuleOp module,
                                             const CompileOptions &options,
                                             Changes changes) {
  loadDialects(module.getContext());
  Result<FuncOp> function = functionToCompile(module, options.function);
  if (!function)
    return function.error();
  AdvisedFunction advised(*function, options);
  return advised.advise(changes);
}
