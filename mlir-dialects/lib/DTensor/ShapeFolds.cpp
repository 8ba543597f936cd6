// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Folders and canonicalisation of the ops that move elements, of products and
// reductions, and of relayouts.
//
// Ops are merged by value: the merged op gives the same tensor. Where layouts
// are decided it must also still be able to run as its layouts say; patterns
// for which that is not so by construction leave decided types alone.

#include "ScatterFolds.h"
#include "SplatMath.h"
#include "StackFolds.h"

#include "meshloom/Dialect/DTensor/TensorBuilder.h"

#include <numeric>

namespace meshloom::dtensor {

using mlir::OpFoldResult, mlir::RewritePatternSet;

/// Folds an op that only moves elements: to a constant that is the same
/// everywhere, or to the operand where nothing moves.
static OpFoldResult foldMovement(Value operand, Attribute constant,
                                 Value result, bool identity) {
  if (identity && operand.getType() == result.getType())
    return operand;
  if (auto splat = Splat::get(constant))
    return splat->attribute(result.getType());
  return {};
}

static bool isIota(ArrayRef<int64_t> dims) {
  for (auto [index, dim] : llvm::enumerate(dims))
    if (dim != int64_t(index))
      return false;
  return true;
}

OpFoldResult ConstantOp::fold(FoldAdaptor) {
  return getValue();
}

OpFoldResult IotaOp::fold(FoldAdaptor) {
  if (globalShape(getType())[getIotaDimension()] != 1)
    return {};
  return Splat::number(getType().getElementType(), 0).attribute(getType());
}

//===----------------------------------------------------------------------===//
// BroadcastInDimOp
//===----------------------------------------------------------------------===//

OpFoldResult BroadcastInDimOp::fold(FoldAdaptor adaptor) {
  return foldMovement(getOperand(), adaptor.getOperand(), getResult(),
                      isIota(getBroadcastDimensions()));
}

/// broadcast_in_dim(broadcast_in_dim(x)) -> broadcast_in_dim(x)
static LogicalResult mergeBroadcasts(BroadcastInDimOp op,
                                     PatternRewriter &rewriter) {
  auto inner = op.getOperand().getDefiningOp<BroadcastInDimOp>();
  if (!inner)
    return failure();
  SmallVector<int64_t> dims;
  for (int64_t dim : inner.getBroadcastDimensions())
    dims.push_back(op.getBroadcastDimensions()[dim]);
  rewriter.replaceOpWithNewOp<BroadcastInDimOp>(op, op.getType(),
                                                inner.getOperand(), dims);
  return success();
}

void BroadcastInDimOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                                   MLIRContext *) {
  patterns.add(mergeBroadcasts);
}

//===----------------------------------------------------------------------===//
// ReshapeOp
//===----------------------------------------------------------------------===//

OpFoldResult ReshapeOp::fold(FoldAdaptor adaptor) {
  if (auto inner = getOperand().getDefiningOp<ReshapeOp>())
    if (inner.getOperand().getType() == getType())
      return inner.getOperand();
  return foldMovement(getOperand(), adaptor.getOperand(), getResult(), true);
}

/// reshape(reshape(x)) -> reshape(x). A decided layout in between may be one
/// that the two shapes have no common factor for, so it is left alone.
static LogicalResult mergeReshapes(ReshapeOp op, PatternRewriter &rewriter) {
  auto inner = op.getOperand().getDefiningOp<ReshapeOp>();
  if (!inner || layoutAttrOf(inner.getType()))
    return failure();
  rewriter.replaceOpWithNewOp<ReshapeOp>(op, op.getType(), inner.getOperand());
  return success();
}

void ReshapeOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                            MLIRContext *) {
  patterns.add(mergeReshapes);
}

/// Returns whether types are not decided: what is between two ops may have been
/// laid out otherwise on purpose, and windows of a merged op are other ones.
static bool isUndecided(Operation *op) {
  return !layoutAttrOf(op->getResult(0).getType());
}

//===----------------------------------------------------------------------===//
// TransposeOp
//===----------------------------------------------------------------------===//

