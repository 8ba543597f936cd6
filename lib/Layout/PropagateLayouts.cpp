// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// PropagateLayouts: decides every op's result types from the flow of axes, in
// program order, so that each op sees what its operands really are.

#include "LaidOut.h"

#include "LayoutFlow.h"
#include "meshloom/Dialect/DTensor/Notes.h"

#include "meshloom/ControlFlow/ArgumentAttributes.h"
#include "meshloom/ControlFlow/ControlFlow.h"
#include "meshloom/Dialect/DTensor/OpenSignature.h"
#include "meshloom/Layout/Passes.h"

#include <map>

namespace meshloom {
#define GEN_PASS_DEF_PROPAGATELAYOUTS
#include "meshloom/Layout/Passes.h.inc"

/// A value that costs nothing to make again, as a constant that is not a splat
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
    if (op.use_empty() || op.hasOneUse() || !isFreeLeaf(op))
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
  Layout remaining = *Layout::get(layout.mesh(), parts);
  auto elements = [&](ArrayRef<int64_t> shape) {
    return elementCount(
        remaining.local_shape(Shape(shape.begin(), shape.end())));
  };
  return elements(from) <= runs * elements(to);
}

/// Which axes the op's factors run over, its operands being `actual` and its
/// results wished to be `wished`.
static FactorSharding chooseFactors(const FlowOp &op, ArrayRef<Layout> actual,
                                    ArrayRef<Layout> wished, const Mesh &mesh) {
  const ShardingRule &rule = op.rule();
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
      bool inAll = true, inSome = false;
      for (auto [tensor, offer] : llvm::zip_equal(rule.operands, offers)) {
        if (!shows(tensor, k))
          continue;
        inSome = true;
        inAll &= llvm::is_contained(offer.axes[k], axis);
      }
      if (inSome && inAll)
        return true;
    }
    return false;
  };

  FactorSharding chosen = FactorSharding::none(rule);
  for (auto [tensor, layout] : llvm::zip_equal(rule.results, wished)) {
    FactorSharding wish = project(rule, tensor, layout);
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
static OpSharding choosePassed(const FlowOp &op, ArrayRef<Layout> actual,
                               OpSharding sharding, const Mesh &mesh) {
  int64_t after = 0;
  for (auto [i, result] : llvm::enumerate(op.op->getResults()))
    after += localElements(result, resultLayout(op.rule(), i, sharding, mesh));
  std::optional<Layout> typed = annotatedLayout(op.op->getResult(0).getType());
  std::erase_if(sharding.passed, [&](const Partial &partial) {
    if (typed && isPartialOver(*typed, partial))
      return false; // the user wrote so
    int64_t before = 0;
    for (auto [i, operand] : llvm::enumerate(op.op->getOperands())) {
      if (!isPartialOver(actual[i], partial) || !op.rule().isCarrier(i) ||
          (op.rule().partialFlow == PartialFlow::LinearEach &&
           i != sharding.carrier))
        continue;
      // Inside a loop it would be resolved again and again.
      if (operand.getParentBlock() != op.op->getBlock())
        return true;
      bool isEach = op.rule().partialFlow == PartialFlow::LinearEach;
      if (isEach ? !operand.hasOneUse()
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
    // Clears the results of earlier runs, on other functions.
    originNumbers = choiceNumbers = {};
    origins.clear();
    choices.clear();
    LayoutFlow flow(function);
    if (failed(flow.run()))
      return signalPassFailure();
    markOpen(flow);
    layOutArguments(flow);
    std::vector<dtensor::ConstraintOp> released;
    for (const FlowOp &op : flow.ops) {
      if (op.linksOnly)
        continue;
      if (op.joins)
        layOutJoin(flow, op);
      else if (auto constraint = dyn_cast<dtensor::ConstraintOp>(op.op);
               constraint && op.kind() != FlowKind::Barrier) {
        if (dtensor::wishOf(constraint)->released)
          released.push_back(constraint);
        layOutWish(flow, op);
      } else if (op.kind() != FlowKind::Barrier)
        layOut(flow, op);
      else if (!op.results.empty())
        setOrigin(flow, op.op, op.results.front());
    }
    mergeLeaves(copies);
    for (dtensor::ConstraintOp constraint : released) {
      constraint.replaceAllUsesWith(constraint.getOperand());
      constraint.erase();
    }
    setFunctionType(flow);
  }

  /// The attributes that tell an op where its axes come from.
  struct Origin {
    DictionaryAttr axes;      ///< null: none is from anywhere
    DictionaryAttr attribute; ///< of an op that has no others
  };

  const Origin &originOf(LayoutFlow &flow, unsigned value) {
    SmallVector<uintptr_t, 4> key;
    for (int origin : flow.originsOf(value))
      key.push_back(uintptr_t(origin));
    unsigned number = originNumbers(key);
    if (number < origins.size())
      return origins[number];
    Builder builder(&getContext());
    SmallVector<NamedAttribute> entries;
    for (auto [axis, origin] : llvm::enumerate(flow.originsOf(value)))
      if (origin >= 0)
        entries.push_back(builder.getNamedAttr(
            flow.mesh().axes()[axis].name,
            builder.getStringAttr(flow.annotations[origin].text)));
    Origin result;
    if (!entries.empty()) {
      result.axes = builder.getDictionaryAttr(entries);
      result.attribute = builder.getDictionaryAttr(
          builder.getNamedAttr(dtensor::originAttr, result.axes));
    }
    return origins.emplace_back(result);
  }

  /// Says which arguments and results nobody laid out, nor wished to be laid
  /// out in a way, where the caller leaves those to the compiler. A value that
  /// shares its memory with a result is laid out as that.
  void markOpen(LayoutFlow &flow) {
    mlir::func::FuncOp function = getOperation();
    auto module = function->getParentOfType<mlir::ModuleOp>();
    if (!module || !module->hasAttr(dtensor::openSignatureAttr))
      return;
    auto isWish = [](Operation *op) {
      auto constraint = dyn_cast_or_null<dtensor::ConstraintOp>(op);
      return constraint && dtensor::wishOf(constraint);
    };
    SmallVector<int64_t> arguments, results;
    llvm::SmallDenseSet<int64_t> shared;
    for (BlockArgument argument : function.getArguments()) {
      unsigned index = argument.getArgNumber();
      if (auto alias =
              function.getArgAttrOfType<IntegerAttr>(index, dtensor::aliasAttr))
        shared.insert(alias.getInt());
      else if (!flow.state(argument).fixed &&
               llvm::none_of(argument.getUsers(), isWish))
        arguments.push_back(index);
    }
    Operation *terminator = function.getBody().front().getTerminator();
    for (OpOperand &operand : terminator->getOpOperands())
      if (int64_t index = operand.getOperandNumber();
          !annotatedLayout(function.getResultTypes()[index]) &&
          !isWish(operand.get().getDefiningOp()) && !shared.contains(index))
        results.push_back(index);
    Builder builder(&getContext());
    function->setAttr(dtensor::openArgumentsAttr,
                      builder.getDenseI64ArrayAttr(arguments));
    function->setAttr(dtensor::openResultsAttr,
                      builder.getDenseI64ArrayAttr(results));
  }

  void layOutArguments(LayoutFlow &flow) {
    mlir::func::FuncOp function = getOperation();
    ArgumentAttributes attributes(function);
    for (BlockArgument argument : function.getArguments()) {
      unsigned value = flow.indexOf(argument);
      FlowState &state = flow.states[value];
      if (state.fixed)
        continue;
      decide(flow, argument, value);
      if (DictionaryAttr origin = originOf(flow, value).axes)
        attributes.set(argument.getArgNumber(), dtensor::originAttr, origin);
    }
    attributes.apply();
  }

  /// The value, whose index this is, is what the flow came to.
  static void decide(LayoutFlow &flow, Value value, unsigned index) {
    FlowState &state = flow.states[index];
    state.actual = state.layout;
    value.setType(flow.layouts.typeOf(value.getType(), state.layout));
  }

  /// How an op runs, by its rule and the layouts around it.
  struct Choice {
    OpSharding sharding;
    /// Which pending reductions pass depends on who else uses what carries
    /// them: `sharding` has those that may.
    bool asksUses = false;
    struct Result {
      unsigned actual, axes; ///< layouts, the second without what is pending
    };
    SmallVector<Result, 1> results;
  };

  static Choice choose(LayoutFlow &flow, const FlowOp &op) {
    SmallVector<Layout> actual = layoutsOf(flow, op), wished;
    for (unsigned value : op.results)
      wished.push_back(flow.layoutOf(value));
    Choice choice;
    choice.sharding =
        passPartial(op.rule(), {actual.data(), actual.size()},
                    chooseFactors(op, actual, wished, flow.mesh()));
    choice.asksUses = !choice.sharding.passed.empty();
    setResults(flow, op, choice);
    return choice;
  }

  static SmallVector<Layout> layoutsOf(LayoutFlow &flow, const FlowOp &op) {
    SmallVector<Layout> actual;
    for (unsigned value : op.operands)
      actual.push_back(flow.layouts[*flow.states[value].actual]);
    return actual;
  }

  static void setResults(LayoutFlow &flow, const FlowOp &op, Choice &choice) {
    choice.results.clear();
    for (unsigned i = 0; i < op.results.size(); ++i) {
      Layout layout = resultLayout(op.rule(), i, choice.sharding, flow.mesh());
      choice.results.push_back(
          {flow.layouts.of(layout), flow.layouts.of(layout.without_partial())});
    }
  }

  /// Found once for ops of one rule between the same layouts.
  const Choice &choiceFor(LayoutFlow &flow, const FlowOp &op) {
    SmallVector<uintptr_t, 8> key{uintptr_t(op.shared)};
    for (unsigned value : op.results)
      key.push_back(flow.states[value].layout);
    for (unsigned value : op.operands)
      key.push_back(*flow.states[value].actual);
    // The elements that a slice reads also depend on the loop that it is in.
    if (isa<dtensor::DynamicSliceOp>(op.op))
      key.push_back(uintptr_t(op.op));
    unsigned number = choiceNumbers(key);
    if (number == choices.size())
      choices.push_back(choose(flow, op));
    return choices[number];
  }

  void layOut(LayoutFlow &flow, const FlowOp &op) {
    const Choice *choice = &choiceFor(flow, op);
    Choice adapted;
    SmallVector<Layout> actual;
    if (choice->asksUses) {
      adapted = *choice;
      actual = layoutsOf(flow, op);
      adapted.sharding =
          choosePassed(op, actual, std::move(adapted.sharding), flow.mesh());
      setResults(flow, op, adapted);
      choice = &adapted;
    }

    SmallVector<int, 8> from(flow.mesh().rank(), -1);
    for (auto [factor, axes] : llvm::enumerate(choice->sharding.factors.axes))
      for (unsigned axis : axes)
        from[axis] = flow.originOf(op, factor, axis);
    for (const Partial &partial : choice->sharding.passed)
      for (auto [layout, value] : llvm::zip_equal(actual, op.operands))
        if (isPartialOver(layout, partial))
          from[partial.axis] = flow.originsOf(value)[partial.axis];

    for (auto [i, result] : llvm::enumerate(op.op->getResults())) {
      FlowState &state = flow.states[op.results[i]];
      state.actual = choice->results[i].actual;
      // Later ops ask where an axis of this value came from.
      state.layout = choice->results[i].axes;
      llvm::copy(from, flow.originsOf(op.results[i]).begin());
      result.setType(flow.layouts.typeOf(result.getType(), *state.actual));
    }
    setOrigin(flow, op.op, op.results.front());
  }

  /// Everywhere as the flow left it: what a carried value or a result of a case
  /// is given is brought to that.
  void layOutJoin(LayoutFlow &flow, const FlowOp &op) {
    unsigned value = op.results.front();
    FlowState &state = flow.states[value];
    if (state.fixed)
      pin(op.op, *op.joins);
    else
      state.actual = state.layout;
    const Layout &layout = flow.layouts[*state.actual];
    setLayout(op.op->getResult(*op.joins), layout);
    if (auto loop = dyn_cast<dtensor::WhileOp>(op.op)) {
      setLayout(loop.getConditionArgument(*op.joins), layout);
      setLayout(loop.getBodyArgument(*op.joins), layout);
    }
    DictionaryAttr origin = originOf(flow, value).axes;
    if (!origin)
      return;
    mlir::NamedAttrList merged(
        op.op->getAttrOfType<DictionaryAttr>(dtensor::originAttr));
    for (NamedAttribute entry : origin)
      if (!merged.get(entry.getName()))
        merged.append(entry);
    op.op->setAttr(dtensor::originAttr, merged.getDictionary(&getContext()));
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
    decide(flow, op.op->getResult(0), op.results.front());
    op.op->removeAttr(dtensor::Wish::attrName);
    setOrigin(flow, op.op, op.results.front());
  }

  /// `value` is the op's first result.
  void setOrigin(LayoutFlow &flow, Operation *op, unsigned value) {
    const Origin &origin = originOf(flow, value);
    if (!origin.axes)
      return;
    if (op->getRawDictionaryAttrs().empty())
      op->setDiscardableAttrs(origin.attribute);
    else if (!op->hasAttr(dtensor::originAttr)) // of an earlier run
      op->setAttr(dtensor::originAttr, origin.axes);
  }

  /// Results keep the layout they have; those without get that of the value,
  /// its reductions resolved; a variable's new value gets the layout that the
  /// old one came in.
  void setFunctionType(LayoutFlow &flow) {
    mlir::func::FuncOp function = getOperation();
    Block &block = function.getBody().front();
    Operation *terminator = block.getTerminator();
    std::map<int64_t, Layout> variables; // an alias may be any number
    if (mlir::ArrayAttr argumentAttributes = function.getArgAttrsAttr())
      for (auto [argument, attributes] :
           llvm::zip_equal(block.getArguments(),
                           argumentAttributes.getAsRange<DictionaryAttr>()))
        if (auto alias = attributes.getAs<IntegerAttr>(dtensor::aliasAttr))
          variables.try_emplace(alias.getInt(),
                                flow.layouts[*flow.state(argument).actual]);
    for (OpOperand &operand : terminator->getOpOperands()) {
      unsigned index = operand.getOperandNumber();
      auto layout = annotatedLayout(operand.get().getType());
      if (!layout)
        continue;
      // An op whose type had the result's layout may have become partial.
      auto requested = annotatedLayout(function.getResultTypes()[index]);
      auto variable = variables.find(index);
      Layout wanted = requested                     ? *requested
                      : variable == variables.end() ? layout->without_partial()
                                                    : variable->second;
      if (*layout == wanted)
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

  TupleNumbers originNumbers, choiceNumbers;
  std::deque<Origin> origins;
  std::deque<Choice> choices;
};
} // namespace
} // namespace meshloom
