// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The walk over a map's regions. Where there are several, they are walked in
// lockstep: each up to the next op that all places take part in, which is then
// made once for all.
#include "meshloom/Lanes/Vectorise.h"
#include "SharedOps.h"

#include "meshloom/ControlFlow/Determinism.h"
#include "meshloom/Lanes/Blocks.h"
#include "meshloom/Lanes/ControlFlow.h"

using namespace meshloom;
using namespace meshloom::lanes;
using dtensor::MapOp;

namespace {

/// An op, or a block, of one of the regions.
template <typename T> struct InPart {
  unsigned part;
  T item;
};
using PartOps = ArrayRef<InPart<Operation *>>;
using PartBlocks = ArrayRef<InPart<Block *>>;

class Vectoriser {
public:
  Vectoriser(MapOp map, LaneBuilder &b, const VectoriserHooks &hooks)
      : map(map), b(b), hooks(hooks), values(map.getBodies().size()) {
    for (auto [i, name] :
         llvm::enumerate(map.getAxes().getAsValueRange<StringAttr>()))
      axes[name] = unsigned(i);
    for (unsigned axis = 0; axis < map.getAxes().size(); ++axis)
      allLanes.push_back(laneOf(map, axis));
    llvm::sort(allLanes);
  }

  MaybeValues run() {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(map);
    b.setLoc(map.getLoc());
    SmallVector<InPart<Block *>> blocks;
    for (unsigned part = 0; part < values.size(); ++part) {
      Block &block = map.getBodies()[part].front();
      blocks.push_back({part, &block});
      for (unsigned i = 0; i < map.getInputsEach(); ++i) {
        unsigned number = part * map.getInputsEach() + i;
        Value input = map.getInputs()[number];
        SmallVector<unsigned> lanes;
        for (int64_t axis : map.getLanesOf(number))
          lanes.push_back(laneOf(map, unsigned(axis), part));
        set(part, block.getArgument(i),
            lanes.empty() ? input : b.hide(input, lanes));
      }
    }
    if (failed(walk(blocks)))
      return failure();
    SmallVector<Value> results;
    for (auto [part, block] : blocks)
      llvm::append_range(results,
                         get(part, block->getTerminator()->getOperands()));
    return results;
  }

private:
  //===--------------------------------------------------------------------===//
  // Values
  //===--------------------------------------------------------------------===//

  /// Values from outside of the map are the same at all places.
  Value get(unsigned part, Value value) const {
    auto entry = values[part].find(value);
    return entry == values[part].end() ? value : entry->second;
  }
  SmallVector<Value> get(unsigned part, ValueRange source) const {
    SmallVector<Value> result;
    for (Value value : source)
      result.push_back(get(part, value));
    return result;
  }
  void set(unsigned part, Value source, Value replacement) {
    values[part][source] = replacement;
  }
  void set(unsigned part, ValueRange source, ValueRange replacements) {
    for (auto [from, to] : llvm::zip(source, replacements))
      set(part, from, to);
  }

  //===--------------------------------------------------------------------===//
  // The walk
  //===--------------------------------------------------------------------===//

  bool isLaneAxis(StringRef axis) const { return axes.contains(axis); }

  /// Returns whether all regions make `op` together.
  bool meets(Operation *op) const {
    if (isa<dtensor::AssignVariableOp>(op))
      return true;
    if (auto reduce = dyn_cast<dtensor::AxisReduceOp>(op))
      return llvm::any_of(reduce.getAxes().getAsValueRange<StringAttr>(),
                          [&](StringRef axis) { return isLaneAxis(axis); });
    if (auto gather = dyn_cast<dtensor::AxisGatherOp>(op))
      return isLaneAxis(gather.getAxis());
    if (auto part = dyn_cast<dtensor::AxisPartOp>(op))
      return isLaneAxis(part.getAxis());
    for (Region &region : op->getRegions())
      for (Operation &inner : region.getOps())
        if (meets(&inner))
          return true;
    return false;
  }

