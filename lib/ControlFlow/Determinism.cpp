// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The ops that deterministic functions forbid.
#include "meshloom/ControlFlow/Determinism.h"

using namespace meshloom;

bool meshloom::isDeterministic(Operation *op) {
  auto function = dyn_cast<mlir::func::FuncOp>(op);
  if (!function)
    function = op->getParentOfType<mlir::func::FuncOp>();
  return function && function->hasAttr(deterministicAttr);
}

bool meshloom::isOrderedReduction(Operation *op, const ShardingRule &rule) {
  if (rule.reduceKind != ReduceKind::Sum && rule.reduceKind != ReduceKind::Prod)
    return false;
  return llvm::any_of(op->getResultTypes(), [](Type type) {
    return isa<FloatType, mlir::ComplexType>(dtensor::elementTypeOf(type));
  });
}

ShardingRule meshloom::layoutRule(dtensor::ShardedOpInterface op) {
  ShardingRule rule = op.getShardingRule();
  if (isDeterministic(op) && isOrderedReduction(op, rule))
    for (Factor &factor : rule.factors)
      if (factor.kind == FactorKind::Reduced)
        factor.kind = FactorKind::Whole;
  return rule;
}
