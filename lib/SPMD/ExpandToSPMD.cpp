// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ExpandToSPMD: one walk in program order that replaces types by shards and
// relayouts by the cheapest chains of collectives. Ops keep their attributes,
// which are about the global tensors.

#include "Collectives.h"
#include "ExchangeHalos.h"
#include "meshloom/Dialect/DTensor/FunctionLayouts.h"
#include "meshloom/Dialect/DTensor/Notes.h"

#include "meshloom/ControlFlow/ControlFlow.h"
#include "meshloom/ControlFlow/OpKinds.h"
#include "meshloom/Core/RelayoutPlanner.h"
#include "meshloom/SPMD/Passes.h"
#include "meshloom/Support/MachineModelFile.h"

namespace meshloom {
#define GEN_PASS_DEF_EXPANDTOSPMD
#include "meshloom/SPMD/Passes.h.inc"

namespace {
class ExpandToSPMDPass : public impl::ExpandToSPMDBase<ExpandToSPMDPass> {
public:
  using ExpandToSPMDBase::ExpandToSPMDBase;

private:
  void runOnOperation() override {
    mlir::func::FuncOp function = getOperation();
    if (function.isExternal())
      return;
    shards.clear();
    notes.clear();
    // All or nothing: types are checked before the first one changes.
    bool anyWindows = false;
    if (failed(checkTypes(function, anyWindows)))
      return signalPassFailure();
    HaloExchanges halos;
    if (anyWindows)
      halos.collect(function);
    for (Block *block : runBlocks(function)) {
      for (BlockArgument argument : block->getArguments())
        argument.setType(shardOf(argument.getType()));
      for (Operation &op : llvm::make_early_inc_range(*block)) {
        if (auto relayout = dyn_cast<dtensor::RelayoutOp>(op)) {
          if (failed(expand(relayout)))
            return signalPassFailure();
          continue;
        }
        for (Value result : op.getResults())
          result.setType(shardOf(result.getType()));
        dropNotes(op);
      }
    }
    halos.insert();
    // The machine that --explain prices by, in IR that is read by another
    // process too.
    function->setAttr(
        dtensor::machineAttr,
        StringAttr::get(&getContext(), machineModelText(machine)));
    SmallVector<Type> results;
    for (Type type : function.getResultTypes())
      results.push_back(shardOf(type));
    function.setFunctionType(mlir::FunctionType::get(
        &getContext(), function.getBody().getArgumentTypes(), results));
  }

  /// The shard of a global tensor type that has a layout; null if it has none.
  RankedTensorType shardOf(Type type) {
    auto [entry, isNew] = shards.try_emplace(type);
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (isNew && tensor)
      if (auto layout =
              dyn_cast_or_null<dtensor::LayoutAttr>(tensor.getEncoding()))
        entry->second =
            spmd::shardType(tensor.getShape(), tensor.getElementType(), layout);
    return entry->second;
  }

  /// From here on the collectives tell.
  void dropNotes(Operation &op) {
    DictionaryAttr attributes = op.getRawDictionaryAttrs();
    if (attributes.empty())
      return;
    auto [entry, isNew] = notes.try_emplace(attributes);
    if (isNew) {
      mlir::NamedAttrList remaining(attributes);
      for (StringRef note :
           {dtensor::originAttr, dtensor::refinedAttr, dtensor::rejectedAttr})
        remaining.erase(note);
      entry->second = remaining.getDictionary(&getContext());
    }
    op.setDiscardableAttrs(entry->second);
  }

