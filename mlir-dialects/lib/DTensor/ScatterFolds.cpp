// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Scatters of one window come from x.at[i].set(u) and the gradients of slices.
#include "ScatterFolds.h"

#include "meshloom/Dialect/DTensor/TensorBuilder.h"

#include "llvm/ADT/Sequence.h"

namespace meshloom::dtensor {

/// scatter(indices [.., 1]) -> scatter(indices [..]): where an index is a
/// vector of one number, the dim of the vector need not be there.
static LogicalResult dropVectorDim(ScatterOp op, PatternRewriter &rewriter) {
  auto spread = op.getScatterIndices().getDefiningOp<BroadcastInDimOp>();
  if (!spread || layoutAttrOf(spread.getType()) ||
      !llvm::equal(spread.getBroadcastDimensions(),
                   llvm::seq<int64_t>(spread.getBroadcastDimensions().size())))
    return failure();
  auto from = globalShape(spread.getOperand().getType()),
       to = globalShape(spread.getType());
  if (to.size() != from.size() + 1 || to.back() != 1 ||
      ArrayRef(to).drop_back() != ArrayRef(from) ||
      op.getIndexVectorDim() != from.size())
    return failure();
  rewriter.modifyOpInPlace(
      op, [&] { op.getScatterIndicesMutable().assign(spread.getOperand()); });
  return success();
}

/// Returns the entries of a vector of integers: nothing where one is no
/// constant.
static std::optional<SmallVector<int64_t>> constantEntries(Value vector) {
  SmallVector<Value> parts{vector};
  if (auto join = vector.getDefiningOp<ConcatenateOp>())
    parts.assign(join.getInputs().begin(), join.getInputs().end());
  SmallVector<int64_t> entries;
  for (Value part : parts) {
    mlir::DenseIntElementsAttr constant;
    if (!matchPattern(part, mlir::m_Constant(&constant)))
      return std::nullopt;
    for (const llvm::APInt &entry : constant.getValues<llvm::APInt>())
      entries.push_back(entry.getSExtValue());
  }
  return entries;
}

namespace {
/// The one window of a scatter, which lies in bounds at a constant place.
struct ConstantWindow {
  SmallVector<int64_t> start, sizes; ///< per dim of the input
  SmallVector<int64_t> behind;       ///< the input's elements behind it
};
} // namespace

static std::optional<ConstantWindow> constantWindowOf(ScatterOp op) {
  const SmallVector<int64_t> input = globalShape(op.getInputs()[0].getType()),
                             update = globalShape(op.getUpdates()[0].getType());
  if (op.getInputs().size() != 1 ||
      globalShape(op.getScatterIndices().getType()).size() > 1 ||
      op.getIndexVectorDim() != 0 || !op.getInputBatchingDims().empty() ||
      op.getUpdateWindowDims().size() != update.size())
    return std::nullopt;
  auto starts = constantEntries(op.getScatterIndices());
  if (!starts)
    return std::nullopt;
  ConstantWindow window{SmallVector<int64_t>(input.size(), 0), {}, {}};
  for (auto [dim, start] :
       llvm::zip_equal(op.getScatterDimsToOperandDims(), *starts))
    window.start[dim] = start;
  size_t next = 0;
  for (auto [dim, extent] : llvm::enumerate(input)) {
    const bool isInserted =
        llvm::is_contained(op.getInsertedWindowDims(), int64_t(dim));
    window.sizes.push_back(isInserted ? 1 : update[next++]);
    window.behind.push_back(extent - window.sizes[dim] - window.start[dim]);
    if (window.start[dim] < 0 || window.behind[dim] < 0)
      return std::nullopt;
  }
  return window;
}

/// scatter(x, i, u), which adds one window -> x + pad(u), where i is constant
/// and the window is most of x: an elementwise op, which all workers share.
static LogicalResult addWindow(ScatterOp op, PatternRewriter &rewriter) {
  if (op.getKind() != ReduceKind::Sum ||
      layoutAttrOf(op->getResult(0).getType()) ||
      elementTypeOf(op->getResult(0).getType()).isInteger(1))
    return failure();
  const auto window = constantWindowOf(op);
  if (!window)
    return failure();
  Value input = op.getInputs()[0];
  double share = 1;
  for (auto [extent, size] :
       llvm::zip_equal(globalShape(input.getType()), window->sizes))
    share *= double(size) / double(std::max<int64_t>(extent, 1));
  constexpr double most = 0.5;
  if (share < most)
    return failure();
  TensorBuilder b(rewriter, op.getLoc());
  // The negative zero leaves even zeros as they are.
  Value zero = b.negate(
      b.zeros(RankedTensorType::get({}, elementTypeOf(input.getType()))));
  Value padded = b.padWith(zero, b.reshape(op.getUpdates()[0], window->sizes),
                           window->start, window->behind,
                           SmallVector<int64_t>(window->start.size()));
  rewriter.replaceOp(op, b.add(input, padded));
  return success();
}

/// scatter(x, i, u), which replaces one window -> dynamic_update_slice(x, u, i)
/// where i is constant: a copy, whatever the window's strides are.
static LogicalResult replaceWindow(ScatterOp op, PatternRewriter &rewriter) {
  if (op.getKind() || !op.getRegion().empty() ||
      layoutAttrOf(op->getResult(0).getType()))
    return failure();
  const auto window = constantWindowOf(op);
  if (!window)
    return failure();
  TensorBuilder b(rewriter, op.getLoc());
  SmallVector<Value> starts;
  for (int64_t start : window->start)
    starts.push_back(b.integers({}, start, rewriter.getI64Type()));
  rewriter.replaceOpWithNewOp<DynamicUpdateSliceOp>(
      op, op.getInputs()[0], b.reshape(op.getUpdates()[0], window->sizes),
      starts);
  return success();
}

void addScatterPatterns(mlir::RewritePatternSet &patterns) {
  patterns.add(dropVectorDim);
  patterns.add(addWindow);
  patterns.add(replaceWindow);
}

} // namespace meshloom::dtensor
