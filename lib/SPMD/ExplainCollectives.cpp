// --spmd-explain-collectives: prints what Analysis found out.

#include "meshloom/SPMD/Explain.h"
#include "meshloom/SPMD/Passes.h"

namespace meshloom {
#define GEN_PASS_DEF_EXPLAINCOLLECTIVES
#include "meshloom/SPMD/Passes.h.inc"

namespace {
class ExplainCollectivesPass
    : public impl::ExplainCollectivesBase<ExplainCollectivesPass> {
  void runOnOperation() override {
    if (getOperation().isExternal())
      return;
    // One write: functions are explained at the same time.
    std::string text;
    llvm::raw_string_ostream os(text);
    explainCollectives(getOperation(), os);
    llvm::errs() << text;
    markAllAnalysesPreserved();
  }
};
} // namespace
} // namespace meshloom
