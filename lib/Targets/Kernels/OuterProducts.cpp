// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The dims of a product are the batching ones, then the free ones of lhs, then
// those of rhs: each is a dim of one operand or of both.
#include "OuterProducts.h"

#include "meshloom/Dialect/SPMD/SPMD.h"

using namespace meshloom;
using namespace meshloom::dtensor;

/// Returns whether every device has its elements as they are.
static bool isPlain(Type type) {
  return isShard(type) && !spmd::layoutOf(type).is_partial() &&
         spmd::windowsOf(type).empty();
}

/// Returns the dim of the product that each dim of an operand is.
static SmallVector<int64_t> resultDims(Value operand,
                                       ArrayRef<int64_t> batching,
                                       ArrayRef<int64_t> free,
                                       size_t firstFree) {
  SmallVector<int64_t> dims(globalShape(operand.getType()).size());
  for (auto [i, dim] : llvm::enumerate(batching))
    dims[size_t(dim)] = int64_t(i);
  for (auto [i, dim] : llvm::enumerate(free))
    dims[size_t(dim)] = int64_t(firstFree + i);
  return dims;
}

/// Returns whether the elements of a row of the product lie together in an
/// operand, or are read once: else the library, which copies the operand first,
/// takes less time.
static bool isReadInRows(DotGeneralOp product, ArrayRef<int64_t> dims) {
  const auto last = int64_t(globalShape(product.getType()).size()) - 1;
  return !llvm::is_contained(dims, last) || dims.back() == last ||
         dims.size() == size_t(last + 1);
}

static void multiplyBroadcasts(DotGeneralOp product) {
  const SmallVector<int64_t> lhsFree = product.getLhsFreeDimensions(),
                             rhsFree = product.getRhsFreeDimensions();
  const ArrayRef<int64_t> lhsBatch = product.getLhsBatchingDimensions(),
                          rhsBatch = product.getRhsBatchingDimensions();
  const Value lhs = product.getLhs(), rhs = product.getRhs();
  const SmallVector<int64_t> lhsDims = resultDims(lhs, lhsBatch, lhsFree,
                                                  lhsBatch.size()),
                             rhsDims =
                                 resultDims(rhs, rhsBatch, rhsFree,
                                            lhsBatch.size() + lhsFree.size());
  if (!isReadInRows(product, lhsDims) || !isReadInRows(product, rhsDims))
    return;
  OpBuilder b(product);
  const Location loc = product.getLoc();
  const Type type = product.getType();
  Value lhsElements = b.create<BroadcastInDimOp>(loc, type, lhs, lhsDims);
  Value rhsElements = b.create<BroadcastInDimOp>(loc, type, rhs, rhsDims);
  Value result = b.create<MultiplyOp>(loc, type, lhsElements, rhsElements);
  product.replaceAllUsesWith(result);
  product.erase();
}

void meshloom::multiplyOuterProducts(Block &block) {
  for (auto product : llvm::make_early_inc_range(block.getOps<DotGeneralOp>()))
    if (product.getLhsContractingDimensions().empty() &&
        llvm::all_of(product->getOperandTypes(), isPlain) &&
        isPlain(product.getType()))
      multiplyBroadcasts(product);
}
