// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tries changes of single annotations on copies of the function.
#include "ContractAdvice.h"

#include "meshloom/Compiler/Annotations.h"
#include "meshloom/Layout/Passes.h"

#include "mlir/IR/Diagnostics.h"

#include <fmt/format.h>

#include <thread>

namespace meshloom {

namespace {

/// Copies that are partitioned before the search ends. A block of a transformer
/// takes some 50 ms each.
constexpr size_t mostTries = 200;

/// "argument 'x' has the layout [*, y] instead of [x, *]".
std::string changeText(const LayoutAnnotation &annotation,
                       const std::optional<Layout> &layout) {
  auto text = [](const std::optional<Layout> &layout) {
    return layout ? layout->spec_string() : std::string("no layout");
  };
  return fmt::format(
      "{}{} {} {}{} instead of {}", annotation.constraint ? "the " : "",
      annotation.text, annotation.arguments.size() > 1 ? "have" : "has",
      layout ? "the layout " : "", text(layout), text(annotation.layout));
}

/// The predicted time of a step of `function`, which it partitions; nothing
/// where that fails, as it does where the function breaks its contract.
std::optional<Cost> predictedTime(mlir::func::FuncOp function,
                                  const PartitionOptions &options) {
  MLIRContext *context = function.getContext();
  auto source = function->getParentOfType<ModuleOp>();
  mlir::PassManager passes(context);
  passes.enableVerifier(false);
  buildPartitionPipeline(passes, options);
  passes.addNestedPass<mlir::func::FuncOp>(createCheckContract());
  if (failed(passes.run(source)))
    return std::nullopt;
  auto time = function->getAttrOfType<IntegerAttr>(predictedTimeAttr);
  return time ? time.getInt() : 0;
}

} // namespace

std::string contractAdvice(mlir::func::FuncOp function,
                           const PartitionOptions &partition,
                           const ContractFindings &findings) {
  MLIRContext *context = function.getContext();
  // The errors of copies are no news.
  const std::thread::id thread = std::this_thread::get_id();
  mlir::ScopedDiagnosticHandler silence(context, [&](mlir::Diagnostic &) {
    return success(std::this_thread::get_id() == thread);
  });
  if (failed(exposeAnnotations(function->getParentOfType<ModuleOp>())))
    return "no annotation can be changed";
  const std::vector<LayoutAnnotation> annotations = annotationsOf(function);
  auto isBlamed = [&](const LayoutAnnotation &annotation) {
    return llvm::any_of(annotation.sources, [&](const std::string &source) {
      return llvm::any_of(findings.causes, [&](StringRef cause) {
        return cause.contains(source + " ");
      });
    });
  };
  struct Change {
    const LayoutAnnotation *annotation;
    std::optional<Layout> layout;
  };
  std::vector<Change> changes;
  for (const bool blamed : {true, false})
    for (const LayoutAnnotation &annotation : annotations)
      if (isBlamed(annotation) == blamed) {
        if (annotation.layout)
          changes.push_back({&annotation, std::nullopt});
        for (Layout &layout : layoutsNear(function, annotation))
          changes.push_back({&annotation, std::move(layout)});
      }
  const size_t tries = std::min(changes.size(), mostTries);
  const Change *best = nullptr;
  Cost bestTime = 0;
  for (const Change &change : ArrayRef(changes).take_front(tries)) {
    OwningOpRef<ModuleOp> module = copyAlone(function);
    mlir::func::FuncOp copy = *module->getOps<mlir::func::FuncOp>().begin();
    annotate(copy, *change.annotation, change.layout);
    std::optional<Cost> time = predictedTime(copy, partition);
    if (time && (!best || *time < bestTime)) {
      best = &change;
      bestTime = *time;
    }
  }
  if (best)
    return fmt::format(
        "the program keeps its contract if {}; a step then takes "
        "a predicted {}",
        changeText(*best->annotation, best->layout), formatTime(bestTime));
  return tries < changes.size()
             ? fmt::format("none of the {} first changes of one annotation "
                           "keeps the contract",
                           tries)
             : "no change of one annotation keeps the contract";
}

} // namespace meshloom
