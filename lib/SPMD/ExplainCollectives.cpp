// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// --spmd-explain-collectives: prints why each collective is there, priced by
// the machine model that the function was expanded for.

#include "CollectiveUses.h"
#include "Explain.h"
#include "meshloom/SPMD/Passes.h"
#include "meshloom/Support/ExplanationText.h"

namespace meshloom {
#define GEN_PASS_DEF_EXPLAINCOLLECTIVES
#include "meshloom/SPMD/Passes.h.inc"

namespace {
class ExplainCollectivesPass
    : public impl::ExplainCollectivesBase<ExplainCollectivesPass> {
public:
  ExplainCollectivesPass() = default;
  explicit ExplainCollectivesPass(
      std::function<void(const Explanation &)> report)
      : report(std::move(report)) {}

private:
  void runOnOperation() override {
    mlir::func::FuncOp function = getOperation();
    if (function.isExternal())
      return;
    FailureOr<MachineModel> machine = machineOf(function);
    if (failed(machine))
      return signalPassFailure();
    const Explanation explanation = explain(function, *machine);
    if (report)
      report(explanation);
    else // one write: functions are explained at the same time
      llvm::errs() << explanationText(explanation);
    markAllAnalysesPreserved();
  }

  /// Empty: the text goes to the standard error.
  const std::function<void(const Explanation &)> report;
};
} // namespace

std::unique_ptr<mlir::Pass>
createExplainCollectives(std::function<void(const Explanation &)> report) {
  return std::make_unique<ExplainCollectivesPass>(std::move(report));
}
} // namespace meshloom
