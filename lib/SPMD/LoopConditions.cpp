// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which carried values a device keeps once its part of a loop's condition is
// false, see LoopConditions.h. Ops are local here: as nothing communicates,
// what is made of a value of which a device has only `false` by moving elements
// is `false` on that device, too.

#include "LoopConditions.h"

#include "meshloom/Dialect/SPMD/SPMD.h"

#include "mlir/IR/OperationSupport.h"

namespace meshloom {

namespace {
/// Looks through ops that only move or repeat elements.
Value movedFrom(Value value) {
  while (isa_and_nonnull<dtensor::BroadcastInDimOp, dtensor::ReshapeOp,
                         dtensor::TransposeOp, spmd::SliceOp>(
      value.getDefiningOp()))
    value = value.getDefiningOp()->getOperand(0);
  return value;
}

/// Flags: `flag`, or its complement.
struct Flags {
  Value flag;
  bool inverted;

  /// Looks through what moves flags or inverts them.
  Flags origin() const {
    Flags flags = {movedFrom(flag), inverted};
    while (auto inverse = flags.flag.getDefiningOp<dtensor::NotOp>())
      flags = {movedFrom(inverse->getOperand(0)), !flags.inverted};
    return flags;
  }
};

class LocalLoop {
public:
  /// `goesOn`: in the condition, which elements do.
  LocalLoop(dtensor::WhileOp loop, Flags goesOn)
      : loop(loop), goesOn(goesOn.origin()) {}

  bool holds() {
    llvm::SmallDenseSet<unsigned> needed;
    if (!readCarried(goesOn.flag, needed))
      return false;
    for (unsigned i = 0; i < loop.getNumResults(); ++i)
      if (!loop.getResult(i).use_empty())
        needed.insert(i);
    return llvm::all_of(needed, [&](unsigned i) {
      steps = 0;
      return isUnchanged(loop.getBodyYield().getOperand(i), i);
    });
  }

private:
  /// Adds which carried values `value`, in the condition, is computed from;
  /// false where that cannot be told.
  bool readCarried(Value value, llvm::SmallDenseSet<unsigned> &carried) {
    Block *condition = &loop.getCondition().front();
    llvm::SmallPtrSet<Operation *, 16> seen;
    SmallVector<Value> open = {value};
    while (!open.empty()) {
      Value current = open.pop_back_val();
      if (auto argument = dyn_cast<BlockArgument>(current);
          argument && argument.getOwner() == condition) {
        carried.insert(argument.getArgNumber());
        continue;
      }
      Operation *op = current.getDefiningOp();
      if (!op || op->getBlock() != condition || !seen.insert(op).second)
        continue; // from outside, or seen
      if (op->getNumRegions() != 0)
        return false;
      open.append(op->operand_begin(), op->operand_end());
    }
    return true;
  }

  /// Returns whether `inBody` is to the body what `inCondition` is to the
  /// condition.
  bool isSame(Value inBody, Value inCondition) {
    if (inBody == inCondition)
      return true;
    auto one = dyn_cast<BlockArgument>(inBody),
         other = dyn_cast<BlockArgument>(inCondition);
    if (one && other)
      return one.getOwner() == &loop.getBody().front() &&
             other.getOwner() == &loop.getCondition().front() &&
             one.getArgNumber() == other.getArgNumber();
    Operation *lhs = inBody.getDefiningOp(), *rhs = inCondition.getDefiningOp();
    if (!lhs || !rhs || ++steps > mostSteps || lhs->getNumRegions() != 0 ||
        cast<mlir::OpResult>(inBody).getResultNumber() !=
            cast<mlir::OpResult>(inCondition).getResultNumber())
      return false;
    return mlir::OperationEquivalence::isEquivalentTo(
        lhs, rhs,
        [&](Value lhsValue, Value rhsValue) {
          return mlir::success(isSame(lhsValue, rhsValue));
        },
        nullptr, mlir::OperationEquivalence::IgnoreLocations);
  }
  /// The value of all of `value`, flags in the body, where nothing goes on.
  std::optional<bool> whenDone(Value value) {
    Flags flags = Flags{value, false}.origin();
    if (++steps > mostSteps)
      return std::nullopt;
    if (isSame(flags.flag, goesOn.flag))
      return flags.inverted != goesOn.inverted;
    Operation *op = flags.flag.getDefiningOp();
    if (!isa_and_nonnull<dtensor::AndOp, dtensor::OrOp>(op) ||
        !dtensor::elementTypeOf(flags.flag.getType()).isInteger(1))
      return std::nullopt;
    // One operand that is false decides an and, one that is true an or.
    const bool decides = isa<dtensor::OrOp>(op);
    auto lhs = whenDone(op->getOperand(0)), rhs = whenDone(op->getOperand(1));
    if (lhs == decides || rhs == decides)
      return decides != flags.inverted;
    if (lhs && rhs)
      return decides == flags.inverted;
    return std::nullopt;
  }

