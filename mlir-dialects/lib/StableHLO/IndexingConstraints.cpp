// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Verifiers of the ops that read or write at indices which are values: gather,
// scatter and dynamic slices.

#include "Constraints.h"

using namespace meshloom;
using namespace meshloom::stablehlo;
using mlir::ShapedType;

/// The sizes of the indices' dims but `vectorDim`, in order.
static SmallVector<int64_t> batchSizes(ArrayRef<int64_t> indices,
                                       int64_t vectorDim) {
  SmallVector<int64_t> sizes;
  for (auto [dim, size] : llvm::enumerate(indices))
    if (int64_t(dim) != vectorDim)
      sizes.push_back(size);
  return sizes;
}

/// How many numbers make up an index.
static int64_t indexSize(ArrayRef<int64_t> indices, int64_t vectorDim) {
  return vectorDim < int64_t(indices.size()) ? indices[vectorDim] : 1;
}

/// Checks the dims of gather and scatter that are batched: two lists, of the
/// operand's dims and of the indices'.
static bool pairs(const Constraints &c, StringRef sizeNumber,
                  StringRef extentNumber, ArrayRef<int64_t> operand,
                  ArrayRef<int64_t> operandDims, ArrayRef<int64_t> indices,
                  ArrayRef<int64_t> indexDims) {
  if (!c.size(sizeNumber, "the operand's batching dims", operandDims.size(),
              int64_t(indexDims.size())))
    return false;
  for (auto [dim, other] : llvm::zip_equal(operandDims, indexDims))
    if (!agree(operand[dim], indices[other])) {
      c.violates(extentNumber)
          << "batching dim " << dim << " of the operand has " << operand[dim]
          << " elements, dim " << other << " of the indices " << indices[other];
      return false;
    }
  return true;
}

//===----------------------------------------------------------------------===//
// gather
//===----------------------------------------------------------------------===//

LogicalResult GatherOp::verify() {
  Constraints c(*this);
  GatherDimensionNumbersAttr dims = getDimensionNumbers();
  ArrayRef<int64_t> operand = shapeOf(getOperand()),
                    indices = shapeOf(getStartIndices()),
                    offset = dims.getOffsetDims(),
                    collapsed = dims.getCollapsedSliceDims(),
                    batching = dims.getOperandBatchingDims(),
                    indexBatching = dims.getStartIndicesBatchingDims(),
                    map = dims.getStartIndexMap(), sizes = getSliceSizes();
  int64_t rank = int64_t(operand.size()), indexRank = int64_t(indices.size()),
          vectorDim = dims.getIndexVectorDim();
  if (!c.size("C1", "the list of offset, collapsed and batching dims",
              offset.size() + collapsed.size() + batching.size(), rank) ||
      !c.inRange("C2", "index_vector_dim", vectorDim, 0, indexRank + 1))
    return failure();
  if (int64_t size = indexSize(indices, vectorDim);
      !ShapedType::isDynamic(size) &&
      !c.size("C3", "start_index_map", map.size(), size))
    return failure();
  bool holds =
      c.unique("C4", "offset_dims", offset) &&
      c.sorted("C4", "offset_dims", offset) &&
      c.inRange("C5", "offset_dims", offset, 0, rankOf(getResult())) &&
      c.unique("C6", "collapsed_slice_dims and operand_batching_dims",
               collapsed, batching) &&
      c.sorted("C7", "collapsed_slice_dims", collapsed) &&
      c.inRange("C8", "collapsed_slice_dims", collapsed, 0, rank) &&
      c.sorted("C10", "operand_batching_dims", batching) &&
      c.inRange("C11", "operand_batching_dims", batching, 0, rank) &&
      c.unique("C13", "start_indices_batching_dims", indexBatching) &&
      c.inRange("C14", "start_indices_batching_dims", indexBatching, 0,
                indexRank) &&
      c.require(!llvm::is_contained(indexBatching, vectorDim), "C15",
                "index_vector_dim is among start_indices_batching_dims") &&
      pairs(c, "C16", "C17", operand, batching, indices, indexBatching) &&
      c.unique("C18", "start_index_map and operand_batching_dims", map,
               batching) &&
      c.inRange("C19", "start_index_map", map, 0, rank) &&
      c.size("C20", "slice_sizes", sizes.size(), rank);
  if (!holds)
    return failure();
  SmallVector<int64_t> offsetSizes;
  for (int64_t dim = 0; dim < rank; ++dim) {
    bool isCollapsed = llvm::is_contained(collapsed, dim),
         isBatching = llvm::is_contained(batching, dim);
    if ((isCollapsed || isBatching) && sizes[dim] > 1)
      return c.violates(isCollapsed ? "C9" : "C12")
             << "dim " << dim << " goes, but slice_sizes has " << sizes[dim]
             << " for it";
    if (sizes[dim] < 0 ||
        (!ShapedType::isDynamic(operand[dim]) && sizes[dim] > operand[dim]))
      return c.violates("C21")
             << "slice_sizes has " << sizes[dim] << " for dim " << dim << " of "
             << getOperand().getType();
    if (!isCollapsed && !isBatching)
      offsetSizes.push_back(sizes[dim]);
  }
  SmallVector<int64_t> batch = batchSizes(indices, vectorDim), expected;
  size_t nextBatch = 0, nextOffset = 0, all = batch.size() + offset.size();
  for (size_t dim = 0; dim < all; ++dim) {
    if (llvm::is_contained(offset, int64_t(dim)))
      expected.push_back(offsetSizes[nextOffset++]);
    else if (nextBatch < batch.size())
      expected.push_back(batch[nextBatch++]);
  }
  return success(c.shape("C22", "the result", getType(), expected) &&
                 c.sameElement("C23", {getOperand().getType(), getType()}));
}