OpFoldResult TransposeOp::fold(FoldAdaptor adaptor) {
  return foldMovement(getOperand(), adaptor.getOperand(), getResult(),
                      isIota(getPermutation()));
}

/// transpose(transpose(x)) -> transpose(x), or x
static LogicalResult mergeTransposes(TransposeOp op,
                                     PatternRewriter &rewriter) {
  auto inner = op.getOperand().getDefiningOp<TransposeOp>();
  if (!inner)
    return failure();
  SmallVector<int64_t> permutation;
  for (int64_t dim : op.getPermutation())
    permutation.push_back(inner.getPermutation()[dim]);
  rewriter.replaceOpWithNewOp<TransposeOp>(op, op.getType(), inner.getOperand(),
                                           permutation);
  return success();
}

/// transpose(dot_general(x, y)) -> dot_general(y, x), where the free dims of y
/// come before those of x, and each operand's keep their order: the gradient of
/// a matrix by which rows are multiplied. Only shards are so: before, the
/// choice of layouts would lose that of the product beside that of its
/// transpose (sums of gradients in a loop would stay whole on each device).
static LogicalResult swapOperands(TransposeOp op, PatternRewriter &rewriter) {
  auto dot = op.getOperand().getDefiningOp<DotGeneralOp>();
  if (!dot || !dot->hasOneUse() || !isShard(op.getType()) ||
      !windowsOf(op.getType()).empty())
    return failure();
  const size_t batching = dot.getLhsBatchingDimensions().size(),
               lhs = dot.getLhsFreeDimensions().size(),
               rhs = dot.getRhsFreeDimensions().size();
  SmallVector<int64_t> swapped(batching + lhs + rhs);
  std::iota(swapped.begin(), swapped.end(), 0);
  std::rotate(swapped.begin() + batching, swapped.begin() + batching + lhs,
              swapped.end());
  if (op.getPermutation() != ArrayRef(swapped))
    return failure();
  rewriter.replaceOpWithNewOp<DotGeneralOp>(
      op, op.getType(), dot.getRhs(), dot.getLhs(),
      dot.getRhsBatchingDimensions(), dot.getLhsBatchingDimensions(),
      dot.getRhsContractingDimensions(), dot.getLhsContractingDimensions());
  return success();
}

void TransposeOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                              MLIRContext *) {
  patterns.add(mergeTransposes);
  patterns.add(swapOperands);
}

//===----------------------------------------------------------------------===//
// SliceOp, ConcatenateOp, ReverseOp
//===----------------------------------------------------------------------===//

OpFoldResult SliceOp::fold(FoldAdaptor adaptor) {
  return foldMovement(getOperand(), adaptor.getOperand(), getResult(),
                      /*identity=*/true);
}

/// slice(slice(x)) -> slice(x)
static LogicalResult mergeSlices(SliceOp op, PatternRewriter &rewriter) {
  auto inner = op.getOperand().getDefiningOp<SliceOp>();
  if (!inner)
    return failure();
  SmallVector<int64_t> starts, limits, strides;
  auto sizes = globalShape(op.getType());
  for (size_t dim = 0; dim < sizes.size(); ++dim) {
    int64_t step = inner.getStrides()[dim];
    starts.push_back(inner.getStartIndices()[dim] +
                     op.getStartIndices()[dim] * step);
    strides.push_back(op.getStrides()[dim] * step);
    limits.push_back(sizes[dim]
                         ? starts.back() + (sizes[dim] - 1) * strides.back() + 1
                         : starts.back());
    // Whole dims stay whole.
    if (inner.getLimitIndices()[dim] - inner.getStartIndices()[dim] ==
            globalShape(inner.getOperand().getType())[dim] &&
        step == 1 && op.getStrides()[dim] == 1)
      limits.back() = op.getLimitIndices()[dim];
  }
  rewriter.replaceOpWithNewOp<SliceOp>(op, op.getType(), inner.getOperand(),
                                       starts, limits, strides);
  return success();
}

