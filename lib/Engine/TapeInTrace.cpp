// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Gradients in a trace: the reverse pass on the spot, body by body.
//
// A target may be made in the body of a loop, a branch or a mapped function
// that has not ended, of values from outside of it that the tape knows. The
// pass then goes through the body's own ops first, down to the values from
// outside that they use. These, with their gradients as seeds, are the outputs
// of the same pass over the block around it, and so on up to the body that the
// tape began in. All that is built goes to where the gradient is asked for. A
// tape from outside of the trace goes on from the captured tensors with what it
// recorded.
#include "meshloom/Engine/Tape.h"

#include "meshloom/Autodiff/Autodiff.h"
#include "meshloom/ControlFlow/ControlFlow.h"
#include "meshloom/Dialect/DTensor/Map.h"

#include "mlir/IR/TypeUtilities.h"

#include <functional>

namespace meshloom::detail {

namespace {

/// Keeps gradients out of the ops up to `last` while it lives.
class StopBefore {
public:
  explicit StopBefore(Operation *last) {
    for (Operation *op = last; op; op = op->getPrevNode())
      if (!op->hasAttr(stopGradientAttr)) {
        op->setAttr(stopGradientAttr, mlir::UnitAttr::get(op->getContext()));
        marked.push_back(op);
      }
  }
  ~StopBefore() {
    for (Operation *op : marked)
      op->removeAttr(stopGradientAttr);
  }
  StopBefore(const StopBefore &) = delete;

private:
  SmallVector<Operation *> marked;
};

bool hasGradient(Value value) {
  return isa<FloatType, mlir::ComplexType>(
      mlir::getElementTypeOrSelf(value.getType()));
}

/// Returns whether `value` depends on one of `sources`, by what has been
/// traced.
bool dependsOn(Value value, ArrayRef<Value> sources) {
  SmallVector<Value> work{value};
  DenseSet<Value> seen;
  while (!work.empty()) {
    Value next = work.pop_back_val();
    if (!seen.insert(next).second)
      continue;
    if (llvm::is_contained(sources, next))
      return true;
    if (Operation *op = next.getDefiningOp())
      llvm::append_range(work, usedValues(op));
    else if (Operation *owner = next.getParentBlock()->getParentOp())
      // A body that has not ended: its operands.
      llvm::append_range(work, owner->getOperands());
  }
  return false;
}

class GradientThroughBodies {
public:
  /// `recorded`: for each of `wrt` the tensors outside of the trace that it is.
  GradientThroughBodies(Trace &trace, const TapeState &tape,
                        ArrayRef<Value> wrt,
                        const std::vector<std::vector<Tensor>> &recorded,
                        const std::source_location &where)
      : sums(wrt.size()), trace(trace), tape(tape), wrt(wrt),
        recorded(recorded), where(where),
        isOfTrace(tape.trace.get() == &trace) {}

  /// Goes through the body that the gradient is asked for in and those around
  /// it, to the tape's. The values that remain are those around that one.
  void run(SmallVector<Value> targets, SmallVector<Value> seedsOfTargets) {
    outputs = std::move(targets);
    seeds = std::move(seedsOfTargets);
    Block *last = isOfTrace ? tape.block : entryBlock();
    Block *block = trace.builder().getInsertionBlock();
    for (Block *outer = block; outer != last;) {
      Operation *owner = outer->getParentOp();
      outer = owner ? owner->getBlock() : nullptr;
      if (!outer)
        fail("gradient",
             "expected a tape that was made in the body that the gradient is "
             "taken in, or in one around it, got one from inside of a loop, a "
             "branch or a mapped function that has ended",
             &where);
    }
    while (true) {
      pass(block, block == last);
      if (block == last)
        return;
      block = block->getParentOp()->getBlock();
    }
  }

  /// The gradients of `wrt`, null where no path leads.
  SmallVector<Value> sums;
  /// Arguments of the trace that the targets depend on and that a tape outside
  /// of it leads on from, with their gradients.
  SmallVector<std::pair<BlockArgument, Value>> outside;

  Value add(Value sum, Value gradient) {
    if (!sum || !gradient)
      return sum ? sum : gradient;
    return trace.builder().create<dtensor::AddOp>(gradient.getLoc(), sum,
                                                  gradient);
  }

private:
  Block *entryBlock() {
    Block *block = trace.builder().getInsertionBlock();
    while (!isa<mlir::func::FuncOp>(block->getParentOp()))
      block = block->getParentOp()->getBlock();
    return block;
  }

