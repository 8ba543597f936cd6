// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rules, verifiers and builders of gather, scatter and the dynamic slices.
#include "ScalarRegion.h"

#include "RuleBuilder.h"
#include "meshloom/Dialect/DTensor/TensorBuilder.h"

namespace meshloom::dtensor {

/// How pieces of a gathered operand, of which all but one are zero, combine.
static ReduceKind mergeKind(Value operand) {
  return elementTypeOf(operand.getType()).isInteger(1) ? ReduceKind::Or
                                                       : ReduceKind::Sum;
}

static SmallVector<int64_t> joined(ArrayRef<int64_t> a, ArrayRef<int64_t> b) {
  SmallVector<int64_t> list(a);
  llvm::append_range(list, b);
  return list;
}

namespace {
/// The common part of gather and scatter: an indexed tensor, its indices, and a
/// tensor of batch and window dims (the result, or the updates).
struct IndexedAccess {
  SmallVector<int64_t> operand, indices, windows; ///< global shapes
  ArrayRef<int64_t> windowDims;  ///< of `windows`, for the operand's other dims
  ArrayRef<int64_t> missingDims; ///< of the operand: collapsed, inserted
  ArrayRef<int64_t> batchingDims, indexBatchingDims, indexMap;
  int64_t vectorDim;