static bool isAll(ArrayRef<int64_t> numbers, int64_t number) {
  return llvm::all_of(numbers, [&](int64_t entry) { return entry == number; });
}

/// slice(pad(x)) -> pad(x): what is sliced away is not padded at all.
static LogicalResult sliceOfPad(SliceOp op, PatternRewriter &rewriter) {
  auto pad = op.getOperand().getDefiningOp<PadOp>();
  if (!pad || !isUndecided(pad) || !isUndecided(op) ||
      !isAll(op.getStrides(), 1) || !isAll(pad.getInteriorPadding(), 0))
    return failure();
  SmallVector<int64_t> low(pad.getEdgePaddingLow()),
      high(pad.getEdgePaddingHigh());
  auto sizes = globalShape(pad.getType());
  for (size_t dim = 0; dim < sizes.size(); ++dim) {
    low[dim] -= op.getStartIndices()[dim];
    high[dim] -= sizes[dim] - op.getLimitIndices()[dim];
  }
  rewriter.replaceOpWithNewOp<PadOp>(op, op.getType(), pad.getOperand(),
                                     pad.getPaddingValue(), low, high,
                                     pad.getInteriorPadding());
  return success();
}

void SliceOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                          MLIRContext *) {
  patterns.add(mergeSlices);
  patterns.add(sliceOfPad);
}

/// pad(pad(x)) -> pad(x) with one value, and pad(slice(x)) -> pad(x), where no
/// element is taken away at an end before others are put there.
static LogicalResult mergePads(PadOp op, PatternRewriter &rewriter) {
  if (!isUndecided(op) || !isAll(op.getInteriorPadding(), 0))
    return failure();
  SmallVector<int64_t> low, high;
  Value operand;
  if (auto pad = op.getOperand().getDefiningOp<PadOp>()) {
    if (!isUndecided(pad) || pad.getPaddingValue() != op.getPaddingValue() ||
        !isAll(pad.getInteriorPadding(), 0))
      return failure();
    low = llvm::to_vector(pad.getEdgePaddingLow());
    high = llvm::to_vector(pad.getEdgePaddingHigh());
    operand = pad.getOperand();
  } else if (auto slice = op.getOperand().getDefiningOp<SliceOp>()) {
    if (!isUndecided(slice) || !isAll(slice.getStrides(), 1))
      return failure();
    operand = slice.getOperand();
    for (auto [size, start, limit] :
         llvm::zip_equal(globalShape(operand.getType()),
                         slice.getStartIndices(), slice.getLimitIndices())) {
      low.push_back(-start);
      high.push_back(limit - size);
    }
  } else {
    return failure();
  }
  for (size_t dim = 0; dim < low.size(); ++dim) {
    if ((low[dim] < 0 && op.getEdgePaddingLow()[dim] > 0) ||
        (high[dim] < 0 && op.getEdgePaddingHigh()[dim] > 0))
      return failure();
    low[dim] += op.getEdgePaddingLow()[dim];
    high[dim] += op.getEdgePaddingHigh()[dim];
  }
  rewriter.replaceOpWithNewOp<PadOp>(op, op.getType(), operand,
                                     op.getPaddingValue(), low, high,
                                     op.getInteriorPadding());
  return success();
}

