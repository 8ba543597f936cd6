// PropagateLayouts: decides every op's result types from the flow of axes, in
// program order, so that each op sees what its operands really are.

#include "meshloom/Layout/LayoutFlow.h"

#include "meshloom/ControlFlow/ArgumentAttributes.h"
#include "meshloom/ControlFlow/ControlFlow.h"
#include "meshloom/Layout/Passes.h"

#include <map>

namespace meshloom {
#define GEN_PASS_DEF_PROPAGATELAYOUTS
#include "meshloom/Layout/Passes.h.inc"

/// A value that costs nothing to make again, as a constant that is no splat
/// does, though not in any layout.
static bool isFreeLeaf(Operation &op) {
  return op.getNumResults() == 1 &&
         (isa<dtensor::ConstantOp>(op) || dtensor::isFreeToMake(&op)) &&
         !dtensor::globalShape(op.getResult(0).getType()).empty();
}

using LeafCopies = std::vector<SmallVector<Operation *>>;

/// Gives each use of a free leaf its own copy, to be laid out as that use
/// likes. The ones that end up equal are merged again.
static void copyLeaves(Block &block, LeafCopies &copies) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block))) {
    if (!isFreeLeaf(op) || op.getResult(0).hasOneUse() || op.use_empty())
      continue;
    SmallVector<Operation *> &group = copies.emplace_back();
    group.push_back(&op);
    OpBuilder builder(&op);
    builder.setInsertionPointAfter(&op);
    for (OpOperand &use : llvm::make_early_inc_range(op.getUses())) {
      if (use.get().hasOneUse())
        break;
      Operation *copy = builder.clone(op);
      use.set(copy->getResult(0));
      group.push_back(copy);
    }
  }
}

static void mergeLeaves(LeafCopies &copies) {
  // Leaves that leaves are made from come later in program order reversed:
  // operands of broadcasts are scalars, which have no copies.
  for (SmallVector<Operation *> &group : copies) {
    DenseMap<Type, Operation *> byType;
    llvm::sort(group, [](Operation *a, Operation *b) {
      return a->isBeforeInBlock(b);
    });
    for (Operation *op : group) {
      auto [entry, isNew] = byType.try_emplace(op->getResult(0).getType(), op);
      if (isNew)
        continue;
      op->getResult(0).replaceAllUsesWith(entry->second->getResult(0));
      op->erase();
    }
  }
}

static int64_t localElements(Value value, const Layout &layout) {
  auto type = cast<RankedTensorType>(value.getType());
  return elementCount(layout.local_shape(
      Shape(type.getShape().begin(), type.getShape().end())));
}

static bool shows(const ShardingRule::Tensor &tensor, unsigned factor) {
  return llvm::any_of(tensor, [&](const ShardingRule::Dim &dim) {
    return llvm::is_contained(dim, factor);
  });
}

static bool isPartialOver(const Layout &layout, Partial partial) {
  std::span<const Partial> pending = layout.partial();
  return std::find(pending.begin(), pending.end(), partial) != pending.end();
}

/// A loop that looks up part after part of what it captures, as a scan does:
/// gathering it once in front of the loop sends no more than adding up the
/// parts that devices have, each time.
static bool isReadInParts(const FlowOp &op, ArrayRef<Layout> actual) {
  auto slice = dyn_cast<dtensor::DynamicSliceOp>(op.op);
  if (!slice)
    return false;
  Value whole = slice.getOperand();
  int64_t runs = runsPerRelayout(*slice->getBlock(), whole);
  const Layout &layout = actual.front();
  Layout::DimAxes cut = layout.dim_axes(), parts = cut;
  bool indexed = false;
  SmallVector<int64_t> from = dtensor::globalShape(whole.getType()),
                       to = dtensor::globalShape(slice.getType());
  for (unsigned dim = 0; dim < cut.size(); ++dim)
    if (from[dim] != to[dim] && !parts[dim].empty()) {
      parts[dim].clear();
      indexed = true;
    }
  if (!indexed || runs < 2)
    return false;
  Layout rest = *Layout::get(layout.mesh(), parts);
  auto elements = [&](ArrayRef<int64_t> shape) {
    return elementCount(rest.local_shape(Shape(shape.begin(), shape.end())));
  };
  return elements(from) <= runs * elements(to);
}

