// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products, convolutions and dynamic slices of values with lanes, which become
// batching dims, free dims, groups or places of a gather.
#include "meshloom/Lanes/LaneBuilder.h"

using namespace meshloom;
using namespace meshloom::lanes;

Value LaneBuilder::dot(Value lhs, Value rhs, ArrayRef<int64_t> lhsBatching,
                       ArrayRef<int64_t> rhsBatching,
                       ArrayRef<int64_t> lhsContracting,
                       ArrayRef<int64_t> rhsContracting, Type resultElement) {
  size_t lhsUsed = lhsBatching.size() + lhsContracting.size(),
         rhsUsed = rhsBatching.size() + rhsContracting.size();
  // Lanes of both sides are batching dims, those of one side free dims.
  Lanes lhsLanes(lanesOf(lhs)), rhsLanes(lanesOf(rhs)),
      common = without(lhsLanes, without(lhsLanes, rhsLanes)),
      allLanes = unionOf(lhsLanes, rhsLanes);
  auto positions = [](ArrayRef<unsigned> lanes, ArrayRef<unsigned> some,
                      ArrayRef<int64_t> dims) {
    SmallVector<int64_t> result;
    for (unsigned lane : some)
      result.push_back(llvm::find(lanes, lane) - lanes.begin());
    for (int64_t dim : dims)
      result.push_back(dim + int64_t(lanes.size()));
    return result;
  };
  // The dims of the result: lanes as -1 - axis, others counted up in the order
  // of the local result.
  SmallVector<int64_t> order;
  int64_t next = 0;
  auto addLanes = [&](ArrayRef<unsigned> lanes) {
    for (unsigned lane : lanes)
      order.push_back(-1 - int64_t(lane));
  };
  auto addLocal = [&](size_t count) {
    for (size_t i = 0; i < count; ++i)
      order.push_back(next++);
  };
  addLanes(common);
  addLocal(lhsBatching.size());
  addLanes(without(lhsLanes, common));
  addLocal(size_t(rankOf(lhs)) - lhsUsed);
  addLanes(without(rhsLanes, common));
  addLocal(size_t(rankOf(rhs)) - rhsUsed);

  auto product = create<dtensor::DotGeneralOp>(
      getLoc(), lhs, rhs, positions(lhsLanes, common, lhsBatching),
      positions(rhsLanes, common, rhsBatching),
      positions(lhsLanes, {}, lhsContracting),
      positions(rhsLanes, {}, rhsContracting), resultElement);
  SmallVector<int64_t> permutation;
  for (unsigned lane : allLanes)
    permutation.push_back(llvm::find(order, -1 - int64_t(lane)) -
                          order.begin());
  for (int64_t dim = 0; dim < next; ++dim)
    permutation.push_back(llvm::find(order, dim) - order.begin());
  Value result = product.getResult();
  if (!llvm::is_sorted(permutation))
    result = create<dtensor::TransposeOp>(getLoc(), result, permutation);
  return note(result, allLanes);
}

Value LaneBuilder::sumOfProducts(Value value, ArrayRef<unsigned> axes) {
  auto product = value.getDefiningOp<dtensor::DotGeneralOp>();
  if (!product || axes.empty())
    return {};
  const Lanes has(lanesOf(value));
  SmallVector<int64_t> lhsBatching(product.getLhsBatchingDimensions()),
      rhsBatching(product.getRhsBatchingDimensions()),
      leftSummed(product.getLhsContractingDimensions()),
      rightSummed(product.getRhsContractingDimensions()), leftFree, rightFree;
  // Results begin with the batching dims, and values with their lanes.
  if (has.size() > lhsBatching.size())
    return {};
  for (size_t dim = 0; dim < lhsBatching.size(); ++dim) {
    const bool isSummed = dim < has.size() && contains(axes, has[dim]);
    (isSummed ? leftSummed : leftFree).push_back(lhsBatching[dim]);
    (isSummed ? rightSummed : rightFree).push_back(rhsBatching[dim]);
  }
  // Dims in order: those of rows that lie one after the other become one.
  auto order = llvm::to_vector(llvm::seq<size_t>(0, leftSummed.size()));
  llvm::sort(order,
             [&](size_t a, size_t b) { return leftSummed[a] < leftSummed[b]; });
  SmallVector<int64_t> leftSorted, rightSorted;
  for (size_t i : order) {
    leftSorted.push_back(leftSummed[i]);
    rightSorted.push_back(rightSummed[i]);
  }
  return note(create<dtensor::DotGeneralOp>(
                  getLoc(), product.getLhs(), product.getRhs(), leftFree,
                  rightFree, leftSorted, rightSorted, elementOf(value))
                  .getResult(),
              without(has, axes));
}