/// convolution(pad(x, 0)) -> convolution(x) with that padding, and holes as its
/// lhs dilation: a library call knows where there is nothing to multiply.
static LogicalResult padInConvolution(ConvolutionOp op,
                                      PatternRewriter &rewriter) {
  auto pad = op.getLhs().getDefiningOp<PadOp>();
  if (!pad || layoutAttrOf(pad.getType()) ||
      (layoutAttrOf(op.getType()) &&
       layoutAttrOf(pad.getOperand().getType())) ||
      !(matchPattern(pad.getPaddingValue(), mlir::m_AnyZeroFloat()) ||
        matchPattern(pad.getPaddingValue(), mlir::m_Zero())))
    return failure();
  ConvolutionSpec spec = op.getSpec();
  for (auto [d, low, high, interior, extent] : llvm::enumerate(
           pad.getEdgePaddingLow(), pad.getEdgePaddingHigh(),
           pad.getInteriorPadding(), globalShape(pad.getOperand().getType()))) {
    if (low == 0 && high == 0 && interior == 0)
      continue;
    auto *spatial = llvm::find(spec.inputSpatial, int64_t(d));
    if (spatial == spec.inputSpatial.end() || extent == 0)
      return failure();
    auto i = size_t(spatial - spec.inputSpatial.begin());
    if (spec.lhsDilation[i] != 1)
      return failure();
    spec.lhsDilation[i] = interior + 1;
    spec.padding[2 * i] += low;
    spec.padding[2 * i + 1] += high;
  }
  rewriter.modifyOpInPlace(op, [&] {
    op.getLhsMutable().assign(pad.getOperand());
    op.setPadding(spec.padding);
    op.setLhsDilation(spec.lhsDilation);
  });
  return success();
}

/// reduce_window(pad(x)) -> reduce_window(x) with that padding, and holes as
/// its base dilation, where both pad with one number: no element of it is
/// stored.
static LogicalResult padInWindow(ReduceWindowOp op, PatternRewriter &rewriter) {
  if (op.getInputs().size() != 1)
    return failure();
  auto pad = op.getInputs()[0].getDefiningOp<PadOp>();
  if (!pad || !isUndecided(pad) || !isUndecided(op))
    return failure();
  mlir::SplatElementsAttr value, init;
  if (!matchPattern(pad.getPaddingValue(), mlir::m_Constant(&value)) ||
      !matchPattern(op.getInitValues()[0], mlir::m_Constant(&init)) ||
      value != init)
    return failure();
  SmallVector<int64_t> base(op.getBaseDilations()), padding(op.getPadding());
  for (auto [d, low, high, interior, extent] : llvm::enumerate(
           pad.getEdgePaddingLow(), pad.getEdgePaddingHigh(),
           pad.getInteriorPadding(), globalShape(pad.getOperand().getType()))) {
    if (low == 0 && high == 0 && interior == 0)
      continue;
    if (base[d] != 1 || extent == 0)
      return failure();
    base[d] = interior + 1;
    padding[2 * d] += low;
    padding[2 * d + 1] += high;
  }
  rewriter.modifyOpInPlace(op, [&] {
    op.getInputsMutable()[0].assign(pad.getOperand());
    op.setPadding(padding);
    op.setBaseDilations(base);
  });
  return success();
}

void PadOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                        MLIRContext *) {
  addScatterPatterns(patterns);
  patterns.add(mergePads);
  patterns.add(padInConvolution);
  patterns.add(padInWindow);
}

OpFoldResult ConcatenateOp::fold(FoldAdaptor adaptor) {
  if (getInputs().size() == 1)
    return foldMovement(getInputs()[0], adaptor.getInputs()[0], getResult(),
                        /*identity=*/true);
  // Equal constants: DenseElementsAttrs differ in type, their values count.
  for (Attribute input : adaptor.getInputs()) {
    auto splat = Splat::get(input);
    auto first = Splat::get(adaptor.getInputs()[0]);
    if (!splat || !first ||
        splat->attribute(getType()) != first->attribute(getType()))
      return {};
  }
  return Splat::get(adaptor.getInputs()[0])->attribute(getType());
}

/// Drops operands that are empty along the joined dim.
static LogicalResult dropEmptyOperands(ConcatenateOp op,
                                       PatternRewriter &rewriter) {
  SmallVector<Value> inputs;
  for (Value input : op.getInputs())
    if (globalShape(input.getType())[op.getDimension()] != 0)
      inputs.push_back(input);
  if (inputs.empty() || inputs.size() == op.getInputs().size())
    return failure();
  rewriter.replaceOpWithNewOp<ConcatenateOp>(op, op.getType(), inputs,
                                             op.getDimension());
  return success();
}

