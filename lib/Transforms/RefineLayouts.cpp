// RefineLayouts: hands the function to the search over layouts, and writes what
// it found into the types of ops' results.

#include "LayoutFlow.h"
#include "LibraryCosts.h"
#include "ScalarLowering.h"

#include "meshloom/Analysis/ControlFlow.h"
#include "meshloom/Analysis/Explain.h"
#include "meshloom/Analysis/LayoutSearch.h"
#include "meshloom/Support/MachineModelFile.h"
#include "meshloom/Transforms/Passes.h"

#include "llvm/ADT/MapVector.h"

#include <limits>
#include <numeric>

namespace meshloom {
#define GEN_PASS_DEF_REFINELAYOUTS
#include "meshloom/Transforms/Passes.h.inc"

/// A value that costs nothing to make in any layout.
static bool isFreeLeaf(Operation &op) {
  if (auto constant = dyn_cast<dtensor::ConstantOp>(op)) {
    auto dense = dyn_cast<mlir::DenseElementsAttr>(constant.getValue());
    return dense && dense.isSplat();
  }
  if (isa<dtensor::IotaOp>(op))
    return true;
  auto broadcast = dyn_cast<dtensor::BroadcastInDimOp>(op);
  return broadcast &&
         dtensor::globalShape(op.getOperand(0).getType()).empty() &&
         !givenLayout(op.getResult(0).getType())->is_partial();
}

static int64_t flopsPerPoint(Operation &op) {
  using namespace dtensor;
  if (isa<DotGeneralOp, MatMulOp>(op))
    return 2;
  if (isa<BroadcastInDimOp, ReshapeOp, TransposeOp, SliceOp, ConcatenateOp,
          ReverseOp, ConstantOp, IotaOp>(op))
    return 0;
  if (isa<RngOp>(op))
    return 32;
  if (auto cost = libraryCost(&op))
    return cost->flopsPerPoint;
  return scalarCost(&op).value_or(1);
}

static void setLayout(Value value, const Layout &layout) {
  auto type = cast<RankedTensorType>(value.getType());
  value.setType(RankedTensorType::get(
      type.getShape(), type.getElementType(),
      dtensor::LayoutAttr::get(type.getContext(), layout)));
}

namespace {
/// The graph of a block, and which op and value is which. What comes from
/// outside of the block, carried values, and what loops and branches in it give
/// are laid out as they are; what they take is brought to what they need.
struct FunctionGraph {
  LayoutGraph graph;
  std::vector<Operation *> ops;
  std::vector<Value> values;
  DenseMap<Value, unsigned> index;

