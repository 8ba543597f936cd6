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

/// `value` as "any of": what it is true for an element of.
Value anyOf(Value value) {
  while (true) {
    value = movedFrom(value);
    auto reduce = value.getDefiningOp<dtensor::ReduceOp>();
    if (!reduce || reduce.getKind() != ReduceKind::Or ||
        reduce->getNumOperands() != 1)
      return value;
    value = reduce->getOperand(0);
  }
}

class LocalLoop {
public:
  /// `elements`: in the condition, those that go on.
  LocalLoop(dtensor::WhileOp loop, Value elements)
      : loop(loop), elements(elements) {}

  bool holds() {
    llvm::SmallDenseSet<unsigned> needed;
    if (!readCarried(elements, needed))
      return false;
    for (unsigned i = 0; i < loop.getNumResults(); ++i)
      if (!loop.getResult(i).use_empty())
        needed.insert(i);
    return llvm::all_of(needed, [&](unsigned i) {
      steps = 0;
      return isKept(loop.getBodyYield().getOperand(i), i);
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
      Value at = open.pop_back_val();
      if (auto argument = dyn_cast<BlockArgument>(at);
          argument && argument.getOwner() == condition) {
        carried.insert(argument.getArgNumber());
        continue;
      }
      Operation *op = at.getDefiningOp();
      if (!op || op->getBlock() != condition || !seen.insert(op).second)
        continue; // from outside, or seen
      if (op->getNumRegions() != 0)
        return false;
      open.append(op->operand_begin(), op->operand_end());
    }
    return true;
  }

  /// Whether `inBody` is to the body what `inCondition` is to the condition.
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
        [&](Value left, Value right) {
          return mlir::success(isSame(left, right));
        },
        nullptr, mlir::OperationEquivalence::IgnoreLocations);
  }
  /// Whether `value`, in the body, is false where all that goes on is.
  bool goesOn(Value value) { return isSame(movedFrom(value), elements); }

  /// Whether `next` is carried value `i` on a device where nothing goes on.
  bool isKept(Value next, unsigned i) {
    BlockArgument old = loop.getBodyArgument(i);
    if (next == old)
      return true;
    if (++steps > mostSteps)
      return false;
    if (auto select = next.getDefiningOp<dtensor::SelectOp>())
      return isKept(select.getOnFalse(), i) &&
             (goesOn(select.getPred()) || isKept(select.getOnTrue(), i));
    if (auto both = next.getDefiningOp<dtensor::AndOp>())
      return goesOn(old) && llvm::any_of(both->getOperands(), [&](Value side) {
               return goesOn(side);
             });
    return false;
  }

  /// Expressions that share parts are compared part by part, time and again.
  static constexpr unsigned mostSteps = 10000;
  dtensor::WhileOp loop;
  Value elements;
  unsigned steps = 0;
};
} // namespace

bool decideLocally(dtensor::WhileOp loop) {
  dtensor::YieldOp yield = loop.getConditionYield();
  // The condition: whether any goes on, perhaps and other things that all
  // devices know.
  SmallVector<Value> known, open = {yield.getOperand(0)};
  SmallVector<Operation *> replaced; // uses before what they use
  spmd::AllReduceOp ask;
  while (!open.empty()) {
    Value value = open.pop_back_val();
    if (auto both = value.getDefiningOp<dtensor::AndOp>();
        both && both->getBlock() == yield->getBlock()) {
      open.append(both->operand_begin(), both->operand_end());
      replaced.push_back(both);
    } else if (auto reduce = value.getDefiningOp<spmd::AllReduceOp>();
               reduce && reduce->getBlock() == yield->getBlock() && !ask) {
      ask = reduce;
    } else {
      known.push_back(value);
    }
  }
  if (!ask || ask.getKind() != ReduceKind::Or || ask->getNumOperands() != 1)
    return false;
  auto any = ask->getOperand(0).getDefiningOp<dtensor::ReduceOp>();
  if (!any || any->getBlock() != yield->getBlock() ||
      any.getKind() != ReduceKind::Or || any->getNumOperands() != 1 ||
      !dtensor::globalShape(any->getResult(0).getType()).empty())
    return false;
  bool alone = !loop->walk([&](spmd::CollectiveOpInterface other) {
                      bool sends = other != ask && other.getCollectiveKind() !=
                                                       CollectiveKind::Slice;
                      return sends ? mlir::WalkResult::interrupt()
                                   : mlir::WalkResult::advance();
                    })
                    .wasInterrupted();
  if (!alone || !LocalLoop(loop, anyOf(any->getOperand(0))).holds())
    return false;

  Value local = ask->getOperand(0);
  if (!known.empty()) {
    // any(p) and q is any(p and q).
    OpBuilder b(yield);
    Value elements = any->getOperand(0);
    for (Value value : known) {
      Value repeated = b.create<dtensor::BroadcastInDimOp>(
          value.getLoc(), elements.getType(), value,
          b.getDenseI64ArrayAttr({}));
      elements = b.create<dtensor::AndOp>(value.getLoc(), elements.getType(),
                                          elements, repeated);
    }
    Operation *again = b.clone(*any);
    again->setOperand(0, elements);
    local = again->getResult(0);
  }
  yield->setOperand(0, local);
  replaced.push_back(ask);
  replaced.push_back(any);
  for (Operation *op : replaced)
    if (op->use_empty())
      op->erase();
  return true;
}

} // namespace meshloom