  SmallVector<int64_t> operandWindowDims() const {
    return remainingDims(int64_t(operand.size()),
                         joined(missingDims, batchingDims));
  }
  /// Dims of the indices that are not a vector, and what they are in `windows`.
  SmallVector<int64_t> indexBatch() const {
    return remainingDims(int64_t(indices.size()), {vectorDim});
  }
  SmallVector<int64_t> batch() const {
    return remainingDims(int64_t(windows.size()), windowDims);
  }
};

/// The numbers that the constraints have in the description of the op.
struct ConstraintNumbers {
  unsigned missing, vector, map, batching, window, sizes;
};
} // namespace

static LogicalResult verifyAccess(Operation *op, const IndexedAccess &access,
                                  ConstraintNumbers number) {
  size_t rank = access.operand.size(), indexRank = access.indices.size();
  if (!areDistinct(joined(access.missingDims, access.batchingDims), rank))
    return violates(op, number.missing)
           << "the dims that windows do not have are not distinct dims of the "
              "operand";
  if (access.vectorDim < 0 || access.vectorDim > int64_t(indexRank))
    return violates(op, number.vector)
           << "index_vector_dim is " << access.vectorDim
           << ", but the indices have " << indexRank << " dims";
  int64_t entries = access.vectorDim < int64_t(indexRank)
                        ? access.indices[access.vectorDim]
                        : 1;
  if (int64_t(access.indexMap.size()) != entries)
    return violates(op, number.map) << "index vectors have " << entries
                                    << " entries, which are mapped to "
                                    << access.indexMap.size() << " dims";
  if (!areDistinct(joined(access.indexMap, access.batchingDims), rank))
    return violates(op, number.map)
           << "indexed dims are not distinct dims of the operand that are not "
              "batching";
  if (access.batchingDims.size() != access.indexBatchingDims.size() ||
      !areDistinct(access.indexBatchingDims, indexRank) ||
      llvm::is_contained(access.indexBatchingDims, access.vectorDim))
    return violates(op, number.batching)
           << "batching dims of the indices are not as many distinct dims as "
              "those of the operand";
  for (auto [dim, index] :
       llvm::zip_equal(access.batchingDims, access.indexBatchingDims))
    if (access.operand[dim] != access.indices[index])
      return violates(op, number.batching)
             << "batching dim " << dim << " of the operand has size "
             << access.operand[dim] << ", dim " << index << " of the indices "
             << access.indices[index];
  if (!areDistinct(access.windowDims, access.windows.size()) ||
      !llvm::is_sorted(access.windowDims) ||
      access.windowDims.size() != access.operandWindowDims().size())
    return violates(op, number.window)
           << "expected " << access.operandWindowDims().size()
           << " window dims, distinct and in increasing order";
  auto indexBatch = access.indexBatch(), batch = access.batch();
  if (indexBatch.size() != batch.size())
    return violates(op, number.sizes)
           << "there are " << batch.size() << " batch dims, but "
           << indexBatch.size() << " of the indices";
  for (auto [dim, index] : llvm::zip_equal(batch, indexBatch))
    if (access.windows[dim] != access.indices[index])
      return violates(op, number.sizes)
             << "batch dim " << dim << " has size " << access.windows[dim]
             << ", dim " << index << " of the indices "
             << access.indices[index];
  return success();
}

namespace {
/// Factors of the dims of an indexed access.
struct AccessFactors {
  ShardingRule::Tensor operand, indices, windows;
};
} // namespace

/// `batch` and `window` make the factors of batch dims (of given size), and of
/// window dims that are smaller than the operand's.
static AccessFactors factorsOf(RuleBuilder &rule, const IndexedAccess &access,
                               function_ref<unsigned(int64_t size)> batch,
                               function_ref<unsigned(int64_t size)> window) {
  AccessFactors factors{ShardingRule::Tensor(access.operand.size()),
                        ShardingRule::Tensor(access.indices.size()),
                        ShardingRule::Tensor(access.windows.size())};
  if (access.vectorDim < int64_t(access.indices.size()))
    factors.indices[access.vectorDim] = {rule.whole()};
  for (auto [dim, index] :
       llvm::zip_equal(access.batchingDims, access.indexBatchingDims))
    factors.operand[dim] = factors.indices[index] = {rule.factor()};
  for (auto [dim, index] :
       llvm::zip_equal(access.batch(), access.indexBatch())) {
    if (factors.indices[index].empty())
      factors.indices[index] = {batch(access.indices[index])};
    factors.windows[dim] = factors.indices[index];
  }
  for (int64_t dim : access.missingDims)
    factors.operand[dim] = {rule.factor()};
  for (auto [dim, place] :
       llvm::zip_equal(access.operandWindowDims(), access.windowDims)) {
    factors.operand[dim] = {rule.factor()};
    bool whole = access.windows[place] == access.operand[dim];
    factors.windows[place] =
        whole ? factors.operand[dim]
              : ShardingRule::Dim{window(access.windows[place])};
  }
  return factors;
}

//===----------------------------------------------------------------------===//
// GatherOp
//===----------------------------------------------------------------------===//

static IndexedAccess accessOf(GatherOp op) {
  return {globalShape(op.getOperand().getType()),
          globalShape(op.getStartIndices().getType()),
          globalShape(op.getType()),
          op.getOffsetDims(),
          op.getCollapsedSliceDims(),
          op.getOperandBatchingDims(),
          op.getStartIndicesBatchingDims(),
          op.getStartIndexMap(),
          int64_t(op.getIndexVectorDim())};
}

void GatherOp::build(OpBuilder &builder, OperationState &state, Value operand,
                     Value startIndices, ArrayRef<int64_t> offsetDims,
                     ArrayRef<int64_t> collapsedSliceDims,
                     ArrayRef<int64_t> operandBatchingDims,
                     ArrayRef<int64_t> startIndicesBatchingDims,
                     ArrayRef<int64_t> startIndexMap, int64_t indexVectorDim,
                     ArrayRef<int64_t> sliceSizes) {
  SmallVector<int64_t> batch =
      dropDims(globalShape(startIndices.getType()), {indexVectorDim});
  SmallVector<int64_t> slice =
      dropDims(sliceSizes, joined(collapsedSliceDims, operandBatchingDims));
  SmallVector<int64_t> shape;
  size_t nextBatch = 0, nextSlice = 0;
  for (size_t dim = 0; dim < batch.size() + slice.size(); ++dim)
    if (llvm::is_contained(offsetDims, int64_t(dim)) &&
        nextSlice < slice.size())
      shape.push_back(slice[nextSlice++]);
    else if (nextBatch < batch.size())
      shape.push_back(batch[nextBatch++]);
  build(builder, state, undecided(operand.getType(), shape), operand,
        startIndices, offsetDims, collapsedSliceDims, operandBatchingDims,
        startIndicesBatchingDims, startIndexMap, indexVectorDim, sliceSizes);
}

ShardingRule GatherOp::getShardingRule() {
  RuleBuilder rule(*this);
  auto parallel = [&](int64_t) { return rule.factor(); };
  AccessFactors factors = factorsOf(rule, accessOf(*this), parallel, parallel);
  rule.operand(std::move(factors.operand));
  rule.operand(std::move(factors.indices));
  rule.result(std::move(factors.windows));
  return rule.finish(PartialFlow::Movement, {0}, mergeKind(getOperand()));
}

OpCost GatherOp::getCost(const ShardingRule &rule) {
  return {2, joined(onlyIn(rule.operands[0], rule.results[0]),
                    onlyIn(rule.operands[1], rule.results[0]))};
}

LibraryCall GatherOp::getLibraryCall() {
  return LibraryCall(*this, "gather")
      .number("index_vector_dim", getIndexVectorDim())
      .list("offset_dims", getOffsetDims())
      .list("collapsed_slice_dims", getCollapsedSliceDims())
      .list("operand_batching_dims", getOperandBatchingDims())
      .list("start_indices_batching_dims", getStartIndicesBatchingDims())
      .list("start_index_map", getStartIndexMap())
      .list("slice_sizes", getSliceSizes());
}

LogicalResult GatherOp::verify() {
  if (elementTypeOf(getOperand().getType()) != elementTypeOf(getType()))
    return violates(*this, 1)
           << "the operand and the result differ in element type";
  IndexedAccess access = accessOf(*this);
  ArrayRef<int64_t> sizes = getSliceSizes();
  if (sizes.size() != access.operand.size())
    return violates(*this, 2)
           << "there are " << sizes.size() << " slice sizes for "
           << access.operand.size() << " dims";
  SmallVector<int64_t> single = joined(access.missingDims, access.batchingDims);
  for (auto [dim, size] : llvm::enumerate(sizes))
    if (size < 0 || size > access.operand[dim] ||
        (size > 1 && llvm::is_contained(single, int64_t(dim))))
      return violates(*this, 2) << "slices have size " << size << " along dim "
                                << dim << " of size " << access.operand[dim];
  if (failed(verifyAccess(*this, access, {3, 4, 5, 6, 7, 8})))
    return failure();
  for (auto [dim, place] :
       llvm::zip_equal(access.operandWindowDims(), access.windowDims))
    if (access.windows[place] != sizes[dim])
      return violates(*this, 8)
             << "dim " << place << " of the result has size "
             << access.windows[place] << ", slices have " << sizes[dim];
  return success();
}

//===----------------------------------------------------------------------===//
// ScatterOp
//===----------------------------------------------------------------------===//

static IndexedAccess accessOf(ScatterOp op) {
  return {globalShape(op.getInputs()[0].getType()),
          globalShape(op.getScatterIndices().getType()),
          globalShape(op.getUpdates()[0].getType()),
          op.getUpdateWindowDims(),
          op.getInsertedWindowDims(),
          op.getInputBatchingDims(),
          op.getScatterIndicesBatchingDims(),
          op.getScatterDimsToOperandDims(),
          int64_t(op.getIndexVectorDim())};
}

void ScatterOp::build(OpBuilder &builder, OperationState &state,
                      ValueRange inputs, Value scatterIndices,
                      ValueRange updates, ArrayRef<int64_t> updateWindowDims,
                      ArrayRef<int64_t> insertedWindowDims,
                      ArrayRef<int64_t> inputBatchingDims,
                      ArrayRef<int64_t> scatterIndicesBatchingDims,
                      ArrayRef<int64_t> scatterDimsToOperandDims,
                      int64_t indexVectorDim, std::optional<ReduceKind> kind,
                      bool uniqueIndices) {
  SmallVector<Type> types;
  for (Value input : inputs)
    types.push_back(undecided(input.getType()));
  build(builder, state, types, inputs, scatterIndices, updates,
        updateWindowDims, insertedWindowDims, inputBatchingDims,
        scatterIndicesBatchingDims, scatterDimsToOperandDims,
        uint64_t(indexVectorDim),
        kind ? ReduceKindAttr::get(builder.getContext(), *kind)
             : ReduceKindAttr(),
        uniqueIndices);
}

ShardingRule ScatterOp::getShardingRule() {
  RuleBuilder rule(*this);
  std::optional<ReduceKind> kind = getKind();
  // Without updates no device has the first part.
  auto ofUpdates = [&](int64_t size) {
    return kind && size > 0 ? rule.factor() : rule.whole();
  };
  AccessFactors factors =
      factorsOf(rule, accessOf(*this), ofUpdates, ofUpdates);
  unsigned count = getInputs().size();
  SmallVector<unsigned> carriers;
  for (unsigned i = 0; i < count; ++i) {
    rule.operand(factors.operand);
    carriers.push_back(i);
  }
  rule.operand(factors.indices);
  for (unsigned i = 0; i < count; ++i) {
    rule.operand(factors.windows);
    rule.result(factors.operand);
    carriers.push_back(count + 1 + i);
  }
  if (kind)
    return rule.finish(PartialFlow::LinearJoint, carriers, *kind);
  return rule.finish(getComputation().empty() ? PartialFlow::Movement
                                              : PartialFlow::None,
                     carriers);
}

OpCost ScatterOp::getCost(const ShardingRule &rule) {
  int64_t count = int64_t(getInputs().size());
  int64_t flops = getComputation().empty() ? 4 : 20;
  return {flops * count,
          joined(onlyIn(rule.operands[0], rule.operands.back()),
                 onlyIn(rule.operands[count], rule.operands.back()))};
}

/// All updates may meet in one element.
int64_t ScatterOp::getTerms() {
  auto shape = globalShape(getUpdates()[0].getType());
  return productOf(getUpdates()[0],
                   llvm::to_vector(llvm::seq<int64_t>(shape.size())));
}

/// Without `kind` and a function, updates replace what is there.
LibraryCall ScatterOp::getLibraryCall() {
  LibraryCall call(*this, "scatter");
  if (std::optional<ReduceKind> kind = getKind())
    call.text("kind", name(*kind));
  else if (!getComputation().empty())
    call.scalar(getComputation());
  return call.number("index_vector_dim", getIndexVectorDim())
      .list("update_window_dims", getUpdateWindowDims())
      .list("inserted_window_dims", getInsertedWindowDims())
      .list("input_batching_dims", getInputBatchingDims())
      .list("scatter_indices_batching_dims", getScatterIndicesBatchingDims())
      .list("scatter_dims_to_operand_dims", getScatterDimsToOperandDims());
}
/// Many updates of few places are combined by several workers, each of which
/// has a result of its own.
int ScatterOp::getOverwritable(unsigned result) {
  constexpr int64_t MANY = 8;
  auto elements = [](Value value) {
    return productOf(value, llvm::to_vector(llvm::seq<int64_t>(
                                globalShape(value.getType()).size())));
  };
  return getKind() &&
                 elements(getUpdates()[0]) / MANY >= elements(getInputs()[0])
             ? -1
             : int(result);
}

LogicalResult ScatterOp::verify() {
  if (getInputs().empty() || getInputs().size() != getResults().size())
    return violates(*this, 1)
           << "there are " << getInputs().size() << " inputs and "
           << getResults().size() << " results";
  auto inputShape = globalShape(getInputs()[0].getType()),
       updateShape = globalShape(getUpdates()[0].getType());
  for (auto [input, update, result] :
       llvm::zip_equal(getInputs().getTypes(), getUpdates().getTypes(),
                       getResults().getTypes()))
    if (globalShape(input) != inputShape ||
        globalShape(update) != updateShape ||
        undecided(input) != undecided(result) ||
        elementTypeOf(input) != elementTypeOf(update))
      return violates(*this, 1)
             << "input " << undecided(input) << ", update " << undecided(update)
             << " and result " << undecided(result) << " do not fit";
  IndexedAccess access = accessOf(*this);
  if (failed(verifyAccess(*this, access, {3, 4, 5, 6, 2, 7})))
    return failure();
  for (auto [dim, place] :
       llvm::zip_equal(access.operandWindowDims(), access.windowDims))
    if (access.windows[place] > access.operand[dim])
      return violates(*this, 7)
             << "dim " << place << " of the updates has size "
             << access.windows[place] << ", dim " << dim << " of the input "
             << access.operand[dim];
  SmallVector<Type> elements = elementTypesOf(getInputs());
  if (std::optional<ReduceKind> kind = getKind()) {
    if (!getComputation().empty())
      return violates(*this, 8) << "there are both a kind and a region";
    bool logical = *kind == ReduceKind::And || *kind == ReduceKind::Or;
    for (Type element : elements)
      if (logical && !isa<IntegerType>(element))
        return violates(*this, 8)
               << "'" << name(*kind) << "' does not take " << element;
    return success();
  }
  if (getComputation().empty())
    return success();
  return verifyScalarRegion(
      *this, 9, getComputation(),
      llvm::to_vector(llvm::concat<Type>(elements, elements)), elements);
}

//===----------------------------------------------------------------------===//
// DynamicSliceOp, DynamicUpdateSliceOp
//===----------------------------------------------------------------------===//

/// C2 of both: one start index a dim, scalars of one type.
static LogicalResult verifyStarts(Operation *op, ValueRange starts,
                                  size_t rank) {
  if (starts.size() != rank)
    return violates(op, 2) << "there are " << starts.size()
                           << " start indices for " << rank << " dims";
  for (Type type : starts.getTypes())
    if (!globalShape(type).empty() ||
        elementTypeOf(type) != elementTypeOf(starts[0].getType()))
      return violates(op, 2)
             << "start indices must be scalars of one type, got "
             << undecided(type);
  return success();
}

ShardingRule DynamicSliceOp::getShardingRule() {
  RuleBuilder rule(*this);
  auto from = globalShape(getOperand().getType()), to = globalShape(getType());
  ShardingRule::Tensor operand = rule.dims(from.size()), result;
  for (size_t dim = 0; dim < from.size(); ++dim)
    result.push_back(from[dim] == to[dim] ? operand[dim]
                                          : ShardingRule::Dim{rule.factor()});
  rule.operand(std::move(operand));
  for (unsigned i = 0; i < getStartIndices().size(); ++i)
    rule.operand({});
  rule.result(std::move(result));
  return rule.finish(PartialFlow::Movement, {0}, mergeKind(getOperand()));
}

OpCost DynamicSliceOp::getCost(const ShardingRule &rule) {
  return {2, onlyIn(rule.operands[0], rule.results[0])};
}

LibraryCall DynamicSliceOp::getLibraryCall() {
  return LibraryCall(*this, "dynamic_slice")
      .list("slice_sizes", getSliceSizes());
}

LogicalResult DynamicSliceOp::verify() {
  if (elementTypeOf(getOperand().getType()) != elementTypeOf(getType()))
    return violates(*this, 1)
           << "the operand and the result differ in element type";
  auto from = globalShape(getOperand().getType());
  ArrayRef<int64_t> sizes = getSliceSizes();
  if (sizes.size() != from.size())
    return violates(*this, 2) << "there are " << sizes.size()
                              << " slice sizes for " << from.size() << " dims";
  if (failed(verifyStarts(*this, getStartIndices(), from.size())))
    return failure();
  for (auto [dim, size] : llvm::enumerate(sizes))
    if (size < 0 || size > from[dim])
      return violates(*this, 3)
             << "the slice has size " << size << " along dim " << dim
             << " of size " << from[dim];
  if (globalShape(getType()) != SmallVector<int64_t>(sizes))
    return violates(*this, 3)
           << "the result must be " << undecided(getType(), sizes);
  return success();
}

ShardingRule DynamicUpdateSliceOp::getShardingRule() {
  RuleBuilder rule(*this);
  auto whole = globalShape(getOperand().getType()),
       part = globalShape(getUpdate().getType());
  ShardingRule::Tensor operand = rule.dims(whole.size()), update;
  for (size_t dim = 0; dim < whole.size(); ++dim)
    update.push_back(whole[dim] == part[dim] ? operand[dim]
                                             : ShardingRule::Dim{rule.whole()});
  rule.operand(operand);
  rule.operand(std::move(update));
  for (unsigned i = 0; i < getStartIndices().size(); ++i)
    rule.operand({});
  rule.result(operand);
  return rule.finish(PartialFlow::Movement, {0, 1});
}

OpCost DynamicUpdateSliceOp::getCost(const ShardingRule &rule) {
  return {2, onlyIn(rule.operands[0], rule.operands[1])};
}

LibraryCall DynamicUpdateSliceOp::getLibraryCall() {
  return LibraryCall(*this, "dynamic_update_slice");
}
int DynamicUpdateSliceOp::getOverwritable(unsigned) {
  return 0;
}

LogicalResult DynamicUpdateSliceOp::verify() {
  Type element = elementTypeOf(getType());
  if (elementTypeOf(getOperand().getType()) != element ||
      elementTypeOf(getUpdate().getType()) != element)
    return violates(*this, 1)
           << "the operands and the result differ in element type";
  auto whole = globalShape(getOperand().getType()),
       part = globalShape(getUpdate().getType());
  if (failed(verifyStarts(*this, getStartIndices(), whole.size())))
    return failure();
  if (part.size() != whole.size())
    return violates(*this, 3) << "the update has rank " << part.size()
                              << ", the operand " << whole.size();
  for (auto [dim, size] : llvm::enumerate(part))
    if (size > whole[dim])
      return violates(*this, 3)
             << "the update has size " << size << " along dim " << dim
             << ", the operand " << whole[dim];
  if (globalShape(getType()) != whole)
    return violates(*this, 4)
           << "the result must be " << undecided(getOperand().getType());
  return success();
}

} // namespace meshloom::dtensor
