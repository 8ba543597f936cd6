// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The copy is compiled by the thread that has its passes and by those of the
// target; when the program itself is emitted, it takes over what is there.
#include "CompileAhead.h"

#include "meshloom/Core/AvailableCores.h"
#include "meshloom/Core/Timing.h"
#include "meshloom/Dialect/DTensor/OpenSignature.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/Pass/PassManager.h"

#include <chrono>

using namespace meshloom;
using mlir::func::FuncOp;

/// Below, starting a thread costs more than it saves; above, a copy does.
static constexpr size_t fewOps = 64, manyOps = 20'000;
/// Refinement that ends before is not compiled beside.
static constexpr std::chrono::milliseconds moment(5);

CompileAhead::CompileAhead(FuncOp function, const Target &target,
                           const EmitOptions &emit,
                           const PartitionOptions &partition)
    : target(target), partition(partition) {
  if (!emit.makeCode || availableCores() < 2 ||
      !function.getContext()->isMultithreadingEnabled())
    return;
  const size_t ops = function.getBody().front().getOperations().size();
  if (fewOps <= ops && ops <= manyOps)
    ahead = target.makeAhead(emit);
  // Two threads use the context from here on.
  if (ahead)
    target.loadDialects(function.getContext());
}

CompileAhead::~CompileAhead() {
  stopWaiting();
  if (ahead)
    ahead->stop();
  if (thread.joinable())
    thread.join();
}

PartitionStages CompileAhead::stages() {
  if (!ahead)
    return {};
  return {[this](FuncOp function) { begin(function); },
          [this](FuncOp) { stopWaiting(); }};
}

void CompileAhead::begin(FuncOp function) {
  auto module = function->getParentOfType<ModuleOp>();
  copy = ModuleOp::create(module.getLoc());
  (*copy)->setDiscardableAttrs(module->getDiscardableAttrDictionary());
  FuncOp cloned = function.clone();
  cloned->removeAttr(dtensor::openArgumentsAttr);
  cloned->removeAttr(dtensor::openResultsAttr);
  copy->push_back(cloned);
  thread = std::thread([this, stage = TimedScope::current()] {
    {
      std::unique_lock lock(mutex);
      if (changed.wait_for(lock, moment, [this] { return refined; }))
        return;
    }
    TimedScope timed("ahead", stage);
    try {
      run();
    } catch (const std::exception &) {
      // Without memory for both, there is the program itself, which says so if
      // there is not enough for it either.
    }
  });
}

void CompileAhead::stopWaiting() {
  {
    std::lock_guard lock(mutex);
    refined = true;
  }
  changed.notify_all();
}

void CompileAhead::run() {
  MLIRContext *context = copy->getContext();
  // An error of the program is reported by the program's own compilation.
  const std::thread::id thisThread = std::this_thread::get_id();
  mlir::ScopedDiagnosticHandler quiet(
      context, [thisThread](mlir::Diagnostic &) {
        return mlir::success(std::this_thread::get_id() == thisThread);
      });
  mlir::PassManager passes(context);
  passes.enableVerifier(false);
  buildExpansionPipeline(passes.nest<FuncOp>(), partition);
  target.addPasses(passes.nest<FuncOp>());
  if (succeeded(passes.run(*copy)))
    ahead->begin(*copy->getOps<FuncOp>().begin());
}