/// concatenate(concatenate(x, y), z) -> concatenate(x, y, z). Where the inner
/// one has other users, only for few operands: the steps of a tensor that grows
/// in many would copy each other's operands.
static LogicalResult mergeConcatenates(ConcatenateOp op,
                                       PatternRewriter &rewriter) {
  constexpr size_t few = 16;
  if (!isUndecided(op))
    return failure();
  SmallVector<Value> inputs;
  bool haveOneUse = true;
  for (Value input : op.getInputs()) {
    auto inner = input.getDefiningOp<ConcatenateOp>();
    if (inner && isUndecided(inner) &&
        inner.getDimension() == op.getDimension()) {
      llvm::append_range(inputs, inner.getInputs());
      haveOneUse &= inner->hasOneUse();
    } else {
      inputs.push_back(input);
    }
  }
  if (inputs.size() == op.getInputs().size() ||
      (inputs.size() > few && !haveOneUse))
    return failure();
  rewriter.replaceOpWithNewOp<ConcatenateOp>(op, op.getType(), inputs,
                                             op.getDimension());
  return success();
}

void ConcatenateOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                                MLIRContext *) {
  patterns.add(dropEmptyOperands);
  patterns.add(mergeConcatenates);
  addStackPatterns(patterns);
}

OpFoldResult ReverseOp::fold(FoldAdaptor adaptor) {
  if (auto inner = getOperand().getDefiningOp<ReverseOp>())
    if (inner.getDimensions() == getDimensions() &&
        inner.getOperand().getType() == getType())
      return inner.getOperand();
  auto shape = globalShape(getType());
  bool identity = llvm::all_of(getDimensions(),
                               [&](int64_t dim) { return shape[dim] <= 1; });
  return foldMovement(getOperand(), adaptor.getOperand(), getResult(),
                      identity);
}

OpFoldResult PadOp::fold(FoldAdaptor adaptor) {
  auto isNone = [](ArrayRef<int64_t> padding) {
    return llvm::all_of(padding, [](int64_t count) { return count == 0; });
  };
  bool identity = isNone(getEdgePaddingLow()) && isNone(getEdgePaddingHigh()) &&
                  isNone(getInteriorPadding());
  if (identity && getOperand().getType() == getType())
    return getOperand();
  auto value = Splat::get(adaptor.getPaddingValue());
  auto splat = Splat::get(adaptor.getOperand());
  bool equal = value && splat &&
               value->attribute(getType()) == splat->attribute(getType());
  bool empty = llvm::is_contained(globalShape(getOperand().getType()), 0);
  if (value && (equal || empty))
    return value->attribute(getType());
  return {};
}

OpFoldResult TakeOp::fold(FoldAdaptor adaptor) {
  Attribute constant = adaptor.getOperand();
  if (llvm::is_contained(getIndices(), -1))
    constant = {};
  return foldMovement(getOperand(), constant, getResult(),
                      isIota(getIndices()));
}

//===----------------------------------------------------------------------===//
// MatMulOp, ReduceOp
//===----------------------------------------------------------------------===//

static LogicalResult toDotGeneral(MatMulOp op, PatternRewriter &rewriter) {
  int64_t rank = op.getType().getRank();
  SmallVector<int64_t> batching(rank - 2);
  std::iota(batching.begin(), batching.end(), 0);
  rewriter.replaceOpWithNewOp<DotGeneralOp>(
      op, op.getType(), op.getLhs(), op.getRhs(), batching, batching,
      ArrayRef<int64_t>{rank - 1}, ArrayRef<int64_t>{rank - 2});
  return success();
}

void MatMulOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                           MLIRContext *) {
  patterns.add(toDotGeneral);
}

