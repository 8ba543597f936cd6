// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// concatenate(a, b) -> select(index < size of a, pad(a), pad(b)), see
// JoinedReads.h. The conditions do not depend on the innermost loop, so LLVM
// takes them out of it, and its code is that of a read of one part.
#include "JoinedReads.h"

#include "meshloom/Dialect/SPMD/SPMD.h"

using namespace meshloom;
using namespace meshloom::dtensor;

static bool isReadInPlace(ConcatenateOp op, const KernelPolicy &policy) {
  auto type = cast<RankedTensorType>(op.getType());
  auto dim = int64_t(op.getDimension());
  Type element = type.getElementType();
  if (op.getInputs().size() > policy.mostJoinedParts ||
      dim + 1 == type.getRank() || op->use_empty() ||
      !isa<FloatType, IntegerType>(element) ||
      spmd::layoutOf(type).is_partial() ||
      globalShape(type)[dim] > std::numeric_limits<int32_t>::max())
    return false;
  int64_t run = 1;
  for (int64_t inner : type.getShape().drop_front(dim + 1))
    run *= inner;
  return run >= policy.leastJoinedRun &&
         llvm::all_of(op->getUsers(),
                      [](Operation *user) { return isPerElement(user); }) &&
         // Conditions do not nest.
         llvm::none_of(op.getInputs(), [](Value input) {
           return input.getDefiningOp<ConcatenateOp>();
         });
}

void meshloom::readJoinedInPlace(Block &block, const KernelPolicy &policy) {
  SmallVector<ConcatenateOp> joins;
  for (auto op : block.getOps<ConcatenateOp>())
    if (isReadInPlace(op, policy))
      joins.push_back(op);
  for (ConcatenateOp op : joins) {
    OpBuilder b(op);
    Location loc = op.getLoc();
    Type type = op.getType(), element = elementTypeOf(type);
    LayoutAttr layout = layoutAttrOf(type);
    SmallVector<int64_t> shape = globalShape(type);
    auto dim = unsigned(op.getDimension());
    auto of = [&](Type other) { return spmd::shardType(shape, other, layout); };
    auto splat = [&](Type shard, Attribute value) -> Value {
      return b.create<ConstantOp>(
          loc, cast<RankedTensorType>(shard),
          DenseElementsAttr::get(undecided(shard), value));
    };
    Value zero = splat(
        spmd::shardType(
            {}, element,
            LayoutAttr::get(b.getContext(),
                            Layout::replicated(layout.getLayout().mesh(), 0))),
        b.getZeroAttr(element));
    Value index = b.create<IotaOp>(loc, of(b.getI32Type()), dim);
    Value joined;
    int64_t end = shape[dim];
    SmallVector<int64_t> none(shape.size());
    for (Value part : llvm::reverse(op.getInputs())) {
      SmallVector<int64_t> low = none, high = none;
      int64_t begin = end - globalShape(part.getType())[dim];
      low[dim] = begin;
      high[dim] = shape[dim] - end;
      Value padded = b.create<PadOp>(loc, type, part, zero, low, high, none);
      if (joined) {
        Value first =
            splat(of(b.getI32Type()), b.getI32IntegerAttr(int32_t(end)));
        Value here = b.create<CompareOp>(loc, of(b.getI1Type()),
                                         ComparisonDirection::LT, index, first);
        padded = b.create<SelectOp>(loc, type, here, padded, joined);
      }
      joined = padded;
      end = begin;
    }
    op.replaceAllUsesWith(joined);
    op.erase();
  }
}