  /// From `outputs` to what the ops of `block` were computed from: sources, and
  /// values from outside of it, which are the next outputs.
  void pass(Block *block, bool isLast) {
    SmallVector<Value> asked(wrt);
    for (Value value : valuesFromOutside(block, isLast))
      if (!llvm::is_contained(asked, value))
        asked.push_back(value);
    std::optional<StopBefore> stop;
    if (isLast && isOfTrace)
      stop.emplace(tape.start);
    SmallVector<Value> found =
        check(buildGradients(trace.builder(), outputs, seeds, asked, block),
              "gradient");
    outputs.clear();
    seeds.clear();
    for (size_t i = 0; i < asked.size(); ++i) {
      if (!found[i])
        continue;
      auto argument = dyn_cast<BlockArgument>(asked[i]);
      if (argument && argument.getOwner() != block)
        argument = {};
      // A source that is an output too leads on to other sources.
      if (isLast && !isOfTrace && argument && leadsOutside(argument))
        outside.emplace_back(argument, found[i]);
      else if (i < wrt.size() &&
               (isLast || argument || asked[i].getParentBlock() == block ||
                !isa<RankedTensorType>(asked[i].getType())))
        sums[i] = add(sums[i], found[i]);
      else if (argument && !isLast)
        passArgument(argument, found[i]);
      else if (!isLast) {
        outputs.push_back(asked[i]);
        seeds.push_back(found[i]);
      }
    }
  }

  /// Returns whether the tape has recorded what the argument of the trace was
  /// computed from. A captured tensor stays the same; an explicit one is
  /// another tensor in the next call, so that the trace holds for this one
  /// alone.
  bool leadsOutside(BlockArgument argument) {
    const size_t number = argument.getArgNumber();
    const TraceArgument &its = trace.arguments()[number];
    if (its.kind != TraceArgument::Kind::Explicit)
      return its.kind == TraceArgument::Kind::Captured;
    if (llvm::all_of(recorded, std::mem_fn(&std::vector<Tensor>::empty)))
      return false;
    auto isFollowed = [records = tape.weak_from_this(),
                       sources = recorded](const Tensor &tensor) {
      const std::shared_ptr<const TapeState> tape = records.lock();
      return !tape || isComputedFrom(sources, tape->records, tensor);
    };
    const bool leads = isFollowed(its.tensor);
    trace.tapeLinks.push_back({number, leads ? its.tensor.internal() : nullptr,
                               std::move(isFollowed)});
    return leads;
  }

  /// The values with gradients that ops behind the outputs use and that no op
  /// of `block` makes, but those that are wanted anyway. For the last block,
  /// they are the captured tensors of a tape that began outside of the trace.
  SmallVector<Value> valuesFromOutside(Block *block, bool isLast) {
    SmallVector<Value> work(outputs), result;
    DenseSet<Value> seen;
    while (!work.empty()) {
      Value value = work.pop_back_val();
      if (!seen.insert(value).second)
        continue;
      Operation *op = value.getDefiningOp();
      if (op && op->getBlock() == block)
        llvm::append_range(work, usedValues(op));
      else if (hasGradient(value) && isa<RankedTensorType>(value.getType()) &&
               (!isLast || !isOfTrace))
        result.push_back(value);
    }
    return result;
  }

  /// Returns whether a path leads from `value` to a source, in the trace or, of
  /// a tape that began outside of it, by way of an argument of the trace.
  bool leadsToSource(Value value) {
    return dependsOn(value, wrt) ||
           (!isOfTrace &&
            llvm::any_of(entryBlock()->getArguments(),
                         [&](BlockArgument argument) {
                           return hasGradient(argument) &&
                                  isa<RankedTensorType>(argument.getType()) &&
                                  dependsOn(value, Value(argument)) &&
                                  leadsOutside(argument);
                         }));
  }

  /// Goes on from the argument of a body to what the body is given. The
  /// argument of a function under vmap is one element of that, so the gradient
  /// is zero but at this element. In a loop, an argument stands for another
  /// value in each turn, which no gradient goes through.
  void passArgument(BlockArgument argument, Value gradient) {
    auto map = dyn_cast<dtensor::MapOp>(argument.getOwner()->getParentOp());
    if (!map)
      fail("gradient",
           "expected a tape that was made in the body of the loop that the "
           "gradient is taken in, got one from outside of it, and a target "
           "that depends on what the loop carries",
           &where);
    const unsigned number =
        argument.getOwner()->getParent()->getRegionNumber() *
            map.getInputsEach() +
        argument.getArgNumber();
    const bool isVmap = !map.getMesh() && !map.getMembers();
    Value input = map.getInputs()[number];
    if (!leadsToSource(input))
      return;
    if (!isVmap)
      fail("gradient",
           "expected a tape that was made in the function of shard_map, got "
           "one from outside of it, and a target that depends on a source "
           "through an argument of the function: a gradient of a place's own "
           "values needs a tape in the function, one of all places is taken "
           "outside of it",
           &where);
    outputs.push_back(input);
    seeds.push_back(map.getLanesOf(number).empty()
                        ? gradient
                        : atThisElement(map, input, gradient));
  }

