// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// dtensor.callback: whole values, those of each index of batch dims, in order,
// or shards.
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
  auto batch = size_t(getBatchDims());
  for (int64_t extent : globalShape(getResults().back().getType()))
    rule.factors.push_back({"b" + std::to_string(rule.factors.size()), extent});
  const FactorKind kind =
      getByShard() ? FactorKind::Reduced : FactorKind::Whole;
  auto dimsOf = [&](Type type, size_t shared) {
    ShardingRule::Tensor dims;
    for (auto [d, extent] : llvm::enumerate(globalShape(type))) {
      if (d < shared) {
        dims.push_back({unsigned(d)});
        continue;
      }
      dims.push_back({unsigned(rule.factors.size())});
      rule.factors.push_back(
          {"w" + std::to_string(rule.factors.size()), extent, kind});
    }
    return dims;
  };
  size_t inputs = getNumOperands() - (getAfter() ? 1 : 0);
  for (auto [i, type] : llvm::enumerate(getOperandTypes()))
    rule.operands.push_back(dimsOf(type, i < inputs ? batch : 0));
  for (Type type : getResultTypes())
    rule.results.push_back(dimsOf(type, batch));
  return rule;
}

LibraryCall CallbackOp::getLibraryCall() {
  return LibraryCall(*this, "callback")
      .text("call_target_name", getCallTargetName())
      .text("backend_config", getBackendConfig())
      .flag("after", getAfter())
      .number("batch_dims", getBatchDims())
      .flag("by_shard", getByShard())
      .flag("masked", getMasked())
      .flag("has_effects", true);
}

LogicalResult CallbackOp::verify() {
  auto areNumbers = [](mlir::ValueRange values) {
    return !values.empty() &&
           elementTypeOf(values.back().getType()).isSignlessInteger(32);
  };
  if (!areNumbers(getResults()) ||
      globalShape(getResults().back().getType()).size() !=
          uint64_t(getBatchDims()))
    return emitOpError("violates constraint C1: its last result must be a "
                       "tensor of i32 with the batch dims, numbers that are "
                       "there when the calls are over");
  if (getAfter() && !areNumbers(getInputs()))
    return emitOpError("violates constraint C1: with 'after' its last input "
                       "must be a tensor of i32, the last result of the call "
                       "before");
  if (getByShard() && (getBatchDims() != 0 || getNumResults() != 1))
    return emitOpError("violates constraint C3: with 'by_shard' it has batch "
                       "dims, or results besides its number");
  auto calls = globalShape(getResults().back().getType());
  auto hasBatch = [&](Type type) {
    auto shape = globalShape(type);
    return shape.size() >= calls.size() &&
           ArrayRef(shape).take_front(calls.size()) == ArrayRef(calls);
  };
  SmallVector<Type> types(getInputs().drop_back(getAfter() ? 1 : 0).getTypes());
  llvm::append_range(types, getResultTypes());
  for (Type type : types)
    if (!hasBatch(type))
      return emitOpError("violates constraint C2: a ")
             << undecided(type) << " does not begin with the batch dims of "
             << undecided(getResults().back().getType());
  if (getMasked() && (types.size() < getNumResults() + 1 ||
                      !elementTypeOf(types.front()).isInteger(1) ||
                      globalShape(types.front()).size() != calls.size()))
    return emitOpError("violates constraint C4: with 'masked' its first input "
                       "must be a tensor of i1 with the batch dims");
  return success();
}

CallbackOp createCallback(OpBuilder &b, Location loc, ArrayRef<Type> results,
                          ValueRange inputs, StringRef target, StringRef config,
                          RankedTensorType batch) {
  SmallVector<Value> operands(inputs);
  CallbackOp before;
  Block *block = b.getInsertionBlock();
  for (auto place = b.getInsertionPoint(); !before && place != block->begin();)
    before = dyn_cast<CallbackOp>(*--place);
  if (before)
    operands.push_back(before.getResults().back());
  SmallVector<Type> types(results);
  types.push_back(batch ? batch : RankedTensorType::get({}, b.getI32Type()));
  return b.create<CallbackOp>(loc, types, operands, target, config,
                              before != nullptr, /*by_shard=*/false,
                              /*masked=*/false,
                              batch ? uint64_t(batch.getRank()) : 0);
}

} // namespace meshloom::dtensor
