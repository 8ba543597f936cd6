// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which gathers kernels compute, and the loads that they become.
#include "NumberGathers.h"

#include "KernelBuilder.h"
#include "meshloom/Targets/Kernels/ScalarLowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace meshloom;
using namespace meshloom::dtensor;
using spmd::KernelOp;
namespace arith = mlir::arith;

bool meshloom::isNumberGather(Operation *op) {
  // Elements of a piece that are side by side: fewer take longer to copy than
  // to load one by one.
  constexpr int64_t least = 4;
  auto gather = dyn_cast_or_null<GatherOp>(op);
  if (!gather || gather.getSliceSizes().empty() ||
      (gather.getSliceSizes().back() >= least &&
       !gather->hasAttr(pickedAttr)) ||
      llvm::is_contained(gather.getSliceSizes(), 0) ||
      isa<mlir::ComplexType>(elementTypeOf(gather.getStartIndices().getType())))
    return false;
  Type table = gather.getOperand().getType();
  Layout layout = spmd::layoutOf(table);
  return !layout.is_partial() &&
         !spmd::layoutOf(gather.getType()).is_partial() &&
         !spmd::layoutOf(gather.getStartIndices().getType()).is_partial() &&
         spmd::windowsOf(table).empty() &&
         spmd::windowsOf(gather.getStartIndices().getType()).empty() &&
         spmd::windowsOf(gather.getType()).empty() &&
         llvm::all_of(gather.getStartIndexMap(), [&](int64_t dim) {
           return layout.dim_axes()[dim].empty();
         });
}

bool meshloom::isTableOf(Operation *user, Value value) {
  return isNumberGather(user) && user->getOperand(0) == value;
}

/// The join of index vectors that `value` is.
static ConcatenateOp joinOf(Value value, int64_t vectorDim) {
  auto join = value.getDefiningOp<ConcatenateOp>();
  return join && int64_t(join.getDimension()) == vectorDim ? join
                                                           : ConcatenateOp();
}

bool meshloom::joinsIndices(Operation *op) {
  return isa<ConcatenateOp>(op) && !op->use_empty() &&
         llvm::all_of(op->getUsers(), [&](Operation *user) {
           return isNumberGather(user) && !isTableOf(user, op->getResult(0)) &&
                  joinOf(op->getResult(0),
                         cast<GatherOp>(user).getIndexVectorDim()) == op;
         });
}

/// An index as i64, moved to where [0, last] is.
static Value clampedIndex(Value index, bool isUnsigned, int64_t last,
                          OpBuilder &b, Location loc) {
  // A number that was widened is in the range of the narrow type.
  if (auto widened = index.getDefiningOp<arith::ExtUIOp>()) {
    index = widened.getIn();
    isUnsigned = true;
  }
  Type type = index.getType();
  const unsigned width = type.getIntOrFloatBitWidth();
  isUnsigned |= width == 1;
  if (width == 1) {
    type = b.getI64Type();
    index = b.create<arith::ExtUIOp>(loc, type, index);
  }
  auto number = [&](int64_t value) {
    return b.create<arith::ConstantOp>(loc, b.getIntegerAttr(type, value));
  };
  // In its own type, as long as that has the last index.
  const int64_t largest =
      type.getIntOrFloatBitWidth() == 64
          ? std::numeric_limits<int64_t>::max()
          : (int64_t(1) << (type.getIntOrFloatBitWidth() - !isUnsigned)) - 1;
  if (!isUnsigned)
    index = b.create<arith::MaxSIOp>(loc, index, number(0));
  if (last < largest)
    index = isUnsigned
                ? b.create<arith::MinUIOp>(loc, index, number(last)).getResult()
                : b.create<arith::MinSIOp>(loc, index, number(last));
  if (type.getIntOrFloatBitWidth() == 64)
    return index;
  if (isUnsigned)
    return b.create<arith::ExtUIOp>(loc, b.getI64Type(), index);
  return b.create<arith::ExtSIOp>(loc, b.getI64Type(), index);
}