Value LaneBuilder::convolution(Value lhs, Value rhs,
                               dtensor::ConvolutionSpec spec,
                               RankedTensorType resultType) {
  Lanes lhsLanes(lanesOf(lhs)), rhsLanes(lanesOf(rhs)),
      common = without(lhsLanes, without(lhsLanes, rhsLanes)),
      lhsOnly = without(lhsLanes, common), rhsOnly = without(rhsLanes, common);
  auto count = [&](ArrayRef<unsigned> lanes) {
    int64_t result = 1;
    for (unsigned lane : lanes)
      result *= extentOf(lane);
    return result;
  };
  int64_t c = count(common), l = count(lhsOnly), r = count(rhsOnly);
  auto exposed = [&](Value value, ArrayRef<unsigned> some, int64_t size) {
    Lanes axes(common);
    llvm::append_range(axes, some);
    SmallVector<int64_t> shape{c, size};
    llvm::append_range(shape, shapeOf(value));
    return reshape(expose(value, axes), shape);
  };
  lhs = exposed(lhs, lhsOnly, l); // [c, l, ...]
  rhs = exposed(rhs, rhsOnly, r); // [c, r, ...]
  int64_t groups = spec.featureGroups * spec.batchGroups;
  bool byBatch = spec.batchGroups > 1;

  // Into `lhs`: the batch is (c, groups, l, n), or (l, n) and c goes to the
  // features.
  if (byBatch) {
    int64_t batchDim = spec.inputBatch;
    lhs = splitDim(lhs, batchDim + 2,
                   {groups, shapeOf(lhs)[batchDim + 2] / groups});
    lhs = moveDim(lhs, 1, batchDim + 2); // [c, .., groups, l, n, ..]
    lhs = moveDim(lhs, 0, batchDim);     // [.., c, groups, l, n, ..]
    lhs = mergeDims(lhs, batchDim, 4);
    spec.batchGroups *= c;
  } else {
    // l before the batch: [c, .., (l n), ..], then c before the features.
    lhs = moveDim(lhs, 1, spec.inputBatch + 1);
    lhs = mergeDims(lhs, spec.inputBatch + 1, 2);
    lhs = moveDim(lhs, 0, spec.inputFeature);
    lhs = mergeDims(lhs, spec.inputFeature, 2);
    spec.featureGroups *= c;
  }
  // Output features of `rhs`: (c, groups, r, o).
  int64_t outputDim = spec.kernelOutput;
  int64_t o = shapeOf(rhs)[outputDim + 2] / groups;
  rhs = splitDim(rhs, outputDim + 2, {groups, o}); // [c, r, .., groups, o, ..]
  rhs = moveDim(rhs, 1, outputDim + 2);            // [c, .., groups, r, o, ..]
  rhs = moveDim(rhs, 0, outputDim);                // [.., c, groups, r, o, ..]
  rhs = mergeDims(rhs, outputDim, 4);

  SmallVector<int64_t> shape(resultType.getShape());
  int64_t n = shape[spec.outputBatch];
  shape[spec.outputBatch] *= l;
  shape[spec.outputFeature] *= c * r;
  auto type = RankedTensorType::get(shape, resultType.getElementType());
  Value result = create<dtensor::ConvolutionOp>(getLoc(), type, lhs, rhs, spec);
  // Batch (l, n), features (c, groups, r, o): the later dim first.
  auto splitBatch = [&] {
    result = splitDim(result, spec.outputBatch, {l, n});
  };
  auto splitFeatures = [&] {
    result = splitDim(result, spec.outputFeature, {c, groups, r, o});
  };
  int64_t batch = spec.outputBatch, feature = spec.outputFeature;
  if (batch > feature) {
    splitBatch();
    splitFeatures();
    batch += 3;
  } else {
    splitFeatures();
    splitBatch();
    feature += 1;
  }
  // [l, n] at `batch`, [c, groups, r, o] at `feature`; wanted [c, l, r, ...].
  SmallVector<int64_t> order{feature, batch, feature + 2};
  for (int64_t dim = 0; dim < rankOf(result); ++dim)
    if (!llvm::is_contained(order, dim))
      order.push_back(dim);
  result = transpose(result, order);
  SmallVector<int64_t> last;
  Lanes axes(common);
  llvm::append_range(axes, lhsOnly);
  llvm::append_range(axes, rhsOnly);
  for (unsigned axis : axes)
    last.push_back(extentOf(axis));
  llvm::append_range(last, resultType.getShape());
  return hide(reshape(result, last), axes);
}