/// Which axes the op's factors run over, its operands being `actual`.
static FactorSharding chooseFactors(LayoutFlow &flow, const FlowOp &op,
                                    ArrayRef<Layout> actual) {
  const ShardingRule &rule = op.rule;
  const Mesh &mesh = *flow.states[op.results.front()].mesh;
  std::vector<FactorSharding> offers;
  for (auto [tensor, layout] : llvm::zip_equal(rule.operands, actual))
    offers.push_back(project(rule, tensor, layout));
  if (isReadInParts(op, actual))
    for (unsigned factor = 0; factor < rule.factors.size(); ++factor)
      if (rule.factors[factor].kind == FactorKind::Reduced)
        offers.front().axes[factor].clear();

  /// Whether all operands that have a reduced factor have it on `axis`, and no
  /// operand has `factor` there.
  auto betterReduced = [&](unsigned factor, unsigned axis) {
    for (const FactorSharding &offer : offers)
      if (llvm::is_contained(offer.axes[factor], axis))
        return false;
    for (unsigned k = 0; k < rule.factors.size(); ++k) {
      if (rule.factors[k].kind != FactorKind::Reduced)
        continue;
      bool all = true, some = false;
      for (auto [tensor, offer] : llvm::zip_equal(rule.operands, offers)) {
        if (!shows(tensor, k))
          continue;
        some = true;
        all &= llvm::is_contained(offer.axes[k], axis);
      }
      if (some && all)
        return true;
    }
    return false;
  };

  FactorSharding chosen = FactorSharding::none(rule);
  for (auto [tensor, value] : llvm::zip_equal(rule.results, op.results)) {
    FactorSharding wish = project(rule, tensor, flow.states[value].wish());
    for (auto [factor, axes] : llvm::enumerate(wish.axes))
      for (unsigned i = 0; i < axes.size(); ++i)
        if (betterReduced(factor, axes[i])) {
          axes.resize(i);
          break;
        }
    merge(rule, chosen, wish, mesh);
  }
  for (FactorKind kind : {FactorKind::Parallel, FactorKind::Reduced})
    for (FactorSharding wish : offers) {
      for (auto [factor, axes] : llvm::enumerate(wish.axes))
        if (rule.factors[factor].kind != kind)
          axes.clear();
      merge(rule, chosen, wish, mesh);
    }
  return chosen;
}

/// Keeps of the pending reductions that could pass through the op those that
/// cost no more after it: their carriers have no other user, and are at least
/// as large as the results.
static OpSharding choosePassed(LayoutFlow &flow, const FlowOp &op,
                               ArrayRef<Layout> actual,
                               FactorSharding factors) {
  const Mesh &mesh = *flow.states[op.results.front()].mesh;
  OpSharding sharding =
      passPartial(op.rule, {actual.data(), actual.size()}, std::move(factors));
  if (sharding.passed.empty())
    return sharding;
  int64_t after = 0;
  for (auto [i, result] : llvm::enumerate(op.op->getResults()))
    after += localElements(result, resultLayout(op.rule, i, sharding, mesh));
  std::optional<Layout> typed = givenLayout(op.op->getResult(0).getType());
  std::erase_if(sharding.passed, [&](const Partial &partial) {
    if (typed && isPartialOver(*typed, partial))
      return false; // the user wrote so
    int64_t before = 0;
    for (auto [i, operand] : llvm::enumerate(op.op->getOperands())) {
      if (!isPartialOver(actual[i], partial) || !op.rule.isCarrier(i) ||
          (op.rule.partialFlow == PartialFlow::LinearEach &&
           i != sharding.carrier))
        continue;
      // Inside a loop it would be resolved again and again.
      if (operand.getParentBlock() != op.op->getBlock())
        return true;
      bool each = op.rule.partialFlow == PartialFlow::LinearEach;
      if (each ? !operand.hasOneUse()
               : llvm::any_of(operand.getUsers(),
                              [&](Operation *user) { return user != op.op; }))
        return true;
      before += localElements(operand, actual[i]);
    }
    return before < after;
  });
  return sharding;
}