  /// `anyWindows`: whether an op reads an operand through one.
  LogicalResult checkTypes(mlir::func::FuncOp function, bool &anyWindows) {
    auto good = [&](Type type) { return bool(shardOf(type)); };
    if (failed(expectOneBlock(function)) || failed(onlyMesh(function)))
      return failure();
    if (!llvm::all_of(function.getResultTypes(), good))
      return function.emitError("has a result without a layout; run "
                                "--dtensor-propagate-layouts first");
    if (!llvm::all_of(function.getArgumentTypes(), good))
      return function.emitError("has an argument without a layout; run "
                                "--dtensor-propagate-layouts first");
    OpKinds kinds;
    for (Block *block : runBlocks(function))
      for (Operation &op : *block) {
        // A property of an op holds for all ops of its kind.
        size_t checked = kinds.size();
        if (kinds.of(&op) < checked)
          continue;
        if (!llvm::all_of(op.getResultTypes(), good) ||
            !llvm::all_of(op.getOperandTypes(), good))
          return op.emitOpError("has a value without a layout; run "
                                "--dtensor-propagate-layouts first");
        if (isa<dtensor::ConstraintOp>(op))
          return op.emitOpError("must become a relayout: run "
                                "--dtensor-insert-relayouts first");
        if (isControl(&op)) {
          if (failed(checkJoins(&op)))
            return failure();
        } else if (!isa<mlir::func::ReturnOp, dtensor::YieldOp>(op) &&
                   failed(dtensor::verifyLayouts(&op))) {
          return failure();
        }
        if (auto sharded = dyn_cast<dtensor::ShardedOpInterface>(op);
            sharded && op.getNumResults() != 0 && !isa<dtensor::RelayoutOp>(op))
          anyWindows |= !sharded.getShardingRule().windows.empty();
      }
    Operation *terminator = function.getBody().front().getTerminator();
    for (auto [i, operand] : llvm::enumerate(terminator->getOperandTypes()))
      if (operand != function.getResultTypes()[i])
        return terminator->emitOpError("returns ")
               << operand << " into result #" << i << " of type "
               << function.getResultTypes()[i]
               << ": run --dtensor-insert-relayouts first";
    return success();
  }

  /// Carried values and results of a case are of one type everywhere.
  static LogicalResult checkJoins(Operation *op) {
    auto check = [&](Value value, unsigned i) -> LogicalResult {
      Type type = op->getResult(i).getType();
      if (value.getType() == type)
        return success();
      return op->emitOpError("brings ")
             << value.getType() << " to result #" << i << " of type " << type
             << ": run --dtensor-insert-relayouts first";
    };
    auto decides = [&](Value value) -> LogicalResult {
      if (annotatedLayout(value.getType())->is_fully_replicated())
        return success();
      return op->emitOpError("is decided by a ")
             << value.getType()
             << ", not a replicated value: run --dtensor-insert-relayouts "
                "first";
    };
    for (unsigned i = 0; i < op->getNumResults(); ++i) {
      if (auto loop = dyn_cast<dtensor::WhileOp>(op)) {
        for (Value value :
             {loop.getInits()[i], Value(loop.getConditionArgument(i)),
              Value(loop.getBodyArgument(i)),
              loop.getBodyYield().getOperand(i)})
          if (failed(check(value, i)))
            return failure();
        continue;
      }
      auto branch = cast<dtensor::CaseOp>(op);
      for (unsigned b = 0; b < branch.getBranches().size(); ++b)
        if (failed(check(branch.getYield(b).getOperand(i), i)))
          return failure();
    }
    if (auto loop = dyn_cast<dtensor::WhileOp>(op))
      return decides(loop.getConditionYield().getOperand(0));
    return decides(op->getOperand(0));
  }

  LogicalResult expand(dtensor::RelayoutOp relayout) {
    Value value = relayout.getOperand();
    auto type = cast<RankedTensorType>(relayout.getResult().getType());
    Layout from = spmd::layoutOf(value.getType());
    Layout to = *annotatedLayout(type);
    auto plan = planRelayout(
        from, to, Shape(type.getShape().begin(), type.getShape().end()),
        *dtensor::dtypeOf(type.getElementType()), machine);
    if (!plan)
      return relayout.emitOpError("cannot turn ")
             << from.spec_string() << " into " << to.spec_string() << ": "
             << plan.error().message();
    OpBuilder builder(relayout);
    auto reason = relayout->getAttrOfType<StringAttr>(dtensor::reasonAttr);
    if (!reason)
      reason = builder.getStringAttr(from.spec_string() + " -> " +
                                     to.spec_string() + " asked for");
    if (plan->cutShort)
      reason = builder.getStringAttr(reason.getValue() +
                                     "; the search for the cheapest chain of "
                                     "collectives stopped at its limit");
    SmallVector<NamedAttribute> notes{builder.getNamedAttr("reason", reason)};
    for (StringRef name :
         {dtensor::originAttr, dtensor::consumerAttr, dtensor::rejectedAttr})
      if (Attribute note = relayout->getAttr(name))
        notes.push_back(builder.getNamedAttr(name, note));
    for (const CollectiveOp &step : plan->steps)
      value = createCollective(builder, relayout.getLoc(), step.kind, step.axes,
                               value, step.to, notes)
                  ->getResult(0);
    relayout.getResult().replaceAllUsesWith(value);
    relayout.erase();
    return success();
  }

  DenseMap<Type, RankedTensorType> shards;
  /// The attributes of an op without its notes.
  DenseMap<Attribute, DictionaryAttr> notes;
};
} // namespace
} // namespace meshloom