  LogicalResult walk(PartBlocks blocks) {
    SmallVector<Block::iterator> positions;
    for (auto [part, block] : blocks)
      positions.push_back(block->begin());
    auto ended = [&](size_t i) {
      return &*positions[i] == blocks[i].item->getTerminator();
    };
    while (true) {
      SmallVector<InPart<Operation *>> ops;
      for (size_t i = 0; i < blocks.size(); ++i) {
        for (; !ended(i) && !meets(&*positions[i]); ++positions[i])
          if (failed(alone(blocks[i].part, &*positions[i])))
            return failure();
        if (!ended(i))
          ops.push_back({blocks[i].part, &*positions[i]});
      }
      if (ops.empty())
        return success();
      if (ops.size() < blocks.size() || llvm::any_of(ops, [&](auto &op) {
            return op.item->getName() != ops[0].item->getName();
          }))
        return ops[0].item->emitOpError()
               << "is not reached by all replicas: replicas whose values have "
                  "different shapes continue without it";
      if (failed(together(ops)))
        return failure();
      for (Block::iterator &position : positions)
        ++position;
    }
  }

  /// An op of one region that concerns no others.
  LogicalResult alone(unsigned part, Operation *op) {
    b.setLoc(op->getLoc());
    if (isa<dtensor::WhileOp>(op))
      return loop({{part, op}});
    if (isa<dtensor::CaseOp>(op))
      return branch({{part, op}});
    if (isa<MapOp>(op))
      return op->emitOpError() << "is inside of a map: the inner one is "
                                  "vectorised first";
    SmallVector<Value> operands = get(part, op->getOperands());
    const bool mayBeBuilt = isShared(op, operands);
    MaybeValues results = mayBeBuilt
                              ? shared.find(op, operands, b.getInsertionBlock())
                              : MaybeValues(failure());
    if (failed(results)) {
      results = vectoriseOp(b, op, operands);
      if (failed(results))
        return failure();
      if (mayBeBuilt)
        shared.add(op, operands, *results);
    }
    set(part, op->getResults(), *results);
    return success();
  }

  LogicalResult together(PartOps ops) {
    b.setLoc(ops[0].item->getLoc());
    Operation *first = ops[0].item;
    if (isa<dtensor::AxisReduceOp>(first))
      return reduce(ops);
    if (isa<dtensor::AxisGatherOp>(first))
      return gather(ops);
    if (isa<dtensor::AxisPartOp>(first))
      return takeParts(ops);
    if (isa<dtensor::AssignVariableOp>(first))
      return assign(ops);
    if (isa<dtensor::WhileOp>(first))
      return loop(ops);
    if (isa<dtensor::CaseOp>(first))
      return branch(ops);
    return first->emitOpError() << "cannot hold ops between places";
  }

  /// With several regions, an op that is the same at all places is built once,
  /// so that the regions can be seen to assign the same value.
  bool isShared(Operation *op, ValueRange operands) const {
    return values.size() > 1 && b.lanesOf(operands).empty() &&
           dependsOnOperandsAlone(op);
  }

  //===--------------------------------------------------------------------===//
  // Between places
  //===--------------------------------------------------------------------===//

  bool hasParts() { return bool(map.getMembers()); }

  Value written(Value value) {
    return b.getMesh() ? asWritten(b, value, allLanes) : value;
  }

  LogicalResult reduce(PartOps ops) {
    auto op = cast<dtensor::AxisReduceOp>(ops[0].item);
    SmallVector<unsigned> laneAxes;
    SmallVector<StringRef> others;
    for (StringRef axis : op.getAxes().getAsValueRange<StringAttr>()) {
      if (isLaneAxis(axis))
        laneAxes.push_back(axes.lookup(axis));
      else
        others.push_back(axis);
    }
    Value result;
    // One sum, for --dtensor-merge-sums to find.
    const bool isOne =
        ops.size() > 1 && op.getKind() == ReduceKind::Sum &&
        isDeterministic(map) &&
        isa<FloatType>(dtensor::elementTypeOf(op.getOperand().getType()));
    SmallVector<Value> addends;
    for (auto [part, item] : ops) {
      auto its = cast<dtensor::AxisReduceOp>(item);
      if (its.getKind() != op.getKind() || its.getAxes() != op.getAxes())
        return differs(its, op);
      SmallVector<unsigned> lanes;
      for (unsigned axis : laneAxes)
        lanes.push_back(laneOf(map, axis, part));
      Value value = get(part, its.getOperand());
      if (result && b.shapeOf(value) != b.shapeOf(result))
        return its.emitOpError()
               << "combines values of different shapes, " << b.typeOf(result)
               << " and " << b.typeOf(value)
               << " on replicas with different numbers of rows: reduce over "
                  "the rows first";
      if (isOne) {
        addends.push_back(b.expose(b.withLanes(value, lanes), lanes));
        result = value;
        continue;
      }
      value = b.reduceLanes(op.getKind(), value, lanes);
      result = result ? b.combine(op.getKind(), result, value) : value;
    }
    if (isOne)
      result = b.reduce(ReduceKind::Sum, b.concatenate(addends, 0), {0});
    result = written(result);
    if (!others.empty()) {
      Lanes lanes(b.lanesOf(result));
      Value outer = b.create<dtensor::AxisReduceOp>(
          b.getLoc(), result.getType(), result, b.getStrArrayAttr(others),
          op.getKindAttr());
      result = b.note(outer, lanes);
    }
    for (auto [part, item] : ops)
      set(part, item->getResult(0), result);
    return success();
  }