/// The start indices as one vector of i32 or i64, clamped to [0, high].
static Value indexVector(LaneBuilder &b, ArrayRef<Value> starts,
                         ArrayRef<int64_t> high) {
  SmallVector<Value> entries;
  for (auto [start, limit] : llvm::zip_equal(starts, high)) {
    Value clamped = b.apply<dtensor::MinimumOp>(
        {b.apply<dtensor::MaximumOp>({start, b.like(start, 0)}),
         b.like(start, double(limit))});
    entries.push_back(b.reshape(clamped, {1}));
  }
  return b.concatenate(entries, 0);
}

static SmallVector<int64_t> allDims(int64_t rank) {
  return llvm::to_vector(llvm::seq<int64_t>(0, rank));
}

Value LaneBuilder::dynamicSlice(Value operand, ArrayRef<Value> starts,
                                ArrayRef<int64_t> sizes) {
  auto type = RankedTensorType::get(sizes, elementOf(operand));
  if (lanesOf(starts).empty()) {
    Lanes itsLanes(lanesOf(operand));
    SmallVector<Value> operands{operand};
    SmallVector<int64_t> allSizes = extentsOf(itsLanes);
    if (!itsLanes.empty())
      operands.append(itsLanes.size(),
                      starts.empty()
                          ? splat(RankedTensorType::get({}, getI32Type()), 0.0)
                          : like(starts[0], 0));
    llvm::append_range(operands, starts);
    llvm::append_range(allSizes, sizes);
    return make<dtensor::DynamicSliceOp>(
        {type}, operands, itsLanes,
        named("slice_sizes", getDenseI64ArrayAttr(allSizes)))[0];
  }
  SmallVector<int64_t> high;
  for (auto [extent, size] : llvm::zip_equal(shapeOf(operand), sizes))
    high.push_back(extent - size);
  int64_t rank = rankOf(operand);
  SmallVector<Value> operands =
      aligned({operand, indexVector(*this, starts, high)});
  return make<dtensor::GatherOp>(
      {type}, operands, lanesOf(operands),
      {list("offset_dims", allDims(rank)), list("collapsed_slice_dims", {}),
       list("operand_batching_dims", {}),
       list("start_indices_batching_dims", {}),
       list("start_index_map", allDims(rank)), number("index_vector_dim", 0),
       list("slice_sizes", sizes)})[0];
}

Value LaneBuilder::dynamicUpdateSlice(Value operand, Value update,
                                      ArrayRef<Value> starts) {
  RankedTensorType type = typeOf(operand);
  int64_t rank = type.getRank();
  if (lanesOf(starts).empty()) {
    SmallVector<Value> operands = aligned({operand, update});
    Lanes itsLanes = lanesOf(operands);
    if (!starts.empty())
      operands.append(itsLanes.size(),
                      itsLanes.empty() ? Value() : like(starts[0], 0));
    llvm::append_range(operands, starts);
    return make<dtensor::DynamicUpdateSliceOp>({type}, operands, itsLanes)[0];
  }
  SmallVector<int64_t> high;
  for (auto [extent, size] : llvm::zip_equal(shapeOf(operand), shapeOf(update)))
    high.push_back(extent - size);
  SmallVector<Value> operands =
      aligned({operand, indexVector(*this, starts, high), update});
  return make<dtensor::ScatterOp>(
      {type}, operands, lanesOf(operands),
      {list("update_window_dims", allDims(rank)),
       list("inserted_window_dims", {}), list("input_batching_dims", {}),
       list("scatter_indices_batching_dims", {}),
       list("scatter_dims_to_operand_dims", allDims(rank)),
       number("index_vector_dim", 0),
       named("unique_indices", getUnitAttr())})[0];
}
