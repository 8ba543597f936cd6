// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RefineLayouts: hands the function to the search over layouts, and writes what
// it found into the types of ops' results.

#include "FunctionGraph.h"
#include "LaidOut.h"
#include "LayoutFlow.h"
#include "meshloom/ControlFlow/ArgumentAttributes.h"
#include "meshloom/ControlFlow/Determinism.h"
#include "meshloom/ControlFlow/SourceLocation.h"
#include "meshloom/Dialect/DTensor/Notes.h"
#include "meshloom/Dialect/DTensor/OpenSignature.h"

#include "meshloom/Layout/ArgumentSearch.h"
#include "meshloom/Layout/Passes.h"
#include "meshloom/Layout/Search/LayoutSearch.h"

namespace meshloom {
#define GEN_PASS_DEF_REFINELAYOUTS
#include "meshloom/Layout/Passes.h.inc"

namespace {
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
    if (failed(refine(function, machine)))
      return signalPassFailure();
    function->removeAttr(dtensor::openArgumentsAttr);
    function->removeAttr(dtensor::openResultsAttr);
    function->removeAttr(refineAsWrittenAttr);
  }

  LogicalResult refine(mlir::func::FuncOp function, const MachineModel &model) {
    FailureOr<Mesh> mesh = onlyMesh(function);
    FunctionGraph nodes;
    if (failed(mesh) || failed(nodes.build(function)))
      return failure();
    if (nodes.graph.ops.empty() || mesh->size() == 1)
      return success();
    const SearchDepth depth =
        singleMoves ? SearchDepth::SingleMoves : SearchDepth::Whole;
    const bool isForTime = byTime && !function->hasAttr(refineAsWrittenAttr);
    write(nodes, isForTime ? findLayouts(nodes.graph, model, memory, depth)
                           : refineByTimeAndBytes(nodes.graph, model, depth));
    return success();
  }

  void write(FunctionGraph &nodes, const LayoutRefinement &found) {
    Builder builder(&getContext());
    const LayoutGraph &graph = nodes.graph;
    for (auto [i, op] : llvm::enumerate(nodes.ops)) {
      bool changed = false;
      for (unsigned value : graph.ops[i].results)
        if (!(found.layouts[value] == graph.values[value].layout())) {
          if (!changed)
            op->setAttr(dtensor::refinedAttr,
                        builder.getStringAttr(
                            graph.values[value].layout().spec_string()));
          setLayout(nodes.values[value], found.layouts[value]);
          changed = true;
        }
      if (!changed)
        continue;
      int join = nodes.joins[i];
      if (auto loop = dyn_cast<dtensor::WhileOp>(op); loop && join >= 0)
        loop.getConditionArgument(unsigned(join))
            .setType(loop.getBodyArgument(unsigned(join)).getType());
      setOrigin(op, found.layouts[graph.ops[i].results[0]]);
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
        nodes.ops[op]->setAttr(dtensor::rejectedAttr,
                               builder.getStringAttr(decision.rejected));
      if (decision.moved)
        notes.push_back(builder.getStringAttr(describe(nodes, decision)));
    }
    layOutArguments(nodes, found, notes);
    getOperation()->setAttr(dtensor::refinedAttr, builder.getArrayAttr(notes));
    getOperation()->setAttr(predictedTimeAttr,
                            builder.getI64IntegerAttr(found.after.cost));
    layOutLeaves(nodes, found);
    layOutResults(graph);
  }

  /// Arguments that nobody laid out; adds to `notes` which ones change.
  void layOutArguments(FunctionGraph &nodes, const LayoutRefinement &found,
                       SmallVector<Attribute> &notes) {
    mlir::func::FuncOp function = getOperation();
    ArgumentAttributes attributes(function);
    for (BlockArgument argument : function.getArguments()) {
      // Arguments are the first values.
      const unsigned value = argument.getArgNumber();
      const Layout &layout = found.layouts[value],
                   &before = nodes.graph.values[value].layout();
      if (layout == before)
        continue;
      notes.push_back(StringAttr::get(
          &getContext(), "argument " +
                             LayoutFlow::argumentName(function, value) + ": " +
                             before.spec_string() + " -> " +
                             layout.spec_string() + ", as its users take it"));
      setLayout(argument, layout);
      DictionaryAttr origins = originsOf(
          function.getArgAttrOfType<DictionaryAttr>(value, dtensor::originAttr),
          layout);
      if (origins.empty())
        attributes.erase(value, dtensor::originAttr);
      else
        attributes.set(value, dtensor::originAttr, origins);
    }
    attributes.apply();
  }

  /// Returns where the axes of `layout` come from, as `recorded` says; the
  /// others come from what refinement made of the program.
  DictionaryAttr originsOf(DictionaryAttr recorded, const Layout &layout) {
    Builder builder(&getContext());
    mlir::NamedAttrList origins;
    for (auto [axis, meshAxis] : llvm::enumerate(layout.mesh().axes()))
      if (layout.uses_axis(axis)) {
        Attribute before = recorded ? recorded.get(meshAxis.name) : Attribute();
        origins.set(meshAxis.name,
                    before ? before : builder.getStringAttr("refinement"));
      }
    return origins.getDictionary(&getContext());
  }