//===----------------------------------------------------------------------===//
// scatter
//===----------------------------------------------------------------------===//

/// Updates are windows of the inputs (C4).
static bool updatesFit(const Constraints &c, ScatterOp op) {
  ScatterDimensionNumbersAttr dims = op.getScatterDimensionNumbers();
  ArrayRef<int64_t> input = shapeOf(op.getInputs()[0]),
                    updates = shapeOf(op.getUpdates()[0]),
                    window = dims.getUpdateWindowDims();
  SmallVector<int64_t> batch = batchSizes(shapeOf(op.getScatterIndices()),
                                          dims.getIndexVectorDim()),
                       largest;
  for (auto [dim, size] : llvm::enumerate(input))
    if (!llvm::is_contained(dims.getInsertedWindowDims(), int64_t(dim)) &&
        !llvm::is_contained(dims.getInputBatchingDims(), int64_t(dim)))
      largest.push_back(size);
  if (!c.size("C4", "the updates' shape", updates.size(),
              int64_t(batch.size() + window.size())))
    return false;
  size_t nextBatch = 0, nextWindow = 0;
  for (auto [dim, size] : llvm::enumerate(updates)) {
    bool inWindow = llvm::is_contained(window, int64_t(dim));
    int64_t expected = inWindow ? largest[nextWindow++] : batch[nextBatch++];
    if (inWindow ? !ShapedType::isDynamic(expected) && size > expected
                 : !agree(size, expected)) {
      c.violates("C4") << "dim " << dim << " of the updates has " << size
                       << " elements, the " << (inWindow ? "input" : "indices")
                       << " " << expected;
      return false;
    }
  }
  return true;
}