  /// Extents by place along a dim of `extent` at this one.
  template <typename OpTy>
  SmallVector<int64_t> sizesOf(OpTy op, int64_t extent) {
    if (auto sizes = op.getSizes())
      return SmallVector<int64_t>(*sizes);
    return SmallVector<int64_t>(map.getSizes()[axes.lookup(op.getAxis())],
                                extent);
  }

  /// [places, ...] as one value along dim `dim`.
  Value joined(Value exposed, int64_t dim) {
    return b.mergeDims(b.moveDim(exposed, 0, dim), dim);
  }

  LogicalResult gather(PartOps ops) {
    auto first = cast<dtensor::AxisGatherOp>(ops[0].item);
    int64_t dim = first.getDimension();
    unsigned axis = axes.lookup(first.getAxis());
    Value result;
    if (!hasParts()) {
      Value value = get(0, first.getOperand());
      unsigned lane = laneOf(map, axis);
      result = joined(b.expose(value, lane), dim);
    } else {
      // For each place its piece: the part that it is of, and where in it.
      SmallVector<Value> joints;
      SmallVector<std::pair<unsigned, int64_t>> pieces(map.getSizes()[axis]);
      SmallVector<int64_t> extents, sizes;
      for (auto [i, inPart] : llvm::enumerate(ops)) {
        auto op = cast<dtensor::AxisGatherOp>(inPart.item);
        Value value = get(inPart.part, op.getOperand());
        if (int64_t(op.getDimension()) != dim)
          return differs(op, first);
        int64_t extent = b.shapeOf(value)[dim];
        extents.push_back(extent);
        if (i == 0)
          sizes = sizesOf(op, extent);
        for (auto [k, place] : llvm::enumerate(map.getMembersOf(inPart.part))) {
          pieces[place] = {unsigned(i), int64_t(k)};
          if (sizesOf(op, extent)[place] != extent || sizes[place] != extent)
            return op.emitOpError()
                   << "joins values of other extents than its replicas "
                      "expected of each other: replica "
                   << place << " has " << extent << " along dim " << dim
                   << ", not " << sizes[place]
                   << " (an extent that is not proportional to the rows of the "
                      "replica's batch cannot be known)";
        }
        joints.push_back(joined(b.expose(value, inPart.part), dim));
      }
      SmallVector<Value> runs;
      for (size_t place = 0; place < pieces.size();) {
        auto [part, from] = pieces[place];
        int64_t count = 1;
        while (place + size_t(count) < pieces.size() &&
               pieces[place + size_t(count)] == std::pair(part, from + count))
          ++count;
        runs.push_back(sliced(joints[part], dim, from * extents[part],
                              (from + count) * extents[part]));
        place += size_t(count);
      }
      for (Value run : runs) {
        SmallVector<int64_t> shape = b.shapeOf(run), other = b.shapeOf(runs[0]);
        if (shape.size() == other.size())
          shape[dim] = other[dim];
        if (shape != other)
          return first.emitOpError()
                 << "joins values along dim " << dim
                 << " that differ in other dims, " << b.typeOf(runs[0])
                 << " and " << b.typeOf(run)
                 << " on replicas with different numbers of rows: gather along "
                    "the dim of the rows";
      }
      result = runs.size() == 1 ? runs[0] : b.concatenate(runs, dim);
    }
    result = written(result);
    for (auto [part, item] : ops)
      set(part, item->getResult(0), result);
    return success();
  }

  Value sliced(Value value, int64_t dim, int64_t from, int64_t to) {
    if (from == 0 && to == b.shapeOf(value)[dim])
      return value;
    return b.sliceDim(value, dim, from, to);
  }

