// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Canonicalize.h"

#include "meshloom/Dialect/DTensor/DTensor.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/DialectInterface.h"
#include "mlir/Rewrite/FrozenRewritePatternSet.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

#include <mutex>

using namespace meshloom;

static mlir::FrozenRewritePatternSet collectPatterns(MLIRContext *context) {
  mlir::RewritePatternSet patterns(context);
  for (mlir::Dialect *dialect : context->getLoadedDialects())
    dialect->getCanonicalizationPatterns(patterns);
  for (mlir::RegisteredOperationName op : context->getRegisteredOperations())
    op.getCanonicalizationPatterns(patterns, context);
  return {std::move(patterns)};
}

namespace {
/// The patterns of a context.
class CanonicalPatterns
    : public mlir::DialectInterface::Base<CanonicalPatterns> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(CanonicalPatterns)
  explicit CanonicalPatterns(mlir::Dialect *dialect) : Base(dialect) {}

  /// Collects them again where more dialects were loaded.
  mlir::FrozenRewritePatternSet get() const {
    MLIRContext *context = getContext();
    std::lock_guard lock(mutex);
    const size_t size = context->getRegisteredOperations().size();
    if (std::exchange(ops, size) != size)
      patterns = collectPatterns(context);
    return patterns;
  }

private:
  mutable std::mutex mutex;
  mutable size_t ops = 0; ///< those that the patterns are of
  mutable mlir::FrozenRewritePatternSet patterns;
};

struct CanonicalizePass
    : mlir::PassWrapper<CanonicalizePass,
                        mlir::OperationPass<mlir::func::FuncOp>> {
  StringRef getArgument() const override { return "canonicalize"; }
  LogicalResult initialize(MLIRContext *context) override {
    auto *dialect = context->getLoadedDialect<dtensor::DTensorDialect>();
    const auto *shared =
        dialect ? dialect->getRegisteredInterface<CanonicalPatterns>()
                : nullptr;
    patterns = shared ? shared->get() : collectPatterns(context);
    return success();
  }
  void runOnOperation() override {
    mlir::GreedyRewriteConfig config;
    config.useTopDownTraversal = true;
    config.enableRegionSimplification = mlir::GreedySimplifyRegionLevel::Normal;
    // The function is correct after any number of iterations.
    (void)mlir::applyPatternsAndFoldGreedily(getOperation(), patterns, config);
  }
  mlir::FrozenRewritePatternSet patterns;
};
} // namespace

void meshloom::registerCanonicalPatterns(mlir::DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *, dtensor::DTensorDialect *dialect) {
    if (!dialect->getRegisteredInterface<CanonicalPatterns>())
      dialect->addInterfaces<CanonicalPatterns>();
  });
}

std::unique_ptr<mlir::Pass> meshloom::createCanonicalize() {
  return std::make_unique<CanonicalizePass>();
}
