// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// --spmd-explain-collectives: prints why each collective is there, priced by
// the machine model that the function was expanded for.

#include "CollectiveUses.h"
#include "Explain.h"
#include "meshloom/SPMD/Passes.h"

namespace meshloom {
#define GEN_PASS_DEF_EXPLAINCOLLECTIVES
#include "meshloom/SPMD/Passes.h.inc"

namespace {
class ExplainCollectivesPass
    : public impl::ExplainCollectivesBase<ExplainCollectivesPass> {
public:
  explicit ExplainCollectivesPass(raw_ostream *os = nullptr) : os(os) {}

private:
  void runOnOperation() override {
    mlir::func::FuncOp function = getOperation();
    if (function.isExternal())
      return;
    FailureOr<MachineModel> machine = machineOf(function);
    if (failed(machine))
      return signalPassFailure();
    // One write: functions are explained at the same time.
    std::string text;
    llvm::raw_string_ostream stream(text);
    explainCollectives(function, *machine, stream);
    (os ? *os : llvm::errs()) << text;
    markAllAnalysesPreserved();
  }

  raw_ostream *const os; ///< null: the standard error
};
} // namespace

std::unique_ptr<mlir::Pass> createExplainCollectives(raw_ostream &os) {
  return std::make_unique<ExplainCollectivesPass>(&os);
}
} // namespace meshloom
