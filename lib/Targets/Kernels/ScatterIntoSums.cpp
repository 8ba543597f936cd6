// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Looks from each sum up through negations and factors that are the same for
// all elements; they go to the updates. Where updates are cut, so that the
// scattered values are partial, the dense sum over devices remains.
#include "ScatterIntoSums.h"

#include "KernelBuilder.h"

#include "meshloom/ControlFlow/Determinism.h"
#include "meshloom/Dialect/SPMD/SPMD.h"

using namespace meshloom;
using namespace meshloom::dtensor;

namespace {

bool isZero(Value value) {
  auto constant = value.getDefiningOp<ConstantOp>();
  auto splat = constant ? dyn_cast<mlir::SplatElementsAttr>(constant.getValue())
                        : mlir::SplatElementsAttr();
  if (!splat)
    return false;
  if (isa<FloatType>(splat.getElementType()))
    return splat.getSplatValue<llvm::APFloat>().isPosZero();
  return isa<IntegerType>(splat.getElementType()) &&
         splat.getSplatValue<llvm::APInt>().isZero();
}

/// A scatter that adds up updates in zeros, which devices have whole.
bool addsUp(ScatterOp scatter) {
  auto isWhole = [](Type type) { return !spmd::layoutOf(type).is_partial(); };
  return scatter && scatter.getNumResults() == 1 &&
         scatter.getKind() == ReduceKind::Sum &&
         isZero(scatter.getInputs()[0]) &&
         isWhole(scatter.getResult(0).getType()) &&
         isWhole(scatter.getUpdates()[0].getType());
}

/// Returns the factor that all elements are multiplied by, as a value of
/// `type`: null where it is not the same for all.
Value factorAs(Value factor, RankedTensorType type, OpBuilder &b) {
  if (auto constant = factor.getDefiningOp<ConstantOp>()) {
    auto splat = dyn_cast<mlir::SplatElementsAttr>(constant.getValue());
    if (!splat)
      return {};
    return b.create<ConstantOp>(
        factor.getLoc(), type,
        DenseElementsAttr::get(undecided(type),
                               splat.getSplatValue<Attribute>()));
  }
  auto broadcast = factor.getDefiningOp<BroadcastInDimOp>();
  if (!broadcast || !globalShape(broadcast.getOperand().getType()).empty() ||
      spmd::layoutOf(broadcast.getOperand().getType()).is_partial())
    return {};
  return b.create<BroadcastInDimOp>(
      factor.getLoc(), type, broadcast.getOperand(), ArrayRef<int64_t>());
}

/// A term of a sum as a scatter into zeros: its updates are to be multiplied by
/// the factors, and perhaps negated.
struct Term {
  ScatterOp scatter;
  SmallVector<Value> factors;
  bool negative = false;

  /// Fails where the term is something else, or other ops need what is on the
  /// way. A sum of products is rounded otherwise than the product of a sum: not
  /// in deterministic programs, nor where elements are narrow.
  static std::optional<Term> of(Value value, bool negative) {
    Term term{{}, {}, negative};
    while (Operation *op = value.getDefiningOp()) {
      if (!value.hasOneUse())
        return std::nullopt;
      if (auto scatter = dyn_cast<ScatterOp>(op)) {
        if (!addsUp(scatter))
          return std::nullopt;
        term.scatter = scatter;
        return term;
      }
      if (auto negate = dyn_cast<NegateOp>(op)) {
        term.negative = !term.negative;
        value = negate.getOperand();
        continue;
      }
      auto product = dyn_cast<MultiplyOp>(op);
      if (!product || isDeterministic(op) || !hasWideElements(op))
        return std::nullopt;
      Value lhs = product.getLhs(), rhs = product.getRhs();
      if (!isUniform(rhs))
        std::swap(lhs, rhs);
      if (!isUniform(rhs))
        return std::nullopt;
      term.factors.push_back(rhs);
      value = lhs;
    }
    return std::nullopt;
  }

private:
  static bool hasWideElements(Operation *op) {
    Type element = elementTypeOf(op->getResult(0).getType());
    return element.isIntOrFloat() && element.getIntOrFloatBitWidth() >= 32;
  }

  /// An infinity times the zeros between the updates is not a zero.
  static bool isNotFinite(Operation *op) {
    auto constant = dyn_cast<ConstantOp>(op);
    auto splat = constant
                     ? dyn_cast<mlir::SplatElementsAttr>(constant.getValue())
                     : mlir::SplatElementsAttr();
    return splat && isa<FloatType>(splat.getElementType()) &&
           !splat.getSplatValue<llvm::APFloat>().isFinite();
  }

  static bool isUniform(Value value) {
    Operation *op = value.getDefiningOp();
    if (!op)
      return false;
    if (isSplat(op))
      return !isNotFinite(op);
    auto broadcast = dyn_cast<BroadcastInDimOp>(op);
    return broadcast && globalShape(broadcast.getOperand().getType()).empty();
  }
};

/// Writes x + term at the place of `sum`.
void scatterInto(Operation *sum, Value x, Term term) {
  OpBuilder b(sum);
  Location loc = term.scatter.getLoc();
  Value updates = term.scatter.getUpdates()[0];
  auto type = cast<RankedTensorType>(updates.getType());
  for (Value factor : llvm::reverse(term.factors)) {
    Value scale = factorAs(factor, type, b);
    if (!scale)
      return;
    updates = b.create<MultiplyOp>(loc, type, updates, scale);
  }
  if (term.negative)
    updates = b.create<NegateOp>(loc, type, updates);
  auto scattered = cast<ScatterOp>(b.clone(*term.scatter));
  scattered.getInputsMutable()[0].assign(x);
  scattered.getUpdatesMutable()[0].assign(updates);
  sum->getResult(0).replaceAllUsesWith(scattered.getResult(0));
  sum->erase();
}

} // namespace

void meshloom::scatterIntoSums(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (!isa<AddOp, SubtractOp>(op))
      continue;
    Value lhs = op.getOperand(0), rhs = op.getOperand(1);
    const bool minus = isa<SubtractOp>(op);
    if (lhs == rhs)
      continue;
    if (auto term = Term::of(rhs, minus)) {
      if (lhs.getType() == term->scatter.getResult(0).getType())
        scatterInto(&op, lhs, *term);
    } else if (!minus) {
      if (auto first = Term::of(lhs, false);
          first && rhs.getType() == first->scatter.getResult(0).getType())
        scatterInto(&op, rhs, *first);
    }
  }
}