  /// `gradient` of one element of `input` as that of all of `input`.
  Value atThisElement(dtensor::MapOp map, Value input, Value gradient) {
    Emitter emitter(trace.builder(), trace.location(where));
    const Value index = indexIn(map, emitter.shape(input)[0]);
    ArrayRef<int64_t> shape = emitter.shape(input);
    SmallVector<int64_t> behindFirst =
        llvm::to_vector(llvm::seq<int64_t>(1, int64_t(shape.size())));
    Value isHere =
        emitter.compare(dtensor::ComparisonDirection::EQ,
                        emitter.iota(shape, 0, emitter.elementType(index)),
                        emitter.broadcast(index, shape, {}));
    Value spread = emitter.broadcast(gradient, shape, behindFirst);
    return emitter.select(isHere, spread, emitter.like(spread, 0));
  }

  /// Which element a body runs for, a scalar: an argument of the body, for
  /// which the map gets one input more.
  Value indexIn(dtensor::MapOp map, int64_t count) {
    OpBuilder before(map);
    auto type = RankedTensorType::get({count}, before.getI32Type());
    Value numbers = before.create<dtensor::IotaOp>(map.getLoc(), type,
                                                   before.getI64IntegerAttr(0));
    map->insertOperands(map->getNumOperands(), numbers);
    SmallVector<Attribute> lanes(map.getLanes().getValue());
    lanes.push_back(before.getDenseI64ArrayAttr({0}));
    map.setLanesAttr(before.getArrayAttr(lanes));
    return map.getBodies().front().addArgument(
        RankedTensorType::get({}, before.getI32Type()), map.getLoc());
  }

  Trace &trace;
  const TapeState &tape;
  ArrayRef<Value> wrt;
  const std::vector<std::vector<Tensor>> &recorded;
  const std::source_location &where;
  const bool isOfTrace;
  SmallVector<Value> outputs, seeds;
};

} // namespace

std::vector<Tensor> gradientsInTrace(Trace &trace, const TapeState &tape,
                                     const std::vector<Tensor> &targets,
                                     const std::vector<Tensor> &seeds,
                                     const std::vector<TapeSource> &sources,
                                     const std::source_location &where) {
  SmallVector<Value> wrt, outputs, given;
  std::vector<std::vector<Tensor>> recorded;
  for (const TapeSource &source : sources) {
    const bool isVariable = source.variable.defined();
    wrt.push_back(isVariable
                      ? trace.argumentOf(source.variable.internal())
                      : trace.valueOf(source.tensor, "gradient", &where));
    std::vector<Tensor> &tensors = recorded.emplace_back();
    if (!isVariable && !source.tensor.internal()->trace)
      tensors.push_back(source.tensor);
    for (auto &[variable, value] : tape.reads)
      if (isVariable && variable == source.variable.internal())
        tensors.push_back(value);
  }
  for (const Tensor &target : targets)
    outputs.push_back(trace.valueOf(target, "gradient", &where));
  for (const Tensor &seed : seeds)
    given.push_back(trace.valueOf(seed, "gradient", &where));
  if (given.empty())
    for (Value output : outputs)
      given.push_back(dtensor::TensorBuilder(trace.builder(), output.getLoc())
                          .like(output, 1));
  GradientThroughBodies gradient(trace, tape, wrt, recorded, where);
  gradient.run(std::move(outputs), std::move(given));

  if (!gradient.outside.empty()) {
    std::vector<Tensor> tensors;
    SmallVector<Value> seedsOfTensors;
    for (auto [argument, seed] : gradient.outside) {
      tensors.push_back(trace.arguments()[argument.getArgNumber()].tensor);
      seedsOfTensors.push_back(seed);
    }
    for (auto [sum, further] : llvm::zip_equal(
             gradient.sums, tape.gradientsInto(trace, tensors, seedsOfTensors,
                                               recorded, where)))
      sum = gradient.add(sum, further);
  }
  std::vector<Tensor> gradients;
  for (Value sum : gradient.sums)
    gradients.push_back(sum ? trace.wrapValue(sum) : Tensor());
  return gradients;
}

} // namespace meshloom::detail