  /// "dtensor.multiply at f.mlir:1:2 and 12 more: [*, *] -> [batch, *], not
  /// ...", by the last op that was moved.
  static std::string describe(const FunctionGraph &nodes,
                              const LayoutDecision &decision) {
    Operation *last = nullptr;
    Value moved;
    unsigned count = 0;
    for (unsigned op : decision.ops)
      if (nodes.ops[op]->hasAttr(dtensor::refinedAttr)) {
        last = nodes.ops[op];
        moved = nodes.values[nodes.graph.ops[op].results[0]];
        ++count;
      }
    std::string text = last->getName().getStringRef().str() + " at " +
                       locationText(last->getLoc());
    if (count > 1)
      text += " and " + std::to_string(count - 1) + " more";
    return text + ": " +
           last->getAttrOfType<StringAttr>(dtensor::refinedAttr).str() +
           " -> " + annotatedLayout(moved.getType())->spec_string() + ", not " +
           decision.rejected;
  }

  /// Function results keep the layouts that they had: what makes them is
  /// brought back by a constraint. Results that nobody laid out are as the op
  /// that makes them lays them out.
  void layOutResults(const LayoutGraph &graph) {
    mlir::func::FuncOp function = getOperation();
    Operation *terminator = function.getBody().front().getTerminator();
    const size_t first = graph.outputs.size() - terminator->getNumOperands();
    for (OpOperand &operand : terminator->getOpOperands()) {
      const unsigned index = operand.getOperandNumber();
      const Layout layout = *annotatedLayout(operand.get().getType());
      const Layout wanted =
          graph.outputs[first + index].open
              ? layout.without_partial()
              : *annotatedLayout(function.getResultTypes()[index]);
      if (layout == wanted)
        continue;
      OpBuilder builder(terminator);
      operand.set(builder.create<dtensor::ConstraintOp>(
          operand.get().getLoc(), operand.get(),
          dtensor::LayoutAttr::get(&getContext(), wanted)));
    }
    function.setFunctionType(mlir::FunctionType::get(
        &getContext(), function.getBody().front().getArgumentTypes(),
        terminator->getOperandTypes()));
  }

  /// Axes that the op did not have before come from what it is moved to suit.
  void setOrigin(Operation *op, const Layout &layout) {
    Builder builder(&getContext());
    mlir::NamedAttrList origins(
        op->getAttrOfType<DictionaryAttr>(dtensor::originAttr));
    for (auto [axis, meshAxis] : llvm::enumerate(layout.mesh().axes())) {
      if (!layout.uses_axis(axis) || origins.get(meshAxis.name))
        continue;
      StringAttr origin = builder.getStringAttr("refinement");
      for (Value operand : op->getOperands())
        if (Operation *producer = operand.getDefiningOp())
          if (auto origins =
                  producer->getAttrOfType<DictionaryAttr>(dtensor::originAttr))
            if (auto text = origins.getAs<StringAttr>(meshAxis.name)) {
              origin = text;
              break;
            }
      origins.set(meshAxis.name, origin);
    }
    op->setAttr(dtensor::originAttr, origins.getDictionary(&getContext()));
  }

  /// Gives each user of a free leaf one in the layout that it needs.
  void layOutLeaves(FunctionGraph &nodes, const LayoutRefinement &found) {
    DenseMap<std::pair<Operation *, Type>, Operation *> copies;
    for (auto [i, op] : llvm::enumerate(nodes.ops)) {
      const LayoutGraph::Op &node = nodes.graph.ops[i];
      if (node.free)
        continue;
      for (auto [operand, value] : llvm::enumerate(node.operands)) {
        const int producer = nodes.graph.values[value].producer;
        if (producer < 0 || !nodes.graph.ops[producer].free)
          continue;
        OpOperand &use = nodes.use(unsigned(i), unsigned(operand));
        Operation *leaf = nodes.ops[producer];
        const Layout &need = found.need(unsigned(i), unsigned(operand));
        if (*annotatedLayout(use.get().getType()) == need ||
            !canMake(leaf, need))
          continue;
        RankedTensorType wanted = laidOut(use.get(), need);
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
        if (nodes.joins[i] < 0 && !producesItsTypes(op))
          use.set(leafValue);
      }
    }
    for (auto [node, op] :
         llvm::reverse(llvm::zip_equal(nodes.graph.ops, nodes.ops)))
      if (node.free && op->use_empty())
        op->erase();
    for (auto &[key, copy] : copies)
      if (copy->use_empty())
        copy->erase();
  }

  static bool producesItsTypes(Operation *op) {
    ShardingRule rule = layoutRule(cast<dtensor::ShardedOpInterface>(op));
    const std::vector<Layout> results = annotatedLayouts(op->getResultTypes());
    OpSharding sharding =
        opSharding(rule, annotatedLayouts(op->getOperandTypes()), results);
    for (auto [i, result] : llvm::enumerate(results))
      if (!(resultLayout(rule, i, sharding, result.mesh()) == result))
        return false;
    return true;
  }

  static bool canMake(Operation *leaf, const Layout &layout) {
    ShardingRule rule = layoutRule(cast<dtensor::ShardedOpInterface>(leaf));
    OpSharding sharding =
        opSharding(rule, annotatedLayouts(leaf->getOperandTypes()), {{layout}});
    return resultLayout(rule, 0, sharding, layout.mesh()) == layout;
  }
};
} // namespace
} // namespace meshloom