  LogicalResult takeParts(PartOps ops) {
    for (auto [part, item] : ops) {
      auto op = cast<dtensor::AxisPartOp>(item);
      int64_t dim = op.getDimension();
      Value value = get(part, op.getOperand());
      unsigned lane = laneOf(map, axes.lookup(op.getAxis()), part);
      SmallVector<int64_t> shape(
          dtensor::globalShape(op.getResult().getType()));
      int64_t extent = shape[dim];
      SmallVector<int64_t> sizes = sizesOf(op, extent);
      auto members =
          hasParts()
              ? map.getMembersOf(part)
              : llvm::to_vector(llvm::seq<int64_t>(0, int64_t(sizes.size())));
      SmallVector<int64_t> starts(sizes.size(), 0);
      for (size_t i = 1; i < sizes.size(); ++i)
        starts[i] = starts[i - 1] + sizes[i - 1];
      Value result;
      if (contains(b.lanesOf(value), lane)) {
        // Each place has another value to take its part of.
        auto type =
            RankedTensorType::get(int64_t(members.size()), b.getI32Type());
        SmallVector<int32_t> offsets;
        for (int64_t place : members)
          offsets.push_back(int32_t(starts[place]));
        Value begin =
            b.hide(b.constant(cast<mlir::ElementsAttr>(Attribute(
                       DenseElementsAttr::get(type, ArrayRef(offsets))))),
                   lane);
        Value zero = b.splat(RankedTensorType::get({}, b.getI32Type()), 0.0);
        SmallVector<Value> begins(shape.size(), zero);
        begins[dim] = begin;
        result = b.dynamicSlice(value, begins, shape);
      } else {
        // Runs of neighbours; [.., places, extent, ..] -> lanes.
        SmallVector<Value> runs;
        for (size_t k = 0; k < members.size();) {
          size_t count = 1;
          while (k + count < members.size() &&
                 members[k + count] == members[k] + int64_t(count))
            ++count;
          int64_t from = starts[members[k]];
          runs.push_back(
              sliced(value, dim, from, from + int64_t(count) * extent));
          k += count;
        }
        Value gathered = runs.size() == 1 ? runs[0] : b.concatenate(runs, dim);
        gathered = b.splitDim(gathered, dim, {int64_t(members.size()), extent});
        result = b.hide(b.moveDim(gathered, dim, 0), lane);
      }
      set(part, op.getResult(), written(result));
    }
    return success();
  }

  LogicalResult differs(Operation *op, Operation *other) {
    auto error = op->emitOpError()
                 << "meets a different one on replicas with different shapes";
    error.attachNote(other->getLoc()) << "this one";
    return error;
  }

  //===--------------------------------------------------------------------===//
  // Variables
  //===--------------------------------------------------------------------===//

  LogicalResult assign(PartOps ops) {
    auto first = cast<dtensor::AssignVariableOp>(ops[0].item);
    Value variable = get(ops[0].part, first.getVariable());
    Value value = get(ops[0].part, first.getValue());
    auto refuse = [&](StringRef why) {
      std::string name = hooks.variableName ? hooks.variableName(variable) : "";
      return first.emitError()
             << "variable" << (name.empty() ? "" : " '" + name + "'")
             << " is assigned " << why
             << ": state how the values of replicas are combined (psum, pmean, "
                "..., or the variable's aggregation)";
    };
    if (diverging)
      return refuse("in a loop or branch that does not run alike everywhere");
    for (auto [part, item] : ops) {
      auto op = cast<dtensor::AssignVariableOp>(item);
      if (get(part, op.getVariable()) != variable)
        return differs(op, first);
      Value its = get(part, op.getValue());
      if (!b.lanesOf(its).empty())
        return refuse("a value that differs from place to place");
      if (its != value)
        return refuse("values that may differ between replicas with different "
                      "numbers of rows");
    }
    b.create<dtensor::AssignVariableOp>(b.getLoc(), variable, value);
    shared.clear(); // reads see it
    return success();
  }

  //===--------------------------------------------------------------------===//
  // Loops and branches
  //===--------------------------------------------------------------------===//

  void retract(Operation *op) {
    op->walk([&](Operation *inner) {
      for (Value result : inner->getResults())
        b.note(result, {});
      for (Region &region : inner->getRegions())
        for (Block &block : region)
          for (Value argument : block.getArguments())
            b.note(argument, {});
    });
    op->erase();
  }

  /// Returns whether a variable is assigned in the regions of these.
  static bool assignsInside(PartOps ops) {
    return llvm::any_of(ops, [](auto &inPart) {
      return inPart.item
          ->walk([](dtensor::AssignVariableOp) {
            return mlir::WalkResult::interrupt();
          })
          .wasInterrupted();
    });
  }