namespace {
class PropagateLayoutsPass
    : public impl::PropagateLayoutsBase<PropagateLayoutsPass> {
  void runOnOperation() override {
    mlir::func::FuncOp function = getOperation();
    if (function.isExternal())
      return;
    if (failed(expectOneBlock(function)))
      return signalPassFailure();
    LeafCopies copies;
    for (Block *block : runBlocks(function))
      copyLeaves(*block, copies);
    LayoutFlow flow(function);
    if (failed(flow.run()))
      return signalPassFailure();
    layOutArguments(flow);
    std::vector<dtensor::ConstraintOp> released;
    for (const FlowOp &op : flow.ops) {
      if (op.linksOnly)
        continue;
      if (op.joins)
        layOutJoin(flow, op);
      else if (auto constraint = dyn_cast<dtensor::ConstraintOp>(op.op);
               constraint && op.kind != FlowKind::Barrier) {
        if (dtensor::wishOf(constraint)->released)
          released.push_back(constraint);
        layOutWish(flow, op);
      } else if (op.kind != FlowKind::Barrier)
        layOut(flow, op);
      else if (!op.results.empty())
        setOrigin(flow, op.op, flow.states[op.results.front()]);
    }
    mergeLeaves(copies);
    for (dtensor::ConstraintOp constraint : released) {
      constraint.replaceAllUsesWith(constraint.getOperand());
      constraint.erase();
    }
    setFunctionType(flow);
  }

  static void setType(Value value, const Layout &layout) {
    auto type = cast<RankedTensorType>(value.getType());
    value.setType(RankedTensorType::get(
        type.getShape(), type.getElementType(),
        dtensor::LayoutAttr::get(type.getContext(), layout)));
  }

  DictionaryAttr originAttr(LayoutFlow &flow, const Mesh &mesh,
                            ArrayRef<int> origins) {
    Builder builder(&getContext());
    SmallVector<NamedAttribute> entries;
    for (auto [axis, origin] : llvm::enumerate(origins))
      if (origin >= 0)
        entries.push_back(builder.getNamedAttr(
            mesh.axes()[axis].name,
            builder.getStringAttr(flow.annotations[origin].text)));
    return entries.empty() ? DictionaryAttr()
                           : builder.getDictionaryAttr(entries);
  }

  void layOutArguments(LayoutFlow &flow) {
    mlir::func::FuncOp function = getOperation();
    ArgumentAttributes attributes(function);
    for (BlockArgument argument : function.getArguments()) {
      FlowState &state = flow.state(argument);
      if (state.given)
        continue;
      state.actual = state.wish();
      setType(argument, *state.actual);
      if (DictionaryAttr origin = originAttr(flow, *state.mesh, state.origins))
        attributes.set(argument.getArgNumber(), "dtensor.origin", origin);
    }
    attributes.apply();
  }

  void layOut(LayoutFlow &flow, const FlowOp &op) {
    const Mesh &mesh = *flow.states[op.results.front()].mesh;
    SmallVector<Layout> actual;
    for (unsigned value : op.operands)
      actual.push_back(*flow.states[value].actual);
    OpSharding sharding =
        choosePassed(flow, op, actual, chooseFactors(flow, op, actual));

    SmallVector<int> origins(mesh.rank(), -1);
    for (auto [factor, axes] : llvm::enumerate(sharding.factors.axes))
      for (unsigned axis : axes)
        origins[axis] = flow.originOf(op, factor, axis);
    for (const Partial &partial : sharding.passed)
      for (auto [layout, value] : llvm::zip_equal(actual, op.operands))
        if (isPartialOver(layout, partial))
          origins[partial.axis] = flow.states[value].origins[partial.axis];

    for (auto [i, result] : llvm::enumerate(op.op->getResults())) {
      FlowState &state = flow.states[op.results[i]];
      state.actual = resultLayout(op.rule, i, sharding, mesh);
      // Later ops ask where an axis of this value came from.
      state.dims = state.actual->dim_axes();
      state.origins = origins;
      setType(result, *state.actual);
    }
    setOrigin(flow, op.op, flow.states[op.results.front()]);
  }

  /// Everywhere as the flow left it: what a carried value or a result of a case
  /// is given is brought to that.
  void layOutJoin(LayoutFlow &flow, const FlowOp &op) {
    FlowState &state = flow.states[op.results.front()];
    if (state.given)
      pin(op.op, *op.joins);
    else
      state.actual = state.wish();
    setType(op.op->getResult(*op.joins), *state.actual);
    if (auto loop = dyn_cast<dtensor::WhileOp>(op.op)) {
      setType(loop.getConditionArgument(*op.joins), *state.actual);
      setType(loop.getBodyArgument(*op.joins), *state.actual);
    }
    DictionaryAttr origin = originAttr(flow, *state.mesh, state.origins);
    if (!origin)
      return;
    mlir::NamedAttrList all(
        op.op->getAttrOfType<DictionaryAttr>("dtensor.origin"));
    for (NamedAttribute entry : origin)
      if (!all.get(entry.getName()))
        all.append(entry);
    op.op->setAttr("dtensor.origin", all.getDictionary(&getContext()));
  }

  static void pin(Operation *op, unsigned result) {
    SmallVector<int64_t> pinned;
    if (auto before = op->getAttrOfType<mlir::DenseI64ArrayAttr>(pinnedAttr))
      pinned.assign(before.asArrayRef().begin(), before.asArrayRef().end());
    if (!llvm::is_contained(pinned, int64_t(result)))
      pinned.push_back(result);
    op->setAttr(pinnedAttr,
                mlir::DenseI64ArrayAttr::get(op->getContext(), pinned));
  }

  /// From here on it is a constraint like others.
  void layOutWish(LayoutFlow &flow, const FlowOp &op) {
    FlowState &state = flow.states[op.results.front()];
    state.actual = state.wish();
    setType(op.op->getResult(0), *state.actual);
    op.op->removeAttr(dtensor::Wish::attrName);
    setOrigin(flow, op.op, state);
  }

  void setOrigin(LayoutFlow &flow, Operation *op, const FlowState &result) {
    if (op->hasAttr("dtensor.origin"))
      return; // of an earlier run
    if (DictionaryAttr origin = originAttr(flow, *result.mesh, result.origins))
      op->setAttr("dtensor.origin", origin);
  }

  /// Results keep the layout they have; those without get that of the value,
  /// its reductions resolved; a variable's new value gets the layout that the
  /// old one came in.
  void setFunctionType(LayoutFlow &flow) {
    mlir::func::FuncOp function = getOperation();
    Block &block = function.getBody().front();
    Operation *terminator = block.getTerminator();
    std::map<int64_t, Layout> variables; // an alias may be any number
    for (BlockArgument argument : block.getArguments())
      if (auto alias = function.getArgAttrOfType<IntegerAttr>(
              argument.getArgNumber(), "dtensor.alias"))
        variables.try_emplace(alias.getInt(), *flow.state(argument).actual);
    for (OpOperand &operand : terminator->getOpOperands()) {
      unsigned index = operand.getOperandNumber();
      auto made = givenLayout(operand.get().getType());
      if (!made)
        continue;
      // An op whose type had the result's layout may have become partial.
      auto given = givenLayout(function.getResultTypes()[index]);
      auto variable = variables.find(index);
      Layout wanted = given                         ? *given
                      : variable == variables.end() ? made->without_partial()
                                                    : variable->second;
      if (*made == wanted)
        continue;
      OpBuilder builder(terminator);
      operand.set(builder.create<dtensor::ConstraintOp>(
          operand.get().getLoc(), operand.get(),
          dtensor::LayoutAttr::get(&getContext(), wanted)));
    }
    function.setFunctionType(
        mlir::FunctionType::get(&getContext(), block.getArgumentTypes(),
                                terminator->getOperandTypes()));
  }
};
} // namespace
} // namespace meshloom