  LogicalResult build(Block &block);

private:
  LogicalResult addControl(Operation &op);
  void addOutsideValues(Block &block);
  void addYields(Operation *yield);
  void add(Value value, int producer, bool argument = false) {
    auto type = cast<RankedTensorType>(value.getType());
    index[value] = values.size();
    values.push_back(value);
    graph.values.push_back(
        {Shape(type.getShape().begin(), type.getShape().end()),
         *dtensor::dtypeOf(type.getElementType()), *givenLayout(type), producer,
         argument});
  }
};

static bool laidOut(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && givenLayout(tensor);
}

constexpr StringRef remedy = "run --dtensor-propagate-layouts first";

/// What a control op takes, and what its regions use, must be there as it is.
LogicalResult FunctionGraph::addControl(Operation &op) {
  for (auto [i, value] : llvm::enumerate(usedValues(&op))) {
    if (value.getParentBlock() != op.getBlock() && !index.contains(value))
      continue; // of an outer block, and used only in the op's own regions
    Layout need = *givenLayout(value.getType());
    if (auto loop = dyn_cast<dtensor::WhileOp>(op))
      for (auto [init, result] :
           llvm::zip_equal(loop.getInits(), loop.getResults()))
        if (init == value)
          need = *givenLayout(result.getType());
    graph.outputs.push_back({index.lookup(value), need, false});
  }
  for (Value result : op.getResults())
    add(result, -1);
  return success();
}

/// Values that ops of a nested block use from outside of it.
void FunctionGraph::addOutsideValues(Block &block) {
  for (Operation &op : block)
    for (Value operand : op.getOperands())
      if (operand.getParentBlock() != &block && !index.contains(operand) &&
          laidOut(operand.getType())) {
        add(operand, -1, /*argument=*/true);
        graph.values.back().runs = runsPerRelayout(block, operand);
      }
}

void FunctionGraph::addYields(Operation *yield) {
  auto loop = dyn_cast<dtensor::WhileOp>(yield->getParentOp());
  bool predicate = loop && loop.getConditionYield() == yield;
  for (auto [i, operand] : llvm::enumerate(yield->getOperands())) {
    Layout need = *givenLayout(operand.getType());
    if (predicate)
      need = Layout::replicated(need.mesh(), need.rank());
    else if (!isa<mlir::func::ReturnOp>(yield))
      need = *givenLayout(yield->getParentOp()->getResult(i).getType());
    graph.outputs.push_back(
        {index.lookup(operand), need, isa<mlir::func::ReturnOp>(yield)});
  }
}

LogicalResult FunctionGraph::build(Block &block) {
  for (BlockArgument argument : block.getArguments()) {
    if (!laidOut(argument.getType()))
      return block.getParentOp()->emitError("argument #")
             << argument.getArgNumber() << " has no layout; " << remedy;
    add(argument, -1, /*argument=*/true);
  }
  addOutsideValues(block);
  for (Operation &op : block) {
    if (!llvm::all_of(op.getResultTypes(), laidOut))
      return op.emitOpError("has a result without a layout; ") << remedy;
    if (isa<mlir::func::ReturnOp, dtensor::YieldOp>(op))
      continue;
    if (isControl(&op)) {
      if (failed(addControl(op)))
        return failure();
      continue;
    }
    if (isa<dtensor::RelayoutOp, dtensor::ConstraintOp>(op)) {
      Value result = op.getResult(0);
      bool atEnd = llvm::all_of(result.getUsers(), [](Operation *user) {
        return isa<mlir::func::ReturnOp>(user);
      });
      graph.outputs.push_back({index.lookup(op.getOperand(0)),
                               *givenLayout(result.getType()), atEnd});
      add(result, -1);
      continue;
    }
    auto sharded = dyn_cast<dtensor::ShardedOpInterface>(op);
    if (!sharded || op.getNumResults() == 0)
      return op.emitOpError("has no sharding rule, so it cannot be laid out");
    LayoutGraph::Op node{
        sharded.getShardingRule(), {}, {}, flopsPerPoint(op), isFreeLeaf(op)};
    if (auto cost = libraryCost(&op))
      node.flat = cost->flat;
    for (Value operand : op.getOperands())
      node.operands.push_back(index.lookup(operand));
    for (Value result : op.getResults()) {
      node.results.push_back(values.size());
      add(result, int(ops.size()));
    }
    ops.push_back(&op);
    graph.ops.push_back(std::move(node));
  }
  addYields(block.getTerminator());
  return success();
}

class RefineLayoutsPass : public impl::RefineLayoutsBase<RefineLayoutsPass> {
public:
  using RefineLayoutsBase::RefineLayoutsBase;

private:
  void runOnOperation() override {
    mlir::func::FuncOp function = getOperation();
    if (function.isExternal())
      return;
    if (failed(expectOneBlock(function)))
      return signalPassFailure();
    Result<MachineModel> model = loadMachineModel(machine);
    if (!model) {
      function.emitError(model.error().message());
      return signalPassFailure();
    }
    for (Block *block : runBlocks(function))
      if (failed(refine(*block, *model)))
        return signalPassFailure();
  }

  LogicalResult refine(Block &block, const MachineModel &model) {
    FunctionGraph nodes;
    if (failed(nodes.build(block)))
      return failure();
    if (nodes.graph.ops.empty())
      return success();
    // Each mesh is its own program; one function rarely has two.
    const Mesh &mesh = nodes.graph.mesh();
    if (mesh.size() == 1 ||
        llvm::any_of(nodes.graph.values, [&](const LayoutGraph::Value &value) {
          return !(value.layout.mesh() == mesh);
        }))
      return success();
    LayoutRefinement found = refineLayouts(nodes.graph, model);
    if (!model.sharedMemory && sendsMore(nodes.graph, found, model)) {
      // Time that local work would save is not bought with bytes: by links
      // alone no plan is cheaper that sends more.
      MachineModel links = model;
      links.flopsPerSecond = links.memoryBytesPerSecond =
          std::numeric_limits<int64_t>::max();
      found = refineLayouts(nodes.graph, links);
    }
    llvm::MapVector<Value, Layout> captured = capturedLayouts(block);
    write(nodes, found);
    keepCaptured(captured);
    return success();
  }