  /// The loops of several regions as one.
  struct MergedLoop {
    PartOps ops;
    Location loc;
    /// For each region and each value that its loop carries: which value of the
    /// merged loop that is.
    SmallVector<SmallVector<unsigned>> slots;
    /// The values, by region and index, that differ from those of the first
    /// region after all.
    llvm::DenseSet<std::pair<unsigned, unsigned>> apart;
    SmallVector<Value> inits;
    /// The region that governs each value.
    SmallVector<int> governors;

    bool isFirsts(unsigned region, unsigned k) const {
      return k < slots[0].size() && slots[region][k] == slots[0][k];
    }
  };

  /// Decides which values the regions have in common: those that begin as the
  /// same one, until they turn out to differ.
  void mergeCarried(MergedLoop &merged) {
    merged.slots.clear();
    merged.inits.clear();
    merged.governors.clear();
    for (auto [i, inPart] : llvm::enumerate(merged.ops)) {
      SmallVector<Value> laneInits =
          get(inPart.part, cast<dtensor::WhileOp>(inPart.item).getInits());
      auto &slots = merged.slots.emplace_back();
      for (auto [k, init] : llvm::enumerate(laneInits)) {
        const bool isFirsts =
            i > 0 && k < merged.slots[0].size() &&
            init == merged.inits[merged.slots[0][k]] &&
            !merged.apart.contains({unsigned(i), unsigned(k)});
        slots.push_back(isFirsts ? merged.slots[0][k]
                                 : unsigned(merged.inits.size()));
        if (isFirsts)
          continue;
        merged.inits.push_back(init);
        merged.governors.push_back(int(i));
      }
    }
  }

  /// Walks a block of every region's loop. Returns the results of each.
  FailureOr<SmallVector<SmallVector<Value>>>
  walkLoops(const MergedLoop &merged, ArrayRef<Value> carried,
            llvm::function_ref<Region &(dtensor::WhileOp)> regionOf) {
    SmallVector<InPart<Block *>> blocks;
    for (auto [inPart, slots] : llvm::zip_equal(merged.ops, merged.slots)) {
      Block &block = regionOf(cast<dtensor::WhileOp>(inPart.item)).front();
      blocks.push_back({inPart.part, &block});
      for (auto [argument, slot] : llvm::zip_equal(block.getArguments(), slots))
        set(inPart.part, Value(argument), carried[slot]);
    }
    if (failed(walk(blocks)))
      return failure();
    b.setLoc(merged.loc);
    SmallVector<SmallVector<Value>> results;
    for (auto [part, block] : blocks)
      results.push_back(get(part, block->getTerminator()->getOperands()));
    return results;
  }

  /// The condition of each region.
  MaybeValues mergedCondition(MergedLoop &merged, ArrayRef<Value> carried) {
    auto preds =
        walkLoops(merged, carried, [](dtensor::WhileOp op) -> Region & {
          return op.getCondition();
        });
    if (failed(preds))
      return failure();
    SmallVector<Value> conditions;
    for (const SmallVector<Value> &pred : *preds)
      conditions.push_back(pred[0]);
    // Regions that end at different times have nothing in common.
    if (!llvm::all_equal(conditions))
      for (unsigned i = 1; i < merged.slots.size(); ++i)
        for (unsigned k = 0; k < merged.slots[i].size(); ++k)
          if (merged.isFirsts(i, k))
            merged.apart.insert({i, k});
    return conditions;
  }

  MaybeValues mergedBody(MergedLoop &merged, ArrayRef<Value> carried,
                         bool diverges) {
    diverging += diverges;
    auto next = walkLoops(merged, carried, [](dtensor::WhileOp op) -> Region & {
      return op.getBody();
    });
    diverging -= diverges;
    if (failed(next))
      return failure();
    SmallVector<Value> results(merged.inits.size());
    for (auto [i, values] : llvm::enumerate(*next))
      for (auto [k, value] : llvm::enumerate(values)) {
        Value &result = results[merged.slots[i][k]];
        if (result && result != value)
          merged.apart.insert({unsigned(i), unsigned(k)});
        else
          result = value;
      }
    return results;
  }

