// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Stacks come from jnp.stack, and from jnp.select, which looks for the first
// condition that holds.
#include "StackFolds.h"

#include "meshloom/Dialect/DTensor/TensorBuilder.h"

namespace meshloom::dtensor {

/// Returns the slices that `value` joins along `dim`, as `shape`. There are
/// none where it is no stack, one of more than `most` slices, or one that is
/// laid out.
static SmallVector<Value> slicesOfStack(TensorBuilder &b, Value value,
                                        int64_t dim, ArrayRef<int64_t> shape,
                                        size_t most) {
  auto stack = value.getDefiningOp<ConcatenateOp>();
  if (!stack || layoutAttrOf(stack.getType()) ||
      int64_t(stack.getDimension()) != dim || stack.getInputs().size() > most)
    return {};
  for (Value slice : stack.getInputs())
    if (globalShape(slice.getType())[dim] != 1)
      return {};
  SmallVector<Value> slices;
  for (Value slice : stack.getInputs())
    slices.push_back(b.reshape(slice, shape));
  return slices;
}

/// Returns whether a reduction computes in a wider type than its elements have.
static bool isComputedWider(ReduceKind kind, Type element) {
  return (kind == ReduceKind::Sum && (element.isF16() || element.isBF16())) ||
         (kind == ReduceKind::Prod && !isa<IntegerType>(element));
}

/// reduce(stack) combines the slices in pairs.
static LogicalResult reduceStack(ReduceOp op, PatternRewriter &rewriter) {
  if (op.getInputs().size() != 1 || op.getDimensions().size() != 1)
    return failure();
  auto type = cast<RankedTensorType>(op.getOutputs()[0].getType());
  if (type.getEncoding() ||
      isComputedWider(op.getKind(), type.getElementType()))
    return failure();
  TensorBuilder b(rewriter, op.getLoc());
  SmallVector<Value> slices = slicesOfStack(
      b, op.getInputs()[0], op.getDimensions()[0], type.getShape(),
      /*most=*/64);
  if (slices.empty())
    return failure();
  while (slices.size() > 1) {
    SmallVector<Value> next;
    for (size_t i = 0; i + 1 < slices.size(); i += 2)
      next.push_back(b.combine(op.getKind(), slices[i], slices[i + 1]));
    if (slices.size() % 2 != 0)
      next.push_back(slices.back());
    slices = std::move(next);
  }
  rewriter.replaceOp(op, slices[0]);
  return success();
}

/// argmax(stack), argmin(stack): compares one slice after the other with the
/// best one so far, which a nan remains.
template <typename OpTy>
static LogicalResult compareStack(OpTy op, PatternRewriter &rewriter) {
  auto type = cast<RankedTensorType>(op.getType());
  const Type element = elementTypeOf(op.getOperand().getType());
  if (type.getEncoding() || element.isInteger(1))
    return failure();
  TensorBuilder b(rewriter, op.getLoc());
  SmallVector<Value> slices = slicesOfStack(
      b, op.getOperand(), int64_t(op.getDimension()), type.getShape(),
      /*most=*/16);
  if (slices.empty())
    return failure();
  const auto notBetter = std::is_same_v<OpTy, ArgMaxOp>
                             ? ComparisonDirection::LE
                             : ComparisonDirection::GE;
  Value best = slices[0],
        index = b.integers(type.getShape(), 0, type.getElementType());
  for (size_t i = 1; i < slices.size(); ++i) {
    Value stays = b.compare(notBetter, slices[i], best);
    if (isa<FloatType>(element))
      stays =
          b.apply<OrOp>(stays, b.compare(ComparisonDirection::NE, best, best));
    best = b.select(stays, best, slices[i]);
    index = b.select(
        stays, index,
        b.integers(type.getShape(), int64_t(i), type.getElementType()));
  }
  rewriter.replaceOp(op, index);
  return success();
}

void addStackPatterns(mlir::RewritePatternSet &patterns) {
  patterns.add(reduceStack);
  patterns.add(compareStack<ArgMaxOp>);
  patterns.add(compareStack<ArgMinOp>);
}

} // namespace meshloom::dtensor