  /// Whether the plan that was found sends more bytes than the given one.
  static bool sendsMore(const LayoutGraph &graph, const LayoutRefinement &found,
                        const MachineModel &model) {
    auto sent = [&](const LayoutGraph &plan) {
      LayoutState state(plan, found.clusters, model);
      std::vector<unsigned> all(plan.values.size());
      std::iota(all.begin(), all.end(), 0u);
      // Relayouts in front of a loop count as their part of one iteration.
      double bytes = 0;
      for (const PlannedRelayout &relayout : state.relayouts(all))
        bytes += double(relayout.plan->bytesSent) /
                 double(plan.values[relayout.value].runs);
      return bytes;
    };
    LayoutGraph after = graph;
    for (auto [value, layout] : llvm::zip_equal(after.values, found.layouts))
      value.layout = layout;
    return sent(after) > sent(graph);
  }

  /// What loops and branches in the block use of its values.
  static llvm::MapVector<Value, Layout> capturedLayouts(Block &block) {
    llvm::MapVector<Value, Layout> layouts;
    for (Operation &op : block)
      if (isControl(&op))
        for (Value value : capturedValues(&op))
          if (value.getParentBlock() == &block)
            layouts.insert({value, *givenLayout(value.getType())});
    return layouts;
  }

  /// Their ops were laid out for what the values were. None takes a pending
  /// reduction from outside: propagation resolves it before.
  static void keepCaptured(const llvm::MapVector<Value, Layout> &layouts) {
    for (auto [value, before] : layouts) {
      Layout now = *givenLayout(value.getType());
      Layout layout = before.without_partial();
      if (now == before || now == layout)
        continue;
      OpBuilder builder(value.getContext());
      builder.setInsertionPointAfterValue(value);
      Value kept = builder.create<dtensor::ConstraintOp>(
          value.getLoc(), value,
          dtensor::LayoutAttr::get(value.getContext(), layout));
      Block *block = value.getParentBlock();
      value.replaceUsesWithIf(kept, [&](OpOperand &use) {
        return use.getOwner()->getBlock() != block;
      });
    }
  }

  void write(FunctionGraph &nodes, const LayoutRefinement &found) {
    Builder builder(&getContext());
    const LayoutGraph &graph = nodes.graph;
    for (auto [i, op] : llvm::enumerate(nodes.ops)) {
      bool changed = false;
      for (unsigned value : graph.ops[i].results)
        if (!(found.layouts[value] == graph.values[value].layout)) {
          if (!changed)
            op->setAttr("dtensor.refined",
                        builder.getStringAttr(
                            graph.values[value].layout.spec_string()));
          setLayout(nodes.values[value], found.layouts[value]);
          changed = true;
        }
      if (changed)
        setOrigin(op);
    }
    SmallVector<Attribute> notes{
        builder.getStringAttr("predicted " + formatTime(found.before.cost) +
                              " -> " + formatTime(found.after.cost))};
    if (found.cutShort > 0)
      notes.push_back(builder.getStringAttr(
          "search limited: not all sequences of moves were tried around " +
          std::to_string(found.cutShort) + " groups of ops"));
    for (const LayoutDecision &decision : found.decisions) {
      if (decision.rejected.empty())
        continue;
      for (unsigned op : decision.ops)
        nodes.ops[op]->setAttr("dtensor.rejected",
                               builder.getStringAttr(decision.rejected));
      if (decision.moved)
        notes.push_back(builder.getStringAttr(describe(nodes, decision)));
    }
    // One list for all blocks.
    if (auto before =
            getOperation()->getAttrOfType<mlir::ArrayAttr>("dtensor.refined"))
      notes.insert(notes.begin(), before.begin(), before.end());
    getOperation()->setAttr("dtensor.refined", builder.getArrayAttr(notes));
    layOutLeaves(nodes, found);
    keepResults();
  }

  /// "dtensor.multiply at f.mlir:1:2 and 12 more: [*, *] -> [batch, *], not
  /// ...", by the last op that was moved.
  static std::string describe(const FunctionGraph &nodes,
                              const LayoutDecision &decision) {
    Operation *last = nullptr;
    unsigned count = 0;
    for (unsigned op : decision.ops)
      if (nodes.ops[op]->hasAttr("dtensor.refined")) {
        last = nodes.ops[op];
        ++count;
      }
    std::string text = last->getName().getStringRef().str() + " at " +
                       locationText(last->getLoc());
    if (count > 1)
      text += " and " + std::to_string(count - 1) + " more";
    return text + ": " +
           last->getAttrOfType<StringAttr>("dtensor.refined").str() + " -> " +
           givenLayout(last->getResult(0).getType())->spec_string() + ", not " +
           decision.rejected;
  }