FailureOr<Value> KernelBuilder::inlineGather(Operation *op,
                                             const TensorAccess &access) {
  auto gather = cast<GatherOp>(op);
  Value table = gather.getOperand();
  // A table whose address lies outside of it is for spmd.read.
  if (scopes.back().condition) {
    obstacle = gather.getResult();
    return failure();
  }
  OpBuilder &b = *bodyBuilder;
  Location loc = gather.getLoc();
  const int64_t vectorDim = gather.getIndexVectorDim();
  SmallVector<int64_t> shape = globalShape(table.getType());
  const unsigned indexRank =
      cast<RankedTensorType>(gather.getStartIndices().getType()).getRank();
  // Where the batch dims of the result are in the indices.
  TensorAccess indexAccess(indexRank, constantIndex(0));
  SmallVector<LinearIndex> offsets;
  unsigned indexDim = 0;
  for (auto [dim, index] : llvm::enumerate(access)) {
    if (llvm::is_contained(gather.getOffsetDims(), int64_t(dim))) {
      offsets.push_back(index);
      continue;
    }
    indexDim += int64_t(indexDim) == vectorDim;
    indexAccess[indexDim++] = index;
  }

  TensorAccess tableAccess(shape.size(), constantIndex(0));
  unsigned nextOffset = 0;
  for (unsigned dim = 0; dim < shape.size(); ++dim) {
    auto batching = llvm::find(gather.getOperandBatchingDims(), int64_t(dim));
    if (batching != gather.getOperandBatchingDims().end())
      tableAccess[dim] =
          indexAccess[gather.getStartIndicesBatchingDims()
                          [batching - gather.getOperandBatchingDims().begin()]];
    else if (!llvm::is_contained(gather.getCollapsedSliceDims(), int64_t(dim)))
      tableAccess[dim] = offsets[nextOffset++];
  }

  SmallVector<std::pair<int64_t, Value>> indices; // by the table's dims
  for (auto [entry, dim] : llvm::enumerate(gather.getStartIndexMap())) {
    const int64_t last = shape[dim] - gather.getSliceSizes()[dim];
    if (last == 0)
      continue;
    Value vectors = gather.getStartIndices();
    auto part = int64_t(entry);
    while (ConcatenateOp join = joinOf(vectors, vectorDim)) {
      for (Value input : join.getInputs()) {
        vectors = input;
        const int64_t size = globalShape(input.getType())[vectorDim];
        if (part < size)
          break;
        part -= size;
      }
    }
    if (vectorDim < int64_t(indexRank))
      indexAccess[vectorDim] = constantIndex(part);
    auto start = scalarAt(vectors, indexAccess);
    if (failed(start))
      return failure();
    Value index = clampedIndex(
        *start, elementTypeOf(vectors.getType()).isUnsignedInteger(), last, b,
        loc);
    if (gather.getSliceSizes()[dim] > 1)
      index = b.create<arith::AddIOp>(loc, index,
                                      indexValue(tableAccess[dim], loc));
    tableAccess[dim] = constantIndex(0);
    indices.emplace_back(dim, index);
  }
  if (indices.empty())
    return scalarAt(table, tableAccess);
  llvm::sort(indices, llvm::less_first());
  SmallVector<int64_t> dims;
  SmallVector<Value> values;
  for (auto [dim, index] : indices) {
    dims.push_back(dim);
    values.push_back(index);
  }
  unsigned input = tableFor(table, tableAccess, dims);
  SmallVector<int64_t> loopsOfTable;
  for (size_t i = 0; i < dims.size(); ++i)
    loopsOfTable.push_back(int64_t(loops.size() + tables[input] + i));
  return b
      .create<spmd::LoadOp>(
          loc, KernelOp::scalarType(elementTypeOf(table.getType())),
          int64_t(input), loopsOfTable, values)
      .getResult();
}

unsigned KernelBuilder::tableFor(Value value, const TensorAccess &access,
                                 ArrayRef<int64_t> indexed) {
  for (auto [input, first] : tables) {
    auto isSame = [&] {
      for (auto [mine, theirs] : llvm::zip_equal(inputAccesses[input], access))
        if (mine.offset != theirs.offset ||
            mine.coefficients != theirs.coefficients)
          return false;
      for (size_t i = 0; i < indexed.size(); ++i)
        if (first + i >= held.size() ||
            held[first + i] != HeldDim{input, indexed[i]})
          return false;
      return first + indexed.size() == held.size() ||
             held[first + indexed.size()].input != input;
    };
    if (inputs[input] == value && isSame())
      return input;
  }
  unsigned input = inputFor(value, access);
  tables[input] = unsigned(held.size());
  for (int64_t dim : indexed)
    held.push_back({input, dim});
  return input;
}