  /// The loops of several regions are one that carries the values of all. A
  /// value that is the same in all of them (a counter) is carried once, so that
  /// the loop ends, and has gradients, as one of them.
  LogicalResult loop(PartOps ops) {
    // A variable that was read before may be assigned by the time that the body
    // runs again.
    if (assignsInside(ops))
      shared.clear();
    // Values that are built inside are out of reach behind the loop, or erased.
    const SharedOps before = shared;
    MergedLoop merged{ops, b.getLoc(), {}, {}, {}, {}};
    SmallVector<Value> carriedResults;
    while (true) {
      mergeCarried(merged);
      const size_t countBefore = merged.apart.size();
      LoopParts parts;
      parts.governors.assign(merged.governors.begin(), merged.governors.end());
      parts.condition = [&](ArrayRef<Value> carried) {
        return mergedCondition(merged, carried);
      };
      parts.body = [&](ArrayRef<Value> carried, bool diverges) {
        return mergedBody(merged, carried, diverges);
      };
      parts.retract = [&](dtensor::WhileOp loop) {
        retract(loop);
        shared = before;
      };
      const MaybeValues built = buildWhile(b, merged.inits, parts);
      shared = before;
      if (failed(built))
        return failure();
      carriedResults = *built;
      if (merged.apart.size() == countBefore)
        break;
      retract(carriedResults[0].getDefiningOp());
    }
    for (auto [inPart, slots] : llvm::zip_equal(ops, merged.slots))
      for (auto [result, slot] :
           llvm::zip_equal(inPart.item->getResults(), slots))
        set(inPart.part, Value(result), carriedResults[slot]);
    if (ops.size() == 1 && !carriedResults.empty())
      carriedResults[0].getDefiningOp()->setDiscardableAttrs(
          ops[0].item->getDiscardableAttrDictionary());
    return success();
  }

  LogicalResult branch(PartOps ops) {
    Location loc = b.getLoc();
    auto first = cast<dtensor::CaseOp>(ops[0].item);
    Value index = get(ops[0].part, first.getIndex());
    const unsigned branches = first.getBranches().size();
    SmallVector<RankedTensorType> types;
    for (auto [part, item] : ops) {
      auto op = cast<dtensor::CaseOp>(item);
      if (op.getBranches().size() != branches)
        return differs(op, first);
      if (get(part, op.getIndex()) != index)
        return op.emitOpError()
               << "takes branches with ops between places by a number that may "
                  "differ between replicas with different numbers of rows; "
                  "compute it from values that are the same in all replicas";
      for (Type type : op.getResultTypes())
        types.push_back(cast<RankedTensorType>(dtensor::undecided(type)));
    }
    const SharedOps before = shared;
    MaybeValues branchResults = buildCase(
        b, index, types, branches,
        [&](unsigned i, bool diverges) -> MaybeValues {
          diverging += diverges;
          shared = before;
          SmallVector<InPart<Block *>> blocks;
          for (auto [part, item] : ops)
            blocks.push_back(
                {part, &cast<dtensor::CaseOp>(item).getBranches()[i].front()});
          LogicalResult walked = walk(blocks);
          diverging -= diverges;
          if (failed(walked))
            return failure();
          b.setLoc(loc);
          SmallVector<Value> results;
          for (auto [part, block] : blocks)
            llvm::append_range(
                results, get(part, block->getTerminator()->getOperands()));
          return results;
        });
    shared = before;
    if (assignsInside(ops))
      shared.clear();
    if (failed(branchResults))
      return failure();
    ArrayRef<Value> unassigned = *branchResults;
    for (auto [part, item] : ops) {
      set(part, item->getResults(),
          unassigned.take_front(item->getNumResults()));
      unassigned = unassigned.drop_front(item->getNumResults());
    }
    if (ops.size() == 1 && !branchResults->empty())
      if (auto built = (*branchResults)[0].getDefiningOp<dtensor::CaseOp>();
          built && b.lanesOf(index).empty() &&
          !first->getDiscardableAttrDictionary().empty()) {
        built->setDiscardableAttrs(first->getDiscardableAttrDictionary());
        if (hooks.caseCreated)
          hooks.caseCreated(built, b);
      }
    return success();
  }

  MapOp map;
  LaneBuilder &b;
  const VectoriserHooks &hooks;
  llvm::StringMap<unsigned> axes;
  Lanes allLanes;
  /// The values that replace those inside, by region.
  SmallVector<DenseMap<Value, Value>> values;
  SharedOps shared;
  /// How many loops and branches around are not the same at all places.
  int diverging = 0;
};

} // namespace

FailureOr<SmallVector<Value>> lanes::vectorise(MapOp map, LaneBuilder &b,
                                               const VectoriserHooks &hooks) {
  return Vectoriser(map, b, hooks).run();
}