  /// Function results keep the layouts that they had: what makes them is
  /// brought back by a constraint.
  void keepResults() {
    mlir::func::FuncOp function = getOperation();
    Operation *terminator = function.getBody().front().getTerminator();
    for (OpOperand &operand : terminator->getOpOperands()) {
      Type type = function.getResultTypes()[operand.getOperandNumber()];
      if (operand.get().getType() == type)
        continue;
      OpBuilder builder(terminator);
      operand.set(builder.create<dtensor::ConstraintOp>(
          operand.get().getLoc(), operand.get(),
          dtensor::LayoutAttr::get(&getContext(), *givenLayout(type))));
    }
  }

  /// Axes that the op did not have before come from what it is moved to suit.
  void setOrigin(Operation *op) {
    Builder builder(&getContext());
    Layout layout = *givenLayout(op->getResult(0).getType());
    mlir::NamedAttrList origins(
        op->getAttrOfType<DictionaryAttr>("dtensor.origin"));
    for (auto [axis, meshAxis] : llvm::enumerate(layout.mesh().axes())) {
      if (!layout.uses_axis(axis) || origins.get(meshAxis.name))
        continue;
      StringAttr origin = builder.getStringAttr("refinement");
      for (Value operand : op->getOperands())
        if (Operation *producer = operand.getDefiningOp())
          if (auto known =
                  producer->getAttrOfType<DictionaryAttr>("dtensor.origin"))
            if (auto text = known.getAs<StringAttr>(meshAxis.name)) {
              origin = text;
              break;
            }
      origins.set(meshAxis.name, origin);
    }
    op->setAttr("dtensor.origin", origins.getDictionary(&getContext()));
  }

  /// Gives each user of a free leaf one in the layout that it needs.
  void layOutLeaves(FunctionGraph &nodes, const LayoutRefinement &found) {
    DenseMap<std::pair<Operation *, Type>, Operation *> copies;
    for (auto [i, op] : llvm::enumerate(nodes.ops)) {
      if (nodes.graph.ops[i].free)
        continue;
      for (OpOperand &use : op->getOpOperands()) {
        Operation *leaf = use.get().getDefiningOp();
        if (!leaf || !isFreeLeaf(*leaf))
          continue;
        const Layout &need = found.needs[i][use.getOperandNumber()];
        if (*givenLayout(use.get().getType()) == need || !canMake(leaf, need))
          continue;
        auto type = cast<RankedTensorType>(use.get().getType());
        auto wanted = RankedTensorType::get(
            type.getShape(), type.getElementType(),
            dtensor::LayoutAttr::get(&getContext(), need));
        Operation *&copy = copies[{leaf, wanted}];
        if (!copy) {
          OpBuilder builder(leaf);
          builder.setInsertionPointAfter(leaf);
          copy = builder.clone(*leaf);
          copy->getResult(0).setType(wanted);
        }
        Value leafValue = use.get();
        use.set(copy->getResult(0));
        // How an op runs is read off its operands too.
        if (!producesItsTypes(op))
          use.set(leafValue);
      }
    }
    for (Operation *op : llvm::reverse(nodes.ops))
      if (op->use_empty() && isFreeLeaf(*op))
        op->erase();
    for (auto &[key, copy] : copies)
      if (copy->use_empty())
        copy->erase();
  }

  static bool producesItsTypes(Operation *op) {
    ShardingRule rule = cast<dtensor::ShardedOpInterface>(op).getShardingRule();
    std::vector<Layout> operands, results;
    for (Value operand : op->getOperands())
      operands.push_back(*givenLayout(operand.getType()));
    for (Value result : op->getResults())
      results.push_back(*givenLayout(result.getType()));
    OpSharding sharding = opSharding(rule, operands, results);
    for (auto [i, result] : llvm::enumerate(results))
      if (!(resultLayout(rule, i, sharding, result.mesh()) == result))
        return false;
    return true;
  }

  static bool canMake(Operation *leaf, const Layout &layout) {
    ShardingRule rule =
        cast<dtensor::ShardedOpInterface>(leaf).getShardingRule();
    std::vector<Layout> operands;
    for (Value operand : leaf->getOperands())
      operands.push_back(*givenLayout(operand.getType()));
    OpSharding sharding = opSharding(rule, operands, {{layout}});
    return resultLayout(rule, 0, sharding, layout.mesh()) == layout;
  }
};
} // namespace
} // namespace meshloom
