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

/// Whether `value` depends on one of `sources`, by what has been traced.
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
      // Of a body that has not ended: what it was given.
      llvm::append_range(work, owner->getOperands());
  }
  return false;
}

class GradientThroughBodies {
public:
  GradientThroughBodies(Trace &trace, const TapeState &tape,
                        ArrayRef<Value> wrt, const std::source_location &where)
      : sums(wrt.size()), trace(trace), tape(tape), wrt(wrt), where(where),
        isOfTrace(tape.trace.get() == &trace) {}

  /// Goes through the body that the gradient is asked for in and those around
  /// it, to the tape's. What is left are values of that one's surroundings.
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
  /// Captured tensors that the targets depend on, and their gradients.
  SmallVector<std::pair<BlockArgument, Value>> captured;

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
    const SmallVector<Value> outside = valuesFromOutside(block, isLast);
    for (Value value : outside)
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
      if (isLast && !isOfTrace && argument && isCaptured(argument))
        captured.emplace_back(argument, found[i]);
      else if (i < wrt.size() &&
               (isLast || argument || asked[i].getParentBlock() == block ||
                !isa<RankedTensorType>(asked[i].getType())))
        sums[i] = add(sums[i], found[i]);
      else if (argument && !isLast)
        expectIndependent(argument);
      else if (!isLast) {
        outputs.push_back(asked[i]);
        seeds.push_back(found[i]);
      }
    }
  }

  bool isCaptured(BlockArgument argument) {
    return trace.arguments()[argument.getArgNumber()].kind ==
           TraceArgument::Kind::Captured;
  }

  /// The values with gradients that ops behind the outputs use and that no op
  /// of `block` makes, but those that are wanted anyway. Of the last block the
  /// captured tensors of a tape that began outside of the trace.
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

  /// A body's argument stands for another value in each turn, or of each
  /// element: no gradient goes through it to a source outside of the body.
  void expectIndependent(BlockArgument argument) {
    Operation *owner = argument.getOwner()->getParentOp();
    const bool isMapped = isa<dtensor::MapOp>(owner);
    if (isMapped && !dependsOn(owner->getOperand(argument.getArgNumber() %
                                                 owner->getNumOperands()),
                               wrt))
      return;
    fail("gradient",
         isMapped
             ? "expected a tape that was made in the mapped function, got one "
               "from outside of it, and a target that depends on a source "
               "through an argument of the function: a gradient of each "
               "element's own values needs a tape in the function, one of all "
               "elements is taken outside of it"
             : "expected a tape that was made in the body of the loop that the "
               "gradient is taken in, got one from outside of it, and a target "
               "that depends on what the loop carries",
         &where);
  }

  Trace &trace;
  const TapeState &tape;
  ArrayRef<Value> wrt;
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
    std::vector<Tensor> &own = recorded.emplace_back();
    if (!isVariable)
      own.push_back(source.tensor);
    for (auto &[variable, value] : tape.reads)
      if (isVariable && variable == source.variable.internal())
        own.push_back(value);
  }
  for (const Tensor &target : targets)
    outputs.push_back(trace.valueOf(target, "gradient", &where));
  for (const Tensor &seed : seeds)
    given.push_back(trace.valueOf(seed, "gradient", &where));
  if (given.empty())
    for (Value output : outputs)
      given.push_back(GradientBuilder(trace.builder(), output.getLoc())
                          .constant(output, 1));
  GradientThroughBodies gradient(trace, tape, wrt, where);
  gradient.run(std::move(outputs), std::move(given));

  if (!gradient.captured.empty()) {
    std::vector<Tensor> tensors;
    SmallVector<Value> seedsOfTensors;
    for (auto [argument, seed] : gradient.captured) {
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