LogicalResult ScatterOp::verify() {
  Constraints c(*this);
  if (!c.require(!getInputs().empty(), "C5", "expected at least one input") ||
      !c.require(getNumOperands() % 2 == 1, "C5",
                 "expected an update for each input") ||
      !c.size("C24", "the list of results", getNumResults(),
              int64_t(getInputs().size())))
    return failure();
  ScatterDimensionNumbersAttr dims = getScatterDimensionNumbers();
  ArrayRef<int64_t> input = shapeOf(getInputs()[0]),
                    indices = shapeOf(getScatterIndices()),
                    window = dims.getUpdateWindowDims(),
                    inserted = dims.getInsertedWindowDims(),
                    batching = dims.getInputBatchingDims(),
                    indexBatching = dims.getScatterIndicesBatchingDims(),
                    map = dims.getScatterDimsToOperandDims();
  int64_t rank = int64_t(input.size()), indexRank = int64_t(indices.size()),
          vectorDim = dims.getIndexVectorDim();
  bool holds =
      c.sameShape("C1", getInputs().getTypes()) &&
      c.size("C2", "the list of window, inserted and batching dims",
             window.size() + inserted.size() + batching.size(), rank) &&
      c.sameShape("C3", getUpdates().getTypes()) &&
      c.unique("C7", "update_window_dims", window) &&
      c.sorted("C7", "update_window_dims", window) &&
      c.inRange("C8", "update_window_dims", window, 0,
                rankOf(getUpdates()[0])) &&
      c.unique("C9", "inserted_window_dims and input_batching_dims", inserted,
               batching) &&
      c.sorted("C10", "inserted_window_dims", inserted) &&
      c.inRange("C11", "inserted_window_dims", inserted, 0, rank) &&
      c.sorted("C12", "input_batching_dims", batching) &&
      c.inRange("C13", "input_batching_dims", batching, 0, rank) &&
      c.unique("C14", "scatter_indices_batching_dims", indexBatching) &&
      c.inRange("C15", "scatter_indices_batching_dims", indexBatching, 0,
                indexRank) &&
      c.require(!llvm::is_contained(indexBatching, vectorDim), "C16",
                "index_vector_dim is among scatter_indices_batching_dims") &&
      pairs(c, "C17", "C18", input, batching, indices, indexBatching) &&
      c.inRange("C22", "index_vector_dim", vectorDim, 0, indexRank + 1);
  if (!holds)
    return failure();
  if (int64_t size = indexSize(indices, vectorDim);
      !ShapedType::isDynamic(size) &&
      !c.size("C19", "scatter_dims_to_operand_dims", map.size(), size))
    return failure();
  if (!c.unique("C20", "scatter_dims_to_operand_dims and input_batching_dims",
                map, batching) ||
      !c.inRange("C21", "scatter_dims_to_operand_dims", map, 0, rank) ||
      !updatesFit(c, *this))
    return failure();
  for (auto [value, update, result] :
       llvm::zip_equal(getInputs(), getUpdates(), getResults()))
    if (!c.sameElement("C6", {value.getType(), update.getType()}) ||
        !c.sameShape("C24", {value.getType(), result.getType()}))
      return failure();
  return success();
}

LogicalResult ScatterOp::verifyRegions() {
  return success(Constraints(*this).reducer("C23", getUpdateComputation(),
                                            getInputs().getTypes(), "C25",
                                            getResultTypes()));
}

//===----------------------------------------------------------------------===//
// Dynamic slices
//===----------------------------------------------------------------------===//

/// One scalar for each dim, all of one type.
static bool starts(const Constraints &c, StringRef sizeNumber,
                   StringRef typeNumber, ValueRange starts, int64_t rank) {
  if (!c.size(sizeNumber, "start_indices", starts.size(), rank) ||
      !c.sameTypes(typeNumber, starts.getTypes()))
    return false;
  for (Value start : starts)
    if (!c.scalar(typeNumber, "a start index", start) ||
        !c.require(isa<IntegerType>(elementOf(start.getType())), typeNumber,
                   "start indices must be integers"))
      return false;
  return true;
}

/// `sizes` are those of a part of `whole`.
static bool isPart(const Constraints &c, StringRef number, StringRef name,
                   ArrayRef<int64_t> sizes, Type whole) {
  ArrayRef<int64_t> shape = cast<RankedTensorType>(whole).getShape();
  for (auto [dim, size] : llvm::enumerate(sizes)) {
    bool isStatic = !ShapedType::isDynamic(shape[dim]);
    if (!ShapedType::isDynamic(size) &&
        (size < 0 || (isStatic && size > shape[dim]))) {
      c.violates(number) << name << " has " << size << " for dim " << dim
                         << " of " << whole;
      return false;
    }
  }
  return true;
}

LogicalResult DynamicSliceOp::verify() {
  Constraints c(*this);
  Type operand = getOperand().getType();
  int64_t rank = rankOf(getOperand());
  return success(c.sameElement("C1", {operand, getType()}) &&
                 c.size("C2", "slice_sizes", getSliceSizes().size(), rank) &&
                 starts(c, "C2", "C3", getStartIndices(), rank) &&
                 c.atLeast("C4", "slice_sizes", getSliceSizes(), 0) &&
                 isPart(c, "C4", "slice_sizes", getSliceSizes(), operand) &&
                 c.shape("C5", "the result", getType(), getSliceSizes()));
}

LogicalResult DynamicUpdateSliceOp::verify() {
  Constraints c(*this);
  Type operand = getOperand().getType(), update = getUpdate().getType();
  int64_t rank = rankOf(getOperand());
  return success(
      c.sameTypes("C1", {operand, getType()}) &&
      c.sameElement("C2", {operand, update}) &&
      c.size("C3", "the update's shape", size_t(rankOf(getUpdate())), rank) &&
      starts(c, "C4", "C5", getStartIndices(), rank) &&
      isPart(c, "C6", "the update", shapeOf(getUpdate()), operand));
}
