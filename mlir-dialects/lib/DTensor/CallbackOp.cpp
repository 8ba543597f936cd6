// dtensor.callback: whole values, in order.
#include "meshloom/Dialect/DTensor/Callback.h"

#include "meshloom/Dialect/DTensor/OpInterfaces.h"

#define GET_OP_CLASSES
#include "meshloom/Dialect/DTensor/DTensorCallbackOps.cpp.inc"

namespace meshloom::dtensor {

void CallbackOp::getEffects(SmallVectorImpl<mlir::SideEffects::EffectInstance<
                                mlir::MemoryEffects::Effect>> &effects) {
  effects.emplace_back(mlir::MemoryEffects::Write::get());
}

ShardingRule CallbackOp::getShardingRule() {
  ShardingRule rule;
  auto whole = [&](Type type) {
    ShardingRule::Tensor dims;
    for (int64_t extent : globalShape(type)) {
      dims.push_back({unsigned(rule.factors.size())});
      rule.factors.push_back({"w" + std::to_string(rule.factors.size()), extent,
                              FactorKind::Whole});
    }
    return dims;
  };
  for (Type type : getOperandTypes())
    rule.operands.push_back(whole(type));
  for (Type type : getResultTypes())
    rule.results.push_back(whole(type));
  return rule;
}

LibraryCall CallbackOp::getLibraryCall() {
  return LibraryCall(*this, "callback")
      .text("call_target_name", getCallTargetName())
      .text("backend_config", getBackendConfig())
      .flag("after", getAfter())
      .flag("has_effects", true);
}

LogicalResult CallbackOp::verify() {
  auto isNumber = [](mlir::TypeRange types) {
    return !types.empty() && globalShape(types.back()).empty() &&
           elementTypeOf(types.back()).isSignlessInteger(32);
  };
  if (!isNumber(getResultTypes()))
    return emitOpError("violates constraint C1: its last result must be a "
                       "tensor<i32>, which is there when the call is over");
  if (getAfter() && !isNumber(getOperandTypes()))
    return emitOpError("violates constraint C1: with 'after' its last input "
                       "must be a tensor<i32>, the last result of the call "
                       "before");
  return success();
}

CallbackOp createCallback(OpBuilder &b, Location loc, ArrayRef<Type> results,
                          ValueRange inputs, StringRef target,
                          StringRef config) {
  SmallVector<Value> operands(inputs);
  CallbackOp before;
  Block *block = b.getInsertionBlock();
  for (auto it = b.getInsertionPoint(); !before && it != block->begin();)
    before = dyn_cast<CallbackOp>(*--it);
  if (before)
    operands.push_back(before.getResults().back());
  SmallVector<Type> types(results);
  types.push_back(RankedTensorType::get({}, b.getI32Type()));
  return b.create<CallbackOp>(loc, types, operands, b.getStringAttr(target),
                              b.getStringAttr(config),
                              before ? b.getUnitAttr() : mlir::UnitAttr());
}

} // namespace meshloom::dtensor
