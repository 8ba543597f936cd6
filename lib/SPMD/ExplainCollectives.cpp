// --spmd-explain-collectives: prints why each collective is there, priced by
// the machine model that the function was expanded for.

#include "meshloom/SPMD/Explain.h"
#include "meshloom/SPMD/Passes.h"
#include "meshloom/Support/MachineModelFile.h"

namespace meshloom {
#define GEN_PASS_DEF_EXPLAINCOLLECTIVES
#include "meshloom/SPMD/Passes.h.inc"

namespace {
class ExplainCollectivesPass
    : public impl::ExplainCollectivesBase<ExplainCollectivesPass> {
  void runOnOperation() override {
    mlir::func::FuncOp function = getOperation();
    if (function.isExternal())
      return;
    MachineModel machine;
    if (auto note = function->getAttrOfType<StringAttr>("dtensor.machine")) {
      Result<MachineModel> model = loadMachineModel(note.str());
      if (!model) {
        function.emitError("has a 'dtensor.machine' that cannot be read: ")
            << model.error().message();
        return signalPassFailure();
      }
      machine = std::move(*model);
    }
    // One write: functions are explained at the same time.
    std::string text;
    llvm::raw_string_ostream os(text);
    explainCollectives(function, machine, os);
    llvm::errs() << text;
    markAllAnalysesPreserved();
  }
};
} // namespace
} // namespace meshloom
