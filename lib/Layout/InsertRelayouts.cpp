// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// InsertRelayouts: compares what each operand is with what the op's sharding
// asks for, and puts a relayout where they differ.

#include "BeginReductions.h"
#include "LaidOut.h"

#include "LayoutFlow.h"
#include "meshloom/Dialect/DTensor/Notes.h"

#include "meshloom/ControlFlow/ControlFlow.h"
#include "meshloom/ControlFlow/Determinism.h"
#include "meshloom/ControlFlow/OpKinds.h"
#include "meshloom/Core/RelayoutPlanner.h"
#include "meshloom/Dialect/DTensor/Wish.h"
#include "meshloom/Layout/Passes.h"
#include "meshloom/Layout/Search/LayoutPrices.h"

#include "llvm/ADT/MapVector.h"

#include <deque>

namespace meshloom {
#define GEN_PASS_DEF_INSERTRELAYOUTS
#include "meshloom/Layout/Passes.h.inc"

namespace {
/// One layout that a value is needed in.
struct Need {
  Layout target;
  SmallVector<OpOperand *> uses;
  /// Before which op of the block it has to be there.
  Operation *before;
  /// The source: this value, or, where there is one, that need.
  Value root = {};
  Need *source = nullptr;
};

class InsertRelayoutsPass
    : public impl::InsertRelayoutsBase<InsertRelayoutsPass> {
public:
  using InsertRelayoutsBase::InsertRelayoutsBase;

private:
  void runOnOperation() override {
    mlir::func::FuncOp function = getOperation();
    if (function.isExternal())
      return;
    if (failed(expectOneBlock(function)))
      return signalPassFailure();
    FailureOr<Mesh> mesh = onlyMesh(function);
    if (failed(mesh))
      return signalPassFailure();
    needs.clear();
    inserted.clear();
    kinds = OpKinds();
    needsOfKind.clear();
    prices = LayoutPrices::ofThread(*mesh, machine);
    SmallVector<Block *> blocks = runBlocks(function);
    for (Block *block : blocks)
      for (Operation &op : *block)
        if (failed(collect(op)))
          return signalPassFailure();
    // Outer blocks come first: what is made there serves the inner ones too.
    for (Block *block : blocks)
      for (auto &[place, wanted] : needs)
        if (place.second == block)
          satisfy(place.first, wanted);
    for (Block *block : blocks)
      for (Operation &op : llvm::make_early_inc_range(*block))
        if (isa<dtensor::ConstraintOp>(op)) {
          tellLayout(op);
          op.getResult(0).replaceAllUsesWith(op.getOperand(0));
          op.erase();
        }
    for (Block *block : blocks)
      for (Operation &op : llvm::make_early_inc_range(*block))
        if (auto relayout = dyn_cast<dtensor::RelayoutOp>(op);
            relayout &&
            beginsReduction(*annotatedLayout(relayout.getOperand().getType()),
                            *annotatedLayout(relayout.getResult().getType())))
          beginReduction(relayout);
  }

  /// Reports the layout of this value where the program asks for it.
  static void tellLayout(Operation &constraint) {
    auto asked =
        constraint.getAttrOfType<DictionaryAttr>(dtensor::inspectedAttr);
    auto value = asked ? asked.getAs<StringAttr>("value") : StringAttr();
    auto axes =
        asked ? asked.getAs<mlir::ArrayAttr>("axes") : mlir::ArrayAttr();
    if (!value || !axes)
      return;
    Type type = constraint.getResult(0).getType();
    Layout layout = *annotatedLayout(type);
    std::string shape;
    llvm::raw_string_ostream stream(shape);
    llvm::interleaveComma(
        ArrayRef(dtensor::globalShape(type)).drop_front(axes.size()), stream);
    std::vector<unsigned> places;
    for (unsigned d = 0; d < axes.size(); ++d)
      places.push_back(d);
    mlir::NamedAttrList metadata(asked);
    if (axes.empty())
      metadata.set("layout",
                   dtensor::LayoutAttr::get(constraint.getContext(), layout));
    auto remark = mlir::emitRemark(mlir::FusedLoc::get(
                      {constraint.getLoc()},
                      metadata.getDictionary(constraint.getContext()),
                      constraint.getContext()))
                  << value.getValue() << ", of shape [" << shape
                  << "], is laid out as " << layout.remove(places).spec_string()
                  << " on the mesh " << layout.mesh().spec_string();
    if (!axes.empty()) {
      remark << ", in shard_map over ";
      llvm::interleaveComma(axes.getAsValueRange<StringAttr>(), remark);
    }
  }

  /// The op before which a value can be brought to what `use` needs: the use's,
  /// or the outermost loop around it that the value comes from outside of. A
  /// branch that may not run is not left: it would be sent for nothing.
  static Operation *anchorOf(OpOperand &use) {
    Operation *anchor = use.getOwner();
    while (anchor->getBlock() != use.get().getParentBlock() &&
           isa<dtensor::WhileOp>(anchor->getParentOp()))
      anchor = anchor->getParentOp();
    return anchor;
  }

  static Operation *earlier(Operation *a, Operation *b) {
    return b->isBeforeInBlock(a) ? b : a;
  }

  LogicalResult need(OpOperand &use, const Layout &target) {
    Value value = use.get();
    Layout have = *annotatedLayout(value.getType());
    if (have == target)
      return success();
    Operation *anchor = anchorOf(use);
    SmallVector<Need> &wanted = needs[{value, anchor->getBlock()}];
    auto same = llvm::find_if(
        wanted, [&](const Need &other) { return other.target == target; });
    if (same == wanted.end()) {
      wanted.push_back({target, {}, anchor});
      same = std::prev(wanted.end());
    }
    // Uses inside of a loop are met after those behind it.
    same->before = earlier(same->before, anchor);
    same->uses.push_back(&use);
    return success();
  }

  /// An operand that an op needs in a different layout.
  struct OperandNeed {
    unsigned operand;
    Layout target;
  };
  using OperandNeeds = SmallVector<OperandNeed, 1>;

  /// Found once for ops of one kind.
  LogicalResult collect(Operation &op) {
    unsigned kind = kinds.of(&op);
    if (kind == needsOfKind.size()) {
      FailureOr<OperandNeeds> found = needsOf(op);
      if (failed(found))
        return failure();
      needsOfKind.push_back(std::move(*found));
    }
    for (const OperandNeed &wanted : needsOfKind[kind])
      if (failed(need(op.getOpOperand(wanted.operand), wanted.target)))
        return failure();
    if (auto loop = dyn_cast<dtensor::WhileOp>(op))
      return collect(loop);
    if (auto branch = dyn_cast<dtensor::CaseOp>(op))
      return collect(branch);
    return success();
  }

  static FailureOr<OperandNeeds> needsOf(Operation &op) {
    auto hasLayout = [](Type type) {
      return annotatedLayout(type).has_value();
    };
    if (!llvm::all_of(op.getOperandTypes(), hasLayout) ||
        !llvm::all_of(op.getResultTypes(), hasLayout))
      return op.emitOpError("has a value without a layout; run "
                            "--dtensor-propagate-layouts first");
    OperandNeeds found;
    if (isa<dtensor::ConstraintOp>(op)) {
      found.push_back({0, *annotatedLayout(op.getResult(0).getType())});
      return found;
    }
    // Returns and yields are of the result types of what they end, and the
    // verifier of constants knows which layouts those may have.
    if (isControl(&op) || isa<dtensor::ConstantOp, dtensor::RelayoutOp,
                              mlir::func::ReturnOp, dtensor::YieldOp>(op))
      return found;
    auto sharded = dyn_cast<dtensor::ShardedOpInterface>(op);
    if (!sharded)
      return failWithoutRule(op);
    if (op.getNumResults() == 0)
      return op.emitOpError("must be lifted by --dtensor-lift-variables first");
    ShardingRule rule = layoutRule(sharded);
    const std::vector<Layout> operands = annotatedLayouts(op.getOperandTypes()),
                              results = annotatedLayouts(op.getResultTypes());
    const Mesh &mesh = results.front().mesh();
    OpSharding sharding = opSharding(rule, operands, results);
    for (auto [i, layout] : llvm::enumerate(results))
      if (Layout actual = resultLayout(rule, i, sharding, mesh);
          !(actual == layout))
        return op.emitOpError("has result #")
               << i << " laid out " << layout.spec_string() << ", but makes "
               << actual.spec_string()
               << "; only a relayout can change a layout";
    for (auto [i, layout] : llvm::enumerate(operands))
      if (Layout target = operandLayout(rule, i, sharding, mesh);
          !(target == layout))
        found.push_back({unsigned(i), target});
    return found;
  }

  LogicalResult collect(dtensor::WhileOp loop) {
    for (unsigned i = 0; i < loop.getNumResults(); ++i) {
      Type type = loop.getResult(i).getType();
      for (BlockArgument argument :
           {loop.getConditionArgument(i), loop.getBodyArgument(i)})
        if (argument.getType() != type)
          return loop.emitOpError("has carried value #")
                 << i << " as an argument of type " << argument.getType()
                 << " and a result of type " << type
                 << "; run --dtensor-propagate-layouts first";
      Layout layout = *annotatedLayout(type);
      if (failed(need(loop->getOpOperand(i), layout)) ||
          failed(need(loop.getBodyYield()->getOpOperand(i), layout)))
        return failure();
    }
    return needEverywhere(loop.getConditionYield()->getOpOperand(0));
  }

  LogicalResult collect(dtensor::CaseOp branch) {
    for (unsigned b = 0; b < branch.getBranches().size(); ++b)
      for (unsigned i = 0; i < branch.getNumResults(); ++i)
        if (failed(need(branch.getYield(b)->getOpOperand(i),
                        *annotatedLayout(branch.getResult(i).getType()))))
          return failure();
    return needEverywhere(branch->getOpOperand(0));
  }

  /// All devices go the same way.
  LogicalResult needEverywhere(OpOperand &use) {
    auto have = annotatedLayout(use.get().getType());
    if (!have)
      return use.getOwner()->emitOpError("has a value without a layout; run "
                                         "--dtensor-propagate-layouts first");
    return need(use, Layout::replicated(have->mesh(), have->rank()));
  }

  static DictionaryAttr originsOf(Value value) {
    if (Operation *op = value.getDefiningOp())
      return op->getAttrOfType<DictionaryAttr>(dtensor::originAttr);
    auto argument = cast<BlockArgument>(value);
    if (isControl(argument.getOwner()->getParentOp()))
      return argument.getOwner()->getParentOp()->getAttrOfType<DictionaryAttr>(
          dtensor::originAttr);
    auto function =
        cast<mlir::func::FuncOp>(argument.getOwner()->getParentOp());
    if (auto origin = function.getArgAttrOfType<DictionaryAttr>(
            argument.getArgNumber(), dtensor::originAttr))
      return origin;
    // Given by the user: the argument itself is where it comes from.
    Layout layout = *annotatedLayout(value.getType());
    Builder builder(value.getContext());
    SmallVector<NamedAttribute> entries;
    std::string text = LayoutFlow::argumentText(function, argument);
    for (auto [axis, meshAxis] : llvm::enumerate(layout.mesh().axes()))
      if (layout.uses_axis(axis))
        entries.push_back(
            builder.getNamedAttr(meshAxis.name, builder.getStringAttr(text)));
    return builder.getDictionaryAttr(entries);
  }

  /// Returns whether what an outer block has brought to some layout is there
  /// before `place`.
  static bool isBefore(Value candidate, Operation *place) {
    Operation *maker = candidate.getDefiningOp();
    Operation *here = maker->getBlock()->findAncestorOpInBlock(*place);
    return here && maker->isBeforeInBlock(here);
  }

  /// Decides what each layout of a value is made from: the value, what outer
  /// blocks have made of it, or another one of these; as refinement priced it.
  void connect(Value value, MutableArrayRef<Need> wanted) {
    // A relayout that begins a reduction is computed from the value, and
    // nothing from it.
    SmallVector<Need *> ordinary;
    for (Need &need : wanted) {
      need.root = value;
      if (!beginsReduction(*annotatedLayout(value.getType()), need.target))
        ordinary.push_back(&need);
    }
    if (ordinary.empty())
      return;
    RelayoutCosts &costs = *prices;
    SmallVector<int64_t> dims = dtensor::globalShape(value.getType());
    TensorKind kind = costs.kindOf(
        Shape(dims.begin(), dims.end()),
        *dtensor::dtypeOf(dtensor::elementTypeOf(value.getType())));
    Operation *first = ordinary.front()->before;
    std::vector<LayoutId> targets;
    for (const Need *need : ordinary) {
      targets.push_back(costs.intern(need->target));
      first = earlier(first, need->before);
    }
    std::vector<Value> roots{value};
    for (Value candidate : inserted[value])
      if (isBefore(candidate, first) &&
          !beginsReduction(*annotatedLayout(value.getType()),
                           *annotatedLayout(candidate.getType())))
        roots.push_back(candidate);
    std::vector<LayoutId> have;
    for (Value root : roots)
      have.push_back(costs.intern(*annotatedLayout(root.getType())));
    std::vector<RelayoutCosts::Edge> tree;
    if (!costs.tree(kind, have, targets, tree))
      return; // expansion tells which relayout cannot be made
    auto find = [](const std::vector<LayoutId> &ids, LayoutId id) {
      return size_t(llvm::find(ids, id) - ids.begin());
    };
    for (const RelayoutCosts::Edge &edge : tree) {
      Need &need = *ordinary[find(targets, edge.to)];
      if (size_t root = find(have, edge.from); root < have.size())
        need.root = roots[root];
      else
        need.source = ordinary[find(targets, edge.from)];
    }
  }

  void satisfy(Value value, SmallVector<Need> &wanted) {
    llvm::erase_if(wanted, [&](Need &need) {
      for (Value candidate : inserted[value])
        if (*annotatedLayout(candidate.getType()) == need.target &&
            isBefore(candidate, need.before)) {
          for (OpOperand *use : need.uses)
            use->set(candidate);
          return true;
        }
      return false;
    });
    if (wanted.empty())
      return;
    connect(value, wanted);
    // Sources come before what is made from them.
    for (bool changed = true; changed;) {
      changed = false;
      for (Need &need : wanted)
        if (need.source && need.before->isBeforeInBlock(need.source->before)) {
          need.source->before = need.before;
          changed = true;
        }
    }
    DenseMap<Need *, Value> values;
    std::function<Value(Need &)> make = [&](Need &need) -> Value {
      if (Value done = values.lookup(&need))
        return done;
      Value source = need.source ? make(*need.source) : need.root;
      Value result = values[&need] = insert(value, source, need);
      inserted[value].push_back(result);
      for (OpOperand *use : need.uses)
        use->set(result);
      return result;
    };
    for (Need &need : wanted)
      make(need);
  }

  /// Yields are there for the op around them.
  static Operation *explained(Operation *user) {
    return isa<dtensor::YieldOp>(user) ? user->getParentOp() : user;
  }

  /// Describes a use as a reason: "operand #0 of multiply".
  std::string describe(OpOperand &use) {
    Operation *user = use.getOwner();
    std::string number = std::to_string(use.getOperandNumber());
    if (isa<dtensor::ConstraintOp>(user)) {
      std::string name =
          LayoutFlow::resultName(getOperation(), user->getResult(0));
      return name.empty() ? "a constraint" : name;
    }
    if (isa<dtensor::WhileOp>(user))
      return "carried value #" + number + " of while, at its start";
    if (isa<dtensor::YieldOp>(user)) {
      auto loop = dyn_cast<dtensor::WhileOp>(user->getParentOp());
      if (loop && loop.getConditionYield() == user)
        return "the condition of while";
      return loop ? "carried value #" + number + " of while, for the next time"
                  : "result #" + number + " of case";
    }
    return "operand #" + number + " of " + user->getName().stripDialect().str();
  }

  Value insert(Value value, Value source, const Need &need) {
    Operation *user = need.uses.front()->getOwner();
    OpBuilder builder(need.before);
    Layout have = *annotatedLayout(source.getType());
    // A pending reduction is there because of the op that left it; any other
    // relayout because of the op that needs it.
    Location location = have.is_partial() ? source.getLoc() : user->getLoc();
    auto relayout = builder.create<dtensor::RelayoutOp>(
        location, laidOut(source, need.target), source);

    std::string reason = describe(*need.uses.front());
    user = explained(user);
    std::string text = have.spec_string() + " -> " + need.target.spec_string() +
                       " for " + reason;
    DictionaryAttr from = originsOf(source);
    auto to = user->getAttrOfType<DictionaryAttr>(dtensor::originAttr);
    SmallVector<NamedAttribute> origins;
    for (auto [axis, meshAxis] : llvm::enumerate(have.mesh().axes())) {
      if (sameUse(have, need.target, axis))
        continue;
      for (DictionaryAttr dictionary : {have.uses_axis(axis) ? from : to, to})
        if (auto origin = dictionary
                              ? dictionary.getAs<StringAttr>(meshAxis.name)
                              : StringAttr()) {
          text += "; '" + meshAxis.name + "' from " + origin.str();
          origins.push_back(builder.getNamedAttr(meshAxis.name, origin));
          break;
        }
    }
    relayout->setAttr(dtensor::reasonAttr, builder.getStringAttr(text));
    noteOp(relayout, value, user, have.is_partial());
    if (!origins.empty())
      relayout->setAttr(dtensor::originAttr,
                        builder.getDictionaryAttr(origins));
    return relayout->getResult(0);
  }

  /// The op that a relayout is there for, and what refinement rejected there.
  static void noteOp(Operation *relayout, Value value, Operation *user,
                     bool partial) {
    Operation *producer = value.getDefiningOp();
    bool fromProducer =
        producer && (partial || isa<dtensor::ConstraintOp>(user));
    Operation *op = fromProducer ? producer : user;
    relayout->setAttr(
        dtensor::consumerAttr,
        StringAttr::get(op->getContext(), op->getName().getStringRef()));
    // Where an op was moved, that is why there is a collective.
    Operation *other = fromProducer ? user : producer;
    if (other && other->hasAttr(dtensor::refinedAttr) &&
        !op->hasAttr(dtensor::refinedAttr))
      std::swap(op, other);
    for (Operation *asked : {op, other})
      if (auto rejected =
              asked ? asked->getAttrOfType<StringAttr>(dtensor::rejectedAttr)
                    : StringAttr()) {
        relayout->setAttr(dtensor::rejectedAttr, rejected);
        return;
      }
  }

  /// Returns whether a mesh axis does the same in both layouts.
  static bool sameUse(const Layout &a, const Layout &b, unsigned axis) {
    auto find = [&](const Layout &layout) {
      for (unsigned dim = 0; dim < layout.rank(); ++dim)
        if (llvm::is_contained(layout.axes(dim), axis))
          return int(dim);
      for (const Partial &partial : layout.partial())
        if (partial.axis == axis)
          return -2;
      return -1;
    };
    return find(a) == find(b);
  }

  OpKinds kinds;
  std::deque<OperandNeeds> needsOfKind;
  /// By value and the block that relayouts of it go into.
  llvm::MapVector<std::pair<Value, Block *>, SmallVector<Need>> needs;
  /// Relayouts of a value that have been inserted.
  DenseMap<Value, SmallVector<Value>> inserted;
  /// Per mesh.
  std::shared_ptr<RelayoutCosts> prices;
};
} // namespace
} // namespace meshloom