  /// Returns whether `next` is carried value `i` on a device where nothing goes
  /// on.
  bool isUnchanged(Value next, unsigned i) {
    BlockArgument old = loop.getBodyArgument(i);
    if (next == old)
      return true;
    if (++steps > mostSteps)
      return false;
    if (auto select = next.getDefiningOp<dtensor::SelectOp>()) {
      auto chosen = whenDone(select.getPred());
      return (chosen == true || isUnchanged(select.getOnFalse(), i)) &&
             (chosen == false || isUnchanged(select.getOnTrue(), i));
    }
    if (auto add = next.getDefiningOp<dtensor::AddOp>();
        add && isa<mlir::IntegerType>(dtensor::elementTypeOf(old.getType())))
      // A count of what goes on.
      for (unsigned side : {0, 1})
        if (auto number = movedFrom(add->getOperand(1 - side))
                              .getDefiningOp<dtensor::ConvertOp>();
            number && whenDone(number->getOperand(0)) == false &&
            isUnchanged(add->getOperand(side), i))
          return true;
    if (!dtensor::elementTypeOf(old.getType()).isInteger(1))
      return false;
    auto before = whenDone(old);
    return before && before == whenDone(next);
  }

  /// Expressions that share parts are compared part by part, time and again.
  static constexpr unsigned mostSteps = 10000;
  dtensor::WhileOp loop;
  Flags goesOn;
  unsigned steps = 0;
};
} // namespace

/// The reduction whose result `ask` combines over devices, if it is that by
/// `kind` of one value to a scalar.
static dtensor::ReduceOp reductionOf(spmd::AllReduceOp ask, ReduceKind kind) {
  if (ask->getNumOperands() != 1 || ask.getKind() != kind ||
      !ask->getResult(0).hasOneUse())
    return {};
  auto reduce = ask->getOperand(0).getDefiningOp<dtensor::ReduceOp>();
  return reduce && reduce->getBlock() == ask->getBlock() &&
                 reduce.getKind() == kind && reduce->getNumOperands() == 1 &&
                 dtensor::globalShape(reduce->getResult(0).getType()).empty()
             ? reduce
             : dtensor::ReduceOp();
}

bool decideLocally(dtensor::WhileOp loop) {
  dtensor::YieldOp yield = loop.getConditionYield();
  // The condition: whether any goes on (or not all are done), perhaps and other
  // things that all devices know.
  SmallVector<Value> shared, open = {yield.getOperand(0)};
  SmallVector<Operation *> replaced; // uses before what they use
  dtensor::ReduceOp reduce;
  bool inverted = false;
  while (!open.empty()) {
    Value value = open.pop_back_val();
    Operation *op = value.getDefiningOp();
    if (!op || op->getBlock() != yield->getBlock()) {
      shared.push_back(value);
      continue;
    }
    if (isa<dtensor::AndOp>(op)) {
      open.append(op->operand_begin(), op->operand_end());
      replaced.push_back(op);
      continue;
    }
    auto inverse = dyn_cast<dtensor::NotOp>(op);
    auto ask = (inverse ? inverse->getOperand(0) : value)
                   .getDefiningOp<spmd::AllReduceOp>();
    auto found =
        ask && ask->getBlock() == yield->getBlock() && !reduce
            ? reductionOf(ask, inverse ? ReduceKind::And : ReduceKind::Or)
            : dtensor::ReduceOp();
    if (!found) {
      shared.push_back(value);
      continue;
    }
    reduce = found;
    inverted = bool(inverse);
    if (inverse)
      replaced.push_back(inverse);
    replaced.append({ask, found});
  }
  if (!reduce)
    return false;
  Operation *ask = *reduce->user_begin();
  bool alone = reduce->getResult(0).hasOneUse() &&
               !loop->walk([&](spmd::CollectiveOpInterface other) {
                      bool sends = other != ask && other.getCollectiveKind() !=
                                                       CollectiveKind::Slice;
                      return sends ? mlir::WalkResult::interrupt()
                                   : mlir::WalkResult::advance();
                    })
                    .wasInterrupted();
  Value elements = reduce->getOperand(0);
  if (!alone || !LocalLoop(loop, {elements, inverted}).holds())
    return false;

  // Not all(d) is any(not d), any(p) and q is any(p and q).
  OpBuilder b(yield);
  if (inverted)
    elements =
        b.create<dtensor::NotOp>(reduce.getLoc(), elements.getType(), elements);
  for (Value value : shared) {
    Value repeated = b.create<dtensor::BroadcastInDimOp>(
        value.getLoc(), elements.getType(), value, b.getDenseI64ArrayAttr({}));
    elements = b.create<dtensor::AndOp>(value.getLoc(), elements.getType(),
                                        elements, repeated);
  }
  auto any = cast<dtensor::ReduceOp>(b.clone(*reduce));
  any->setOperand(0, elements);
  any.setKind(ReduceKind::Or);
  Value local = any->getResult(0);
  Layout layout = spmd::layoutOf(local.getType());
  std::vector<Partial> pending(layout.partial().begin(),
                               layout.partial().end());
  for (Partial &partial : pending)
    partial.kind = ReduceKind::Or;
  local.setType(spmd::shardType(
      {}, b.getI1Type(),
      dtensor::LayoutAttr::get(b.getContext(),
                               layout.with_partial(std::move(pending)))));
  yield->setOperand(0, local);
  for (Operation *op : replaced)
    if (op->use_empty())
      op->erase();
  return true;
}

} // namespace meshloom
