// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// --dtensor-multiply-before-loops: a product of an iteration's slice of a
// tensor with a value from outside of the loop becomes a slice of one product,
// of the whole tensor, in front of the loop. A recurrent layer's inputs are so
// multiplied by their weights all at once.
//
// Slicing one place of a dim and multiplying change places, whichever the
// place is: the dim is a free one of the product. So nothing has to be known of
// the index.
#include "VectoriseOp.h"

#include "meshloom/ControlFlow/ControlFlow.h"
#include "meshloom/Lanes/LaneBuilder.h"
#include "meshloom/Lanes/Passes.h"

namespace meshloom {

#define GEN_PASS_DEF_MULTIPLYBEFORELOOPS
#include "meshloom/Lanes/Passes.h.inc"

namespace {
using dtensor::DotGeneralOp, dtensor::DynamicSliceOp, dtensor::WhileOp;
using dtensor::globalShape, lanes::LaneBuilder;

/// Elements that the product may always have, and how many times as many as the
/// sliced tensor it may have where it has more.
constexpr int64_t smallProduct = 1 << 20, largestGrowth = 4;
/// An element of the product is written and read once, which takes as long as
/// some multiplications.
constexpr int64_t leastTerms = 4;

bool isLaidOut(Value value) {
  return bool(cast<RankedTensorType>(value.getType()).getEncoding());
}

bool isOutside(Value value, WhileOp loop) {
  return !loop.getBody().isAncestor(value.getParentRegion());
}

/// An operand of a product that is computed from a slice of a tensor from
/// outside of the loop.
struct SlicedOperand {
  unsigned number;
  DynamicSliceOp slice;
  /// The dim of the tensor in which the slice has one place. It has all places
  /// of the other dims.
  int64_t dim;
  /// The ops between the slice and the product, the last op first.
  SmallVector<Operation *> path;
};

/// The dim of which `slice` takes one place, if it takes the whole of all
/// others.
std::optional<int64_t> slicedDim(DynamicSliceOp slice) {
  const auto tensor = cast<RankedTensorType>(slice.getOperand().getType());
  std::optional<int64_t> sliced;
  for (auto [dim, size] : llvm::enumerate(slice.getSliceSizes())) {
    if (size == tensor.getDimSize(unsigned(dim)))
      continue;
    if (size != 1 || sliced)
      return std::nullopt;
    sliced = int64_t(dim);
  }
  return sliced;
}

std::optional<SlicedOperand> findSlice(DotGeneralOp product, unsigned number,
                                       WhileOp loop) {
  SlicedOperand operand{number, {}, 0, {}};
  for (Value value = product->getOperand(number);;) {
    Operation *op = value.getDefiningOp();
    if (!op || op->getParentRegion() != &loop.getBody() || isLaidOut(value))
      return std::nullopt;
    if ((operand.slice = dyn_cast<DynamicSliceOp>(op)))
      break;
    if (op->getNumOperands() != 1 || !lanes::dependsOnOperandsAlone(op) ||
        !isa<dtensor::VectorisableOpInterface>(op))
      return std::nullopt;
    operand.path.push_back(op);
    value = op->getOperand(0);
  }
  const auto dim = slicedDim(operand.slice);
  if (!dim || !isOutside(operand.slice.getOperand(), loop))
    return std::nullopt;
  operand.dim = *dim;
  return operand;
}

int64_t termsOf(DotGeneralOp product) {
  int64_t terms = 1;
  for (int64_t dim : product.getLhsContractingDimensions())
    terms *= globalShape(product.getLhs().getType())[dim];
  return terms;
}

/// The operand by whose slice `product` moves in front of `loop`, where that
/// saves time and takes no more memory than it should.
std::optional<SlicedOperand> findMove(DotGeneralOp product, WhileOp loop,
                                      int64_t count) {
  if (isLaidOut(product) || termsOf(product) < leastTerms)
    return std::nullopt;
  for (unsigned number : {0U, 1U}) {
    if (!isOutside(product->getOperand(1 - number), loop))
      continue;
    auto operand = findSlice(product, number, loop);
    if (!operand)
      return std::nullopt;
    const auto tensor =
        cast<RankedTensorType>(operand->slice.getOperand().getType());
    const int64_t places = tensor.getDimSize(unsigned(operand->dim));
    const int64_t elements = places * mlir::ShapedType::getNumElements(
                                          globalShape(product.getType()));
    if (places <= count &&
        (elements <= smallProduct ||
         elements <= largestGrowth * tensor.getNumElements()))
      return operand;
  }
  return std::nullopt;
}

/// The product of all places, [places, ...].
FailureOr<Value> multiplyAll(DotGeneralOp product, SlicedOperand operand,
                             WhileOp loop) {
  const Value tensor = operand.slice.getOperand();
  LaneBuilder b(loop.getContext(), globalShape(tensor.getType())[operand.dim]);
  b.setInsertionPoint(loop);
  b.setLoc(product.getLoc());
  constexpr unsigned lane = 0;
  // The slice has the dim still, of extent 1.
  Value value = b.reshape(b.hide(b.moveDim(tensor, operand.dim, 0), lane),
                          globalShape(operand.slice.getType()));
  for (Operation *op : llvm::reverse(operand.path)) {
    auto results = lanes::vectoriseOp(b, op, value);
    if (failed(results))
      return failure();
    value = results->front();
  }
  SmallVector<Value> operands(product->getOperands());
  operands[operand.number] = value;
  auto results = lanes::vectoriseOp(b, product, operands);
  if (failed(results))
    return failure();
  return b.expose(results->front(), lane);
}

LogicalResult move(DotGeneralOp product, SlicedOperand operand, WhileOp loop) {
  auto whole = multiplyAll(product, operand, loop);
  if (failed(whole))
    return failure();
  dtensor::TensorBuilder b(product.getContext(), product.getLoc());
  b.setInsertionPoint(product);
  SmallVector<int64_t> sizes(b.shapeOf(*whole));
  sizes[0] = 1;
  const Value index = operand.slice.getStartIndices()[operand.dim];
  SmallVector<Value> starts(sizes.size(),
                            b.zeros(cast<RankedTensorType>(index.getType())));
  starts[0] = index;
  Value slice =
      b.create<DynamicSliceOp>(product.getLoc(), *whole, starts, sizes);
  product->getResult(0).replaceAllUsesWith(
      b.reshape(slice, globalShape(product.getType())));
  product->erase();
  operand.path.push_back(operand.slice);
  for (Operation *op : operand.path)
    if (op->use_empty())
      op->erase();
  return success();
}

struct MultiplyBeforeLoopsPass
    : impl::MultiplyBeforeLoopsBase<MultiplyBeforeLoopsPass> {
  void runOnOperation() override {
    SmallVector<WhileOp> loops; // inner ones first
    getOperation().walk([&](WhileOp loop) { loops.push_back(loop); });
    for (WhileOp loop : loops) {
      const auto count = tripCount(loop);
      if (!count)
        continue;
      for (DotGeneralOp product : llvm::make_early_inc_range(
               loop.getBody().front().getOps<DotGeneralOp>()))
        if (auto operand = findMove(product, loop, *count))
          if (failed(move(product, *operand, loop)))
            return signalPassFailure();
    }
  }
};

} // namespace
} // namespace meshloom
