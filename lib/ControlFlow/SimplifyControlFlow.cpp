// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SimplifyControlFlow: canonical forms of while and case, and a note on each
// loop of how often it runs, for when its regions can no longer be read.

#include "meshloom/ControlFlow/ReturnTypes.h"

#include "meshloom/ControlFlow/ControlFlow.h"
#include "meshloom/ControlFlow/Passes.h"

#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace meshloom {
#define GEN_PASS_DEF_SIMPLIFYCONTROLFLOW
#include "meshloom/ControlFlow/Passes.h.inc"

namespace {
class SimplifyControlFlowPass
    : public impl::SimplifyControlFlowBase<SimplifyControlFlowPass> {
  void runOnOperation() override {
    SmallVector<Operation *> ops;
    getOperation().walk([&](Operation *op) {
      if (isControl(op))
        ops.push_back(op);
    });
    if (ops.empty())
      return;
    mlir::RewritePatternSet patterns(&getContext());
    dtensor::WhileOp::getCanonicalizationPatterns(patterns, &getContext());
    dtensor::CaseOp::getCanonicalizationPatterns(patterns, &getContext());
    mlir::GreedyRewriteConfig config;
    config.strictMode = mlir::GreedyRewriteStrictness::ExistingAndNewOps;
    // Every rewrite drops a carried value or an op, so it ends.
    config.maxIterations = mlir::GreedyRewriteConfig::kNoLimit;
    if (failed(
            mlir::applyOpPatternsAndFold(ops, std::move(patterns), config))) {
      getOperation().emitError("loops and branches did not simplify");
      return signalPassFailure();
    }
    // A carried value that stays what it was is its init, with its layout.
    matchReturnTypes(getOperation());
    Builder builder(&getContext());
    getOperation().walk([&](dtensor::WhileOp loop) {
      if (auto count = tripCount(loop))
        loop->setAttr(tripCountAttr, builder.getI64IntegerAttr(*count));
    });
  }
};
} // namespace
} // namespace meshloom