/// dot_general(transpose(x), y) -> dot_general(x, y), and so for the rhs, where
/// the dims that are neither batching nor contracting keep their order.
static LogicalResult dropTransposes(DotGeneralOp op,
                                    PatternRewriter &rewriter) {
  auto untransposed = [](Value value, ArrayRef<int64_t> free,
                         SmallVector<int64_t> &batching,
                         SmallVector<int64_t> &contracting) -> Value {
    auto transpose = value.getDefiningOp<TransposeOp>();
    if (!transpose)
      return {};
    ArrayRef<int64_t> permutation = transpose.getPermutation();
    auto before = [&](int64_t dim) { return permutation[dim]; };
    if (!llvm::is_sorted(llvm::map_to_vector(free, before)))
      return {};
    llvm::transform(batching, batching.begin(), before);
    llvm::transform(contracting, contracting.begin(), before);
    return transpose.getOperand();
  };
  SmallVector<int64_t> lhsBatching(op.getLhsBatchingDimensions()),
      rhsBatching(op.getRhsBatchingDimensions()),
      lhsContracting(op.getLhsContractingDimensions()),
      rhsContracting(op.getRhsContractingDimensions());
  Value lhs = untransposed(op.getLhs(), op.getLhsFreeDimensions(), lhsBatching,
                           lhsContracting);
  Value rhs = untransposed(op.getRhs(), op.getRhsFreeDimensions(), rhsBatching,
                           rhsContracting);
  if (!lhs && !rhs)
    return failure();
  rewriter.replaceOpWithNewOp<DotGeneralOp>(
      op, op.getType(), lhs ? lhs : op.getLhs(), rhs ? rhs : op.getRhs(),
      lhsBatching, rhsBatching, lhsContracting, rhsContracting);
  return success();
}

void DotGeneralOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                               MLIRContext *) {
  patterns.add(dropTransposes);
}

/// A reduction over nothing is its operands.
static LogicalResult dropReductionOverNothing(ReduceOp op,
                                              PatternRewriter &rewriter) {
  if (!op.getDimensions().empty() ||
      op.getInputs().getTypes() != op.getOutputs().getTypes())
    return failure();
  rewriter.replaceOp(op, op.getInputs());
  return success();
}

/// A reduction over dims of one element moves its operands: no sum is begun,
/// and what surrounds it is one kernel. Where layouts are chosen already the
/// dims may have been cut, and the result may be partial.
static LogicalResult dropReductionOfOneElement(ReduceOp op,
                                               PatternRewriter &rewriter) {
  auto hasLayout = [](Type type) {
    return bool(cast<RankedTensorType>(type).getEncoding());
  };
  auto input = cast<RankedTensorType>(op.getInputs().front().getType());
  if (op.getDimensions().empty() ||
      llvm::any_of(op.getOutputs().getTypes(), hasLayout) ||
      !llvm::all_of(op.getDimensions(),
                    [&](int64_t dim) { return input.getDimSize(dim) == 1; }))
    return failure();
  SmallVector<Value> moved;
  for (auto [operand, result] : llvm::zip(op.getInputs(), op.getOutputs()))
    moved.push_back(
        rewriter.create<ReshapeOp>(op.getLoc(), result.getType(), operand));
  rewriter.replaceOp(op, moved);
  return success();
}

void ReduceOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                           MLIRContext *) {
  patterns.add(dropReductionOverNothing);
  patterns.add(dropReductionOfOneElement);
}

//===----------------------------------------------------------------------===//
// RelayoutOp
//===----------------------------------------------------------------------===//

OpFoldResult RelayoutOp::fold(FoldAdaptor adaptor) {
  if (auto inner = getOperand().getDefiningOp<RelayoutOp>())
    if (inner.getOperand().getType() == getType())
      return inner.getOperand();
  return foldMovement(getOperand(), adaptor.getOperand(), getResult(),
                      /*identity=*/true);
}

/// relayout(relayout(x)) -> relayout(x) where nothing else uses the layout in
/// between: the planner finds the way through it, if it is the cheapest.
static LogicalResult mergeRelayouts(RelayoutOp op, PatternRewriter &rewriter) {
  auto inner = op.getOperand().getDefiningOp<RelayoutOp>();
  if (!inner || !inner->hasOneUse())
    return failure();
  rewriter.replaceOpWithNewOp<RelayoutOp>(op, op.getType(), inner.getOperand());
  return success();
}

void RelayoutOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                             MLIRContext *) {
  patterns.add(mergeRelayouts);
}

} // namespace meshloom::dtensor
